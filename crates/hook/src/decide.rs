//! Decides about one event: asks the judge about all that a call does, and folds the answers.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_judge::{Act, Action, Answer, Call as Judged, Decision, SHELL};

use super::after::{Refusals, shown_name, told, way};
use super::confine::{self, Confinement, Start};
use super::event::{Call, Event, Stage};
use super::format::Agent;
use super::reply::Reply;
use super::verdict::{Decided, Verdict};
use super::work::{self, Work};

/// What becomes of a command that needs a confirmation, once it is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confined {
    /// A person is asked.
    Ask,
    /// It is allowed: it can do no more than the profile lets it.
    Allow,
}

/// The judge, and what is known of runs.
pub trait ToolJudge {
    /// Judges an act.
    ///
    /// # Errors
    /// There is no answer; the text says why.
    fn judge(&mut self, act: &Act, cwd: Option<&Path>) -> Result<Answer, String>;

    /// The answer of a rule of the user's for all of the agent's tool of this name, by any name of it.
    ///
    /// # Errors
    /// There is no answer; the text says why.
    fn ruled(&mut self, tool: &str) -> Result<Option<Answer>, String>;

    /// Judges a call of a server's tool, which need not be declared.
    ///
    /// # Errors
    /// There is no answer; the text says why.
    fn judge_of_server(&mut self, call: &Judged) -> Result<Answer, String>;

    /// Judges a call of what isn't confined: the built-in rules allow nothing of it.
    ///
    /// # Errors
    /// There is no answer; the text says why.
    fn judge_unconfined(&mut self, call: &Judged, cwd: Option<&Path>) -> Result<Answer, String>;

    /// What the run under the first of these keys that has a report was refused.
    fn refusals(&mut self, keys: &[String]) -> Option<Refusals>;

    /// What `~` means.
    fn home(&self) -> Option<&Path>;

    /// The path that the kernel would resolve this one to, as far as it exists.
    fn real(&self, path: &Path) -> PathBuf;

    /// The command lines of a person that give the agent's hooks the flags behind them.
    fn installs(&self) -> Vec<String>;
}

/// The answer to an event, in the agent's format.
pub fn answer(
    agent: Agent,
    event: &Event,
    rules: &mut dyn ToolJudge,
    confinement: &Confinement,
    confined: Confined,
) -> Reply {
    let decided = match event.stage {
        Stage::After { .. } => Decided::Told(after(agent, &event.call, rules, confinement)),
        Stage::Before { .. } | Stage::Permission { .. } => {
            let decider = Decider {
                agent,
                event,
                confinement,
                confined,
            };
            match decider.decide(rules) {
                Ok((verdict, input)) => Decided::Call(verdict, input),
                Err(why) => Decided::Call(Verdict::Deny(denied(&why)), None),
            }
        }
    };
    agent.reply(event, &decided)
}

/// Tells after a shell's command what its run was refused.
fn after(agent: Agent, call: &Call, rules: &mut dyn ToolJudge, confinement: &Confinement) -> Option<String> {
    let Ok(Work::Line(text, _)) = agent.work(&call.tool, &call.input, rules.home()) else {
        return None;
    };
    let line = confinement.inner(&text).unwrap_or(text);
    let keys = [call.id.as_deref(), None].map(|id| confine::key(&call.session, id, &line));
    Some(told(&rules.refusals(&keys)?, &rules.installs()))
}

fn denied(reason: &str) -> String {
    let reason = reason.strip_prefix("permission denied: ").unwrap_or(reason);
    format!("Permission denied: {}", super::bounded(reason))
}

/// One event before a call.
struct Decider<'e> {
    agent: Agent,
    event: &'e Event,
    confinement: &'e Confinement,
    confined: Confined,
}

/// A verdict with the input in place of the tool's; the error is the reason of a denial.
type Outcome = Result<(Verdict, Option<Value>), String>;

