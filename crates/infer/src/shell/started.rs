//! Programs that a program starts because of a variable or a setting.

use super::base_name;
use crate::finding::{Act, Opaque};
use crate::text::Text;

/// Programs, and the variables whose values they run as a shell command: git(1) "Environment Variables", man(1), less(1).
const LINES: &[(&str, &str)] = &[
    (
        "git",
        "GIT_PAGER PAGER GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR \
         GIT_PROXY_COMMAND VISUAL EDITOR",
    ),
    ("man", "MANPAGER PAGER"),
    ("less", "LESSOPEN LESSCLOSE EDITOR VISUAL"),
    ("systemctl", "SYSTEMD_PAGER PAGER"),
    ("journalctl", "SYSTEMD_PAGER PAGER"),
    ("tar", "TAR_OPTIONS"),
    ("rsync", "RSYNC_RSH"),
];

/// Variables that make a program run other code: any program (ld.so(8)), or one of these.
const CODE: &[(&str, &str)] = &[
    ("LD_PRELOAD LD_AUDIT", ""),
    ("BASH_ENV", "bash"),
    ("ENV", "sh dash ksh ash"),
    (
        "GIT_EXEC_PATH GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT",
        "git",
    ),
    ("PYTHONSTARTUP PYTHONPATH", "python python3"),
    ("PERL5OPT", "perl"),
    ("RUBYOPT", "ruby"),
];

/// The variables that matter to a program.
pub(super) fn variables(program: &Text) -> Vec<&'static str> {
    let name = program.exact().map(base_name).unwrap_or_default();
    let lines = LINES.iter().filter(|(of, _)| *of == name).map(|(_, names)| names);
    let code = CODE.iter().filter(|(_, of)| of.is_empty() || has(of, name));
    let names = lines.chain(code.map(|(names, _)| names));
    names.flat_map(|names| names.split(' ')).collect()
}

fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|one| one == name)
}

/// Additional acts of a program if a variable has this value.
pub(super) fn by_variable(program: &Text, name: &str, value: &Text) -> Vec<Act> {
    if !variables(program).contains(&name) || value.exact() == Some("") {
        return Vec::new();
    }
    match CODE.iter().any(|(code, _)| has(code, name)) {
        // /dev/null sets nothing.
        true if value.exact() == Some("/dev/null") => Vec::new(),
        true => vec![Act::Opaque(Opaque::OtherFile(value.shown()))],
        false => vec![Act::Shell(value.clone())],
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
