//! Shows changes of settings, asks, and writes them.

use std::io::Write;
use std::path::Path;

use crate::REFUSED;
use crate::confirm;
use crate::layers::unprinted;
use crate::message::{Failure, hint, note};
use stockade_install::{FileError, SettingsFile, unified};
use stockade_policy::profile::visible;
use stockade_text::visible::visible_but_for_blanks;

/// Exit code: nothing was written.
pub const UNWRITTEN: u8 = 1;

/// A file and what becomes of it.
pub struct Change {
    /// The file.
    pub file: SettingsFile,
    /// Its new text; `None` removes it.
    pub text: Option<String>,
    /// Whether a copy of it is kept.
    pub keeps_copy: bool,
}

/// Shows the changes and what a person has to know beside, asks unless `yes`, and writes them.
pub fn carry_out(changes: &[Change], warnings: &[String], yes: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    if changes.is_empty() {
        out.flush().map_err(unprinted)?;
        warn(warnings);
        note("nothing to change");
        return Ok(0);
    }
    for change in changes {
        show(change, out)?;
    }
    out.flush().map_err(unprinted)?;
    warn(warnings);
    if !yes && !agreed(changes)? {
        note("nothing was written");
        return Ok(UNWRITTEN);
    }
    for change in changes {
        write(change)?;
    }
    Ok(0)
}

/// Behind the changes, so that they are seen last before the question.
fn warn(warnings: &[String]) {
    warnings.iter().for_each(|text| note(&format!("warning: {text}")));
}

fn show(change: &Change, out: &mut dyn Write) -> Result<(), Failure> {
    let path = shown(change.file.path());
    if let Some(target) = change.file.link_target() {
        note(&format!("`{path}` is a link: the file is `{}`", shown(target)));
    }
    let nothing = "/dev/null".to_string();
    let old = if change.file.text().is_some() { &path } else { &nothing };
    let new = if change.text.is_some() { &path } else { &nothing };
    writeln!(out, "--- {old}\n+++ {new}").map_err(unprinted)?;
    let texts = (
        change.file.text().unwrap_or_default(),
        change.text.as_deref().unwrap_or_default(),
    );
    for line in unified(texts.0, texts.1) {
        writeln!(out, "{}", visible_but_for_blanks(&line)).map_err(unprinted)?;
    }
    Ok(())
}

fn agreed(changes: &[Change]) -> Result<bool, Failure> {
    if !confirm::can_ask() {
        hint("`--yes` writes this without a question");
        return Ok(false);
    }
    let question = match changes {
        [_] => "Write this change?",
        _ => "Write these changes?",
    };
    confirm::agreed(question, &|| changes.iter().for_each(|change| note(&after(change))))
}

/// What becomes of a file.
fn after(change: &Change) -> String {
    let path = shown(change.file.path());
    match (&change.text, change.keeps_copy && change.file.text().is_some()) {
        (None, _) => format!("`{path}` would be removed: nothing else is in it"),
        (Some(_), true) => format!(
            "`{path}` would be written, and a copy of what it is now kept as `{}`",
            shown(&change.file.copy_path())
        ),
        (Some(_), false) => format!("`{path}` would be written"),
    }
}

fn write(change: &Change) -> Result<(), Failure> {
    let path = shown(change.file.path());
    let Some(text) = &change.text else {
        change.file.remove()?;
        note(&format!("removed `{path}`"));
        return Ok(());
    };
    if change.keeps_copy
        && let Some(older) = change.file.keep_copy()?
    {
        note(&format!(
            "`{}` was there with another text: it is `{}` now",
            shown(&change.file.copy_path()),
            shown(&older)
        ));
    }
    change.file.replace(text)?;
    note(&format!("wrote `{path}`"));
    if !change.keeps_copy && change.file.copy_text().as_ref() == Some(text) {
        change.file.remove_copy()?;
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure::new(REFUSED, &error)
    }
}
