//! The approver, which may grant more than a sandbox does, and the observer of its runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::lowest::Shipped;
use super::{Error, Ready, Sandbox};
use crate::approve::{Approver, Lifetime, Unit};
use crate::audit::{Observer, Record, Started};
use crate::plan::{Ability, SupervisorAbility};
use crate::policy::{Asks, Capabilities, NetworkChoice, Policy};
use crate::report::{Refusal, RunContext, StderrTail, profile_that_allows};
use crate::supervise::{Asking, Profiles, RunObserver, RunServices, Script, ServedTo};

/// The approver and observer, and their settings.
#[derive(Clone)]
pub(super) struct Escalating {
    approver: Option<Arc<dyn Approver>>,
    timeout: Option<Duration>,
    unit: Unit,
    agent: Option<String>,
    script: Option<String>,
    text: Option<(PathBuf, Arc<[u8]>, ServedTo)>,
    observer: Option<Arc<dyn Observer>>,
}

impl Escalating {
    /// No approver and no observer.
    pub(super) const NONE: Escalating = Escalating {
        approver: None,
        timeout: None,
        unit: Unit::Grants,
        agent: None,
        script: None,
        text: None,
        observer: None,
    };
}

impl fmt::Debug for Escalating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Escalating")
            .field("asks", &self.approver.is_some())
            .field("timeout", &self.timeout)
            .field("unit", &self.unit)
            .field("agent", &self.agent)
            .field("tells", &self.observer.is_some())
            .finish()
    }
}

impl Sandbox {
    /// Asks the approver about refused accesses, while the program waits. Without an approver, or without a supervisor
    /// of the run's own, every refusal is final.
    #[must_use]
    pub fn approver(self, approver: impl Approver + 'static) -> Self {
        self.shared_approver(Arc::new(approver))
    }

    /// The same with an approver shared with others.
    #[must_use]
    pub fn shared_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.escalating.approver = Some(approver);
        self
    }

    /// How long a question may stay open; by default the approver's usual time, mostly 60 seconds. It doesn't count
    /// towards the run's time limit.
    #[must_use]
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.escalating.timeout = Some(timeout);
        self
    }

    /// The unit to ask for: single grants, or a whole profile.
    #[must_use]
    pub fn escalate(mut self, unit: Unit) -> Self {
        self.escalating.unit = unit;
        self
    }

    /// The agent that the run acts for, shown in questions and records.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.escalating.agent = Some(name.into());
        self
    }

    /// The agent that it acts for.
    pub(super) fn agent_name(&self) -> Option<&str> {
        self.escalating.agent.as_deref()
    }

    /// The hash of the script that the run executes, shown in questions.
    #[must_use]
    pub fn script(mut self, hash: impl Into<String>) -> Self {
        self.escalating.script = Some(hash.into());
        self
    }

    /// Serves the text that was read to the interpreter that opens the script by this path, whatever is there by then.
    /// The path has no links. Needs a supervisor of the run's own.
    #[must_use]
    pub fn script_text(mut self, path: PathBuf, text: impl Into<Arc<[u8]>>, to_whom: ServedTo) -> Self {
        self.escalating.text = Some((path, text.into(), to_whom));
        self
    }

    /// Reports events in this sandbox's runs to an observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.escalating.observer = Some(observer);
        self
    }

    /// Reports a record to the observer, if there's one.
    pub(super) fn tell(&self, run: &str, record: impl FnOnce() -> Record) {
        if let Some(observer) = &self.escalating.observer {
            observer.note(run, record());
        }
    }

    /// The run's root with its links resolved: the key of grants for always.
    ///
    /// # Errors
    /// The root can't be used.
    pub fn project(&self) -> Result<PathBuf, Error> {
        Ok(self.resolved_root()?.to_path_buf())
    }

    /// The script whose text is served: the supervisor must see its open.
    pub(super) fn script_path(&self) -> Option<&Path> {
        self.escalating.text.as_ref().map(|(path, ..)| path.as_path())
    }

    /// Whether each access that is allowed is reported.
    pub(super) fn records_reads(&self) -> bool {
        let observer = self.escalating.observer.as_ref();
        observer.is_some_and(|observer| observer.wants_allowed())
    }

    /// The programs executed to ask somebody.
    pub(super) fn approver_programs(&self) -> Vec<PathBuf> {
        let approver = self.escalating.approver.as_ref();
        approver.map_or_else(Vec::new, |approver| approver.programs())
    }

    /// Whether an answer may extend its runs' grants.
    pub(super) fn may_ask(&self) -> bool {
        self.escalating.approver.is_some()
    }

    /// The kinds of access that may be granted while a run lives.
    pub(super) fn asks(&self, ability: Ability) -> Asks {
        if self.escalating.approver.is_none() || ability.supervisor != SupervisorAbility::Own {
            Asks::Nothing
        } else if self.additions.network == Some(NetworkChoice::None)
            || !self.additions.role.capabilities.contains(Capabilities::NET)
        {
            Asks::Files
        } else {
            Asks::All
        }
    }
}

