//! `stockade run`: runs one command inside a profile.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::acting::{Acting, LOWEST};
use super::args::{LateSecrets, Run};
use super::ask::Ask;
use super::asking;
use super::ledger::Ledger;
use super::limited;
use super::message::{self, Failure, hint, inform, note};
use super::orphans::Orphans;
use super::refused::{self, Rest};
use super::relay::Relay;
use super::signals::{self, Signals};
use super::{REFUSED, REPORT_IT};
use stockade::{Child, Ending, Event, LeftBehind, Outcome, Ready, Sandbox};
use stockade_policy::profile::{Limits, visible};
use stockade_report::approve::Approver;
use stockade_report::fault;
use stockade_report::report::{InternalFault, Report, Sink, Written};

/// Runs the command; returns the exit code of `stockade run`.
pub fn run(run: &Run) -> Result<u8, Failure> {
    send_messages(run)?;
    let sink = run.report.as_deref().map(open_report).transpose()?;
    let begun = begin(run);
    let report_path = sink.as_ref().and_then(Sink::path);
    let (acting, approver, ledger) = match begun {
        Ok(begun) => begun,
        Err(failure) => {
            write_report(sink, &refused(run, run.profile.as_deref().unwrap_or(LOWEST)));
            return Err(failure);
        }
    };
    let (mut granted, mut asked) = (Vec::new(), Vec::new());
    let outcome = loop {
        let (outcome, left_behind) = match attempt(
            run,
            &acting,
            (approver.as_ref(), &ledger),
            (&granted, report_path.as_deref()),
        ) {
            Ok(ended) => ended,
            Err((failure, report)) => {
                ledger.close();
                write_report(sink, &report);
                return Err(failure);
            }
        };
        say_ending(&outcome);
        let report = outcome.report();
        let rest = match run.report.as_deref() {
            Some(file) if !ledger.is_of_hook(file) => Rest::Report(file),
            _ if ledger.keeps_refusals() => Rest::Trail,
            _ => Rest::Nowhere,
        };
        let why = limited::reached(report).or_else(|| refused::explanation(report, rest));
        for failure in why.into_iter().chain(refused::kept(report, rest)) {
            failure.print();
        }
        for left in left_behind.iter().filter(|left| left.explains(report)) {
            note(&left.said);
        }
        if granted.len() >= MAX_REPEATS {
            break outcome;
        }
        let Some(repeat) = asking::ask_to_repeat(run, approver.as_ref(), outcome.report()) else {
            break outcome;
        };
        asked.push(repeat.escalated());
        ledger.note(&outcome.report().run, repeat.records());
        match repeat.program {
            Some(program) => granted.push(program),
            None => break outcome,
        }
    };
    ledger.close();
    if let Some(flag) = run.stray_flag.as_ref().filter(|_| !outcome.success()) {
        note(&format!(
            "`{flag}` after the command was the command's own; flags of Stockade stand before the command"
        ));
    }
    let mut report = outcome.report().clone();
    if !asked.is_empty() {
        asked.extend(
            report
                .escalation
                .iter_mut()
                .flat_map(|escalation| escalation.requests.drain(..)),
        );
        report.escalation.get_or_insert_default().requests = asked;
    }
    let reported = write_report(sink, &report);
    Ok(if reported { outcome.exit_code() } else { REFUSED })
}

/// From here on, Stockade's own messages go where `--messages` says.
///
/// # Errors
/// It isn't an open descriptor that can be written.
pub(super) fn send_messages(run: &Run) -> Result<(), Failure> {
    let Some(number) = run.messages else {
        return Ok(());
    };
    message::send_to(number).map_err(|error| {
        Failure::text(
            REFUSED,
            format!("can't print messages to descriptor {number} (`--messages`): {error}"),
        )
    })
}

/// The approver, if there is one.
type Asked = Option<Arc<dyn Approver>>;

/// Determines the identity, the approver and the ledger of the run.
fn begin(run: &Run) -> Result<(Acting, Asked, Ledger), Failure> {
    Ok((Acting::of_run(run)?, asking::approver(run)?, Ledger::open(run)?))
}

/// The most times that a run is started again with a grant.
const MAX_REPEATS: usize = 3;

