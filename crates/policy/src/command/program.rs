//! A file that the kernel would execute: its path and its first bytes.
//!
//! Only regular files are opened: a FIFO would block, and opening a device can have effects.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use super::error::{CommandError, Obstacle, visible};
use super::shebang::{HEAD_BYTES, Shebang};

/// The search path of `execvp(3)` if `PATH` is unset.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// An executable file.
#[derive(Debug)]
pub(super) struct Program {
    /// The path to execute it by; its links aren't resolved.
    pub path: PathBuf,
    /// The kernel's path of the file.
    pub real: PathBuf,
    /// The type by its first bytes.
    pub head: Head,
}

/// The type of an executable file by its first bytes.
#[derive(Debug)]
pub(super) enum Head {
    /// An ELF header, or bytes that the caller may execute but not read.
    Binary,
    /// A `#!` line.
    Script(Shebang),
}

/// The reason that a path isn't a program.
#[derive(Debug)]
pub(super) enum NotAProgram {
    /// No such file.
    Absent,
    /// A file that can't be executed.
    Obstacle(Obstacle),
}

/// Finds the program called `name`, as a shell whose working directory is `root` would.
pub(super) fn search(name: &OsStr, search_path: Option<&OsStr>, root: &Path) -> Result<Program, CommandError> {
    if name.as_bytes().contains(&b'/') {
        let path: PathBuf = root.join(name).components().collect();
        return inspect(&path).map_err(|refusal| match refusal {
            NotAProgram::Absent => CommandError::NotFound {
                hint: hint_for_path(&path),
                name: path,
                searched: Vec::new(),
            },
            NotAProgram::Obstacle(obstacle) => CommandError::NotExecutable { path, obstacle },
        });
    }
    let mut blocked = None;
    for directory in directories(search_path) {
        let path = directory.join(name);
        match inspect(&path) {
            Ok(program) => return Ok(program),
            Err(NotAProgram::Obstacle(obstacle @ Obstacle::Format)) => {
                return Err(CommandError::NotExecutable { path, obstacle });
            }
            Err(NotAProgram::Obstacle(obstacle @ (Obstacle::Permission | Obstacle::LinkLoop))) => {
                blocked.get_or_insert(CommandError::NotExecutable { path, obstacle });
            }
            Err(_) => {}
        }
    }
    Err(blocked.unwrap_or_else(|| CommandError::NotFound {
        name: name.into(),
        searched: directories(search_path).map(Path::to_owned).collect(),
        hint: hint_for_name(name, root),
    }))
}

/// The directories of a `PATH`. An empty or relative entry means the working directory or one below it; that is the
/// run's root, where the run itself may have put a program of that name, so such entries are skipped.
pub(super) fn directories(search_path: Option<&OsStr>) -> impl Iterator<Item = &Path> {
    let path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    path.as_bytes()
        .split(|&byte| byte == b':')
        .map(|entry| Path::new(OsStr::from_bytes(entry)))
        .filter(|p| p.is_absolute())
}

/// Inspects one absolute path. Six system calls for an ELF file.
pub(super) fn inspect(path: &Path) -> Result<Program, NotAProgram> {
    let metadata = fs::metadata(path).map_err(|error| refusal_of(&error))?;
    if metadata.is_dir() {
        return Err(NotAProgram::Obstacle(Obstacle::Directory));
    }
    if !metadata.is_file() {
        return Err(NotAProgram::Obstacle(Obstacle::NotRegular));
    }
    if !may(path, AccessFlags::X_OK) {
        return Err(NotAProgram::Obstacle(Obstacle::Permission));
    }
    match open(path, libc::O_NONBLOCK) {
        Ok(file) => {
            let head = read_head(&file)?;
            let real = real_path(&file, path).map_err(|error| refusal_of(&error))?;
            Ok(Program {
                path: path.to_owned(),
                real,
                head,
            })
        }
        // A program may be executable and unreadable (mode 0711); then only the kernel sees its first bytes.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let real = canonical(path).map_err(|error| refusal_of(&error))?;
            Ok(Program {
                path: path.to_owned(),
                real,
                head: Head::Binary,
            })
        }
        Err(error) => Err(refusal_of(&error)),
    }
}

/// The kernel's path of an existing file, found without opening its contents.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let file = open(path, libc::O_PATH)?;
    real_path(&file, path)
}

/// Whether the caller has this access to the file, by its effective ids and the file system's mount options.
pub(super) fn may(path: &Path, access: AccessFlags) -> bool {
    faccessat(AT_FDCWD, path, access, AtFlags::AT_EACCESS).is_ok()
}

fn open(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags | libc::O_NOCTTY)
        .open(path)
}

fn read_head(mut file: &File) -> Result<Head, NotAProgram> {
    let mut head = [0; HEAD_BYTES];
    let mut length = 0;
    while length < 4 {
        match file.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(refusal_of(&error)),
        }
    }
    let head = &head[..length];
    if head.starts_with(b"\x7fELF") {
        return Ok(Head::Binary);
    }
    Shebang::parse(head)
        .map(Head::Script)
        .ok_or(NotAProgram::Obstacle(Obstacle::Format))
}

/// One `readlink` instead of one per component; without `/proc`, the slow way.
fn real_path(file: &File, path: &Path) -> io::Result<PathBuf> {
    match fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
        // The kernel appends ` (deleted)` to the name of a file that was replaced meanwhile.
        Ok(real) if real.is_absolute() && !real.as_os_str().as_bytes().ends_with(b" (deleted)") => Ok(real),
        _ => fs::canonicalize(path),
    }
}

fn refusal_of(error: &io::Error) -> NotAProgram {
    match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, _) | (_, Some(libc::ENAMETOOLONG)) => {
            NotAProgram::Absent
        }
        (io::ErrorKind::PermissionDenied, _) => NotAProgram::Obstacle(Obstacle::Unreachable),
        (_, Some(libc::ELOOP)) => NotAProgram::Obstacle(Obstacle::LinkLoop),
        (kind, _) => NotAProgram::Obstacle(Obstacle::Broken(kind)),
    }
}

fn hint_for_path(path: &Path) -> Option<String> {
    let target = fs::read_link(path).ok()?;
    Some(format!(
        "it is a symbolic link to `{}`, which does not exist",
        visible(target.as_os_str())
    ))
}

fn hint_for_name(name: &OsStr, root: &Path) -> Option<String> {
    // Shell builtins that people most often type first.
    const OF_SHELLS: [&str; 10] = [
        "cd", "export", "source", ".", "alias", "set", "ulimit", "umask", "eval", "exec",
    ];
    if OF_SHELLS.iter().any(|word| name == *word) {
        let name = visible(name);
        return Some(format!("a shell does `{name}` itself: write `sh -c '{name} …'`"));
    }
    if name.as_bytes().contains(&b' ') {
        return Some(format!(
            "for a whole line of the shell, write `sh -c '{}'`",
            visible(name)
        ));
    }
    let here = !name.is_empty() && root.join(name).is_file();
    here.then(|| format!("for the file in the run's root, write `./{}`", visible(name)))
}
