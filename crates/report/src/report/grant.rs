//! The minimal grant that would allow a refused access.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::host;
use super::naming::{names_path, names_the_start};
use super::refusal::{Reason, Refusal, Refusals};
use crate::policy::Kind;
use crate::policy::{Access, DenialKind, DenialRule, Policy, Target};
use crate::profile::{HostPattern, Ports};
use crate::user_database::UserDatabase;

/// A flag of `stockade run` that grants a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// `--read`
    Read,
    /// `--write`
    Write,
    /// `--exec`
    Exec,
    /// `--socket`
    Socket,
    /// `--write-guarded`
    WriteGuarded,
}

impl Flag {
    fn name(self) -> &'static str {
        match self {
            Flag::Read => "--read",
            Flag::Write => "--write",
            Flag::Exec => "--exec",
            Flag::Socket => "--socket",
            Flag::WriteGuarded => "--write-guarded",
        }
    }

    /// The file accesses it grants; a socket has none.
    pub fn access(self) -> Access {
        match self {
            Flag::Read => Access::READ,
            Flag::Write | Flag::WriteGuarded => Access::WRITING,
            Flag::Exec => Access::READ | Access::EXECUTE,
            Flag::Socket => Access::empty(),
        }
    }
}

/// A flag with its value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FlagGrant {
    /// A file or tree.
    Path(PathGrant),
    /// Hosts and ports to connect to.
    Host(HostPattern),
    /// A port to listen on.
    Listen(u16),
}

/// One flag with its path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathGrant {
    /// The option.
    pub flag: Flag,
    /// The path it opens.
    pub path: PathBuf,
}

impl FlagGrant {
    /// The command-line words.
    pub fn words(&self) -> Vec<OsString> {
        match self {
            FlagGrant::Path(grant) => vec![grant.flag.name().into(), grant.path.clone().into_os_string()],
            FlagGrant::Host(pattern) => vec!["--host".into(), pattern.to_string().into()],
            FlagGrant::Listen(port) => vec!["--listen".into(), port.to_string().into()],
        }
    }

    /// Whether this grant makes the other one redundant.
    pub fn covers(&self, other: &FlagGrant) -> bool {
        match (self, other) {
            (FlagGrant::Path(ours), FlagGrant::Path(theirs)) => ours.covers(theirs),
            (FlagGrant::Host(ours), FlagGrant::Host(theirs)) => ours.contains(theirs),
            _ => self == other,
        }
    }
}

impl PathGrant {
    /// Whether this grant makes the other one redundant.
    pub fn covers(&self, other: &PathGrant) -> bool {
        match (self.flag, other.flag) {
            (Flag::Socket | Flag::WriteGuarded, _) | (_, Flag::Socket | Flag::WriteGuarded) => self == other,
            (ours, theirs) => ours.access().contains(theirs.access()) && other.path.starts_with(&self.path),
        }
    }
}

/// A grant of exactly the refused access, without companions needed in practice; `None` if no grant would allow it.
pub fn exact(refusal: &Refusal, grant_limits: &GrantLimits<'_>) -> Option<FlagGrant> {
    match least(refusal, grant_limits)? {
        FlagGrant::Path(grant) => Some(FlagGrant::Path(PathGrant {
            path: path_of(&refusal.target)?.to_path_buf(),
            ..grant
        })),
        // Programs try both addresses of the name that a person typed.
        FlagGrant::Host(pattern) => Some(FlagGrant::Host(pattern.localhost_for_its_addresses())),
        other => Some(other),
    }
}

/// The minimal grant for a refusal; `None` if no grant would allow it.
pub fn least(refusal: &Refusal, grant_limits: &GrantLimits<'_>) -> Option<FlagGrant> {
    if let Some(path) = opens_guarded(refusal) {
        return Some(FlagGrant::Path(path));
    }
    let was_open = matches!(refusal.reason, Reason::Declined(_));
    if !refusal.reason.is_open() && !was_open {
        return None;
    }
    match refusal.kind {
        Kind::Connect | Kind::Resolve => host::least_pattern(refusal).map(FlagGrant::Host),
        Kind::Listen => host::listen_port(refusal).map(FlagGrant::Listen),
        _ if refusal.reason.is_open() || was_open => least_path(refusal, grant_limits).map(FlagGrant::Path),
        _ => None,
    }
}

/// The flag that opens the guarded file that a refusal is about, if a person may open it.
pub fn opens_guarded(refusal: &Refusal) -> Option<PathGrant> {
    let is_openable = matches!(&refusal.reason, Reason::Denied(denial) if denial.openable_line().is_some());
    let path = path_of(&refusal.target).filter(|_| is_openable && refusal.kind.changes())?;
    Some(PathGrant {
        flag: Flag::WriteGuarded,
        path: path.to_path_buf(),
    })
}

