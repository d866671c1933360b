//! How much harm a yes could do. It only colours the prompt; no decision depends on it.

use super::Danger;
use stockade_policy::policy::Capabilities;
use stockade_shell::{self as shell, Line};
use stockade_text::visible::is_invisible;

/// Commands that delete, gain power or affect much, whatever their options.
const GRAVE: [&str; 38] = [
    "rm", "shred", "dd", "mkfs", "fdisk", "parted", "sudo", "doas", "su", "pkexec", "chmod", "chown", "chattr", "eval",
    "exec", "source", ".", "sh", "bash", "zsh", "dash", "ksh", "fish", "ssh", "scp", "nc", "ncat", "socat", "xargs",
    "kill", "killall", "pkill", "shutdown", "reboot", "mount", "umount", "crontab", "iptables",
];

/// The danger of a command line.
pub(super) fn of_line(text: &str, line: &Line, is_unfit: bool) -> Danger {
    if is_unfit || hides(line, text) {
        return Danger::High;
    }
    let is_grave = |words: &Vec<String>| {
        let name = words.first().map_or("", |name| name.rsplit('/').next().unwrap_or(name));
        GRAVE.contains(&name)
            || *words == shell::ANYTHING
            || words
                .iter()
                .any(|word| matches!(word.as_str(), "--force" | "--hard" | "-exec"))
    };
    match shell::seen(text).iter().any(is_grave) {
        true => Danger::High,
        false => Danger::Medium,
    }
}

/// Whether a person can't see what it does: text is inserted before it runs, or some of it is invisible.
fn hides(line: &Line, text: &str) -> bool {
    let has_hidden = || text.chars().any(|c| is_invisible(c) && !matches!(c, '\n' | '\t'));
    matches!(line, Line::NotPlain(_)) && (text.contains(['$', '`', '(', '{']) || text.contains("<<") || has_hidden())
}

/// The danger of a tool that needs these capabilities.
pub(super) fn of_tool(needs: Capabilities) -> Danger {
    if needs.contains(Capabilities::DELETE) {
        Danger::High
    } else if (needs - Capabilities::READ).is_empty() {
        Danger::Low
    } else {
        Danger::Medium
    }
}
