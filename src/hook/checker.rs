//! Judges for a hook: `check`'s checker, under the hook's own profile and grants.

use std::path::{Path, PathBuf};

use super::super::args::Check;
use super::super::check::{Asked, CallerGrants, Calling, Checker, Wrong};
use super::super::hook_flags::HookFlags;
use super::super::install;
use super::super::message::Failure;
use super::reason_of;
use super::reports::Reports;
use stockade::internal::Surroundings;
use stockade_hook::{Agent, Refusals, ToolJudge};
use stockade_judge::{Act, Answer, Call};
use stockade_policy::real_path::real_path;
use stockade_report::approve::{Approver, CommandApprover};

/// The profile of a hook that names neither one nor a role.
pub const PROFILE: &str = "workspace";

/// The checker of `check` for one event.
pub struct HookChecker {
    checker: Checker,
    reports: Reports,
    home: Option<PathBuf>,
    agent: Agent,
    root: PathBuf,
}

impl HookChecker {
    /// Reads the configuration, so that its faults are reported before anything is judged.
    pub fn open(
        agent: Agent,
        flags: &HookFlags,
        root: &Path,
        reports: Reports,
        surroundings: &Surroundings,
    ) -> Result<HookChecker, Failure> {
        let check = Check {
            agent: flags.agent.clone(),
            root: Some(root.to_path_buf()),
            ..Check::of_level(flags.audit)
        };
        let approver = flags.ask.strip_prefix("command=");
        let ground = CallerGrants {
            profile: match (&flags.profile, &flags.agent) {
                (None, None) => Some(PROFILE.into()),
                (profile, _) => profile.clone(),
            },
            read: flags.grants.read.clone(),
            write: flags.grants.write.clone(),
            hosts: flags.grants.host.clone(),
            deny: flags.grants.deny.clone(),
            network: flags.net,
            llm: flags.llm,
            approvers: approver.map_or_else(Vec::new, |text| CommandApprover::new(text).programs()),
        };
        Ok(HookChecker {
            checker: Checker::open(check, Some(ground))?,
            reports,
            home: surroundings.home.clone(),
            agent,
            root: surroundings.directory.join(root),
        })
    }

    /// Writes the rest of the trail.
    pub fn close(self) {
        self.checker.close();
    }
}

impl ToolJudge for HookChecker {
    fn judge(&mut self, act: &Act, cwd: Option<&Path>) -> Result<Answer, String> {
        let asked = Asked {
            cwd: cwd.map(Path::to_path_buf),
            ..Asked::about(act.clone())
        };
        self.checker.answer(&asked).map_err(wrong)
    }

    fn ruled(&mut self, tool: &str) -> Result<Option<Answer>, String> {
        self.checker.ruled(tool).map_err(wrong)
    }

    fn judge_of_server(&mut self, call: &Call) -> Result<Answer, String> {
        let asked = Asked {
            calling: Calling::OfServer,
            ..Asked::about(Act::Tool(call.clone()))
        };
        self.checker.answer(&asked).map_err(wrong)
    }

    fn judge_unconfined(&mut self, call: &Call, cwd: Option<&Path>) -> Result<Answer, String> {
        let asked = Asked {
            cwd: cwd.map(Path::to_path_buf),
            calling: Calling::Unconfined,
            ..Asked::about(Act::Tool(call.clone()))
        };
        self.checker.answer(&asked).map_err(wrong)
    }

    fn refusals(&mut self, keys: &[String]) -> Option<Refusals> {
        keys.iter().find_map(|key| self.reports.take(key))
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn real(&self, path: &Path) -> PathBuf {
        real_path(path)
    }

    fn installs(&self) -> Vec<String> {
        install::installs(self.agent.name(), &self.root)
    }
}

fn wrong(wrong: Wrong) -> String {
    reason_of(&Failure::from(wrong))
}
