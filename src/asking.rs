//! Selects the approver from the command line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::REFUSED;
use super::args::Run;
use super::ask::Ask;
use super::message::{Failure, note};
use stockade::internal::StatFields;
use stockade::internal::Surroundings;
use stockade_policy::unconfined;
use stockade_report::approve::{
    Answer, Approver, Choice, CommandApprover, Deadline, DescriptorApprover, EscalationRequest, Evidence, Extent,
    Lifetime, Requested, SocketApprover, Terminal, VERSION, Waiting,
};
use stockade_report::audit::{Decided, Granted, Record};
use stockade_report::report::{Escalated, Kind, Report};
use stockade_sys::signals::stop_as_by_key;

/// The approver of a run with these flags; `None` for none.
///
/// # Errors
/// The selected approver isn't available.
pub fn approver(run: &Run) -> Result<Option<Arc<dyn Approver>>, Failure> {
    match &run.ask {
        Ask::Never => Ok(None),
        Ask::Auto => Ok(approver_that_is_there()),
        Ask::Terminal => match Terminal::open(Box::new(is_of_the_run)) {
            Ok(terminal) => Ok(Some(Arc::new(terminal))),
            Err(error) => Err(Failure::new(REFUSED, &error).hint(error.hint())),
        },
        Ask::Watched => Ok(state().map(|state| Arc::new(SocketApprover::new(state, Waiting::OnlyWatched)) as _)),
        Ask::Socket => match state() {
            Some(state) => Ok(Some(Arc::new(SocketApprover::new(state, Waiting::ForSomebody)))),
            None => Err(
                Failure::text(REFUSED, "questions need a state directory, and there is none")
                    .hint("set `HOME`, or `XDG_STATE_HOME` to an absolute path"),
            ),
        },
        Ask::Command(text) => match CommandApprover::relative_file(text) {
            Some(file) => {
                let told = format!("the program of `--ask command` starts in `{}`", unconfined::DIRECTORY);
                Err(Failure::text(REFUSED, told).hint(format!("use the absolute path, `{}`", file.display())))
            }
            None => Ok(Some(Arc::new(CommandApprover::new(text)))),
        },
        Ask::Descriptor(number) => match DescriptorApprover::new(*number) {
            Ok(approver) if run.ask_each => Ok(Some(Arc::new(approver.deciding_each()))),
            Ok(approver) => Ok(Some(Arc::new(approver))),
            Err(error) => Err(Failure::new(REFUSED, &error)
                .hint("`--ask fd:N` takes one end of a `socketpair(AF_UNIX, SOCK_STREAM)`, with N above 2")),
        },
    }
}

fn approver_that_is_there() -> Option<Arc<dyn Approver>> {
    if let Ok(terminal) = Terminal::open(Box::new(is_of_the_run)) {
        return Some(Arc::new(terminal));
    }
    let socket = SocketApprover::new(state()?, Waiting::OnlyWatched);
    socket.is_watched().then(|| Arc::new(socket) as Arc<dyn Approver>)
}

fn state() -> Option<PathBuf> {
    Surroundings::here().ok()?.state
}

/// Whether a process group holds only processes of the run: descendants of this process.
fn is_of_the_run(group: i32) -> bool {
    let mut members = processes().filter(|process| process.group == group).peekable();
    members.peek().is_some() && members.all(is_below_us)
}

/// Fields of `/proc/PID/stat` that tell where a process belongs.
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
}

impl Process {
    fn read(pid: i32) -> Option<Process> {
        let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let fields = StatFields::of(&text)?;
        Some(Process {
            pid,
            parent: fields.get(4)?,
            group: fields.get(5)?,
        })
    }
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Process::read(entry.file_name().to_str()?.parse().ok()?))
}

fn is_below_us(mut process: Process) -> bool {
    let us = std::process::id().cast_signed();
    while process.pid != us {
        match Process::read(process.parent) {
            Some(parent) if parent.pid > 1 => process = parent,
            _ => return false,
        }
        if process.pid == us {
            return true;
        }
    }
    false
}

/// The answer to the question whether to run the command again.
pub struct Repeat {
    /// The question.
    pub request: EscalationRequest,
    /// The answer.
    pub answer: Answer,
    /// The program that may be started then, if the answer is yes.
    pub program: Option<PathBuf>,
    waited: Duration,
}

