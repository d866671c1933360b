//! What a reader finds.

use std::ops::Range;

use super::language::Language;
use super::text::Text;

/// One act of a script, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it does.
    pub act: Act,
    /// By what: the API's qualified name, the command's name.
    pub by: String,
    /// Bytes of the source.
    pub at: Range<usize>,
    /// Whether it is only likely: a method with a telling name on something unknown, say.
    pub is_guess: bool,
}

/// An act. Paths are as in the program: relative ones start at the run's root, `~` stands for the home directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Reads or lists a file or directory.
    Read(Text),
    /// Creates, changes, moves or removes one.
    Write(Text),
    /// Connects to a URL, a `host:port` or a host.
    Connect(Text),
    /// Listens on a port.
    Listen,
    /// Looks at an environment variable; unknown: at any of them.
    Variable(Text),
    /// Starts a program: its words, the first is the program.
    Start(Vec<Text>),
    /// Has a shell read a line.
    Shell(Text),
    /// Has another interpreter read code.
    Code(Language, Text),
    /// Makes a directory the current one; relative paths behind it start there.
    Enter(Text),
    /// Goes back to the directory in which the text that is read began.
    Back,
    /// Does what can't be seen through.
    Opaque(Opaque),
}

/// Why code can't be seen through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opaque {
    /// It runs code that it builds or gets: `eval(text)`.
    BuiltCode,
    /// It runs what it fetched: `curl … | sh`.
    RemoteCode,
    /// It imports a module whose name is computed.
    ComputedImport,
    /// It calls something whose name is computed: `getattr(os, name)()`.
    ComputedName,
    /// It uses a module of which nothing is known.
    UnknownModule(String),
    /// It starts a program of which nothing is known.
    UnknownProgram(String),
    /// It runs another file's code: a script that it starts, a worker.
    OtherFile(String),
    /// It imports or sources a file beside it, whose code isn't read.
    Unfollowed(String),
    /// It doesn't parse.
    Unparsed(String),
    /// It is more than is read: too deep, too much.
    TooMuch(&'static str),
}

impl Opaque {
    /// Another file's code that is loaded by this name: one that is relative leads to the script's own files.
    pub fn loaded(name: &str, shown: String) -> Opaque {
        match name.starts_with(['/', '~']) {
            true => Opaque::OtherFile(shown),
            false => Opaque::Unfollowed(shown),
        }
    }
}

impl Finding {
    /// A sure one.
    pub fn new(act: Act, by: impl Into<String>, at: Range<usize>) -> Finding {
        Finding {
            act,
            by: by.into(),
            at,
            is_guess: false,
        }
    }

    /// The same, only likely.
    pub fn guessed(self) -> Finding {
        Finding { is_guess: true, ..self }
    }
}