impl Decider<'_> {
    fn decide(&self, rules: &mut dyn ToolJudge) -> Outcome {
        let call = &self.event.call;
        let ruled = rules.ruled(&call.tool)?;
        if let Some(denied) = ruled.as_ref().filter(|answer| answer.decision == Decision::Deny) {
            return Err(denied.reason.clone());
        }
        let work = self.agent.work(&call.tool, &call.input, rules.home());
        let work = work.map_err(|misread| misread.to_string())?;
        match work {
            Work::Own => Ok((Verdict::Pass, None)),
            Work::Within(named) => {
                let answer = rules.judge(&Act::Tool(named), call.cwd.as_deref())?;
                match answer.decision {
                    Decision::Deny => Err(answer.reason),
                    Decision::Allow | Decision::Confirm => Ok((Verdict::Pass, None)),
                }
            }
            Work::Line(text, field) => self.line(rules, text, field),
            Work::Typed(text) => {
                let answer = unconfined_line(rules, &text, call.cwd.as_deref())?;
                self.fold(&answer, None)
            }
            Work::Reaches(tool, acts) => self.reaches(rules, tool, &acts),
            Work::Named(named) => {
                let answer = rules.judge(&Act::Tool(named), call.cwd.as_deref())?;
                let is_open = answer.decision == Decision::Confirm;
                self.fold(ruled.as_ref().filter(|_| is_open).unwrap_or(&answer), None)
            }
            Work::Unlisted(named) => {
                let answer = rules.judge_unconfined(&named, call.cwd.as_deref())?;
                self.fold(&answer, None)
            }
            Work::OfServer(named) => {
                let answer = rules.judge_of_server(&named)?;
                self.fold(&answer, None)
            }
        }
    }

    /// A line for a shell: it runs confined where the format can say so.
    fn line(&self, rules: &mut dyn ToolJudge, text: String, field: &str) -> Outcome {
        let call = &self.event.call;
        let inner = self.confinement.inner(&text);
        let was_confined = inner.is_some();
        let line = inner.unwrap_or(text);
        let rewrites = match self.event.stage {
            Stage::Before { rewrites, .. } | Stage::Permission { rewrites } => rewrites,
            Stage::After { .. } => false,
        };
        let answer = match rewrites || was_confined {
            true => judged_line(rules, &line, call.cwd.as_deref())?,
            false => unconfined_line(rules, &line, call.cwd.as_deref())?,
        };
        if answer.decision == Decision::Deny {
            return Err(answer.reason);
        }
        let input = match rewrites {
            true => Some(self.confined_input(&line, field)?),
            false => None,
        };
        let is_free = self.confined == Confined::Allow && (was_confined || input.is_some());
        match answer.decision {
            Decision::Confirm if is_free => Ok((Verdict::Allow(FREE.into()), input)),
            _ => self.fold(&answer, input),
        }
    }

    /// The tool's input with the rewritten line; everything else stays as it is.
    fn confined_input(&self, line: &str, field: &str) -> Result<Value, String> {
        let call = &self.event.call;
        let key = confine::key(&call.session, call.id.as_deref(), line);
        let start = match self.agent.tells_directory(call) && call.cwd.as_deref() == Some(&self.confinement.root) {
            true => Start::Root,
            false => Start::Here,
        };
        let text = self
            .confinement
            .rewritten(line, &key, start)
            .map_err(|error| error.to_string())?;
        let mut input = call.input.clone();
        match input.get_mut(field) {
            Some(place) => *place = Value::String(text),
            None => return Err("the command isn't where it was".into()),
        }
        Ok(input)
    }

    /// Accesses to files or hosts by a tool: the tool may be denied by its name, and every access has to be allowed.
    fn reaches(&self, rules: &mut dyn ToolJudge, tool: &str, acts: &[Act]) -> Outcome {
        let cwd = self.event.call.cwd.as_deref();
        let named = rules.judge(&Act::Tool(work::named(tool)), cwd)?;
        if named.decision == Decision::Deny {
            return Err(named.reason);
        }
        let mut worst: Option<Answer> = None;
        for act in acts {
            let answer = rules.judge(act, cwd)?;
            if answer.decision == Decision::Deny {
                return Err(self.with_grant(rules, act, &answer.reason));
            }
            if worst.as_ref().is_none_or(|worst| worst.decision == Decision::Allow) {
                worst = Some(answer);
            }
        }
        match worst {
            Some(answer) => self.fold(&answer, None),
            None => Err("it names nothing that could be judged".into()),
        }
    }

    /// A reason with the way to grant an access that nothing grants.
    fn with_grant(&self, rules: &dyn ToolJudge, act: &Act, reason: &str) -> String {
        let cwd = self.event.call.cwd.as_deref().unwrap_or(Path::new(""));
        let real = |path: &Path| rules.real(&cwd.join(path)).to_string_lossy().into_owned();
        let (flag, target) = match act {
            _ if !reason.contains("isn't granted by") => return reason.to_string(),
            Act::Path(Action::Read, path) => ("--read", real(path)),
            Act::Path(_, path) => ("--write", real(path)),
            Act::Connect(host) => ("--host", host.clone()),
            Act::Tool(_) => return reason.to_string(),
        };
        match shown_name(&target) {
            Some(target) => {
                let installs = rules.installs();
                let of_hook = if installs.is_empty() { " of the hook" } else { "" };
                let way = way(&installs, &format!("{flag} {target}"));
                format!("{reason}; only the user can grant it, with {way}{of_hook}")
            }
            None => reason.to_string(),
        }
    }

    /// An answer as a verdict that the event can say.
    fn fold(&self, answer: &Answer, input: Option<Value>) -> Outcome {
        let reason = super::bounded(&answer.reason);
        match (answer.decision, self.event.stage) {
            (Decision::Deny, _) => Err(answer.reason.clone()),
            (Decision::Allow, _) => Ok((Verdict::Allow(reason), input)),
            (Decision::Confirm, Stage::Before { asks: true, .. }) => Ok((Verdict::Ask(reason), input)),
            // The agent is about to ask.
            (Decision::Confirm, Stage::Permission { .. }) => Ok((Verdict::Pass, None)),
            (Decision::Confirm, _) => Err(self.unasked(&answer.reason, input.is_some())),
        }
    }

    /// The reason of a denial where no person can be asked.
    fn unasked(&self, reason: &str, could_be_confined: bool) -> String {
        let name = self.agent.title();
        match could_be_confined {
            true => format!(
                "{reason}, and hooks of {name} can't ask; the user can allow it by a rule, or let confined commands run \
                 with `--confined allow`"
            ),
            false => format!("{reason}, and this hook of {name} can't ask; the user can allow it by a rule"),
        }
    }
}

/// The reason of a command that `--confined allow` lets run.
const FREE: &str = "no rule denies it, and it runs confined: `--confined allow`";

/// A line of a length that no shell takes isn't worth the time to judge it.
fn shell(line: &str) -> Result<Judged, String> {
    Confinement::check_length(line).map_err(|error| error.to_string())?;
    Ok(Judged {
        tool: SHELL.into(),
        command: Some(line.to_string()),
        skill_name: None,
    })
}

fn judged_line(rules: &mut dyn ToolJudge, line: &str, cwd: Option<&Path>) -> Result<Answer, String> {
    rules.judge(&Act::Tool(shell(line)?), cwd)
}

/// Judges a line that neither was nor will be confined: only rules of a person's own allow it.
fn unconfined_line(rules: &mut dyn ToolJudge, line: &str, cwd: Option<&Path>) -> Result<Answer, String> {
    let mut answer = rules.judge_unconfined(&shell(line)?, cwd)?;
    if answer.decision == Decision::Allow && answer.matched.is_none() {
        answer.decision = Decision::Confirm;
    }
    if answer.decision == Decision::Confirm {
        answer
            .reason
            .push_str("; it can't be confined, so built-in rules don't count");
    }
    Ok(answer)
}
