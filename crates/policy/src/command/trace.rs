//! Follows a command through its `#!` lines and through programs that only start another one.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::AccessFlags;

use super::error::CommandError;
use super::installation::{ChosenBy, Installation};
use super::interpreter::{self, Interpreter};
use super::program::{self, Head, NotAProgram, Program};
use super::shebang::Shebang;
use super::{Request, script, wrapper};

/// The most nested `#!` lines to follow: as many as Linux 6.18 executes; the sixth is `ELOOP` (`exec_binprm`).
const MAX_INTERPRETERS: usize = 5;

/// The most nested wrappers (`env`, `timeout`) to look through.
const MAX_WRAPPERS: usize = 4;

/// The results of the trace.
pub(super) struct Traced<'a> {
    pub executables: Vec<PathBuf>,
    /// The number of `execve(2)` calls until the last of them runs.
    pub starts: u32,
    pub entrypoints: Vec<PathBuf>,
    /// The directories of the search path where wrappers find what they start.
    pub searched: Vec<PathBuf>,
    pub installation: Installation<'a>,
}

/// Follows `program`, started with the request's arguments, to the last interpreter.
pub(super) fn trace<'a>(request: &'a Request<'a>, program: Program) -> Result<Traced<'a>, CommandError> {
    let mut trace = ExecTrace {
        request,
        command: program.path.clone(),
        seen: Vec::new(),
        interpreters: 0,
        wrappers: 0,
        traced: Traced {
            executables: Vec::new(),
            starts: 1,
            entrypoints: Vec::new(),
            searched: Vec::new(),
            installation: Installation::new(request),
        },
    };
    if let (Some(script), false) = (request.script, request.is_foreign) {
        // The user named it, so an environment around it is the user's choice.
        trace.traced.installation.trust_named(script);
    }
    let mut step = Some(Exec {
        brings_files: trace.brings_files(&program),
        named_by: match request.script {
            None => NamedBy::User,
            Some(_) => NamedBy::FirstLine {
                chose_program: !is_found(&program, request),
            },
        },
        program,
        argv: request
            .argv
            .iter()
            .map(|word| Cow::Borrowed(word.as_os_str()))
            .collect(),
        search_path: request.search_path.map(Cow::Borrowed),
        script: None,
    });
    while let Some(current) = step {
        step = trace.follow(current)?;
    }
    Ok(trace.traced)
}

/// Whether the user's search path finds a program.
fn is_found(program: &Program, request: &Request<'_>) -> bool {
    let found = || program::search(program.path.file_name()?, request.search_path, request.root).ok();
    found().is_some_and(|found| found.path == program.path)
}

/// The author of the words that name a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedBy {
    /// The user.
    User,
    /// A `#!` line; whether it also chose the program, which the user's search path doesn't find by these words.
    FirstLine { chose_program: bool },
}

/// One program about to be executed.
struct Exec<'a> {
    program: Program,
    /// Whether it brings its files, and those of its `#!` line.
    brings_files: bool,
    argv: Vec<Cow<'a, OsStr>>,
    search_path: Option<Cow<'a, OsStr>>,
    /// The script whose `#!` line names this program.
    script: Option<PathBuf>,
    named_by: NamedBy,
}

struct ExecTrace<'a> {
    request: &'a Request<'a>,
    /// The command itself, for messages.
    command: PathBuf,
    /// Scripts already examined, as written.
    seen: Vec<PathBuf>,
    interpreters: usize,
    wrappers: usize,
    traced: Traced<'a>,
}

impl<'a> ExecTrace<'a> {
    /// Whether a program brings its files: of another party's words those that the user's search path finds, where that party
    /// makes neither programs nor links.
    fn brings_files(&mut self, program: &Program) -> bool {
        !self.request.is_foreign || is_found(program, self.request) && !self.may_be_theirs(program)
    }

    /// Whether another party may have made a program, or a link on the way to it.
    fn may_be_theirs(&mut self, program: &Program) -> bool {
        self.request.is_foreign && self.traced.installation.may_be_a_runs(&program.path)
    }

