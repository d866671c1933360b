//! A person who answers by a rule, and a run that asks them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stockade::{Output, Sandbox};
use stockade_report::approve::{
    Answer, Approver, Choice, Deadline, EscalationRequest, Extent, Lifetime, Manner, Requested,
};

use crate::common::{Place, is_in_call, python};

type Rule = dyn Fn(&EscalationRequest, &Deadline) -> Answer + Send + Sync;

/// Somebody who can be asked.
pub struct Person {
    manner: Manner,
    rule: Box<Rule>,
    asked: Mutex<Vec<EscalationRequest>>,
    opens_guarded: AtomicBool,
}

impl Approver for Person {
    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        self.asked.lock().unwrap().push(request.clone());
        (self.rule)(request, deadline)
    }

    fn manner(&self) -> Manner {
        self.manner
    }

    fn may_open_guarded(&self) -> bool {
        self.opens_guarded.load(Ordering::Relaxed)
    }
}

/// A run to be, with somebody to ask.
pub struct Asking {
    pub place: Place,
    person: Arc<Person>,
    sandbox: Sandbox,
}

/// What came of it.
pub struct Asked {
    pub place: Place,
    pub output: Output,
    /// What was asked for, one line each: `--read /etc/hosts`.
    pub asked: Vec<String>,
    pub requests: Vec<EscalationRequest>,
}

/// A run under a profile.
pub fn asking(profile: &str, rule: impl Fn(&EscalationRequest) -> Answer + Send + Sync + 'static) -> Asking {
    patiently(profile, Manner::Beside, move |request, _| rule(request))
}

/// The same with all that an approver knows.
pub fn patiently(
    profile: &str,
    manner: Manner,
    rule: impl Fn(&EscalationRequest, &Deadline) -> Answer + Send + Sync + 'static,
) -> Asking {
    let place = Place::new();
    let person = Arc::new(Person {
        manner,
        rule: Box::new(rule),
        asked: Mutex::default(),
        opens_guarded: AtomicBool::new(false),
    });
    let sandbox = Sandbox::profile(profile)
        .unwrap()
        .root(&place.root)
        .time_limit(Duration::from_secs(60))
        .shared_approver(Arc::clone(&person) as Arc<dyn Approver>);
    Asking { place, person, sandbox }
}

/// Threads of the process that asks which wait in `openat`.
pub fn opening(request: &EscalationRequest) -> usize {
    threads(request)
        .filter(|thread| is_in_call(*thread, nix::libc::SYS_openat))
        .count()
}

/// Threads of the process that asks.
pub fn threads(request: &EscalationRequest) -> impl Iterator<Item = i32> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", request.evidence.pid));
    let names = tasks.into_iter().flatten().flatten().map(|task| task.file_name());
    names.map(|name| name.to_str().unwrap().parse().unwrap())
}

/// Sends a signal to the process that asks.
pub fn signal(request: &EscalationRequest, signal: Signal) {
    kill(Pid::from_raw(request.evidence.pid), signal).unwrap();
}

/// A yes for this time.
pub fn once(_: &EscalationRequest) -> Answer {
    Answer::yes(Lifetime::Once, "ada")
}

/// A yes until the run ends.
pub fn session(_: &EscalationRequest) -> Answer {
    Answer::yes(Lifetime::Session, "ada")
}

/// A yes to what is wider, until the run ends.
pub fn wider(_: &EscalationRequest) -> Answer {
    Answer {
        choice: Choice::Yes {
            lifetime: Lifetime::Session,
            extent: Extent::Wider,
        },
        ..Answer::yes(Lifetime::Session, "ada")
    }
}

/// A no.
pub fn no(_: &EscalationRequest) -> Answer {
    Answer::no("ada").because("not today")
}

impl Asking {
    /// Another sandbox.
    pub fn with(self, change: impl FnOnce(Sandbox) -> Sandbox) -> Self {
        Asking {
            sandbox: change(self.sandbox),
            ..self
        }
    }

    /// Has guarded files be asked about, as a terminal does.
    pub fn about_guarded_files(self) -> Self {
        self.person.opens_guarded.store(true, Ordering::Relaxed);
        self
    }

    /// A file in the root.
    pub fn file(self, name: &str, text: &str) -> Self {
        self.place.file(name, text);
        self
    }

    /// Runs Python code.
    pub fn python(self, code: &str) -> Asked {
        let code = self.place.fill(code);
        self.command(&[python(), "-I", "-c", &code])
    }

    pub fn command(self, words: &[&str]) -> Asked {
        let mut command = self.sandbox.command(words[0]);
        let output = command.args(&words[1..]).output().unwrap();
        let requests = std::mem::take(&mut *self.person.asked.lock().unwrap());
        Asked {
            place: self.place,
            output,
            asked: requests.iter().map(|request| words_of(&request.requested)).collect(),
            requests,
        }
    }
}

/// A request's words on one line.
pub fn words_of(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => grants
            .iter()
            .map(|words| words.join(" "))
            .collect::<Vec<_>>()
            .join(", "),
        Requested::Profile(name) => format!("--profile {name}"),
    }
}

impl Asked {
    /// That it printed exactly this and ended with 0.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        let stdout = String::from_utf8_lossy(&self.output.stdout);
        let stderr = String::from_utf8_lossy(&self.output.stderr);
        assert_eq!((&*stdout, &*stderr), (text, ""), "asked: {:#?}", self.asked);
        assert_eq!(self.output.outcome.exit_code(), 0);
        self
    }

    /// That exactly this was asked for, in this order.
    #[track_caller]
    pub fn was_asked(self, expected: &[&str]) -> Self {
        let expected: Vec<String> = expected.iter().map(|text| self.place.fill(text)).collect();
        assert_eq!(self.asked, expected);
        self
    }

    /// That the report has no denial.
    #[track_caller]
    pub fn was_refused_nothing(self) -> Self {
        assert_eq!(self.output.outcome.denials(), []);
        self
    }
}
