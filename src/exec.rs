//! `stockade exec`: runs a script under the profile inferred from its text, or chosen for it by a person.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::REFUSED;
use super::args::{self, Run};
use super::infer::{MAX_REASONS, Script, reasons, setting};
use super::interpreter;
use super::layers::Here;
use super::message::{Failure, inform, note};
use super::text_grants::Grants;
use super::{acting, dry_run, ledger, run, script, to_output};
use stockade::ServedTo;
use stockade::internal::Surroundings;
use stockade_infer::{Inference, Language, Setting};
use stockade_policy::profile::{is_within, visible};
use stockade_policy::real_path::{Walked, Walker};
use stockade_store::{Basis, ScriptStore, Source, StoredGrant, StoredScript, now_ms};
use stockade_text::quote::command_line;

/// Runs a script; returns the exit code of `stockade run`.
pub fn exec(task: &Run) -> Result<u8, Failure> {
    run::send_messages(task)?;
    let (file, arguments) = task.command.split_first().expect("clap requires a script");
    let given = Path::new(file);
    let failed = |error: io::Error| unreadable(given, &error);
    let way = way_to(given).map_err(failed)?;
    let path = way.real.clone();
    // Read once, so that the content that is judged is the content that runs.
    let content = script::content(&path).map_err(failed)?;
    let hash = script::hash_of(&path, &content);
    let text = Script::of(&content);
    let setting = setting(task.root.as_deref(), Some(&path))?;
    let command = interpreter::command(&path, &text.text, arguments, &search(task, &setting))?;
    let state = Surroundings::here().ok().and_then(|surroundings| surroundings.state);
    let known = state.as_deref().and_then(|state| known_here(state, &hash, &setting));
    let language = Language::of(Some(&path), &text.text);
    let root = setting.root.clone();
    let choice = Choice::make(
        task,
        known,
        &Found {
            path,
            hash,
            language,
            text,
            setting,
        },
    )?;
    let state = state.filter(|_| is_remembered(task));
    inform(&choice.said(given, task, state.is_some()));
    if let Some(state) = &state {
        if let Some(profile) = &task.profile {
            script::must_load(profile)?;
        }
        remember(state, &choice.script);
    }
    let mut running = task.clone();
    running.profile = Some(choice.profile.to_string_lossy().into_owned());
    running.command = command.words;
    running.read.extend(command.read);
    running.env.extend(choice.grants.env);
    running.exec.extend(command.exec);
    running.env.extend(command.env);
    running.script = Some(args::Script {
        hash: choice.script.hash.clone(),
        given: given.to_owned(),
        way,
        root: root.clone().unwrap_or_default(),
        content: content.into(),
        reads: choice.grants.read,
        writes: choice.grants.write,
        to_whom: match language {
            Some(Language::Shell) => ServedTo::First(1),
            // Python opens the script a first time to see whether it is an archive.
            Some(Language::Python) => ServedTo::First(2),
            _ => ServedTo::All,
        },
    });
    if task.dry_run {
        return to_output(|out| dry_run::show(&running, out));
    }
    let ended = run::run(&running);
    if let Some(state) = &state
        && choice.script.source == Source::Emergent
        && is_approved_here(state, &choice.script.hash, root.as_ref())
    {
        remember(
            state,
            &StoredScript {
                basis: Basis::Approved,
                ..choice.script
            },
        );
    }
    ended
}

