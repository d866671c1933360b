//! Derives the needed grants from the observed uses.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::free::Free;
use super::observation::Use;
use stockade_policy::policy::Policy;
pub use stockade_report::report::{Flag, FlagGrant, GrantLimits, Kind, Reason, Refusal, least_grant};

/// Facts about the observed run.
pub(crate) struct RunContext<'a> {
    /// The policy of the run.
    pub(crate) policy: &'a Policy,
    /// The policy without any grant.
    pub(crate) free: &'a Policy,
    /// The caller's home.
    pub(crate) home: Option<&'a Path>,
    /// Stockade's own directories, where the scratch directory is.
    pub(crate) own: &'a [PathBuf],
    /// The command's words.
    pub(crate) command: &'a [String],
    /// The scripts that it runs.
    pub(crate) scripts: &'a [PathBuf],
}

/// The needed grants, before folding.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// Each use with its least grant.
    pub(crate) wanted: Vec<Wanted>,
    /// Uses without a grant: the person who runs it again decides.
    pub(crate) withheld: Vec<Use>,
    /// Whether the scratch directory was used, or would have been: a temporary file was made in `/tmp`.
    pub(crate) scratch: bool,
    /// Whether something in the home directory was used; programs find it by `HOME`.
    pub(crate) home: bool,
    /// The number of uses that weren't kept.
    pub(crate) dropped: u64,
}

/// A use and its grant.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) used: Use,
    pub(crate) grant: FlagGrant,
}

impl Wanted {
    /// The path that was used, where it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        matches!(self.grant, FlagGrant::Path(_)).then(|| Path::new(&self.used.target))
    }

    /// Whether this run made it.
    pub(crate) fn is_made(&self) -> bool {
        self.used.access == Kind::Create
    }
}

/// Selects the uses that need a grant.
pub(crate) fn used(uses: &[Use], dropped: u64, run_context: &RunContext<'_>) -> Used {
    let free = Free::new(run_context, uses);
    let grant_limits = GrantLimits::new(run_context.policy, run_context.home, run_context.command);
    let mut found = Used {
        dropped,
        ..Used::default()
    };
    for one in uses {
        let path = one.target.starts_with('/').then(|| Path::new(&one.target));
        if let Some(path) = path {
            if run_context.own.iter().any(|own| path.starts_with(own)) {
                found.scratch = true;
                continue;
            }
            if free.is_free(one, path) {
                continue;
            }
        }
        if one.access == Kind::Resolve && is_connected(&one.target, uses) {
            continue;
        }
        match grant(one, &grant_limits) {
            Some(grant) => {
                found.home |= path.is_some_and(|path| is_in_home(path, run_context));
                found.scratch |= matches!(&grant, FlagGrant::Path(made) if path.is_some_and(|path| made.path != path)
                    && made.path == Path::new("/tmp"));
                found.wanted.push(Wanted {
                    used: one.clone(),
                    grant,
                });
            }
            None => found.withheld.push(one.clone()),
        }
    }
    found
}

/// The least grant of a use, as it would be named after a refusal.
fn grant(used: &Use, grant_limits: &GrantLimits<'_>) -> Option<FlagGrant> {
    // A profile can't express such a target.
    if used
        .target
        .chars()
        .any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER)
    {
        return None;
    }
    let refusal = Refusal {
        kind: used.access,
        asked: used.asked.clone().into_bytes(),
        target: used.target.clone().into_bytes(),
        exists: true,
        is_directory: false,
        syscall: "".into(),
        pid: 0,
        program: used.programs.first().cloned().unwrap_or_default().into_bytes(),
        at: Duration::ZERO,
        reason: Reason::NotGranted,
    };
    let grant = least_grant(&refusal, grant_limits)?;
    // A socket that is granted was named by the ceiling; a tree above a program that is started needn't be.
    Some(match grant {
        FlagGrant::Path(mut path) if path.flag == Flag::Exec => {
            path.path = PathBuf::from(&used.target);
            FlagGrant::Path(path)
        }
        FlagGrant::Host(pattern) => FlagGrant::Host(pattern.localhost_for_its_addresses()),
        other => other,
    })
}

/// Whether a resolved name was also connected to: the connection has the port.
fn is_connected(name: &str, uses: &[Use]) -> bool {
    let mut connections = uses.iter().filter(|used| used.access == Kind::Connect);
    connections.any(|used| {
        let host = used.target.rsplit_once(':').map(|(host, _)| host);
        host.is_some_and(|host| host.eq_ignore_ascii_case(name))
    })
}

fn is_in_home(path: &Path, run_context: &RunContext<'_>) -> bool {
    !path.starts_with(&run_context.policy.root) && run_context.home.is_some_and(|home| path.starts_with(home))
}
