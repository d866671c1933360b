//! A program that runs in a sandbox.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use tracing::{debug_span, info};

use super::reads::Looking;
use super::{Error, Outcome, Output, Sandbox};
use super::{lowest, withheld};
use crate::audit::{Ended, Record, Seen};
use crate::command;
use crate::launch::{self, Event, Running};
use crate::policy::Policy;
use crate::report::{Report, RunContext};

/// A program that runs in a sandbox. Dropping it ends the whole tree.
pub struct Child {
    pub(super) running: Running,
    /// Ends with it.
    pub(super) _looking: Option<Looking>,
    pub(super) report: Report,
    pub(super) sandbox: Sandbox,
    pub(super) policy: Policy,
    pub(super) command: command::ResolvedCommand,
}

impl Child {
    /// The program's process id.
    pub fn id(&self) -> i32 {
        self.running.id()
    }

    /// The process id of its warden, a child of this process.
    #[doc(hidden)]
    pub fn warden(&self) -> i32 {
        self.running.warden()
    }

    /// Ends the whole tree.
    pub fn kill(&self) {
        self.running.kill();
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: i32) {
        self.running.signal(signal);
    }

    /// Sends every process of the tree a signal.
    pub fn signal_all(&self, signal: i32) {
        self.running.signal_all(signal);
    }

    /// Holds the whole tree still until the value is dropped; `None` if it can't be held, or could resume itself.
    pub fn hold(&self) -> Option<crate::warden::Pause> {
        self.running.hold()
    }

    /// How long the time limit lets it run on; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        self.running.time_left()
    }

    /// Whether a limit was passed and the tree is being ended for it.
    pub fn is_being_ended(&self) -> bool {
        self.running.is_being_ended()
    }

    /// Checks the limits, for a caller that can't wait for events now.
    pub fn tick(&mut self) {
        self.running.tick();
    }

    /// Waits for the next event; `attention` is a descriptor of the caller's to wait on as well.
    ///
    /// # Errors
    /// The warden was killed; the program died with it.
    pub fn next_event(&mut self, attention: Option<BorrowedFd<'_>>) -> Result<Event, Error> {
        let event = self.running.next_event(attention);
        if matches!(event, Ok(Event::Appeared(_))) && self.sandbox.ends_for_late_secrets() {
            self.running.kill();
        }
        event.map_err(|error| {
            self.break_off();
            Error::launch(error, &self.command.program)
        })
    }

    /// The report after a failed event.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Records everything known of a run that sends no more events.
    fn break_off(&mut self) {
        match self.running.lost() {
            Some(ending) => self.conclude(&ending),
            None => self.tell_end(),
        }
    }

    /// Waits until the whole tree has ended.
    ///
    /// # Errors
    /// The warden was killed; the program died with it.
    pub fn wait(mut self) -> Result<Outcome, Error> {
        loop {
            if let Event::Ended(ending) = self.next_event(None)? {
                return Ok(self.outcome(&ending));
            }
        }
    }

    /// The outcome for an ending that [`Child::next_event`] answered.
    pub fn outcome(mut self, ending: &launch::Ending) -> Outcome {
        self.conclude(ending);
        Outcome::new(self.report, ending.status)
    }

    fn conclude(&mut self, ending: &launch::Ending) {
        let _conclude = debug_span!("conclude").entered();
        self.report.ended(ending);
        self.report.left_in_home = self.running.left_in_home();
        self.report.escalation = self.running.escalation();
        self.report.faults = self.running.faults();
        let late = self.running.late_secrets();
        self.report.enforcement.late_secrets = late.iter().map(|path| path.display().to_string()).collect();
        let withheld = withheld::Withheld::of(&self.sandbox.surroundings.environment, &self.policy);
        self.running.testimony(|refusals, stderr| {
            let run_context = RunContext {
                policy: &self.policy,
                home: self.sandbox.surroundings.home.as_deref(),
                stderr,
                variables: &withheld.variables,
                program: &|name| withheld.program(name),
                order: &lowest::Shipped::new(&self.sandbox, &self.policy.root, &self.command),
            };
            self.report.conclude(refusals, &run_context);
        });
        // Named by `--profile`, another profile would come without them.
        if self.sandbox.has_grants_by_text
            && let Some(suggestion) = &mut self.report.suggestion
            && !suggestion.flags.is_empty()
        {
            suggestion.profile = None;
        }
        self.tell_end();
    }

    fn tell_end(&self) {
        let denials = self.report.denials.len();
        info!(
            status = self.report.status.name(),
            duration_ms = self.report.duration_ms,
            denials,
            "run ended"
        );
        for denial in self.report.denials.iter().filter(|denial| denial.is_lack()) {
            self.sandbox
                .tell(&self.report.run, || Record::Denied(Seen::lacked(denial)));
        }
        let ended = || Record::Ended(Ended::of(&self.report));
        self.sandbox.tell(&self.report.run, ended);
    }

    pub(super) fn wait_with_output(mut self) -> Result<Output, Error> {
        let mut streams = [Vec::new(), Vec::new()];
        loop {
            match self.next_event(None)? {
                Event::Output(stream, bytes) => streams[stream].extend(bytes),
                Event::Ended(ending) => {
                    let [stdout, stderr] = streams;
                    return Ok(Output {
                        outcome: self.outcome(&ending),
                        stdout,
                        stderr,
                    });
                }
                Event::Stopped(_) | Event::Continued | Event::Attention | Event::Appeared(_) => {}
            }
        }
    }
}
