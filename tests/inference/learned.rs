//! What `learn` finds by running a script is what its label says.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::alone::{alone, can_run, one_test_at_a_time, place};
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
    let place = place(label);
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
    let least = learnt["least"].as_str().unwrap_or_default();
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
    // Where nobody answers, what would have come then isn't seen; git stops early where there's no repository.
    let stops_early = label.leaves_machine() && label.exit != 0 || label.commands.iter().any(|name| name == "git");
    label.hard || stops_early || !label.env.is_empty() || any(&label.reads) || any(&label.writes) || any(&label.hosts)
}

#[test]
fn what_is_learnt_of_a_script_is_what_its_label_says() {
    let _one = one_test_at_a_time();
    if !can_run() {
        return;
    }
    let labels = runnable();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(label) = labels.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let fault = fault(label).map(|fault| format!("{} ({}): {fault}", label.file, label.profile));
                    wrong.lock().unwrap().extend(fault);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}
