//! `stockade learn`: runs a command inside a ceiling, observes it, and prints the least profile for its uses.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::REFUSED;
use crate::args::Learn;
use crate::learn::{self, Asked, Lesson, Observation, RunContext};
use crate::ledger::Ledger;
use crate::message::{Failure, note};
use crate::orphans::Orphans;
use crate::refused::Rest;
use crate::signals::Signals;
use crate::{reader, refused, run};
use stockade::{Outcome, Ready, Sandbox};
use stockade_infer::{Language, Setting};
use stockade_plan::plan::SupervisorAbility;
use stockade_policy::policy::Policy;
use stockade_policy::profile::visible;
use stockade_report::report::{Denial, Report, Sink, Written};
use stockade_store::Level;
use stockade_text::mask;
use stockade_text::quote::command_line;

/// Observes one run; returns the exit code of the command.
pub fn learn(task: &Learn) -> Result<u8, Failure> {
    let name = name(task)?;
    let printed = printed(task)?;
    let ledger = Ledger::at(Level::Denials)?;
    let observation = Arc::new(Observation::new(ledger.observer()));
    let observed = observe(task, &observation, printed.profile.as_ref().and_then(Sink::path));
    ledger.close();
    let (run, outcome) = observed?;
    run::say_ending(&outcome);
    let report = outcome.report();
    let refusal = refused::explanation(report, Rest::Trail);
    let is_half = refusal.is_some() || report.signal.is_some() && report.limit.is_none();
    if let Some(mut failure) = refusal {
        failure.hint = Some(wider_ceiling(report, task));
        failure.other_way = None;
        failure.print();
    }
    let lesson = run.lesson(task, &name, &observation, &outcome);
    if let Some(comparison) = &lesson.compare {
        let lines = comparison.lines();
        lines.iter().for_each(|line| note(line));
    }
    if is_half && !task.json {
        note("no profile is learnt from a run that didn't get through");
        if let Some(profile) = printed.profile {
            profile.discard();
        }
        return Ok(outcome.exit_code());
    }
    print(task, &lesson, printed)?;
    Ok(outcome.exit_code())
}

/// The way to observe what the ceiling refused: `learn` has no flags for grants.
fn wider_ceiling(report: &Report, task: &Learn) -> String {
    const WRITES_HERE: &str = "workspace";
    let is_write_here =
        |denial: &Denial| denial.access.changes() && Path::new(&denial.target).starts_with(&report.root);
    let mut likely = report.explanation().chain(report.perhaps());
    let proposed = match task.ceiling != WRITES_HERE && likely.any(is_write_here) {
        true => Some(WRITES_HERE),
        false => report
            .suggestion
            .as_ref()
            .and_then(|suggestion| suggestion.profile.as_deref()),
    };
    match proposed {
        Some(profile) => format!("`{}` observes it where that is granted", line(task, profile)),
        None => "`--ceiling NAME|FILE` observes it under a profile that grants it".into(),
    }
}

/// The line that was typed, with another ceiling.
fn line(task: &Learn, ceiling: &str) -> String {
    let typed: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let (flags, command) = typed.split_at(typed.len().saturating_sub(task.command.len()));
    let mut words = ["stockade", "learn", "--ceiling", ceiling].map(String::from).to_vec();
    let mut flags = flags.iter().skip(2);
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--ceiling" => drop(flags.next()),
            flag if flag.starts_with("--ceiling=") => {}
            flag => words.push(flag.to_string()),
        }
    }
    words.extend_from_slice(command);
    command_line(&mask::words(&words))
}

/// Where the lesson is written; opened before the run.
struct Printed {
    profile: Option<Sink>,
    /// Standard output, while the command's goes to standard error.
    output: Option<File>,
}

/// Data on standard output stays alone there: the command's own goes to standard error, unless the profile goes to a
/// file and nothing else is printed.
fn printed(task: &Learn) -> Result<Printed, Failure> {
    let failed = |error: io::Error| Failure::new(REFUSED, &error);
    let holds_something = |path: &&Path| path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    if let Some(path) = task.output.as_deref().filter(holds_something) {
        let told = format!("`{}` already exists", path.display());
        return Err(Failure::text(REFUSED, told).hint("name another file, or remove this one first"));
    }
    let profile = task.output.as_deref().map(|path| {
        Sink::file(path).map_err(|error| {
            let path = path.display();
            Failure::text(REFUSED, format!("can't write the profile to `{path}`: {error}"))
        })
    });
    let profile = profile.transpose()?;
    if profile.is_some() && !task.json {
        return Ok(Printed { profile, output: None });
    }
    let output = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    nix::unistd::dup2_stdout(io::stderr().as_fd()).map_err(|errno| failed(errno.into()))?;
    Ok(Printed {
        profile,
        output: Some(output.into()),
    })
}

fn print(task: &Learn, lesson: &Lesson, printed: Printed) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::text(REFUSED, format!("can't write what was learnt: {error}"));
    let written = printed.profile.map(|sink| sink.write_text(&lesson.profile));
    if let Some(Written::Elsewhere(path)) = written.transpose().map_err(failed)? {
        note(&format!(
            "another file has taken the profile's name during the run; the profile is `{}`",
            visible(&path.to_string_lossy())
        ));
    }
    let text = match (task.json, task.output.is_some()) {
        (true, _) => format!("{:#}\n", serde_json::to_value(lesson).unwrap_or_default()),
        (false, false) => lesson.profile.clone(),
        (false, true) => return Ok(()),
    };
    match printed.output.map(|mut output| output.write_all(text.as_bytes())) {
        Some(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(()),
    }
}

