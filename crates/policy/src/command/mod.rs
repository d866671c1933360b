//! The command to start, and the files that belong to it.
//!
//! [`find`] determines the program, the interpreters of its `#!` lines, the script that it runs, and its installation
//! (a virtual environment, a version manager's Python or Node, a toolchain), so that it starts even under a profile
//! that grants nothing. It reads links, markers and first bytes; it starts nothing and decides nothing. It must never
//! return a directory wider than an installation, which `fence` ensures.

mod error;
mod fence;
mod installation;
mod interpreter;
mod interpreter_table;
mod java;
mod link;
mod manager;
mod marker;
mod node;
mod prefix;
mod program;
mod pyenv;
mod python;
mod rust;
mod script;
mod search_path;
pub mod shebang;
mod split;
mod trace;
mod wrapper;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub use error::{CommandError, Obstacle};

/// The trees that the runtime base grants to every run. Files in them need no other grant.
pub const BASE_TREES: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Looks up a variable of the caller's environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The caller's request for a command.
pub struct Request<'a> {
    /// The command's name and its arguments.
    pub argv: &'a [OsString],
    /// The run's root, absolute. It is the target's working directory, so relative names are resolved against it.
    pub root: &'a Path,
    /// The caller's `PATH`.
    pub search_path: Option<&'a OsStr>,
    /// The caller's home directory.
    pub home: Option<&'a Path>,
    /// The caller's environment.
    pub variable: Variable<'a>,
    /// The trees where runs may have made programs, links and markers, in any order. A link in one that leads out of it may
    /// be a run's, and opens nothing for which it matters who named a path.
    pub written: &'a [PathBuf],
    /// If the run may start programs other than the command: the trees that it may write. The installations on the
    /// search path are then added.
    pub others: Option<&'a [PathBuf]>,
    /// Whether the words are another party's than the user's. A program that the search path finds outside of [`written`]
    /// brings its files, and no word brings any by its path.
    ///
    /// [`written`]: Request::written
    pub is_foreign: bool,
    /// If the words were taken from a script's text: the script. No other word counts as one.
    pub script: Option<&'a Path>,
}

/// The resolved command, and the files that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedCommand {
    /// The absolute path for `execve(2)`. Its links aren't resolved: Python finds `pyvenv.cfg` from it.
    pub program: PathBuf,
    /// The arguments as given, the name first.
    pub argv: Vec<OsString>,
    /// The kernel's paths of the program, its `#!` interpreters and the programs that wrappers like `env` start, in this order.
    pub executables: Vec<PathBuf>,
    /// The number of `execve(2)` calls until the last of them runs: one, and one more for each wrapper.
    pub starts: u32,
    /// The files and trees needed besides the base, in the order found. None lies in another or in the base.
    pub installation: Vec<Belongs>,
    /// The kernel's paths of the scripts given to interpreters, to be granted for reading only.
    pub entrypoints: Vec<PathBuf>,
    /// The variables that the installation needs, such as `RUSTUP_HOME`.
    pub variables: Vec<(OsString, OsString)>,
    /// What the user typed, if a link that a run may have made leads to it.
    pub left_out: Option<LeftOut>,
    /// Directories of the caller's search path, as written, that the installation opens or that hold one of the programs: a
    /// wrapper searches for that once more.
    pub search_path: Vec<PathBuf>,
}

impl ResolvedCommand {
    /// An empty command, without an installation.
    pub fn nothing() -> ResolvedCommand {
        ResolvedCommand {
            program: PathBuf::new(),
            argv: Vec::new(),
            executables: Vec::new(),
            starts: 1,
            installation: Vec::new(),
            entrypoints: Vec::new(),
            variables: Vec::new(),
            left_out: None,
            search_path: Vec::new(),
        }
    }
}

/// A program that isn't brought, or without its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The path that it was to be started by.
    pub path: PathBuf,
    /// Where the link leads.
    pub place: PathBuf,
}

/// A file or tree of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belongs {
    /// The kernel's path.
    pub path: PathBuf,
    /// The access of the run.
    pub access: InstallationAccess,
    /// The description, as the end of "granted because it is …".
    pub reason: &'static str,
}

/// The run's access to a part of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstallationAccess {
    /// Read.
    Read,
    /// Read and execute.
    Execute,
}

/// Finds the program of a request and the files that belong to it.
///
/// # Errors
/// It isn't found, or can't be executed.
pub fn find(request: &Request<'_>) -> Result<ResolvedCommand, CommandError> {
    check(request.argv)?;
    let program = program::search(&request.argv[0], request.search_path, request.root)?;
    let path = program.path.clone();
    let mut traced = trace::trace(request, program)?;
    let mut search_path = traced.searched;
    if let Some(written) = request.others {
        search_path.extend(search_path::add(&mut traced.installation, written));
    }
    Ok(ResolvedCommand {
        program: path,
        argv: request.argv.to_vec(),
        executables: traced.executables,
        starts: traced.starts,
        installation: traced.installation.belongs,
        entrypoints: traced.entrypoints,
        variables: traced.installation.variables,
        left_out: traced.installation.left_out,
        search_path,
    })
}

fn check(argv: &[OsString]) -> Result<(), CommandError> {
    if argv.first().is_none_or(|name| name.is_empty()) {
        return Err(CommandError::Empty);
    }
    match argv.iter().position(|argument| argument.as_bytes().contains(&0)) {
        Some(index) => Err(CommandError::Nul { index }),
        None => Ok(()),
    }
}

/// Whether the runtime base covers this path, which must be the kernel's.
pub fn is_below_base(real: &Path) -> bool {
    BASE_TREES.iter().any(|tree| real.starts_with(tree))
}
