//! Every error that can keep a run from starting, with hints.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::CommandError;
use crate::config::ConfigurationError;
use crate::kernel::{Absence, NO_SECCOMP, Unsupervised};
use crate::launch::{LaunchError, Step};
use crate::plan::PlanError;
use crate::policy::{DenialKind, DenialRule, NetworkChoice, Target};
use crate::profile::{HostError, Origin, ProfileError, visible};

/// The reason why a run was refused or could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The profile isn't known or has faults.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The command doesn't exist or isn't executable.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// This machine can't enforce the policy.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The user's configuration can't be read, or has faults.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The run could change a program that Stockade starts unconfined.
    #[error(
        "the run could change `{}`, which `{said}` starts unconfined, and there is no supervisor to keep it",
        visible(&path.to_string_lossy())
    )]
    Unconfined {
        /// The flag or the field that names the program.
        said: String,
        /// The file.
        path: PathBuf,
    },
    /// A step of the launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The kernel would not execute the program.
    #[error("can't execute `{}`", .path.display())]
    Execute {
        /// The program.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The caller's directory can't be determined, or another user could have written the configuration.
    #[error("the caller's directories can't be used")]
    Surroundings(#[source] io::Error),
    /// A pattern of a denial matches more links than are followed; the others' targets would stay open.
    #[error("the pattern of {origin} matches more than {most} links")]
    ManyLinks {
        /// The denial's origin.
        origin: Origin,
        /// How many links are followed.
        most: usize,
    },
    /// The root doesn't exist or isn't a directory.
    #[error("the root `{}` can't be used", .path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A directory's name led to another one while the run was prepared.
    #[error("`{}` can't be used: its name leads elsewhere by now", visible(&.0.to_string_lossy()))]
    Moved(PathBuf),
    /// No root was named, and the caller is in a home or at the top of the file system.
    #[error("refusing to use `{}` as the root unless `--root` names it in full", .0.display())]
    ImplicitRoot(PathBuf),
    /// A path of the profile below the root is a link that leads out of it.
    #[error("`{}` leads out of the root, to `{}`", .path.display(), .real.display())]
    LinkOut {
        /// The path below the root.
        path: PathBuf,
        /// The link's target.
        real: PathBuf,
    },
    /// `--write-guarded` names something in a `.git`.
    #[error("`--write-guarded` doesn't open `{}`: nothing in a `.git` needs it but what git obeys", visible(&.0.to_string_lossy()))]
    NeverOpened(PathBuf),
    /// A flag's path leads out of the root, or of another tree that runs may write, by a link in it.
    #[error(
        "`{}` leads out of `{}`: `{}` is a link on the way to `{}`",
        visible(flag),
        visible(&tree.to_string_lossy()),
        visible(&link.to_string_lossy()),
        visible(&real.to_string_lossy())
    )]
    FlagLinkOut {
        /// The flag.
        flag: String,
        /// The root, or the tree.
        tree: PathBuf,
        /// The link in it.
        link: PathBuf,
        /// The path's real target.
        real: PathBuf,
    },
    /// Another party's command names a program that nothing grants.
    #[error("Permission denied: no grant lets the command start `{}`", visible(&.0.to_string_lossy()))]
    ProgramOfOthers(PathBuf),
    /// The script to run is always closed.
    #[error("the script `{}` can't be read: {}", .path.display(), describe(.denial))]
    SecretScript {
        /// The script.
        path: PathBuf,
        /// The denial that closes it.
        denial: Box<DenialRule>,
    },
    /// A flag grants something that is always closed.
    #[error("`{flag}` grants nothing: {}", describe(.denial))]
    VoidGrant {
        /// The flag.
        flag: String,
        /// The denial that closes it.
        denial: Box<DenialRule>,
    },
    /// An invalid glob.
    #[error("`{glob}` can't be denied: {message}")]
    Glob {
        /// The text.
        glob: String,
        /// The fault in it.
        message: String,
    },
    /// An invalid host pattern.
    #[error("`--host {}`: {source}", visible(.pattern))]
    Host {
        /// The text.
        pattern: String,
        /// The fault in it.
        source: HostError,
    },
    /// A setting for all hosts, and another for some of them.
    #[error("`{}` and `{other}` contradict each other", network_flag(*.choice))]
    Contradiction {
        /// The setting for all hosts.
        choice: NetworkChoice,
        /// The other flag.
        other: String,
    },
    /// A host flag where every host may be reached.
    #[error("`{flag}` adds nothing: profile `{profile}` reaches every host")]
    SuperfluousHost {
        /// The flag.
        flag: String,
        /// The profile.
        profile: String,
    },
    /// A variable that never passes.
    #[error("`{}` can't be passed to a run", .0.display())]
    Variable(OsString),
    /// An invalid variable name.
    #[error("`{}` is no name of a variable", .0.display())]
    VariableName(OsString),
}