/// A sensible wider grant in place of a grant: the directory of a file, all ports of a host. `None` if there is none.
pub fn wider(grant: &FlagGrant, grant_limits: &GrantLimits<'_>) -> Option<FlagGrant> {
    match grant {
        FlagGrant::Path(PathGrant { flag, path }) if !matches!(flag, Flag::Socket | Flag::WriteGuarded) => {
            let directory = path
                .parent()
                .filter(|directory| grant_limits.may_open(*flag, directory))?;
            Some(FlagGrant::Path(PathGrant {
                flag: *flag,
                path: directory.to_path_buf(),
            }))
        }
        FlagGrant::Host(pattern) => {
            let all = HostPattern {
                ports: Ports::These(vec![1..=u16::MAX]),
                ..pattern.clone()
            };
            (all != *pattern).then_some(FlagGrant::Host(all))
        }
        FlagGrant::Path(_) | FlagGrant::Listen(_) => None,
    }
}

fn least_path(refusal: &Refusal, grant_limits: &GrantLimits<'_>) -> Option<PathGrant> {
    let path = path_of(&refusal.target)?;
    let flag = match refusal.kind {
        Kind::Read => Flag::Read,
        Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata => Flag::Write,
        Kind::Execute => Flag::Exec,
        Kind::Socket => Flag::Socket,
        Kind::Connect | Kind::Listen | Kind::Resolve | Kind::Signal | Kind::Spawn | Kind::Syscall | Kind::Variable => {
            return None;
        }
    };
    let path = match flag {
        Flag::Write => with_its_companions(refusal, path, grant_limits),
        Flag::Read => repository(refusal, path)
            .filter(|top| grant_limits.may_open(flag, top))
            .unwrap_or(path),
        Flag::Exec | Flag::Socket | Flag::WriteGuarded => path,
    };
    if is_harmful(flag, path, grant_limits) {
        return None;
    }
    Some(PathGrant {
        flag,
        path: path.to_path_buf(),
    })
}

/// Never suggested, so that pasting a line doesn't grant it: whole homes and machines, devices, files that the machine
/// runs on or trusts, and sockets of services that carry out any request.
fn is_harmful(flag: Flag, path: &Path, grant_limits: &GrantLimits<'_>) -> bool {
    const WHOLE: [&str; 8] = ["/", "/home", "/root", "/etc", "/var", "/dev", "/proc", "/sys"];
    const OF_THE_MACHINE: [&str; 11] = [
        "/etc",
        "/proc",
        "/sys",
        "/dev",
        "/boot",
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib64",
        "/var/spool",
    ];
    let is_whole = WHOLE.iter().any(|tree| path == Path::new(tree)) || grant_limits.is_home(path);
    is_whole
        || match flag {
            Flag::Write | Flag::WriteGuarded => OF_THE_MACHINE.iter().any(|tree| path.starts_with(tree)),
            Flag::Read | Flag::Exec => path.starts_with("/dev"),
            Flag::Socket => crate::policy::is_powerful_socket(path),
        }
}

/// The path that must be writable for one file to be: git locks, renames and adds in its own directory, a database
/// keeps journals beside it, an archive is replaced, and the next run invents another name. The top of what is granted
/// stays where it is ([`TOP_STAYS`](super::TOP_STAYS)), so a link, and the removal of a directory, need the one above.
fn with_its_companions<'a>(refusal: &Refusal, path: &'a Path, grant_limits: &GrantLimits<'_>) -> &'a Path {
    let git = path
        .ancestors()
        .skip(1)
        .find(|above| above.file_name() == Some(OsStr::new(".git")));
    let is_made_up = || refusal.kind == Kind::Create && grant_limits.is_made_up(refusal, path);
    // It tries the archive itself, and then writes another file that it renames.
    let is_of_zip = refusal.program.rsplit(|byte| *byte == b'/').next() == Some(b"zip".as_slice());
    let beside = path
        .parent()
        .filter(|_| is_of_zip || is_of_database(path) || is_of_top(refusal, path, grant_limits) || is_made_up());
    match git.or(beside) {
        Some(directory) if grant_limits.may_open(Flag::Write, directory) => directory,
        _ => path,
    }
}

fn is_of_top(refusal: &Refusal, path: &Path, grant_limits: &GrantLimits<'_>) -> bool {
    let is_inside_root = || grant_limits.policy.is_some_and(|policy| policy.is_inside_root(path));
    let is_link = refusal.kind == Kind::Create && refusal.syscall.starts_with("symlink");
    is_link || refusal.kind == Kind::Delete && refusal.is_directory && !is_inside_root()
}

/// The repository of a file that git reads first: if git reads any of it, it reads all. `None` for other programs.
fn repository<'a>(refusal: &Refusal, path: &'a Path) -> Option<&'a Path> {
    const FIRST: [&str; 3] = ["HEAD", "config", "packed-refs"];
    let program = refusal.program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let directory = path.parent()?;
    let is_bare = directory.extension() == Some(OsStr::new("git"));
    let is_its_own = directory.file_name() == Some(OsStr::new(".git")) || is_bare;
    (program.starts_with(b"git") && FIRST.contains(&name) && is_its_own).then_some(directory)
}

