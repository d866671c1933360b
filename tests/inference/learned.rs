//! What `learn` finds by running a script is what its label says.

use serde_json::Value;

use super::alone::{Claimed, alone, can_run, place};
use super::label::{Label, runnable};
use super::order::{Standing, steps};
use crate::common::{STOCKADE, finish, python};

/// The command of a script; `None` for TypeScript, since what runs that reads and writes on its own behalf.
fn command(label: &Label) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(label.path()).unwrap();
    let interpreter = match label.language() {
        "python" => python(),
        "javascript" => "node",
        "shell" if text.starts_with("#!/bin/sh") => "sh",
        "shell" => "bash",
        _ => return None,
    };
    Some(vec![interpreter.into(), format!("./{}", label.name())])
}

/// What is wrong with what was learnt of a script.
fn fault(label: &Label) -> Option<String> {
    let command = command(label)?;
    let claimed = Claimed::new(label);
    let place = place(&claimed);
    // What it writes has to be allowed for it to go on.
    let ceiling = match label.profile.as_str() {
        "trusted" => "trusted",
        _ => "mcp-standard",
    };
    let words = [STOCKADE.path(), "learn", "--json", "--ceiling", ceiling, "--"].map(str::to_string);
    let words: Vec<String> = words.into_iter().chain(command).collect();
    let finished = finish(&mut alone(&place, &words), b"");
    let Ok(learnt) = serde_json::from_slice::<Value>(&finished.stdout) else {
        return Some(format!("nothing is learnt: {}", finished.stderr()));
    };
    let least = match learnt["least"].as_str().unwrap_or_default() {
        // Labels are of the six profiles of inference.
        "workspace" => "trusted",
        least => least,
    };
    let is_right = match Standing::of(&label.profile, least) {
        Standing::Exact => true,
        // Variables aren't seen, what a caller may name wasn't named, and what is hard to tell is labelled higher.
        Standing::Over => is_unseen(label),
        Standing::Under => !label.tries.is_empty(),
    };
    let fails_alike = label.leaves_machine() && label.exit != 0 && learnt["exit_code"] != 0;
    if learnt["exit_code"] != label.exit && finished.stderr().contains("the socket `datagrams`") {
        println!("{}: nothing that is observed sends datagrams", label.file);
        return None;
    }
    if learnt["exit_code"] != label.exit && !fails_alike {
        return Some(format!("exit code {}\n{}", learnt["exit_code"], finished.stderr()));
    }
    (!is_right).then(|| {
        format!(
            "`{least}`, {} steps away: reads {} writes {} hosts {} listens {} refused {}",
            steps(least, &label.profile),
            learnt["reads"],
            learnt["writes"],
            learnt["hosts"],
            learnt["listens"],
            learnt["refused"]
        )
    })
}

fn is_unseen(label: &Label) -> bool {
    let any = |names: &[String]| names.iter().any(|name| name == "*");
    // Where no answer comes, what would have come then isn't seen; git stops early where there's no repository.
    let stops_early = label.leaves_machine() && label.exit != 0 || label.commands.iter().any(|name| name == "git");
    label.hard || stops_early || !label.env.is_empty() || any(&label.reads) || any(&label.writes) || any(&label.hosts)
}

/// Learns the scripts of a language.
fn is_as_labelled(language: &str) {
    if !can_run() {
        return;
    }
    let labels = runnable().into_iter().filter(|label| label.language() == language);
    let told = |label: Label| fault(&label).map(|fault| format!("{} ({}): {fault}", label.file, label.profile));
    let wrong: Vec<String> = labels.filter_map(told).collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn what_is_learnt_of_python_is_what_its_label_says() {
    is_as_labelled("python");
}

#[test]
fn what_is_learnt_of_javascript_is_what_its_label_says() {
    is_as_labelled("javascript");
}

#[test]
fn what_is_learnt_of_the_shell_is_what_its_label_says() {
    is_as_labelled("shell");
}
