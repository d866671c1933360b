//! The errors of starting a command, in words for a person.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The reason that a command can't be started. The exit codes are those of POSIX shells.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No program was named.
    #[error("no command was given")]
    Empty,
    /// An argument can't be passed to `execve(2)`.
    #[error("argument {index} contains a NUL byte")]
    Nul {
        /// The index of the argument; 0 is the command's name.
        index: usize,
    },
    /// No file has that name.
    #[error("`{}` not found{}", visible(.name.as_os_str()), describe_search(.searched))]
    NotFound {
        /// The requested name.
        name: PathBuf,
        /// The searched directories; empty if the name contains a `/`.
        searched: Vec<PathBuf>,
        /// The likely intention, if it can be determined.
        hint: Option<String>,
    },
    /// The file exists, but the kernel won't execute it.
    #[error("`{}` is not executable: {obstacle}", visible(.path.as_os_str()))]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// The obstacle.
        obstacle: Obstacle,
    },
    /// The first line of a script names a program that doesn't exist.
    #[error(
        "`{}` can't start: its interpreter `{}` does not exist",
        visible(.script.as_os_str()),
        visible(.interpreter.as_os_str())
    )]
    MissingInterpreter {
        /// The script.
        script: PathBuf,
        /// The interpreter as written in the script.
        interpreter: PathBuf,
    },
    /// An interpreter was given a file that the caller may not read.
    #[error("the script `{}` can't be read: permission denied", visible(.path.as_os_str()))]
    UnreadableScript {
        /// The script.
        path: PathBuf,
    },
    /// Scripts that are each other's interpreters, nested deeper than the kernel follows.
    #[error("`{}` needs more than {limit} interpreters in a row", visible(.path.as_os_str()))]
    TooManyInterpreters {
        /// The command that started the chain.
        path: PathBuf,
        /// The most interpreters to follow.
        limit: usize,
    },
}

/// The obstacle to executing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// It is a directory.
    #[error("it is a directory")]
    Directory,
    /// It is a device, a FIFO or a socket.
    #[error("it is not a regular file")]
    NotRegular,
    /// The caller may not execute it, or its file system is mounted `noexec`.
    #[error("no execute permission")]
    Permission,
    /// A directory on the way to it can't be searched.
    #[error("a directory on the way to it can't be searched")]
    Unreachable,
    /// Its symbolic links form a loop.
    #[error("its symbolic links lead in a circle")]
    LinkLoop,
    /// It is neither an ELF file nor starts with a usable `#!` line.
    #[error("it is neither a program nor a script with a `#!` line")]
    Format,
    /// The file system returned an error.
    #[error("reading it failed ({0})")]
    Broken(std::io::ErrorKind),
}

impl CommandError {
    /// The exit code of a shell: 127 for not found, 126 for not executable; 125 for an invalid request.
    pub fn exit_code(&self) -> u8 {
        match self {
            CommandError::Empty | CommandError::Nul { .. } => 125,
            CommandError::NotFound { .. } | CommandError::MissingInterpreter { .. } => 127,
            CommandError::NotExecutable { .. }
            | CommandError::UnreadableScript { .. }
            | CommandError::TooManyInterpreters { .. } => 126,
        }
    }

    /// The suggested remedy.
    pub fn hint(&self) -> Option<String> {
        match self {
            CommandError::NotFound { hint, searched, .. } => {
                let usual = || "install it, or name its file by a path, as in `./program`".to_owned();
                hint.clone().or_else(|| (!searched.is_empty()).then(usual))
            }
            CommandError::NotExecutable { path, obstacle } => match obstacle {
                Obstacle::Format => Some("add a `#!` line, for example `#!/bin/sh`".to_owned()),
                Obstacle::Permission => Some(format!("run `chmod +x {}`", visible(path.as_os_str()))),
                _ => None,
            },
            CommandError::MissingInterpreter { interpreter, .. } => {
                let carriage_return = interpreter.as_os_str().as_encoded_bytes().ends_with(b"\r");
                carriage_return.then(|| "the script has Windows line endings; convert it with `dos2unix`".to_owned())
            }
            CommandError::UnreadableScript { path } => Some(format!("run `chmod +r {}`", visible(path.as_os_str()))),
            CommandError::Empty | CommandError::Nul { .. } | CommandError::TooManyInterpreters { .. } => None,
        }
    }
}

fn describe_search(searched: &[PathBuf]) -> String {
    match searched {
        [] => String::new(),
        [one] => format!(" in `{}`, the only directory of `PATH`", visible(one.as_os_str())),
        many => format!(" in the {} directories of `PATH`", many.len()),
    }
}

/// A name as text in which no character can move the cursor, pad or hide. Interpreters' names come from scripts of
/// unknown origin.
pub(super) fn visible(name: &OsStr) -> String {
    stockade_text::visible::visible(&name.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_escape_what_could_move_the_cursor() {
        let error = CommandError::MissingInterpreter {
            script: "/work/a\u{1b}[2J.py".into(),
            interpreter: "/bin/\u{202e}hs\r".into(),
        };
        assert_eq!(
            error.to_string(),
            r"`/work/a\u{1b}[2J.py` can't start: its interpreter `/bin/\u{202e}hs\r` does not exist"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("Windows line endings")));
    }

    #[test]
    fn not_found_says_how_far_it_looked() {
        let error = |searched: &[&str]| CommandError::NotFound {
            name: "pyhton".into(),
            searched: searched.iter().map(PathBuf::from).collect(),
            hint: None,
        };
        assert_eq!(error(&[]).to_string(), "`pyhton` not found");
        assert_eq!(
            error(&["/bin"]).to_string(),
            "`pyhton` not found in `/bin`, the only directory of `PATH`"
        );
        assert_eq!(
            error(&["/bin", "/sbin"]).to_string(),
            "`pyhton` not found in the 2 directories of `PATH`"
        );
    }
}