fn network_flag(choice: NetworkChoice) -> &'static str {
    match choice {
        NetworkChoice::None => "--net none",
        NetworkChoice::All => "--net all",
    }
}

fn describe(denial: &DenialRule) -> String {
    let what = match &denial.target {
        Target::Path(path) => path.display().to_string(),
        Target::Glob { glob, .. } => glob.clone(),
        Target::GitDirectories => ".git".into(),
        Target::Listed(listed) => format!("what is {} by the built-in list", listed.list),
        Target::AllBut { globs, .. } => globs.join("`, `"),
    };
    match denial.kind {
        DenialKind::Explicit => format!("`{what}` is denied by {}", denial.origin),
        DenialKind::SecretName | DenialKind::SecretPattern => {
            format!("`{what}` is a secret, which every profile keeps closed")
        }
        DenialKind::Guarded => format!("`{what}` is guarded in every profile"),
        DenialKind::Scope => format!("the scope of the run is `{what}` ({})", denial.origin),
    }
}

impl Error {
    /// A failure to execute is the program's, not the launcher's.
    pub(super) fn launch(error: LaunchError, program: &Path) -> Error {
        match error {
            LaunchError::Step(Step::Execute, source) => Error::Execute {
                path: program.to_path_buf(),
                source,
            },
            other => Error::Launch(other),
        }
    }

    /// The exit code of `stockade run` for it: 127 not found, 126 not executable, otherwise 125.
    pub fn exit_code(&self) -> u8 {
        const REFUSED: u8 = 125;
        const NOT_EXECUTABLE: u8 = 126;
        match self {
            Error::Command(error) => error.exit_code(),
            Error::Execute { .. } | Error::ProgramOfOthers(_) => NOT_EXECUTABLE,
            _ => REFUSED,
        }
    }

