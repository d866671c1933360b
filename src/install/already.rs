//! Lines that start Stockade already: what they say, and what a person has to know about them.

use std::path::Path;

use stockade_install::{Program, Scope, Server, wrap_flags};
use stockade_policy::profile::{names_profile_file, visible};
use stockade_text::mask;
use stockade_text::quote::command_line;

/// The profile that confines nothing.
const TRUSTED: &str = "trusted";

/// Flags of `mcp wrap` that grant nothing.
const TAME: &[&str] = &["--name", "--env", "--deny", "--cap"];

/// Where a line stands.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'s> {
    /// Whose settings they are.
    pub scope: Scope,
    /// The project's root.
    pub root: &'s Path,
    /// The server.
    pub server: &'s Server,
}

/// What the line says, in words for the list.
pub fn said(program: &Program) -> String {
    let words = |words: &[String]| command_line(&mask::words(words));
    match wrap_flags(program) {
        Some([]) => "Stockade wraps it already, without flags".into(),
        Some(flags) => format!("Stockade wraps it already: {}", words(flags)),
        None => format!("Stockade starts it already: {}", words(&program.args)),
    }
}

/// What of the line may be less than a person takes it for.
pub fn remarks(program: &Program, standing: Standing<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if !program.command.contains('/') {
        remarks.push(
            "it is started by the bare name `stockade`, and the client's `PATH` says which program that is; `mcp uninstall` \
             and `mcp install` name it by its path"
                .to_string(),
        );
    }
    if wrap_flags(program).is_some_and(|flags| flags.iter().any(|flag| flag.contains("${"))) {
        remarks.push("its flags hold `${`, and what the client puts in its place isn't known".into());
    }
    match wrap_flags(program) {
        Some(flags) => remarks.extend(pairs(flags).filter_map(|pair| remark(pair, standing))),
        None => remarks.push(format!(
            "Stockade starts it by another task than `mcp wrap`, and what that allows isn't looked at: {}",
            command_line(&mask::words(&program.args))
        )),
    }
    remarks
}

/// Each flag with its value; that of a switch is the next word, which a remark may show without harm.
pub fn pairs(flags: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let value = |at: usize| flags.get(at + 1).map_or("", String::as_str);
    let flag = move |(at, word): (usize, &'_ String)| -> Option<usize> { word.starts_with("--").then_some(at) };
    let found: Vec<usize> = flags.iter().enumerate().filter_map(flag).collect();
    found
        .into_iter()
        .map(move |at| flags[at].split_once('=').unwrap_or((&flags[at], value(at))))
}

fn remark((flag, value): (&str, &str), standing: Standing<'_>) -> Option<String> {
    let in_project = standing.scope == Scope::Project;
    match flag {
        "--profile" => of_profile(value, standing),
        "--env" if value.contains('=') && in_project => Some(format!("the project's file has `{flag} NAME=VALUE`")),
        flag if TAME.contains(&flag) || !in_project => None,
        flag => Some(format!(
            "the project's file has `{} {}`, which its authors chose",
            visible(flag),
            visible(&mask::words(&[value.to_string()]).concat())
        )),
    }
}

/// What a person has to know about the profile.
pub fn of_profile(name: &str, standing: Standing<'_>) -> Option<String> {
    match name {
        TRUSTED => Some(format!("it runs in `{TRUSTED}`, which confines nothing")),
        name if is_of_project(name, standing) => Some(format!(
            "its profile `{}` is a file of the project, whose authors say what it allows",
            visible(name)
        )),
        _ => None,
    }
}

/// Whether a line of `mcp wrap` confines nothing.
pub fn is_trusted(program: &Program) -> bool {
    let flags = wrap_flags(program).unwrap_or_default();
    pairs(flags).any(|pair| pair == ("--profile", TRUSTED))
}

/// Whether a profile is a file that the project may hold. What a relative path means is up to the client.
fn is_of_project(profile: &str, standing: Standing<'_>) -> bool {
    let path = Path::new(profile);
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let own = standing.server.project.as_deref().map(Path::new);
    let mut roots = std::iter::once(standing.root).chain(own);
    names_profile_file(profile)
        && (path.is_relative() || roots.any(|root| real.starts_with(root) || path.starts_with(root)))
}
