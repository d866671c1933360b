//! Programs that a program starts because of a variable or a setting.

use super::base_name;
use crate::finding::{Act, Opaque};
use crate::text::Text;
use stockade_policy::profile::{CODE_VARIABLES, CodeVariables, Effect};

/// The variables that matter to a program.
pub(super) fn variables(program: &Text) -> Vec<&'static str> {
    rows(program).flat_map(|row| row.names.split(' ')).collect()
}

fn rows(program: &Text) -> impl Iterator<Item = &'static CodeVariables> {
    let name = program.exact().map(base_name).unwrap_or_default();
    let rows = CODE_VARIABLES.iter();
    rows.filter(move |row| row.programs.is_empty() || has(row.programs, name))
}

fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|one| one == name)
}

/// Additional acts of a program if a variable has this value.
pub(super) fn by_variable(program: &Text, name: &str, value: &Text) -> Vec<Act> {
    let row = rows(program).find(|row| has(row.names, name) && value.exact() != Some(""));
    match row.map(|row| row.effect) {
        None => Vec::new(),
        Some(Effect::Line) => vec![Act::Shell(value.clone())],
        // /dev/null sets nothing.
        Some(_) if value.exact() == Some("/dev/null") => Vec::new(),
        Some(_) => vec![Act::Opaque(Opaque::OtherFile(value.shown()))],
    }
}

/// Whether git runs the value of a setting (git-config(1)), whose name is in lower case.
pub(super) fn is_program_setting(name: &str) -> bool {
    const WHOLE: &str = "core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy sequence.editor \
                         diff.external interactive.difffilter gpg.program uploadpack.packobjectshook credential.helper";
    const ENDS: &str = "textconv command clean smudge process driver cmd helper program";
    let last = name.rsplit_once('.').filter(|(section, _)| section.contains('.'));
    has(WHOLE, name) || name.starts_with("pager.") || last.is_some_and(|(_, last)| has(ENDS, last))
}

/// Whether the value of a setting names a place that contains code.
pub(super) fn is_code_setting(name: &str) -> bool {
    matches!(
        name,
        "core.hookspath" | "init.templatedir" | "core.attributesfile" | "include.path"
    ) || name.starts_with("includeif.")
}