    /// A hint on how to resolve it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Profile(error) => error.hint(),
            Error::Command(error) => error.hint(),
            Error::Plan(error) => plan_hint(error),
            Error::Configuration(error) => error.hint().map(String::from),
            Error::Unconfined { said, .. } => Some(format!(
                "move it to where the run can't write, or leave `{said}` away; `stockade doctor` says what a supervisor needs"
            )),
            Error::ManyLinks { .. } => Some(
                "nothing was started, since what they lead to would stay open; remove links, which an earlier run may have \
                 made, or write a pattern that matches fewer"
                    .into(),
            ),
            Error::ImplicitRoot(path) => Some(format!(
                "change to the directory that the run is about, or name it: `--root {}`",
                path.display()
            )),
            Error::LinkOut { real, .. } => Some(format!(
                "nothing was started, since an earlier run may have made the link; if you did, grant it: `--read {}`, \
                 and remove the link or use another profile",
                real.display()
            )),
            Error::FlagLinkOut { real, .. } => Some(format!(
                "nothing was started, since an earlier run may have made the link; if that is what you mean, name `{}`",
                real.display()
            )),
            Error::NeverOpened(_) => Some("change hooks and configuration of git yourself, outside of a run".into()),
            Error::Host { source, .. } => Some(source.hint.clone()),
            Error::Contradiction { choice, other } => Some(contradiction_hint(*choice, other)),
            Error::SuperfluousHost { .. } => Some(
                "leave it away; to reach named hosts alone, take a profile without `all`, such as `network-api`".into(),
            ),
            Error::Root { .. } => Some("`--root` takes a directory that exists".into()),
            Error::ProgramOfOthers(path) => Some(format!(
                "`--exec {}` would do, where the server or the batch is started; a program of its `PATH` needs no grant, unless \
                 it lies where runs write",
                path.display()
            )),
            Error::Moved(_) => Some(
                "nothing was started, since another run may have moved it; change into the directory again, and look".into(),
            ),
            Error::Variable(_) => {
                Some("the dynamic loader and libc obey it, so it could replace any program's code".into())
            }
            Error::VariableName(_) => Some("write `--env NAME`, or `--env NAME=VALUE`".into()),
            Error::Execute { source, .. } => execute_hint(source),
            Error::Launch(LaunchError::Open(_, source)) if source.raw_os_error() == Some(libc::ELOOP) => Some(
                "nothing was started, since a link was made on the way to it meanwhile, perhaps by another run; name a \
                 path where no other run writes"
                    .into(),
            ),
            Error::Launch(LaunchError::Step(Step::Listener, source)) if source.raw_os_error() == Some(libc::EBUSY) => Some(
                "Stockade itself runs under a seccomp filter with a listener, as where a container manager answers system \
                 calls, and the kernel allows one alone (seccomp(2)): start it outside of that"
                    .into(),
            ),
            Error::Launch(LaunchError::Scratch(..)) => Some(
                "it belongs below the home: set `XDG_STATE_HOME` to a directory of yours, if that isn't one".into(),
            ),
            Error::Launch(LaunchError::Datagrams(_)) => Some("redirect it, as in `</dev/null`, or pipe it".into()),
            Error::Launch(LaunchError::TooManyFiles { .. }) => Some("grant a smaller tree".into()),
            _ => None,
        }
    }
}

fn contradiction_hint(choice: NetworkChoice, other: &str) -> String {
    match choice {
        NetworkChoice::None => {
            format!("leave one away; without `--net none`, `{other}` adds to what the profile grants")
        }
        NetworkChoice::All => format!("leave one away; `--net all` grants every host, `{other}` adds to the profile's"),
    }
}

fn execute_hint(error: &io::Error) -> Option<String> {
    match error.raw_os_error()? {
        libc::ENOEXEC => Some("it is no program for this machine, or a script without a `#!` line".into()),
        libc::E2BIG => Some("arguments and environment together are too long for the kernel".into()),
        libc::EACCES => Some(
            "the file, the interpreter that its first line names, or a directory above one may not be executed, by its mode or \
             since nothing grants it (`--exec`)"
                .into(),
        ),
        _ => None,
    }
}

fn plan_hint(error: &PlanError) -> Option<String> {
    match error {
        PlanError::NoLandlock => Absence::find().map(Absence::hint),
        PlanError::NoSeccomp => Some(NO_SECCOMP.into()),
        PlanError::Shortfall(missing) => {
            let flags: Vec<_> = missing
                .iter()
                .map(|missing| format!("--accept-shortfall {}", missing.shortfall))
                .collect();
            let consequences: Vec<_> = missing.iter().map(|missing| missing.shortfall.consequence()).collect();
            let mend = Unsupervised::find().map_or(String::new(), |reason| format!("{}. Or ", reason.hint()));
            Some(format!(
                "{mend}to run all the same: `{}` (then {})",
                flags.join(" "),
                consequences.join("; and ")
            ))
        }
        _ => None,
    }
}

impl Error {
    /// Further lines that name the exact obstacles.
    pub fn details(&self) -> Vec<String> {
        match self {
            Error::Plan(PlanError::Shortfall(missing)) => {
                let reason = Unsupervised::find().map(|reason| reason.what().to_string());
                let because = missing.iter().flat_map(|missing| {
                    let lines = missing.because.iter();
                    lines.map(move |because| format!("{}: {because}", missing.shortfall))
                });
                reason.into_iter().chain(because).collect()
            }
            Error::Plan(PlanError::NoLandlock) => Absence::find()
                .map(|absence| absence.what().to_string())
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }
}