/// The profile's name: a profile in a file must have the file's name.
fn name(task: &Learn) -> Result<String, Failure> {
    let stem = task.output.as_deref().and_then(Path::file_stem);
    let of_file = stem.map(|stem| stem.to_string_lossy().into_owned());
    let is_toml = task
        .output
        .as_deref()
        .is_none_or(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let name = task
        .name
        .clone()
        .or(of_file.clone())
        .unwrap_or_else(|| "learned".into());
    let refused = |message: String| Err(Failure::text(REFUSED, message).hint("`-o NAME.toml`, in small letters"));
    if !is_toml {
        return refused("a profile's file ends in `.toml`".into());
    }
    if of_file.is_some_and(|stem| stem != name) {
        return refused(format!(
            "a profile has the name of its file, and `{}` isn't that",
            visible(&name)
        ));
    }
    if stockade_policy::profile::SHIPPED
        .iter()
        .any(|(shipped, _)| *shipped == name)
    {
        return refused(format!("`{name}` is a shipped profile"));
    }
    match stockade_policy::profile::reading::profile_name(&name) {
        Ok(name) => Ok(name),
        Err(complaint) => refused(complaint.message),
    }
}

/// Facts about the run beside the observed uses.
struct Observed {
    policy: Policy,
    free: Policy,
    home: Option<PathBuf>,
    own: Vec<PathBuf>,
    scripts: Vec<PathBuf>,
}

fn observe(
    task: &Learn,
    observation: &Arc<Observation>,
    output: Option<PathBuf>,
) -> Result<(Observed, Outcome), Failure> {
    let mut sandbox = Sandbox::profile(&task.ceiling)?.observer(Arc::clone(observation) as Arc<_>);
    if let Some(output) = output {
        sandbox = sandbox.guard(&output, "--output");
    }
    if let Some(root) = &task.root {
        sandbox = sandbox.root(root);
    }
    if let Some(time) = task.time_limit {
        sandbox = sandbox.time_limit(time);
    }
    let (home, own) = (sandbox.home().map(Path::to_path_buf), sandbox.own_directories()?);
    let ready = ready(task, &sandbox)?;
    let observed = Observed {
        free: ready
            .ungranted()
            .ok_or_else(|| Failure::text(REFUSED, "`minimal` can't be resolved here"))?,
        policy: ready.policy.clone(),
        scripts: ready.scripts().map(Path::to_path_buf).collect(),
        home,
        own,
    };
    let signals = Signals::take().map_err(|error| Failure::new(REFUSED, &error))?;
    let orphans = Orphans::expect()?;
    let child = ready.start_for(Some(signals.for_start()))?;
    let outcome = run::attend(child, signals, &orphans).map_err(|(failure, _)| failure)?;
    Ok((observed, outcome))
}

/// Prepares a run with a supervisor of its own, which reports uses. A nested run has none, and nothing would be seen.
fn ready(task: &Learn, sandbox: &Sandbox) -> Result<Ready, Failure> {
    let (program, arguments) = task.command.split_first().expect("clap requires a command");
    let prepare = |sandbox: &Sandbox| sandbox.command(program).args(arguments).prepare();
    let unseen = || {
        Failure::text(REFUSED, "can't observe this run: it has no supervisor of its own")
            .hint("a run inside a run can't be observed; `stockade doctor` shows what this machine has")
    };
    match prepare(&sandbox.clone().telling_hosts()) {
        Ok(ready) if ready.plan.supervisor == SupervisorAbility::Own && ready.plan.supervision.is_some() => Ok(ready),
        Ok(_) => Err(unseen()),
        // Report first what the ceiling itself lacks.
        Err(stockade::Error::Plan(_)) => Err(prepare(sandbox).map_or_else(Failure::from, |_| unseen())),
        Err(error) => Err(error.into()),
    }
}

impl Observed {
    fn lesson(&self, task: &Learn, name: &str, observation: &Observation, outcome: &Outcome) -> Lesson {
        let report = outcome.report();
        let run_context = RunContext {
            policy: &self.policy,
            free: &self.free,
            home: self.home.as_deref(),
            own: &self.own,
            command: &report.command,
            scripts: &self.scripts,
        };
        let (uses, dropped) = observation.uses();
        let used = learn::used(&uses, dropped, &run_context);
        let mut lesson = learn::lesson(name, &used, report, &run_context);
        if task.compare {
            match self.asked() {
                Some(asked) => lesson.compare = Some(learn::compare(asked, &lesson)),
                None => note("the command runs no script that `infer` reads, so there is nothing to compare"),
            }
        }
        lesson
    }

    /// The effects that the script's text asks for.
    fn asked(&self) -> Option<Asked> {
        self.scripts.iter().find_map(|script| {
            let source = std::fs::read_to_string(script).ok()?;
            let language = Language::of(Some(script), &source)?;
            let setting = Setting {
                root: Some(self.policy.root.clone()),
                script: Some(script.clone()),
                home: self.home.clone(),
                ..Setting::default()
            };
            let inference = reader::read(&source, language, &setting.with_modules());
            Some(Asked {
                profile: inference.profile.to_string(),
                reads: inference.reads,
                writes: inference.writes,
                hosts: inference.hosts,
                listens: inference.listens,
            })
        })
    }
}
