//! The words of `stockade run` for a server: the flags of `mcp wrap`, and those that the configuration adds.

use std::ffi::OsString;

use clap::{Args as _, Command};
use stockade_mcp::Places;
use stockade_policy::config::McpServer;

use crate::REFUSED;
use crate::args::McpWrap;
use crate::message::Failure;

/// Flags that aren't passed on: `mcp wrap` answers for them.
const OWN: [&str; 2] = ["name", "ask"];

/// The flags that stand before the command in this process's arguments, but for its own.
///
/// # Errors
/// They aren't there.
pub fn before_command(command: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let end = words
        .len()
        .checked_sub(command.len())
        .filter(|end| words[*end..] == *command);
    let flags = end.and_then(|end| words.get(3..end));
    let flags = flags.ok_or_else(|| Failure::text(REFUSED, "the flags of `mcp wrap` have to follow it"))?;
    Ok(passed_on(flags))
}

fn passed_on(flags: &[OsString]) -> Vec<OsString> {
    let known = McpWrap::augment_args(Command::new("wrap"));
    let takes_value = |name: &str| {
        let mut arguments = known.get_arguments();
        arguments.any(|argument| {
            let names = argument.get_long_and_visible_aliases().unwrap_or_default();
            let hidden = argument.get_all_aliases().unwrap_or_default();
            (names.contains(&name) || hidden.contains(&name)) && argument.get_action().takes_values()
        })
    };
    let mut passed = Vec::new();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let Some(flag) = text.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            continue;
        };
        let (name, has_value) = flag.split_once('=').map_or((flag, false), |(name, _)| (name, true));
        let value = if !has_value && takes_value(name) {
            words.next()
        } else {
            None
        };
        if !OWN.contains(&name) {
            passed.push(word.clone());
            passed.extend(value.cloned());
        }
    }
    passed
}

/// The flags that a configuration states.
pub fn grants(server: &McpServer, places: &Places<'_>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let lists = [
        ("--read", &server.read),
        ("--write", &server.write),
        ("--exec", &server.exec),
        ("--socket", &server.socket),
    ];
    for (flag, paths) in lists {
        for path in paths.iter().filter_map(|text| places.path(text)) {
            words.extend([flag.into(), path.into_os_string()]);
        }
    }
    for host in &server.host {
        words.extend(["--host".into(), host.to_string().into()]);
    }
    for port in &server.listen {
        words.extend(["--listen".into(), port.to_string().into()]);
    }
    for variable in &server.env {
        words.extend(["--env".into(), variable.into()]);
    }
    for glob in &server.deny {
        words.extend(["--deny".into(), glob.into()]);
    }
    if server.llm {
        words.push("--llm".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_passed_on_but_for_those_of_the_wrapper() {
        let passed = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let passed = passed_on(&words).into_iter();
            passed
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            passed("--name x --read a --llm --ask=never --write=b --ask auto --timeout 2s --env --name=y --"),
            "--read a --llm --write=b --timeout 2s --env --name=y"
        );
    }
}
