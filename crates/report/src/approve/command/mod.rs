//! A program that answers: the request as JSON on its standard input, the answer as JSON on its standard output.
//!
//! It is the user's own, and runs outside every confinement. Its answer is still an allegation: anything but a
//! complete answer within the time is a no.

mod conversation;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::{Answer, Approver, Deadline, EscalationRequest, question, reply};
use crate::unconfined::{self, UnconfinedCaller};
use conversation::Conversation;

const SHELL: &str = "/bin/sh";
/// Interval at which the deadline is checked.
const SLICE: Duration = Duration::from_millis(100);
/// Characters of the command in a message.
const QUOTED: usize = 200;

/// Asks a shell command: `/bin/sh -c TEXT`, once for each question.
#[derive(Debug, Clone)]
pub struct CommandApprover {
    text: String,
    /// The absolute directories of `PATH`.
    search_path: Option<OsString>,
    programs: Vec<PathBuf>,
}

impl CommandApprover {
    /// An approver with the text of the command. Resolves the files that its words name now, as `PATH` and `HOME` are;
    /// relative names are looked up in `/`, where it runs, and relative entries of `PATH` are ignored.
    pub fn new(text: impl Into<String>) -> CommandApprover {
        let text = text.into();
        let caller = UnconfinedCaller::of_process();
        let programs = caller.files(OsStr::new(SHELL), &[OsStr::new(&text)]);
        let search_path = caller.search_path.as_deref().map(|path| {
            let absolute = std::env::split_paths(path).filter(|directory| directory.is_absolute());
            std::env::join_paths(absolute).unwrap_or_default()
        });
        CommandApprover {
            text,
            search_path,
            programs,
        }
    }

    /// A file that a word of the text names relative to the caller's directory, where the command doesn't run.
    pub fn relative_file(text: &str) -> Option<PathBuf> {
        let here = std::env::current_dir().ok()?;
        let words = unconfined::split(text).into_iter();
        let mut paths = words.filter(|word| word.contains('/') && !word.starts_with(['/', '~', '$']));
        paths.find_map(|word| std::fs::canonicalize(here.join(word)).ok())
    }

    fn shell(&self) -> Command {
        let mut command = Command::new(SHELL);
        command.args(["-c", &self.text]).current_dir(unconfined::DIRECTORY);
        if let Some(path) = &self.search_path {
            command.env("PATH", path);
        }
        command
    }

    fn name(&self) -> String {
        format!("command {}", reply::cut(&self.text, QUOTED))
    }

    fn no(&self, why: impl std::fmt::Display) -> Answer {
        Answer::no(self.name()).because(format!("the command that is asked {why}"))
    }
}

impl Approver for CommandApprover {
    fn programs(&self) -> Vec<PathBuf> {
        self.programs.clone()
    }

    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        let Some(input) = question::line(request) else {
            return self.no("can't be: the question is too long");
        };
        let mut conversation = match Conversation::begin(self.shell(), input) {
            Ok(conversation) => conversation,
            Err(error) => return self.no(format_args!("can't be started: {error}")),
        };
        let status = loop {
            let Some(left) = deadline.left() else {
                return Answer::silence(match deadline.is_withdrawn() {
                    true => "the answer isn't needed any more".to_string(),
                    false => {
                        let time = Duration::from_millis(request.timeout_ms);
                        format!("the command that is asked didn't answer within {time:?}")
                    }
                });
            };
            conversation.go_on(left.min(SLICE));
            if conversation.says_too_much() {
                return self.no("says too much");
            }
            match conversation.status() {
                Ok(None) => {}
                Ok(Some(status)) => break status,
                Err(error) => return self.no(format_args!("is lost: {error}")),
            }
        };
        // Its last output; processes that it left behind aren't waited for.
        conversation.hear();
        if conversation.says_too_much() {
            return self.no("says too much");
        }
        if !status.success() {
            return self.no(end(status));
        }
        let read = reply::read(conversation.heard(), request, &self.name());
        read.unwrap_or_else(|error| self.no(format_args!("gave no usable answer: {error}")))
    }
}

