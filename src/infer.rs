//! `stockade infer`: infers a script's needs from its text.

use std::io::{self, Read, Write};
use std::path::Path;

use super::REFUSED;
use super::args::Infer;
use super::ask::Ask;
use super::message::Failure;
use super::text_grants::Grants;
use super::{reader, script};
use stockade::internal::Surroundings;
use stockade_infer::{Effect, Evidence, Inference, Language, MAX_LENGTH, Setting};
use stockade_policy::profile::visible;
use stockade_text::quote::command_line;

/// Reads a script, and prints the inferred needs.
pub fn infer(task: &Infer, out: &mut dyn Write) -> Result<u8, Failure> {
    if task.reader {
        return reader::serve();
    }
    let (name, file) = match task.file.as_os_str() == "-" {
        true => ("standard input".to_string(), None),
        false => (task.file.display().to_string(), Some(task.file.as_path())),
    };
    let script = Script::read(file, &name)?;
    let language = task.lang.or_else(|| Language::of(file, &script.text)).ok_or_else(|| {
        Failure::text(REFUSED, format!("can't tell the language of `{name}`"))
            .hint("`--lang python`, `javascript`, `typescript` or `shell`")
    })?;
    let setting = setting(task.root.as_deref(), file)?;
    let answer = script.infer(language, &setting);
    let printed = match task.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&answer).unwrap_or_default()),
        false => print(&answer, &Grants::of(&answer, &setting), out),
    };
    printed.map(|()| 0).map_err(|error| Failure::new(REFUSED, &error))
}

/// A script's text.
pub struct Script {
    /// As far as it is UTF-8.
    pub text: String,
    is_text: bool,
    is_whole: bool,
}

impl Script {
    /// Reads a file, or standard input.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read(file: Option<&Path>, name: &str) -> Result<Script, Failure> {
        let failed = |error: io::Error| Failure::text(REFUSED, format!("can't read `{name}`: {error}"));
        let mut bytes = Vec::new();
        // One byte more, to detect a longer text.
        let most = MAX_LENGTH as u64 + 1;
        match file {
            Some(path) => {
                let file = script::open_file(path).map_err(failed)?;
                file.take(most).read_to_end(&mut bytes).map_err(failed)?;
            }
            None => {
                io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(failed)?;
            }
        }
        Ok(Script::of(&bytes))
    }

    /// From its bytes.
    pub fn of(bytes: &[u8]) -> Script {
        let is_whole = bytes.len() <= MAX_LENGTH;
        let text = std::str::from_utf8(bytes);
        Script {
            is_text: text.is_ok() || !is_whole,
            is_whole,
            text: String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_LENGTH)]).into_owned(),
        }
    }

    /// Infers its needs.
    pub fn infer(&self, language: Language, setting: &Setting) -> Inference {
        match (self.is_whole, self.is_text) {
            (false, _) => Inference::unreadable(language, "it is longer than 1 MiB"),
            (true, false) => Inference::unreadable(language, "it isn't UTF-8"),
            (true, true) => reader::read(&self.text, language, setting),
        }
    }
}

/// The script's setting: its root, and its own path.
///
/// # Errors
/// The root can't be used.
pub fn setting(root: Option<&Path>, script: Option<&Path>) -> Result<Setting, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let root = surroundings.directory.join(root.unwrap_or("".as_ref()));
    let root = std::fs::canonicalize(&root)
        .map_err(|error| Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", root.display())))?;
    let script = script.map(|script| std::fs::canonicalize(script).unwrap_or_else(|_| root.join(script)));
    Ok(Setting {
        root: Some(root),
        script,
        home: surroundings.home,
        ..Setting::default()
    }
    .with_modules())
}

/// For people: what `exec` would run, beside it the profile that would do alone; the evidence; what `exec` asks for.
fn print(answer: &Inference, grants: &Grants, out: &mut dyn Write) -> io::Result<()> {
    let alone = answer.or_profile.as_ref().unwrap_or(&answer.profile);
    let alone = match answer.runs_as == *alone {
        true => String::new(),
        false => format!("; by a profile alone: {alone}"),
    };
    let runs_as = answer.runs_as.clone() + &grants.said;
    writeln!(out, "{} ({}{alone})", visible(&runs_as), answer.confidence)?;
    for evidence in &answer.evidence {
        writeln!(
            out,
            "  {:>4}:{:<3} {:<11} {}    {}",
            evidence.line,
            evidence.column,
            word(evidence.effect),
            visible(&evidence.target),
            visible(&evidence.text)
        )?;
    }
    for why in answer
        .evidence
        .is_empty()
        .then_some(&answer.dynamic)
        .into_iter()
        .flatten()
    {
        writeln!(out, "  {}", visible(why))?;
    }
    if let Some(rest) = grants.rest(&Ask::Auto, usize::MAX) {
        writeln!(out, "\n`stockade exec` {rest}")?;
    }
    let least = &answer.least_grants;
    let is_said = (&least.profile, &least.flags) == (&answer.runs_as, &answer.runs_with);
    if least.profile != answer.profile && !is_said {
        let words = [std::slice::from_ref(&least.profile), &least.flags].concat();
        writeln!(
            out,
            "`--profile {}` would allow all of it",
            visible(&command_line(&words))
        )?;
    }
    Ok(())
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "reads",
        Effect::Write => "writes",
        Effect::Connect => "connects to",
        Effect::Listen => "listens on",
        Effect::Env => "variable",
        Effect::Start => "starts",
        Effect::Dynamic => "unclear",
    }
}

/// How much of an answer a line tells.
pub const MAX_REASONS: usize = 3;

/// The evidence of an answer in a few words: `reads ./data/a.csv, connects to api.example.com and 3 more`.
pub fn reasons(answer: &Inference) -> String {
    let weighty: Vec<&Evidence> = answer
        .evidence
        .iter()
        .filter(|evidence| evidence.effect != Effect::Start)
        .collect();
    // Uncertain evidence comes first: a person must know it.
    let (unclear, clear): (Vec<&Evidence>, Vec<&Evidence>) = weighty
        .into_iter()
        .partition(|evidence| evidence.effect == Effect::Dynamic);
    let mut said: Vec<String> = Vec::new();
    for evidence in unclear.into_iter().chain(clear) {
        let text = match evidence.effect {
            Effect::Dynamic => visible(&evidence.target).into_owned(),
            effect => format!("{} {}", word(effect), visible(&evidence.target)),
        };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    if said.is_empty() {
        said.extend(answer.dynamic.iter().map(|why| visible(why).into_owned()));
    }
    let more = said.len().saturating_sub(MAX_REASONS);
    said.truncate(MAX_REASONS);
    match (said.is_empty(), more) {
        (true, _) => "needs nothing".into(),
        (false, 0) => said.join(", "),
        (false, more) => format!("{} and {more} more", said.join(", ")),
    }
}