/// The walk to a file that exists.
fn way_to(file: &Path) -> io::Result<Walked> {
    std::fs::metadata(file)?;
    let way = Walker::default().walk(&std::path::absolute(file)?);
    way.exists.then_some(way).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Where interpreters are looked up: an earlier run may have written the files in the root.
fn search(task: &Run, setting: &Setting) -> interpreter::Search {
    let root = setting.root.clone().unwrap_or_default();
    let trusted = task.exec.iter().map(|tree| root.join(tree));
    interpreter::Search {
        trusted: trusted.filter_map(|tree| std::fs::canonicalize(tree).ok()).collect(),
        root,
    }
}

/// The stored entry of a script for this root. An approval given for another root doesn't count, and the script is read again.
fn known_here(state: &Path, hash: &str, setting: &Setting) -> Option<StoredScript> {
    let mut known = script::known(state, hash)?;
    let is_approved = known.source == Source::Emergent && known.basis == Basis::Approved;
    if is_approved && !is_approved_here(state, hash, setting.root.as_ref()) {
        known.basis = Basis::Inferred;
    }
    Some(known)
}

/// Whether something was approved for a script in this root.
fn is_approved_here(state: &Path, hash: &str, root: Option<&PathBuf>) -> bool {
    let is_for_here = |grant: &StoredGrant| Some(&grant.key.project) == root;
    script::approvals(state, hash).iter().any(is_for_here)
}

/// Whether the script's profile is stored. Only a named profile is: a file may change, and an agent's profile isn't for
/// everybody.
fn is_remembered(task: &Run) -> bool {
    let is_for_all = task.agent.is_none() && task.tool.is_none();
    let is_named = |profile: &String| is_for_all && !profile.contains('/');
    !task.forget && !task.dry_run && task.profile.as_ref().is_none_or(is_named)
}

/// A script with its content and setting.
struct Found {
    path: PathBuf,
    hash: String,
    language: Option<Language>,
    text: Script,
    setting: Setting,
}

/// The profile and grants of a script, and why.
struct Choice {
    /// The entry to store.
    script: StoredScript,
    /// The profile of this run.
    profile: OsString,
    /// Grants beside the profile, for resources that the text names.
    grants: Grants,
    why: Why,
}

enum Why {
    /// The flag names it.
    Flag,
    /// It was chosen or approved before.
    Before,
    /// It was inferred from the text.
    Read(Box<Inference>),
    /// The script can't be parsed.
    Unread,
    /// The script seems to need more than its agent has.
    Agent,
}

impl Choice {
    fn make(task: &Run, known: Option<StoredScript>, found: &Found) -> Result<Choice, Failure> {
        let new = StoredScript::new(found.hash.clone(), found.path.clone(), acting::LOWEST.into());
        let mut script = StoredScript {
            path: found.path.clone(),
            last_ms: now_ms(),
            language: found.language.map(|language| language.name().to_string()),
            ..known.clone().unwrap_or(new)
        };
        script.runs += 1;
        if let Some(profile) = &task.profile {
            script.profile = ledger::profile_key(profile);
            (script.source, script.basis, script.confidence) = (Source::Manual, Basis::Approved, None);
            return Ok(Choice {
                // As it was named: what a file extends lies beside that name.
                profile: profile.into(),
                grants: Grants::default(),
                script,
                why: Why::Flag,
            });
        }
        let is_manual = known.as_ref().is_some_and(|known| known.source == Source::Manual);
        if is_manual {
            return Choice::within_agent(task, script, Grants::default(), Why::Before);
        }
        let read = found
            .language
            .map(|language| Box::new(found.text.infer(language, &found.setting)));
        let grants = read
            .as_ref()
            .map_or_else(Grants::default, |answer| Grants::of(answer, &found.setting));
        if known.is_some_and(|known| known.basis != Basis::Inferred) {
            // Grants inferred now go with the profile inferred now.
            let is_of_now = read
                .as_ref()
                .is_some_and(|answer| script.profile == answer.runs_as.as_str());
            let grants = if is_of_now { grants } else { Grants::default() };
            return Choice::within_agent(task, script, grants, Why::Before);
        }
        (script.source, script.basis) = (Source::Emergent, Basis::Inferred);
        let why = read.map_or(Why::Unread, Why::Read);
        let is_for_agent = task.agent.is_some() || task.tool.is_some();
        let (profile, confidence) = match &why {
            // An agent gets no grants from a text, so it gets the profile that includes them.
            Why::Read(answer) if is_for_agent && is_given_by_text(answer) => {
                (answer.profile.as_str(), answer.confidence)
            }
            Why::Read(answer) => (answer.runs_as.as_str(), answer.confidence),
            _ => (acting::LOWEST, 0.0),
        };
        script.profile = profile.into();
        script.confidence = Some(confidence);
        Choice::within_agent(task, script, grants, why)
    }

    /// An inferred profile, or one chosen in other runs, never widens an agent's. The stored entry stays as it is.
    fn within_agent(task: &Run, script: StoredScript, grants: Grants, why: Why) -> Result<Choice, Failure> {
        let own = narrower_of_agent(task, &script.profile.to_string_lossy())?;
        let is_for_agent = task.agent.is_some() || task.tool.is_some();
        Ok(Choice {
            profile: own.as_ref().map_or_else(|| script.profile.clone(), OsString::from),
            why: own.map_or(why, |_| Why::Agent),
            // An agent's profile may lack these grants; this isn't checked: missing ones are asked for.
            grants: if is_for_agent { Grants::default() } else { grants },
            script,
        })
    }

    /// One line: the script's profile and the reason.
    fn said(&self, file: &Path, task: &Run, is_kept: bool) -> String {
        let profile = self.profile.to_string_lossy().into_owned() + &self.grants.said;
        let name = visible(&file.display().to_string()).into_owned();
        match &self.why {
            Why::Flag if is_kept => {
                let forgets = command_line(&["stockade", "script", "remove", &name]);
                format!("`{name}` runs under `{profile}` from now on, by `--profile` (undo it: `{forgets}`)")
            }
            Why::Flag => format!("`{name}` runs under `{profile}`, by `--profile`"),
            Why::Before => {
                let basis = self.script.basis.name();
                format!(
                    "`{name}` runs under `{profile}` ({}, {basis})",
                    self.script.source.name()
                )
            }
            Why::Unread => format!("`{name}` runs under `{profile}`: its language is unknown"),
            Why::Agent => format!("`{name}` runs under `{profile}`, the profile of its agent or tool"),
            Why::Read(answer) if !answer.is_sure() => format!(
                "`{name}` runs under `{profile}`: its needs can't be inferred ({}; {})",
                reasons(answer),
                answer.confidence
            ),
            Why::Read(answer) => {
                let why = match self.grants.rest(&task.ask, MAX_REASONS) {
                    Some(rest) => format!(" and {rest}"),
                    None => format!(": {}", reasons(answer)),
                };
                format!("`{name}` runs under `{profile}`{why} ({})", answer.confidence)
            }
        }
    }
}

/// Whether the inferred profile is one that a text may select.
fn is_given_by_text(answer: &Inference) -> bool {
    answer.is_sure() && ["minimal", "readonly", "filesystem", "network-api"].contains(&answer.profile.as_str())
}

/// The agent's or tool's own profile if that doesn't grant everything that the inferred one does.
fn narrower_of_agent(task: &Run, inferred: &str) -> Result<Option<String>, Failure> {
    if task.agent.is_none() && task.tool.is_none() {
        return Ok(None);
    }
    let here = Here::load(task.root.as_deref())?;
    let agent = task.agent.as_ref().and_then(|name| here.layers.agent(name));
    let tool = task.tool.as_ref().and_then(|name| here.layers.tool(name)?.profile);
    let own = tool.or_else(|| agent.map(|agent| agent.profile().to_string()));
    Ok(own.filter(|own| !is_within(inferred, own)))
}

fn remember(state: &Path, script: &StoredScript) {
    if let Err(error) = ScriptStore::open(state).and_then(|mut store| store.set(script)) {
        note(&format!("can't remember this script: {}", visible(&error.to_string())));
    }
}

fn unreadable(file: &Path, error: &io::Error) -> Failure {
    /// The shell's exit code for a missing program.
    const NOT_FOUND: u8 = 127;
    let code = if error.kind() == io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        REFUSED
    };
    Failure::text(code, format!("can't read `{}`: {error}", file.display()))
}
