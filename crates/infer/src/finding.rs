//! The findings of the readers.

use std::ops::Range;

use super::language::Language;
use super::text::Text;

/// One act of a script, and its location.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The act.
    pub act: Act,
    /// The API's qualified name, or the command's name.
    pub by: String,
    /// Byte range in the source.
    pub at: Range<usize>,
    /// Whether it is a guess: for example, a method with a distinctive name on an unknown value.
    pub is_guess: bool,
}

/// An act. Paths are as in the program: relative ones are resolved from the run's root, `~` is the home directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Reads or lists a file or directory.
    Read(Text),
    /// Creates, changes, moves or removes a file or directory.
    Write(Text),
    /// Connects to a URL, a `host:port` or a host.
    Connect(Text),
    /// Listens on a port.
    Listen,
    /// Reads an environment variable; an unknown name means any of them.
    Variable(Text),
    /// Starts a program: its argument vector, program first.
    Start(Vec<Text>),
    /// Runs a command line in a shell.
    Shell(Text),
    /// Runs code in another interpreter.
    Code(Language, Text),
    /// Changes the current directory; later relative paths are resolved from it.
    Enter(Text),
    /// Returns to the directory in which the current text started.
    Back,
    /// Does something that can't be analysed.
    Opaque(Opaque),
}

/// The reason why code can't be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opaque {
    /// It runs code that it builds or receives: `eval(text)`.
    BuiltCode,
    /// It runs what it fetched: `curl … | sh`.
    RemoteCode,
    /// It imports a module whose name is computed.
    ComputedImport,
    /// It calls something whose name is computed: `getattr(os, name)()`.
    ComputedName,
    /// It uses an unknown module.
    UnknownModule(String),
    /// It starts an unknown program.
    UnknownProgram(String),
    /// It runs another file's code: a script that it starts, a worker.
    OtherFile(String),
    /// It imports or sources a file next to it, whose code isn't read.
    Unfollowed(String),
    /// It doesn't parse.
    Unparsed(String),
    /// It exceeds a limit of depth or size.
    TooMuch(&'static str),
}

impl Opaque {
    /// Classifies code loaded from another file by its name: a relative name means the script's own files.
    pub fn loaded(name: &str, shown: String) -> Opaque {
        match name.starts_with(['/', '~']) {
            true => Opaque::OtherFile(shown),
            false => Opaque::Unfollowed(shown),
        }
    }
}

impl Finding {
    /// A certain finding.
    pub fn new(act: Act, by: impl Into<String>, at: Range<usize>) -> Finding {
        Finding {
            act,
            by: by.into(),
            at,
            is_guess: false,
        }
    }

    /// The same finding, marked as a guess.
    pub fn guessed(self) -> Finding {
        Finding { is_guess: true, ..self }
    }
}
