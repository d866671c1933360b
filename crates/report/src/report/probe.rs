//! Accesses that programs try at their start and don't need: such a refusal explains nothing.
//!
//! Taken from traces of Python, Node, npm, git, bash, gcc, cargo and curl. A name that the program was given, or blames
//! in its output, is no probe, whatever is listed here; `explanation` checks that.

use std::path::Path;

use super::grant::path_of;
use super::refusal::Refusal;
use crate::policy::Kind;

/// Whether a refused access is one that programs don't need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Programs need it.
    No,
    /// Some programs need it, some don't.
    Perhaps,
    /// Programs don't need it.
    Yes,
}

/// Calls that run-times and libraries try, with a fallback.
const CALLS: &[&str] = &[
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "perf_event_open",
    "userfaultfd",
    "bpf",
    "keyctl",
    "add_key",
    "request_key",
    "memfd_secret",
    "mbind",
    "set_mempolicy",
    "get_mempolicy",
    "move_pages",
    "migrate_pages",
    "set_mempolicy_home_node",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    "setpriority",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "sched_setaffinity",
    "ioprio_set",
    "ioprio_get",
    "seccomp",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "kcmp",
    "personality",
    "clone3",
    "name_to_handle_at",
    "fanotify_init",
    "modify_ldt",
    "cachestat",
    "mseal",
    "statmount",
    "listmount",
    "syslog",
    "quotactl",
    "mlockall",
    "inotify_init",
    "inotify_add_watch",
    "rseq",
    "membarrier",
    "pidfd_getfd",
    "process_madvise",
    "vmsplice",
    "prctl",
    "ioctl",
];

/// Sockets of services that libc and loggers try first.
const SOCKETS: &[&str] = &[
    "/run/nscd",
    "/var/run/nscd",
    "/run/systemd",
    "/var/run/systemd",
    "/dev/log",
    "/var/lib/sss",
    "/run/udev",
    "/run/avahi-daemon",
    "/var/run/avahi-daemon",
];

/// Netlink, from which libc and Node read the machine's interfaces, and the kernel's cryptography.
const FAMILIES: &[&[u8]] = &[b"netlink", b"kernel cryptography"];

/// Trees that describe the machine, and settings that are read if they exist.
const TREES: &[&str] = &[
    "/proc",
    "/sys",
    "/etc/host.conf",
    "/etc/machine-id",
    "/var/lib/dbus/machine-id",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/environment",
    "/etc/inputrc",
    "/etc/pip.conf",
    "/etc/npmrc",
    "/etc/krb5.conf",
    "/etc/krb5.conf.d",
    "/etc/selinux",
    "/etc/rustup",
    "/etc/pyenv.d",
    "/etc/curlrc",
    "/etc/vim",
    "/etc/nanorc",
    "/etc/lesskey",
    "/etc/sysconfig",
    "/etc/default",
    "/etc/login.defs",
    "/etc/gcrypt",
    "/etc/OpenCL",
    "/etc/nodejs",
    "/etc/mailcap",
    "/etc/xdg",
    "/etc/java",
    "/etc/perl",
    "/etc/malloc.conf",
    "/etc/libnl",
    "/etc/ldap",
    "/etc/openldap",
    "/etc/apt",
    "/run/user",
    "/dev/shm",
    // The placeholder home of a run without one.
    "/nonexistent",
];

/// Files that programs keep for themselves in the home.
const IN_HOME: &[&str] = &[".npm", ".rustup/settings.toml"];

/// Names that programs look for in many directories.
const NAMES: &[&str] = &[
    "pyvenv.cfg",
    "sitecustomize.py",
    "usercustomize.py",
    "__pycache__",
    ".pytest_cache",
    "python-wheels",
    ".python-version",
    ".tool-versions",
    ".node-version",
    ".nvmrc",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".editorconfig",
    ".python_history",
    ".node_repl_history",
    ".bash_history",
    ".lesshst",
    ".viminfo",
    ".git-blame",
    ".cache",
    "_logs",
    "_cacache",
    ".ruff_cache",
    ".mypy_cache",
];

/// Prefixes of such names: Java exports its counters there.
const BEGINNINGS: &[&str] = &["hsperfdata_"];

/// Suffixes of names that programs look for and don't need.
const ENDINGS: &[&str] = &[".pyc", ".pth", "._pth", ".gcda", "_history"];

/// Names that a program looks for upwards from directory to directory, and that its package managers work on.
const UPWARDS: &[&str] = &[
    "package.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "pnpm-workspace.yaml",
    ".git",
    "Cargo.toml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
    ".cargo",
    "go.mod",
    "go.work",
    ".hg",
];