/// One run from its start to its end; what there is to report where it never started, or where its end is lost.
fn attempt(
    run: &Run,
    acting: &Acting,
    aides: (Option<&Arc<dyn Approver>>, &Ledger),
    paths: (&[PathBuf], Option<&Path>),
) -> Result<(Outcome, Vec<LeftBehind>), (Failure, Box<Report>)> {
    let ready =
        ready(run, acting, aides, paths).map_err(|failure| (failure, Box::new(refused(run, &acting.profile))))?;
    let report = Box::new(ready.report().clone());
    let left_behind = ready.left_behind.clone();
    let failed = |failure: Failure| (failure, report.clone());
    // Before the start, so that a key pressed at once is handled like any later one.
    let signals = Signals::take().map_err(|error| failed(Failure::new(REFUSED, &error)))?;
    let orphans = Orphans::expect().map_err(failed)?;
    let child = ready
        .start_for(Some(signals.for_start()))
        .map_err(|error| failed(error.into()))?;
    Ok((attend(child, signals, &orphans)?, left_behind))
}

/// The report of a run that was refused.
fn refused(run: &Run, profile: &str) -> Report {
    let here = std::env::current_dir().unwrap_or_default();
    let root = here.join(run.root.as_deref().unwrap_or(Path::new("")));
    Report::refused(profile, &run.command, &root)
}

/// The sandbox of a run: its profile, and what the flags add.
pub(super) fn sandbox(
    run: &Run,
    acting: &Acting,
    (approver, ledger): (Option<&Arc<dyn Approver>>, &Ledger),
    (granted, report): (&[PathBuf], Option<&Path>),
) -> Result<Sandbox, Failure> {
    let mut sandbox = acting.sandbox()?.limits(limits(run)).trace(run.trace);
    if let Some(root) = &run.root {
        sandbox = sandbox.root(root);
    }
    for path in &run.read {
        sandbox = sandbox.read(path);
    }
    for path in &run.write {
        sandbox = sandbox.write(path);
    }
    for path in &run.write_guarded {
        sandbox = sandbox.write_guarded(path);
    }
    for path in run.exec.iter().chain(granted) {
        sandbox = sandbox.exec(path);
    }
    for path in &run.socket {
        sandbox = sandbox.socket(path);
    }
    if let Some(report) = report {
        sandbox = sandbox.guard(report, "--report");
    }
    if !run.foreign_tree.is_empty() {
        sandbox = sandbox.foreign_commands(run.foreign_tree.iter().cloned());
    }
    for path in &run.guard {
        let path = std::path::absolute(path).map_err(|error| Failure::new(REFUSED, &error))?;
        sandbox = sandbox.guard(&path, "--guard");
    }
    sandbox = with_network(sandbox, run)?;
    for glob in &run.deny {
        sandbox = sandbox.deny(glob)?;
    }
    for variable in &run.env {
        let (name, value) = split_variable(variable);
        sandbox = sandbox.env(name, value)?;
    }
    if run.dry_run {
        sandbox = sandbox.making_nothing();
    }
    if run.late_secrets == LateSecrets::End {
        sandbox = sandbox.end_for_late_secrets();
    }
    for shortfall in &run.accept_shortfall {
        sandbox = sandbox.accept_shortfall(*shortfall);
    }
    if let Some(script) = &run.script {
        sandbox.refuse_other_root(&script.root)?;
        sandbox = sandbox.by_text(&script.reads, &script.writes)?;
    }
    sandbox = with_questions(sandbox, run, approver);
    ledger.with_grants(sandbox, run, &acting.profile)
}

/// Prepares everything up to the start.
pub(super) fn ready(
    run: &Run,
    acting: &Acting,
    aides: (Option<&Arc<dyn Approver>>, &Ledger),
    paths: (&[PathBuf], Option<&Path>),
) -> Result<Ready, Failure> {
    let sandbox = sandbox(run, acting, aides, paths)?;
    acting.refuse_other_root(&sandbox)?;
    if let Some(root) = &run.real_root {
        sandbox.refuse_other_root(root)?;
    }
    say_absent(run);
    let (program, arguments) = run.command.split_first().expect("clap requires a command");
    let mut command = sandbox.command(program);
    let ready = command.args(arguments).prepare()?;
    let at_once = ready.left_behind.iter().filter(|left| left.hosts.is_empty());
    at_once.for_each(|left| note(&left.said));
    // A caller that decides each access by itself decides none where nothing can be asked.
    let was_chosen = !matches!(run.ask, Ask::Auto | Ask::Never) && !run.ask_each;
    if was_chosen && !ready.asks() {
        return Err(
            Failure::text(REFUSED, "this run can't ask questions: it has no supervisor of its own")
                .hint("use `--ask never`; a run inside a run can't ask"),
        );
    }
    Ok(ready)
}