fn end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::approve::samples::request;
    use crate::approve::{Choice, Lifetime};
    use stockade_sys::signals;

    fn ask(text: &str, time: Duration) -> Answer {
        CommandApprover::new(text).ask(&request(), &Deadline::of(time))
    }

    fn asked(text: &str) -> Answer {
        ask(text, Duration::from_secs(20))
    }

    fn reason_of_no(text: &str) -> String {
        let answer = asked(text);
        assert_eq!(answer.choice, Choice::No { all: false }, "{answer:?}");
        answer.reason.unwrap()
    }

    #[test]
    fn a_yes_and_a_no_come_through() {
        let yes = r#"echo '{"answer":"yes","lifetime":"session"}'"#;
        assert_eq!(asked(yes), Answer::yes(Lifetime::Session, format!("command {yes}")));
        let no = r#"printf '{"answer":"no","by":"policy","reason":"never hosts"}'"#;
        assert_eq!(asked(no), Answer::no("policy").because("never hosts"));
    }

    #[test]
    fn it_reads_the_request_as_json() {
        let answer = asked(r#"grep -q '"target":"/etc/hosts"' && echo '{"answer":"yes","lifetime":"once"}'"#);
        assert!(matches!(answer.choice, Choice::Yes { .. }), "{answer:?}");
    }

    #[test]
    fn whatever_isnt_an_answer_is_a_no() {
        assert_eq!(
            reason_of_no("exit 3"),
            "the command that is asked ended with exit code 3"
        );
        let yes = r#"echo '{"answer":"yes","lifetime":"once"}';"#;
        assert_eq!(
            reason_of_no(&format!("{yes} exit 1")),
            "the command that is asked ended with exit code 1"
        );
        assert_eq!(
            reason_of_no(&format!("{yes} kill -KILL $$")),
            "the command that is asked was ended by signal 9"
        );
        for garbage in ["", "echo yes", "head -c 100 /dev/zero", &format!("{yes} echo more")] {
            let reason = reason_of_no(garbage);
            assert!(reason.contains("gave no usable answer"), "{garbage}: {reason}");
        }
        let reason = reason_of_no("/nonexistent/program 2>&-");
        assert!(reason.contains("exit code 127"), "{reason}");
    }

    #[test]
    fn endless_output_is_a_no_at_once() {
        let start = Instant::now();
        assert_eq!(
            reason_of_no("exec cat /dev/zero"),
            "the command that is asked says too much"
        );
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_command_that_sleeps_for_ever_is_killed_with_all_that_it_started() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("pid");
        let text = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let answer = ask(&text, Duration::from_millis(300));
        assert_eq!(answer.choice, Choice::Silence);
        let pid = std::fs::read_to_string(file).unwrap();
        let has_ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        };
        let start = Instant::now();
        while !has_ended() {
            assert!(start.elapsed() < Duration::from_secs(10), "it still sleeps");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_question_that_is_withdrawn_ends_the_command() {
        let deadline = Deadline::of(Duration::from_secs(20));
        let copy = deadline.clone();
        let place = tempfile::tempdir().unwrap();
        let begun = place.path().join("begun");
        let text = format!("echo >{}; sleep 1000", begun.display());
        let asking = std::thread::spawn(move || CommandApprover::new(text).ask(&request(), &copy));
        let start = Instant::now();
        while !begun.exists() {
            assert!(start.elapsed() < Duration::from_secs(10), "it isn't run");
            std::thread::sleep(Duration::from_millis(5));
        }
        deadline.withdraw();
        assert_eq!(asking.join().unwrap().choice, Choice::Silence);
    }

    #[test]
    fn what_it_leaves_behind_isnt_waited_for() {
        let start = Instant::now();
        let answer = asked(r#"sleep 60 & echo '{"answer":"no"}'"#);
        assert!(matches!(answer.choice, Choice::No { .. }));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn it_starts_with_no_signal_blocked_where_all_are() {
        let asking = std::thread::spawn(|| {
            signals::SignalSet::full().block().unwrap();
            asked(r#"grep -q 'SigBlk:.0*$' /proc/self/status && echo '{"answer":"yes","lifetime":"once"}'"#)
        });
        let answer = asking.join().unwrap();
        assert!(matches!(answer.choice, Choice::Yes { .. }), "{answer:?}");
    }
}