    fn follow(&mut self, mut step: Exec<'a>) -> Result<Option<Exec<'a>>, CommandError> {
        let program = &step.program;
        if step.brings_files {
            let chosen_by = match step.named_by {
                NamedBy::FirstLine { chose_program: true } if self.may_be_a_runs_line(&step) => ChosenBy::RunsLine,
                NamedBy::FirstLine { chose_program: true } => ChosenBy::Line,
                NamedBy::FirstLine { chose_program: false } | NamedBy::User => ChosenBy::User,
            };
            step.brings_files = self.traced.installation.add_program(program, chosen_by);
        }
        if step.brings_files && !self.traced.executables.contains(&program.real) {
            self.traced.executables.push(program.real.clone());
        }
        self.find_scripts(&step)?;
        match program.head {
            Head::Script(ref shebang) => self.interpreter(&step, shebang).map(Some),
            Head::Binary => self.wrapped(step),
        }
    }

    /// Whether a run may have written the first line that says a program's words.
    fn may_be_a_runs_line(&mut self, step: &Exec<'a>) -> bool {
        let installation = &mut self.traced.installation;
        self.request.script.is_some()
            || step
                .script
                .as_deref()
                .is_some_and(|script| installation.may_be_a_runs(script))
    }

    /// The program's own name is checked before its file's: `python3` may be a version manager's shim.
    fn find_scripts(&mut self, step: &Exec<'a>) -> Result<(), CommandError> {
        let named = |path: &Path| path.file_name().and_then(interpreter::by_name);
        let interpreter = named(&step.program.path).or_else(|| match step.program.head {
            Head::Binary => named(&step.program.real),
            Head::Script(_) => None,
        });
        let Some(interpreter) = interpreter else {
            return Ok(());
        };
        // Only scripts that the user typed. A `#!` line could have been written by an earlier run: it neither names further
        // files nor makes scripts of its script's arguments.
        let is_by_user = !self.request.is_foreign && step.script.is_none();
        let typed = |script: &&OsStr| match (self.request.script, is_by_user) {
            (Some(own), _) => *script == own.as_os_str(),
            (None, false) => false,
            (None, true) => self.request.argv.iter().any(|word| word.as_os_str() == *script),
        };
        let scripts: Vec<OsString> = script::scripts(interpreter, &step.argv)
            .into_iter()
            .filter(|script| typed(script))
            .map(|script| script.to_owned())
            .collect();
        for script in scripts {
            self.add_script(interpreter, self.request.root.join(script))?;
        }
        Ok(())
    }

    fn add_script(&mut self, interpreter: &Interpreter, path: PathBuf) -> Result<(), CommandError> {
        // A missing file is no error here: the interpreter reports it better. A FIFO or a terminal isn't opened.
        if self.seen.contains(&path) || !fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(());
        }
        if !program::may(&path, AccessFlags::R_OK) {
            return Err(CommandError::UnreadableScript { path });
        }
        let walked = self.traced.installation.walker.walk(&path);
        // Links where runs write may lead anywhere; `--read` grants their targets. The text of one's own script was read by a
        // path without links.
        let is_led_out = self.traced.installation.is_led_out(&walked) && !super::is_below_base(&walked.real);
        if is_led_out || self.request.script.is_some() && !walked.links.is_empty() {
            return Ok(());
        }
        let real = walked.real;
        if interpreter.node_modules {
            self.traced.installation.add_node_script(&path, &real);
        }
        self.add_entrypoint(&path, real);
        Ok(())
    }

    fn add_entrypoint(&mut self, path: &Path, real: PathBuf) {
        self.seen.push(path.to_owned());
        if !self.traced.entrypoints.contains(&real) {
            self.traced.entrypoints.push(real);
        }
    }