/// Reports paths and variables of the flags that don't exist, with a hint where a path looks like an unexpanded shell word.
pub(super) fn say_absent(run: &Run) {
    let unset = run.env.iter().filter(|text| {
        let (name, value) = split_variable(text);
        value.is_none() && std::env::var_os(name).is_none()
    });
    let unset: Vec<String> = unset
        .map(|name| visible(&name.to_string_lossy()).into_owned())
        .collect();
    if !unset.is_empty() {
        inform(&format!(
            "`--env` names variables that aren't set here: {}",
            unset.join(", ")
        ));
    }
    for (flag, paths) in [("--read", &run.read), ("--write", &run.write), ("--exec", &run.exec)] {
        for path in paths.iter().filter(|path| !path.exists()) {
            let text = path.to_string_lossy();
            let why = if text.starts_with('~') {
                ": the shell didn't expand its `~`, as in quotes or after `=`; `$HOME` works there".into()
            } else if text.contains(['*', '?', '[', '{']) {
                format!(": `{flag}` takes no patterns; name a directory, or each file with a `{flag}` of its own")
            } else {
                " yet".into()
            };
            inform(&format!("`{text}` doesn't exist{why}"));
        }
    }
}

/// Sets the approver and its options.
fn with_questions(mut sandbox: Sandbox, run: &Run, approver: Option<&Arc<dyn Approver>>) -> Sandbox {
    if let Some(approver) = approver {
        sandbox = sandbox.shared_approver(Arc::clone(approver));
    }
    if let Some(agent) = &run.agent {
        sandbox = sandbox.agent(agent);
    }
    if let Some(script) = &run.script {
        let content = Arc::clone(&script.content);
        sandbox = sandbox.script(&script.hash);
        sandbox = sandbox.flag_path(script.given.to_string_lossy(), script.way.clone());
        sandbox = sandbox.script_text(script.way.real.clone(), content, script.to_whom);
    }
    if let Some(time) = run.ask_timeout {
        sandbox = sandbox.ask_timeout(time);
    }
    sandbox.escalate(run.escalate)
}

/// Applies the flags for hosts.
fn with_network(mut sandbox: Sandbox, run: &Run) -> Result<Sandbox, Failure> {
    for pattern in &run.host {
        sandbox = sandbox.host(pattern)?;
    }
    for port in &run.listen {
        sandbox = sandbox.listen(*port);
    }
    if let Some(choice) = run.net {
        sandbox = sandbox.network(choice);
    }
    if run.llm {
        sandbox = sandbox.llm()?;
    }
    if let Some(server) = run.resolver {
        sandbox = sandbox.resolver(server);
    }
    Ok(sandbox)
}

fn limits(run: &Run) -> Limits {
    Limits {
        time: run.time_limit,
        cpu: run.cpu_limit,
        memory: run.memory_limit,
        processes: run.process_limit,
        open_files: run.open_files_limit,
        file_size: run.file_size_limit,
        disk: run.disk_limit,
        output: run.output_limit,
    }
}

/// `NAME` or `NAME=VALUE`; the value may hold anything.
pub(super) fn split_variable(text: &OsStr) -> (OsString, Option<OsString>) {
    let bytes = text.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (
            OsStr::from_bytes(&bytes[..at]).to_owned(),
            Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned()),
        ),
        None => (text.to_owned(), None),
    }
}

fn open_report(place: &OsStr) -> Result<Sink, Failure> {
    let failed = |error: io::Error| {
        Failure::text(
            REFUSED,
            format!("can't write the report to `{}`: {error}", place.display()),
        )
    };
    match place.to_str().and_then(|text| text.strip_prefix("fd:")) {
        Some(number) => {
            let number = number.parse().map_err(|_| {
                Failure::text(REFUSED, format!("`{}` isn't a descriptor", place.display()))
                    .hint("`--report fd:3` with `3>report.json`, for example")
            })?;
            Sink::descriptor(number).map_err(failed)
        }
        None => Sink::file(Path::new(place)).map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::ELOOP) => Some("it is a symbolic link, and a report is never written through one"),
                Some(libc::ENOENT) => Some("its directory has to be there"),
                Some(libc::EMLINK) => {
                    Some("it has a second name (a hard link), through which others may write; remove it, or name another file")
                }
                _ => None,
            };
            Failure {
                hint: hint.map(String::from),
                ..failed(error)
            }
        }),
    }
}

