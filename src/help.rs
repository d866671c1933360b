//! The list of tasks in `stockade --help`, in groups: clap has one heading for all subcommands. The words of `stockade help`.

use std::ffi::OsString;

use clap::Command;
use stockade_text::visible::fit;

/// The pages that `stockade help` opens. No task is called like one.
pub const TOPICS: [(&str, &str); 24] = [
    ("a-day", include_str!("../docs/a-day-with-a-coding-agent.md")),
    ("agents", include_str!("../docs/agents.md")),
    ("asking", include_str!("../docs/asking.md")),
    ("audit-trail", include_str!("../docs/audit.md")),
    ("batches", include_str!("../docs/batches.md")),
    ("containers", include_str!("../docs/containers.md")),
    ("costs", include_str!("../docs/costs.md")),
    ("guarded", include_str!("../docs/guarded.md")),
    ("inference", include_str!("../docs/inference.md")),
    ("install", include_str!("../docs/install.md")),
    ("install-in-clients", include_str!("../docs/install-in-clients.md")),
    ("judging", include_str!("../docs/judging.md")),
    ("library", include_str!("../docs/library.md")),
    ("limits", include_str!("../docs/limits.md")),
    ("mcp-serve", include_str!("../docs/mcp-serve.md")),
    ("mcp-servers", include_str!("../docs/mcp.md")),
    ("network", include_str!("../docs/network.md")),
    ("node", include_str!("../docs/node.md")),
    ("profiles", include_str!("../docs/profiles.md")),
    ("python", include_str!("../docs/python.md")),
    ("running", include_str!("../docs/running.md")),
    ("security", include_str!("../SECURITY.md")),
    ("troubleshooting", include_str!("../docs/troubleshooting.md")),
    ("write-a-profile", include_str!("../docs/write-a-profile.md")),
];

/// Tasks with tasks of their own, where `help` may stand. An agent's hook takes no other words than its own.
const NESTED: [&str; 8] = ["profile", "script", "grant", "rules", "mcp", "audit", "config", "cache"];

/// `help TASK` and `TASK help` as `TASK --help`; `help TOPIC` stays.
pub fn asked(mut words: Vec<OsString>) -> Vec<OsString> {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|given| given == word);
    let at = match is(1, "help") {
        true => 1,
        false if is(2, "help") && NESTED.iter().any(|task| is(1, task)) => 2,
        false => return words,
    };
    if !(at == 1 && words.len() == 3 && TOPICS.iter().any(|(topic, _)| is(2, topic))) {
        words.remove(at);
        words.push("--help".into());
    }
    words
}

/// Each group's heading, and the first task of it in the order of `args::Task`.
const GROUPS: [(&str, &str); 5] = [
    ("Run programs", "run"),
    ("Profiles and grants", "profile"),
    ("Tool calls of agents", "check"),
    ("After a run", "explain"),
    ("This machine", "doctor"),
];

/// The command with its list in groups. clap itself renders the lines, so they are as wide as all other help.
pub fn grouped(command: Command) -> Command {
    let listed = command.clone().help_template("{subcommands}").render_help().to_string();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}\n\n\
         `stockade TASK -h` lists the usual options of a task,\n`stockade TASK --help` all of them\n\n\
         Pages, by `stockade help TOPIC`:\n{}",
        with_headings(&listed),
        fit::listed(&TOPICS.map(|(topic, _)| topic.to_owned()), 60)
    );
    command.subcommand_value_name("TASK").help_template(template)
}

fn with_headings(listed: &str) -> String {
    let mut text = String::new();
    for line in listed.trim_end().lines() {
        // Continuation lines are indented further.
        let name = line.strip_prefix("  ").and_then(|rest| rest.split(' ').next());
        let group = GROUPS.iter().find(|(_, first)| name == Some(first));
        if let Some((heading, _)) = group {
            text += &format!("\n{heading}:\n");
        }
        text += line;
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;

    fn help(columns: usize) -> String {
        let command = Arguments::defined().term_width(columns);
        grouped(command).render_help().to_string()
    }

    #[test]
    fn tasks_are_listed_in_groups() {
        insta::assert_snapshot!(help(100), @"
        Runs untrusted programs inside named permission profiles that the Linux kernel enforces

        Usage: stockade <TASK>

        Run programs:
          run          Run a command inside a permission profile
          exec         Run a script with the least that its source needs, or with the profile chosen for it
          batch        Run many jobs, each in a sandbox of its own: JSON lines in, JSON lines out
          learn        Run a command, observe it, and print the least profile that allows what it did
          shell        Run a shell, for agents that can be given a shell, inside a permission profile
          approvals    Show the questions of runs, and answer them

        Profiles and grants:
          profile      List, show, check, test and compare profiles
          infer        Read a script and print what `exec` would run it under
          script       List the scripts that `exec` remembers, and choose their profiles
          grant        List and remove permanent grants

        Tool calls of agents:
          check        Decide about a tool call of an agent before it is made
          rules        List the rules for tool calls, add to them and remove them
          trust        Review a project's configuration, and trust it until it changes
          mcp          Model Context Protocol: confine servers, serve clients
          hook         Judge and confine the tool calls of a coding agent, as its hook

        After a run:
          explain      Explain a run: how it ended, what was refused, and what would allow it
          audit        Show and verify the audit trail

        This machine:
          doctor       Show what this machine can enforce
          config       Show the configuration that counts here, and where each line comes from
          cache        List and remove the private caches of package managers
          completions  Print a completion script for bash, zsh or fish
          help         Print this list, the help of a task, or a page of the documentation

        Options:
          -h, --help     Print help
          -V, --version  Print version

        `stockade TASK -h` lists the usual options of a task,
        `stockade TASK --help` all of them

        Pages, by `stockade help TOPIC`:
        a-day, agents, asking, audit-trail, batches, containers,
        costs, guarded, inference, install, install-in-clients,
        judging, library, limits, mcp-serve, mcp-servers, network,
        node, profiles, python, running, security, troubleshooting,
        write-a-profile
        ");
    }

    #[test]
    fn a_narrow_terminal_loses_no_group() {
        let narrow = help(60);
        for (heading, first) in GROUPS {
            assert!(narrow.contains(&format!("\n\n{heading}:\n  {first} ")), "{narrow}");
        }
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    }
}