    /// The kernel's arguments for a `#!` line: interpreter, its one argument, the script's path, the other arguments.
    fn interpreter(&mut self, step: &Exec<'a>, shebang: &Shebang) -> Result<Exec<'a>, CommandError> {
        if self.interpreters == MAX_INTERPRETERS {
            return Err(CommandError::TooManyInterpreters {
                path: self.command.clone(),
                limit: MAX_INTERPRETERS,
            });
        }
        self.interpreters += 1;
        let script = step.program.path.clone();
        if step.brings_files {
            self.add_entrypoint(&script, step.program.real.clone());
        }
        if self.traced.installation.may_be_a_runs(&script) {
            // The line may be a run's, whatever the user's words led to before.
            self.traced.installation.distrust();
        }
        let path: PathBuf = self.request.root.join(&shebang.interpreter).components().collect();
        let program = program::inspect(&path).map_err(|refusal| match refusal {
            NotAProgram::Absent => CommandError::MissingInterpreter {
                script: script.clone(),
                interpreter: PathBuf::from(&shebang.interpreter),
            },
            NotAProgram::Obstacle(obstacle) => CommandError::NotExecutable { path, obstacle },
        })?;
        let mut argv = vec![Cow::Owned(shebang.interpreter.clone())];
        argv.extend(shebang.argument.clone().map(Cow::Owned));
        argv.push(Cow::Owned(OsString::from(script.clone())));
        argv.extend(step.argv.iter().skip(1).cloned());
        // A run's line that names such a script by `env` doesn't make it the user's choice.
        let is_users = step.brings_files
            && step.named_by == NamedBy::User
            && self.traced.installation.is_in_homes_bin(&step.program.real);
        Ok(Exec {
            brings_files: step.brings_files && !self.may_be_theirs(&program),
            program,
            argv,
            search_path: step.search_path.clone(),
            script: Some(script),
            named_by: match is_users {
                true => NamedBy::User,
                false => NamedBy::FirstLine { chose_program: true },
            },
        })
    }

    fn wrapped(&mut self, step: Exec<'a>) -> Result<Option<Exec<'a>>, CommandError> {
        // A program by a wrapper's name needn't be one, unless it is the system's, or the search path's.
        let is_known = super::is_below_base(&step.program.path)
            || step.named_by != (NamedBy::FirstLine { chose_program: true })
                && step.brings_files
                && is_found(&step.program, self.request);
        if !is_known {
            return Ok(None);
        }
        let name = step.program.path.file_name().unwrap_or_default();
        let Some(wrapped) = wrapper::unwrap(name, &step.argv, self.request.variable) else {
            return Ok(None);
        };
        if self.wrappers == MAX_WRAPPERS {
            return Ok(None);
        }
        self.wrappers += 1;
        let search_path = wrapped.search_path.map(Cow::Owned).or(step.search_path);
        self.traced.starts += 1;
        match (
            program::search(&wrapped.argv[0], search_path.as_deref(), self.request.root),
            step.script,
        ) {
            (Ok(program), script) => {
                self.traced.searched.extend(program.path.parent().map(Path::to_owned));
                Ok(Some(Exec {
                    brings_files: self.brings_files(&program),
                    named_by: match step.named_by {
                        NamedBy::User => NamedBy::User,
                        // It may also say where to search: `#!/usr/bin/env -S PATH=DIR python3`.
                        NamedBy::FirstLine { .. } => NamedBy::FirstLine {
                            chose_program: wrapped.argv[0].as_encoded_bytes().contains(&b'/')
                                || !is_found(&program, self.request),
                        },
                    },
                    program,
                    argv: wrapped.argv,
                    search_path,
                    script,
                }))
            }
            // `#!/usr/bin/env python3` is a way to write `#!python3`, and a missing Python is the same error.
            (Err(CommandError::NotFound { .. }), Some(script)) => Err(CommandError::MissingInterpreter {
                script,
                interpreter: PathBuf::from(&wrapped.argv[0]),
            }),
            // A wrapper named on the command line reports the error better itself.
            (Err(_), _) => Ok(None),
        }
    }
}
