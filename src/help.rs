//! The list of tasks in `stockade --help`, in groups: clap has one heading for all subcommands.

use clap::Command;

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
         `stockade TASK -h` lists the usual options of a task,\n`stockade TASK --help` all of them",
        with_headings(&listed)
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
          infer        Read a script and print the least profile that it needs
          script       List the scripts that `exec` remembers, and choose their profiles
          grant        List and revoke permanent grants

        Tool calls of agents:
          check        Decide about a tool call of an agent before it is made
          rules        List the rules for tool calls, and add to them
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
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        `stockade TASK -h` lists the usual options of a task,
        `stockade TASK --help` all of them
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
