//! `stockade completions` and `stockade man-pages`: generated from the definitions of the arguments.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;

use super::REFUSED;
use super::args::Arguments;
use super::help::TOPICS;
use super::message::Failure;
use stockade::internal::Surroundings;
use stockade_install::{Agent, Client};
use stockade_policy::profile::{Catalog, SHIPPED};

/// The command's name, whatever the name of the file.
const NAME: &str = "stockade";

/// Prints a script for a shell to source, or to keep where it looks for completions.
pub fn completions(shell: Shell, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut defined = Arguments::defined();
    defined.build();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completed(&defined, &profiles()), NAME, &mut script);
    out.write_all(&script).map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(0)
}

/// The names of the user's profiles and of the shipped ones.
fn profiles() -> Vec<&'static str> {
    let directory = Surroundings::here().ok().and_then(|here| here.profiles());
    let own = Catalog::new(directory)
        .list()
        .into_iter()
        .map(|profile| lasting(&profile.name));
    let mut names: Vec<&str> = own.chain(SHIPPED.iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A text that lasts as long as the process, which ends after the script is printed: clap takes no others.
fn lasting(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// The command without what is hidden, and with the values of its flags.
fn completed(command: &Command, profiles: &[&'static str]) -> Command {
    let is_own =
        |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    let tasks = command.get_subcommands().filter(|task| !task.is_hide_set());
    let copy = Command::new(lasting(command.get_name()))
        .disable_help_subcommand(true)
        .about(command.get_about().cloned().unwrap_or_default())
        .args(
            command
                .get_arguments()
                .filter(is_own)
                .map(|argument| valued(argument, profiles)),
        )
        .subcommands(tasks.map(|task| completed(task, profiles)));
    match command.get_version() {
        Some(version) => copy.version(lasting(version)),
        None => copy,
    }
}

/// An argument with its values, by what its value is called.
fn valued(argument: &Arg, profiles: &[&'static str]) -> Arg {
    let name = argument
        .get_value_names()
        .and_then(<[_]>::first)
        .map_or("", |name| name.as_str());
    let is_list = name.contains('|') && name.split('|').all(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    let values: Vec<&str> = match name {
        "NAME|FILE" => profiles.to_vec(),
        "CLIENT" => Client::ALL.iter().map(|client| client.name()).collect(),
        "AGENT" => Agent::ALL.iter().map(|agent| agent.name()).collect(),
        "LANGUAGE" => vec!["python", "javascript", "typescript", "shell"],
        "SHELL" => vec!["bash", "zsh", "fish"],
        "WHERE" => vec!["auto", "terminal", "socket", "never", "command=", "fd:"],
        "MODE" => vec!["manual", "accept-edits", "bypass"],
        "NAMES" => vec!["READ", "WRITE", "DELETE", "EXECUTE", "SPAWN", "LLM", "NET", "NONE"],
        "TOPIC" => TOPICS.iter().map(|(topic, _)| *topic).collect(),
        _ if is_list => name.split('|').map(lasting).collect(),
        _ => Vec::new(),
    };
    let hint = match name {
        "DIR" => ValueHint::DirPath,
        "COMMAND" => ValueHint::CommandWithArguments,
        _ if ["FILE", "PATH", "SCRIPT", "JOBS"]
            .iter()
            .any(|word| name.contains(word)) =>
        {
            ValueHint::AnyPath
        }
        _ => ValueHint::Other,
    };
    match values.is_empty() {
        _ if !argument.get_action().takes_values() => argument.clone(),
        true => argument.clone().value_hint(hint),
        false => argument.clone().value_parser(PossibleValuesParser::new(values)),
    }
}

/// Writes `stockade.1`, and one for each task, into a directory.
pub fn man_pages(directory: &Path) -> Result<u8, Failure> {
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::defined(), directory))
        .map_err(|error| Failure::text(REFUSED, format!("`{}`: {error}", directory.display())))?;
    Ok(0)
}