impl Ready {
    /// Whether questions can be asked while it runs.
    pub fn asks(&self) -> bool {
        self.policy.asks != Asks::Nothing
    }

    /// The run's approver, observer and script.
    pub(super) fn aides(&self) -> RunServices {
        let escalating = &self.sandbox.escalating;
        let observer = escalating.observer.clone();
        RunServices {
            asking: escalating
                .approver
                .clone()
                .filter(|_| self.asks())
                .map(|approver| self.asking(approver)),
            observer: observer.map(|observer| RunObserver {
                run: self.report.run.clone(),
                observer,
                command: self.report.command.clone(),
                home: self.sandbox.surroundings.home.clone(),
            }),
            script: escalating
                .text
                .clone()
                .map(|(path, text, to_whom)| Script::new(path, text, to_whom)),
        }
    }

    fn asking(&self, approver: Arc<dyn Approver>) -> Asking {
        let escalating = &self.sandbox.escalating;
        let mut lifetimes = vec![Lifetime::Once, Lifetime::Session];
        if escalating
            .observer
            .as_ref()
            .is_some_and(|observer| observer.keeps_grants())
        {
            lifetimes.push(Lifetime::Always);
        }
        Asking {
            timeout: escalating.timeout.unwrap_or_else(|| approver.usual_time()),
            approver,
            unit: escalating.unit,
            lifetimes,
            run: self.report.run.clone(),
            command: self.report.command.clone(),
            home: self.sandbox.surroundings.home.clone(),
            agent: escalating.agent.clone(),
            script: escalating.script.clone(),
            profiles: Box::new(ProfilesHere {
                shipped: Shipped::new(&self.sandbox, &self.policy.root, &self.command),
                policy: self.policy.clone(),
            }),
        }
    }

    /// The observer's record of the start.
    pub(super) fn started(&self) -> Started {
        Started {
            profile: self.report.profile.clone(),
            command: self.report.command.clone(),
            root: self.report.root.to_string_lossy().into_owned(),
            agent: self.sandbox.escalating.agent.clone(),
            flags: self.sandbox.additions.flags(),
        }
    }
}

/// The shipped profiles, and the policy that they would extend.
struct ProfilesHere {
    shipped: Shipped,
    policy: Policy,
}

impl Profiles for ProfilesHere {
    fn lowest(&self, refusal: &Refusal) -> Option<String> {
        let run_context = RunContext {
            policy: &self.policy,
            home: None,
            stderr: &StderrTail::default(),
            variables: &[],
            program: &|_| None,
            order: &self.shipped,
        };
        profile_that_allows(refusal, &run_context)
    }

    fn policy(&self, name: &str) -> Option<Policy> {
        self.shipped.policy(name)
    }
}