/// Programs that look for [`UPWARDS`] only to configure themselves.
const MANAGERS: &[&str] = &[
    "npm", "npx", "pnpm", "yarn", "bun", "git", "cargo", "go", "tsc", "pip", "uv", "poetry",
];

/// Programs that list directories by themselves.
const RUN_TIMES: &[&str] = &[
    "python", "pypy", "node", "bun", "deno", "ruby", "perl", "php", "java", "bash", "sh", "dash", "zsh", "git", "npm",
    "npx", "cargo", "rustc", "go", "lua", "R", "julia", "gcc", "cc", "ld",
];

/// The facts about a run that identify probes.
pub struct ProbePlaces<'a> {
    /// The run's root.
    pub root: &'a Path,
    /// The caller's home.
    pub home: Option<&'a Path>,
    /// The command's name, without its directory.
    pub command: &'a str,
}

/// Whether a refusal is a probe.
pub fn probe(refusal: &Refusal, places: &ProbePlaces<'_>) -> Probe {
    let path = path_of(&refusal.target);
    match (refusal.kind, path) {
        (Kind::Syscall, _) => yes_if(CALLS.contains(&&*refusal.syscall)),
        (Kind::Socket, Some(path)) => yes_if(is_below(path, SOCKETS)),
        // Each interactive shell tries to set its terminal's size, and goes on without; `stty` is there for it.
        (Kind::Metadata, None) => yes_if(refusal.syscall == "ioctl" && !refusal.program.ends_with(b"/stty")),
        // urllib3 tries which versions of IP there are.
        (Kind::Listen, _) => yes_if(places.command == "pip" && refusal.target.ends_with(b":0")),
        (Kind::Socket, None) => yes_if(FAMILIES.contains(&&*refusal.target)),
        (Kind::Read | Kind::Write | Kind::Create | Kind::Metadata, Some(path)) => of_file(refusal, path, places),
        _ => Probe::No,
    }
}

/// Whether only its name marks a file as often not needed: some program needs it, too.
pub fn may_be_needed(refusal: &Refusal, places: &ProbePlaces<'_>) -> bool {
    path_of(&refusal.target).is_some_and(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !refusal.is_directory && (UPWARDS.contains(&name) || is_dot_file(path, places.home))
    })
}

fn of_file(refusal: &Refusal, path: &Path, places: &ProbePlaces<'_>) -> Probe {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let inside = path.strip_prefix(places.root).unwrap_or(path);
    // pip looks whether it may install for all, and else installs for its user.
    let is_only_asked = name == "site-packages" && refusal.syscall.contains("access");
    let is_common = is_only_asked
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || inside.iter().filter_map(|part| part.to_str()).any(is_common_name)
        || is_kept_in(places.home, path);
    if is_common || is_below(path, TREES) || path.starts_with("/dev/tty") {
        return Probe::Yes;
    }
    if refusal.kind != Kind::Read {
        return Probe::No;
    }
    if UPWARDS.contains(&name) {
        let is_work = places.root == path.parent().unwrap_or(path) && MANAGERS.contains(&places.command);
        return if is_work { Probe::Perhaps } else { Probe::Yes };
    }
    if refusal.is_directory {
        return of_directory(refusal, path, places);
    }
    yes_if(is_dot_file(path, places.home))
}

fn is_common_name(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_kept_in(home: Option<&Path>, path: &Path) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.is_some_and(|below| is_below(below, IN_HOME))
}

/// Run-times list a script's directory and its parents; `ls` needs what it lists.
fn of_directory(refusal: &Refusal, path: &Path, places: &ProbePlaces<'_>) -> Probe {
    let is_above = places.root.starts_with(path) || places.home.is_some_and(|home| home.starts_with(path));
    // pip's `distro` looks there for the system's name.
    let is_looked_through = path == Path::new("/etc") && is_run_time(&refusal.program);
    if is_dot_file(path, places.home) || is_looked_through {
        Probe::Yes
    } else if !is_above {
        Probe::No
    } else if is_run_time(&refusal.program) || path == Path::new("/") {
        Probe::Yes
    } else {
        Probe::Perhaps
    }
}

/// Whether a path lies in a directory or file of the home whose name begins with a dot.
fn is_dot_file(path: &Path, home: Option<&Path>) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let first = below.and_then(|below| below.iter().next());
    first.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn is_run_time(program: &[u8]) -> bool {
    let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    // `python3.12`, `ruby3.1`, `gcc-14`
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    RUN_TIMES.contains(&plain)
}

fn is_below(path: &Path, trees: &[&str]) -> bool {
    trees.iter().any(|tree| path.starts_with(tree))
}

fn yes_if(condition: bool) -> Probe {
    if condition { Probe::Yes } else { Probe::No }
}