/// Whether the report, if one was asked for, is written. Where the run took its name away, it is said and no failure.
fn write_report(sink: Option<Sink>, report: &Report) -> bool {
    match sink.map(|sink| sink.write(report)) {
        Some(Err(error)) => {
            note(&format!("can't write the report: {error}"));
            false
        }
        Some(Ok(Written::Elsewhere(path))) => {
            note(&format!(
                "another file has taken the report's name during the run; the report is `{}`",
                visible(&path.to_string_lossy())
            ));
            true
        }
        Some(Ok(Written::InPlace)) | None => true,
    }
}

/// Tells of closed names that somebody made while the run reads by itself.
fn tell_of_late_secrets(paths: &[PathBuf]) {
    for path in paths {
        note(&format!(
            "`{}` was made meanwhile under a closed name, and the run can read it: it reads by itself there (`--trace exact`)",
            visible(&path.to_string_lossy())
        ));
    }
}

/// Serves the run to its end: forwards signals and piped output. Returns the report if the run is lost.
pub(super) fn attend(
    mut child: Child,
    mut signals: Signals,
    orphans: &Orphans,
) -> Result<Outcome, (Failure, Box<Report>)> {
    drop_capabilities();
    let mut relay = Relay::new();
    loop {
        let event = match child.next_event(Some(signals.as_fd())) {
            Ok(event) => event,
            Err(error) => {
                orphans.end();
                return Err((error.into(), Box::new(child.report().clone())));
            }
        };
        fault::point("main", || "event");
        match event {
            Event::Attention => signals.answer(&child),
            Event::Stopped(signal) => signals::follow_stop(&mut signals, &child, signal),
            Event::Continued => {}
            Event::Appeared(paths) => tell_of_late_secrets(&paths),
            Event::Output(stream, bytes) => relay.pass(stream, bytes, || {
                child.tick();
                signals.answer(&child);
                signals.ended_by().is_some() || child.is_being_ended()
            }),
            Event::Ended(ending) => {
                let is_written = relay.finish(&mut signals);
                return Ok(ended(child, ending, &signals, is_written));
            }
        }
    }
}

/// A launcher that was told to end reports that signal, where the target had to be killed for it, or output is lost.
fn ended(child: Child, mut ending: Ending, signals: &Signals, is_written: bool) -> Outcome {
    let was_killed = libc::WIFSIGNALED(ending.status) && libc::WTERMSIG(ending.status) == libc::SIGKILL;
    if ending.limit.is_none()
        && (was_killed || !is_written)
        && let Some(signal) = signals.ended_by()
    {
        ending.status = signal;
    }
    child.outcome(&ending)
}

/// From here on the launcher only waits: it needs no more power than the user has.
fn drop_capabilities() {
    use caps::CapSet;
    for set in [CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        let _ = caps::clear(None, set);
    }
}

/// The names that a run left in its own home, which is gone with it; `None` if there were none.
pub(super) fn left_in_home(report: &Report) -> Option<String> {
    const SHOWN: usize = 2;
    let left = &report.left_in_home;
    let shown = left.iter().take(SHOWN).map(|name| format!("`~/{}`", visible(name)));
    let more = if left.len() > SHOWN { " and more" } else { "" };
    let shown: Vec<String> = shown.collect();
    (!left.is_empty()).then(|| format!("gone with the run's own home: {}{more}", shown.join(", ")))
}

/// Says what ended a run or went wrong in Stockade itself.
pub(super) fn say_ending(outcome: &Outcome) {
    let report = outcome.report();
    for fault in &report.faults {
        note(&told(fault));
    }
    if !report.faults.is_empty() {
        hint(REPORT_IT);
    }
    if let Some(limit) = limited::ended(report) {
        note(&limit);
    }
    if let Some(left) = left_in_home(report) {
        note(&left);
        hint("a run's `~` isn't yours: write in the root, or outside of a run");
    }
}

/// A mistake of Stockade's own, in one line.
pub(super) fn told(fault: &InternalFault) -> String {
    let (part, consequence) = fault.part.describe();
    let times = match fault.count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    };
    format!("internal error in {part}: {}; {consequence}{times}", fault.message)
}
