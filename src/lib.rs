//! The command line: the only code that reads arguments, prints, or decides an exit code.
//!
//! Data goes to standard output, everything else to standard error.

mod acting;
mod approvals;
mod args;
mod ask;
mod asking;
mod audit;
mod batch;
mod cache;
mod check;
mod config;
mod confirm;
mod doctor;
mod dry_run;
mod events;
mod exec;
mod explain;
mod generated;
mod grant;
mod help;
mod hook;
mod hook_flags;
mod hook_grants;
mod infer;
mod install;
mod interpreter;
mod layers;
pub mod learn;
mod ledger;
mod limited;
mod log;
mod mcp;
mod message;
mod modes;
mod moment;
mod orphans;
mod page;
mod profile;
mod reader;
mod refused;
mod relay;
mod rules;
mod run;
mod script;
mod shell;
mod signals;
mod text_grants;
mod topics;
mod trust;
mod values;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use args::{Arguments, Task};
use message::Failure;
use stockade_report::fault::{self, Fault};
pub use stockade_sys::heap::Heap;
use stockade_sys::process;
use stockade_sys::signals::{await_children, outlive_file_limit};

/// Stockade's own exit code: it failed, refused to start, or was called wrongly.
const REFUSED: u8 = 125;

/// Parses the arguments, carries out the command, returns the exit code.
pub fn main() -> ExitCode {
    process::share_one_heap();
    await_children();
    outlive_file_limit();
    fault::install_hook(tell_fault);
    let words: Vec<OsString> = std::env::args_os().collect();
    let called = hook::Called::by(&words);
    if let Some(called) = called {
        called.watch();
    }
    let result = fault::contain(|| {
        fault::point("main", || "start");
        check_limits()?;
        log::start();
        if let Some(words) = shell::by_name(&words) {
            return shell::named(words);
        }
        match called {
            Some(called) if called.is_of_no_agent() => Err(hook::no_agent(&words)),
            _ => Arguments::read().and_then(|arguments| act(&arguments.task)),
        }
    });
    match (result, called) {
        // An agent takes this exit code of a hook for no objection.
        (Ok(Err(failure)), Some(called)) => ExitCode::from(called.fail(&failure)),
        (Err(fault), Some(called)) => {
            tell_fault(&fault);
            ExitCode::from(called.block("internal error"))
        }
        (result, _) => exit_code(result),
    }
}

fn exit_code(result: Result<Result<u8, Failure>, Fault>) -> ExitCode {
    match result {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => {
            failure.print();
            ExitCode::from(failure.exit_code)
        }
        // A run in progress has ended, since the launcher's end of the warden's socket is closed.
        Err(fault) => {
            tell_fault(&fault);
            ExitCode::from(REFUSED)
        }
    }
}

/// Checks that this process has enough room: without it programs aren't found, or it ends without a message.
fn check_limits() -> Result<(), Failure> {
    use nix::sys::resource::{Resource, getrlimit};
    let needs = [
        (Resource::RLIMIT_NOFILE, 64, "open files", "ulimit -n 64"),
        (Resource::RLIMIT_STACK, 256 << 10, "the stack in bytes", "ulimit -s 256"),
    ];
    for (resource, least, what, command) in needs {
        let limit = getrlimit(resource).map_or(least, |(soft, _)| soft);
        if limit < least {
            let text = format!("the limit of {what} is {limit} here, and Stockade needs {least}");
            return Err(Failure::text(REFUSED, text).hint(format!("raise it: `{command}`")));
        }
    }
    Ok(())
}

/// Reports a panic that wasn't contained.
pub(crate) fn tell_fault(fault: &Fault) {
    Failure::text(REFUSED, format!("internal error: {fault}"))
        .hint(REPORT_IT)
        .print();
}

/// The hint for an internal error.
const REPORT_IT: &str = "this is a bug in Stockade: please report it with these lines";

fn act(task: &Task) -> Result<u8, Failure> {
    if let Task::Run(run) | Task::Exec(run) = task {
        message::be_quiet(run.quiet);
        log::start_if(run.verbose);
    }
    match task {
        Task::Run(run) if run.dry_run => to_output(|out| dry_run::show(run, out)),
        Task::Run(run) => run::run(run),
        Task::Exec(run) => exec::exec(run),
        Task::Batch(task) => batch::batch(task),
        Task::Infer(task) => to_output(|out| infer::infer(task, out)),
        Task::Script(task) => to_output(|out| script::script(task, out)),
        Task::Learn(task) => learn::command::learn(task),
        Task::Approvals(task) => approvals::approvals(task),
        Task::Explain(task) => to_output(|out| explain::explain(task, out)),
        Task::Profile(task) => to_output(|out| profile::profile_task(task, out)),
        Task::Hook(task) => hook::hook(task),
        Task::Shell(task) => shell::shell(task),
        Task::Check(task) => to_output(|out| check::check(task, out)),
        Task::Mcp(task) => mcp::mcp(task),
        Task::Audit(task) => to_output(|out| audit::audit(task, out)),
        Task::Grant(task) => to_output(|out| grant::grant(task, out)),
        Task::Cache(task) => to_output(|out| cache::cache(task, out)),
        Task::Config(task) => to_output(|out| config::config(task, out)),
        Task::Trust(task) => to_output(|out| trust::trust(task, out)),
        Task::Rules(task) => to_output(|out| rules::rules(task, out)),
        Task::Completions { shell } => to_output(|out| generated::completions(*shell, out)),
        Task::Help { topic } => to_output(|out| topics::page(topic, out)),
        Task::ManPages { directory } => generated::man_pages(directory),
        Task::Doctor(doctor) => to_output(|out| doctor::doctor(doctor.json, out)),
    }
}

/// Standard output, which its reader may close early, as `head` does.
struct Output {
    out: io::BufWriter<io::StdoutLock<'static>>,
    is_closed: bool,
}

impl Output {
    fn noting<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        written.inspect_err(|error| self.is_closed |= error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noting(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noting(flushed)
    }
}

/// Runs an action that prints to standard output. A reader that has closed it is no failure.
fn to_output(action: impl FnOnce(&mut dyn Write) -> Result<u8, Failure>) -> Result<u8, Failure> {
    let mut out = Output {
        out: io::BufWriter::new(io::stdout().lock()),
        is_closed: false,
    };
    let result = action(&mut out);
    let flushed = out.flush();
    match (result, flushed) {
        (Err(_), _) if out.is_closed => Ok(0),
        (_, Err(error)) if !out.is_closed => Err(Failure::new(REFUSED, &error)),
        (result, _) => result,
    }
}