/// `app.db`, `app.sqlite3`, and SQLite's journals (sqlite.org/tempfiles.html).
fn is_of_database(path: &Path) -> bool {
    const ENDINGS: [&str; 8] = [
        ".db", ".db3", ".sqlite", ".sqlite3", ".s3db", "-journal", "-wal", "-shm",
    ];
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a program made a name up: `tmpk3_x9`, `x.json.tmp`, `sedQwErTy` of `sed`, `cc9Yx2.o` of `cc1`, `0aX3b9Qz`.
pub fn is_temporary(name: &str, program: &[u8]) -> bool {
    const RANDOM: usize = 6;
    const STARTS: [&str; 4] = ["tmp", ".tmp", "temp-", "temp_"];
    const ENDS: [&str; 7] = [".tmp", ".temp", ".part", ".lock", ".swp", ".new", "~"];
    let program = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let own = match program {
        b"sed" => Some("sed"),
        b"zip" => Some("zi"),
        // gnulib's temporary links that are renamed over another file.
        b"ln" => Some("Cu"),
        b"gcc" | b"g++" | b"cc1" | b"cc1plus" | b"collect2" => Some("cc"),
        _ => None,
    };
    let is_programs = |start: &str| name.len() >= start.len() + RANDOM && name.starts_with(start);
    STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
        || own.is_some_and(is_programs)
        || is_random(name.split('.').next().unwrap_or_default(), RANDOM)
}

/// Whether a name's last characters mix upper case, lower case and digits, as mktemp(3) does and no person.
fn is_random(stem: &str, length: usize) -> bool {
    let Some(end) = stem.len().checked_sub(length).and_then(|at| stem.as_bytes().get(at..)) else {
        return false;
    };
    let has = |is: fn(&u8) -> bool| end.iter().any(is);
    let is_plain = end.iter().all(u8::is_ascii_alphanumeric);
    is_plain && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// A run's limits on how wide a grant may be, or must be.
pub struct GrantLimits<'a> {
    /// `None` where it isn't known: then no grant is wider than the access.
    policy: Option<&'a Policy>,
    home: Option<&'a Path>,
    command: &'a [String],
}

impl<'a> GrantLimits<'a> {
    /// The limits of a run.
    pub fn new(policy: &'a Policy, home: Option<&'a Path>, command: &'a [String]) -> Self {
        GrantLimits {
            policy: Some(policy),
            home,
            command,
        }
    }

    /// The limits where the run's policy isn't known, for [`exact`] grants.
    pub fn without_policy(home: Option<&'a Path>) -> Self {
        GrantLimits {
            policy: None,
            home,
            command: &[],
        }
    }

    /// Whether the path is the caller's home or a person's of the user database, or contains one: `HOME` may name another.
    fn is_home(&self, path: &Path) -> bool {
        static PERSONS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| UserDatabase::here().homes_of_persons());
        let homes = self.home.into_iter().chain(PERSONS.iter().map(PathBuf::as_path));
        homes.into_iter().any(|home| home.starts_with(path))
    }

    /// Whether a program invented the name of a file that it wanted to create: the command line names the directory or
    /// the start of the name, or it looks like a temporary one.
    fn is_made_up(&self, refusal: &Refusal, path: &Path) -> bool {
        let text = |path: Option<&Path>| path.and_then(Path::to_str).unwrap_or_default().to_string();
        let (whole, directory) = (text(Some(path)), text(path.parent()));
        let name = text(path.file_name().map(Path::new));
        let asked = String::from_utf8_lossy(&refusal.asked);
        let mut arguments = self.command.iter().skip(1);
        if arguments.clone().any(|text| names_path(text, &[&whole, &asked])) {
            return false;
        }
        is_temporary(&name, &refusal.program)
            || arguments.any(|text| names_path(text, &[&directory]) || names_the_start(text, &directory, &name))
    }

    /// Whether a directory may be granted in place of accesses in it: not one of the machine's own, none that contains
    /// a home, and none in which something must stay closed at a known path.
    pub fn may_open(&self, flag: Flag, directory: &Path) -> bool {
        const WIDE: [&str; 10] = [
            "/", "/etc", "/var", "/dev", "/home", "/opt", "/srv", "/mnt", "/media", "/boot",
        ];
        const MACHINE: [&str; 3] = ["/proc", "/sys", "/run"];
        let is_wide = WIDE.iter().any(|wide| directory == Path::new(wide))
            || MACHINE.iter().any(|tree| directory.starts_with(tree))
            || crate::command::is_below_base(directory)
            || self.is_home(directory);
        let Some(policy) = self.policy else {
            return false;
        };
        // `/tmp` holds names that programs obey, and is what people grant.
        let is_of_tmp =
            |denial: &&DenialRule| denial.kind == DenialKind::Guarded && matches!(denial.target, Target::Glob { .. });
        let closes_inside = policy
            .denials
            .iter()
            .filter(|denial| denial.access.intersects(flag.access()) && !is_of_tmp(denial))
            .any(|denial| denial.is_within(directory));
        !is_wide && !closes_inside
    }
}

/// A target's path; `None` for an address, a process, a call, or a truncated target.
pub fn path_of(target: &[u8]) -> Option<&Path> {
    let is_whole_path = target.starts_with(b"/") && target.len() < Refusals::MAX_LENGTH && !target.contains(&0);
    is_whole_path.then(|| Path::new(OsStr::from_bytes(target)))
}