impl Repeat {
    /// The entry for the report.
    pub fn escalated(&self) -> Escalated {
        Escalated {
            id: self.request.id.clone(),
            access: self.request.evidence.access,
            target: self.request.evidence.target.clone(),
            requested: self.request.requested.clone(),
            answer: self.answer.clone(),
            granted: self.program.as_ref().map(|_| self.request.requested.clone()),
            waited_ms: u64::try_from(self.waited.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The records for the audit trail.
    pub fn records(&self) -> Vec<Record> {
        let request = self.request.id.clone();
        let granted = self.program.as_ref().map(|_| {
            Record::Granted(Granted {
                request: request.clone(),
                granted: self.request.requested.clone(),
                lifetime: Lifetime::Once,
                by: self.answer.by.clone(),
            })
        });
        let asked = [
            Record::Asked(Box::new(self.request.clone())),
            Record::Answered(Decided {
                request,
                answer: self.answer.clone(),
            }),
        ];
        asked.into_iter().chain(granted).collect()
    }
}

/// Asks whether to start the whole command again with a grant for a program that couldn't be started while it ran, and returns
/// the answer. `None` where no question is asked.
pub fn ask_to_repeat(run: &Run, approver: Option<&Arc<dyn Approver>>, report: &Report) -> Option<Repeat> {
    let approver = approver?;
    let time = run.ask_timeout.unwrap_or_else(|| approver.usual_time());
    let denial = report
        .explanation()
        .chain(report.perhaps())
        .next()
        .filter(|denial| denial.access == Kind::Execute)?;
    let grant = denial.grant.as_ref()?;
    let path = PathBuf::from(grant.get(1)?);
    let words = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
    let request = EscalationRequest {
        version: VERSION,
        id: format!("{}-again", report.run),
        run: report.run.clone(),
        capability_id: run.script.as_ref().map(|script| script.hash.clone()),
        current_profile: report.profile.clone(),
        requested: Requested::Grants(vec![grant.iter().map(words).collect()]),
        wider: None,
        reason: format!("PermissionDenied: execute {}", denial.target),
        evidence: Evidence {
            access: denial.access,
            target: denial.target.clone(),
            asked: denial.asked.clone(),
            syscall: denial.syscall.clone(),
            pid: denial.pid,
            program: denial.program.clone(),
            command: report.command.clone(),
            root: report.root.to_string_lossy().into_owned(),
            agent: run.agent.clone(),
            why: "nothing grants it".into(),
            warning: Some("the program starts from its beginning, and does once more what it did".into()),
            at_ms: denial.at_ms,
        },
        lifetimes: vec![Lifetime::Once],
        granted_beside: 0,
        refused_beside: 0,
        live: false,
        timeout_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    };
    let begun = Instant::now();
    let answer = loop {
        let deadline = Deadline::of(time);
        let answer = approver.ask(&request, &deadline);
        if !deadline.is_suspended() {
            break answer;
        }
        stop_as_by_key();
    };
    let fits = Choice::Yes {
        lifetime: Lifetime::Once,
        extent: Extent::Requested,
    };
    let is_yes = matches!(answer.choice, Choice::Yes { .. });
    if is_yes && answer.choice != fits {
        note("the answer to the question about a restart doesn't fit it, and is taken as no");
    }
    Some(Repeat {
        program: (answer.choice == fits).then_some(path),
        request,
        answer,
        waited: begun.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_is_one_word_and_for_a_command_its_text() {
        for (text, ask) in [
            ("auto", Ask::Auto),
            ("terminal", Ask::Terminal),
            ("socket", Ask::Socket),
            ("never", Ask::Never),
            ("command=ask --now", Ask::Command("ask --now".into())),
            ("fd:7", Ask::Descriptor(7)),
        ] {
            assert_eq!(text.parse(), Ok(ask));
        }
        for text in [
            "",
            "Auto",
            "command",
            "command=",
            "command= ",
            "terminal ",
            "fd",
            "fd:",
            "fd:x",
        ] {
            assert!(text.parse::<Ask>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_group_is_the_runs_where_all_its_processes_are_below_us() {
        use std::os::unix::process::CommandExt;
        let own = nix::unistd::getpgrp().as_raw();
        assert!(!is_of_the_run(own));
        assert!(!is_of_the_run(i32::MAX));
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .process_group(0)
            .spawn()
            .unwrap();
        assert!(is_of_the_run(child.id().cast_signed()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
