//! The pages of `docs/` and the README: their commands run and print what the pages say, their links lead somewhere, and
//! their TOML and JSON parses. CONTRIBUTING.md has the marks of a block.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{Place, Run, STOCKADE, Terminal, checkout, finish, is_root, run, skipped};

/// One test a page. `every_page_is_tried` has them all.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                try_page($page);
            }
        )*
    };
}

pages! {
    the_readme: "README.md",
    a_day: "docs/a-day-with-a-coding-agent.md",
    agents: "docs/agents.md",
    asking: "docs/asking.md",
    audit: "docs/audit.md",
    batches: "docs/batches.md",
    containers: "docs/containers.md",
    costs: "docs/costs.md",
    guarded: "docs/guarded.md",
    inference: "docs/inference.md",
    install: "docs/install.md",
    install_in_clients: "docs/install-in-clients.md",
    judging: "docs/judging.md",
    library: "docs/library.md",
    limits: "docs/limits.md",
    mcp: "docs/mcp.md",
    mcp_serve: "docs/mcp-serve.md",
    network: "docs/network.md",
    node: "docs/node.md",
    profiles: "docs/profiles.md",
    python: "docs/python.md",
    running: "docs/running.md",
    troubleshooting: "docs/troubleshooting.md",
    write_a_profile: "docs/write-a-profile.md",
}

/// They have no commands of a run.
const WITHOUT: &[&str] = &[
    "docs/ARCHITECTURE.md",
    "docs/CONTRIBUTING.md",
    "docs/README.md",
    "docs/evidence.md",
    "docs/promises.md",
];

#[test]
fn every_page_is_tried() {
    let known: BTreeSet<PathBuf> = PAGES.iter().chain(WITHOUT).map(PathBuf::from).collect();
    let there = fs::read_dir(checkout().join("docs")).unwrap().flatten();
    let there = there.map(|entry| Path::new("docs").join(entry.file_name()));
    let there: BTreeSet<PathBuf> = there.chain(["README.md".into()]).collect();
    assert_eq!(known, there);
}

#[test]
fn the_readme_is_short() {
    let lines = fs::read_to_string(checkout().join("README.md"))
        .unwrap()
        .lines()
        .count();
    assert!(lines <= 200, "{lines} lines");
}

/// A block of a page, with what the comment before it says.
#[derive(Default)]
struct Block {
    marks: Vec<(String, String)>,
    /// Of a fenced one.
    language: Option<String>,
    lines: Vec<String>,
    first: usize,
}

impl Block {
    fn mark(&self, name: &str) -> Option<&str> {
        let found = self.marks.iter().find(|(mark, _)| mark == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Each command with what it prints.
    fn commands(&self) -> Vec<(String, String)> {
        let mut commands: Vec<(String, String)> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.into(), String::new())),
                (None, Some((_, output))) => *output += &format!("{line}\n"),
                (None, None) => {}
            }
        }
        commands
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut marks = Vec::new();
    let mut block: Option<Block> = None;
    let mut is_fenced = false;
    for (number, line) in page.lines().enumerate() {
        let begin = |marks: &mut Vec<_>, language| Block {
            marks: std::mem::take(marks),
            language,
            first: number + 1,
            ..Block::default()
        };
        if let Some(language) = line.strip_prefix("```") {
            match is_fenced {
                true => blocks.extend(block.take()),
                false => {
                    blocks.extend(block.take());
                    block = Some(begin(&mut marks, Some(language.into())));
                }
            }
            is_fenced = !is_fenced;
        } else if is_fenced {
            block.as_mut().unwrap().lines.push(line.into());
        } else if let Some(comment) = line.strip_prefix("<!-- ") {
            blocks.extend(block.take());
            let comment = comment.strip_suffix(" -->").expect("a comment is one line");
            let (name, value) = comment.split_once([':', ' ']).unwrap_or((comment, ""));
            let (name, value) = match comment.strip_prefix("not run:") {
                Some(reason) => ("not run", reason),
                None => (name, value),
            };
            marks.push((name.into(), value.trim().into()));
        } else if let Some(indented) = line.strip_prefix("    ") {
            block
                .get_or_insert_with(|| begin(&mut marks, None))
                .lines
                .push(indented.into());
        } else if line.is_empty() {
            if let Some(block) = &mut block {
                block.lines.push(String::new());
            }
        } else {
            blocks.extend(block.take());
            marks.clear();
        }
    }
    blocks.extend(block);
    blocks
}

/// Ada's home, with her project in it.
fn place() -> Run {
    let mut run = run();
    run.place.root = run.place.home.join("first-run");
    let tree = checkout().join("examples/first-run");
    let mut copy = std::process::Command::new("cp");
    assert!(
        copy.arg("-R")
            .arg(tree)
            .arg(&run.place.root)
            .status()
            .unwrap()
            .success()
    );
    let programs = run.place.home.join(".cargo/bin");
    fs::create_dir_all(&programs).unwrap();
    symlink(STOCKADE.path(), programs.join("stockade")).unwrap();
    run
}

fn try_page(name: &str) {
    let text = fs::read_to_string(checkout().join(name)).unwrap();
    let needed = text
        .split_once("<!-- needs ")
        .and_then(|(_, rest)| rest.split(' ').next());
    if let Some(program) = needed
        && !PATH
            .split(':')
            .any(|directory| Path::new(directory).join(program).exists())
    {
        return skipped(&format!("{name}: {program} isn't installed"));
    }
    let run = place();
    let mut faults = Vec::new();
    for block in blocks(&text) {
        let at = format!("{name}:{}", block.first);
        if let Some(language) = &block.language {
            let content = block.lines.join("\n") + "\n";
            faults.extend(unparsed(language, &content).map(|error| format!("{at}: {error}")));
            if let Some(file) = block.mark("file") {
                run.place.file(file, content);
            }
            continue;
        }
        let commands = block.commands();
        if commands.is_empty() {
            continue;
        }
        if let Some(reason) = block.mark("not run") {
            skipped(&format!("{at} isn't run: it {reason}"));
            continue;
        }
        // Its script lists the home of the password database. Root's is closed; another's is asked about where `HOME` is another.
        if name == "README.md" && block.mark("terminal").is_some() && !is_root() {
            skipped("the README's first block asks about one home more where `HOME` isn't the user's");
            continue;
        }
        if let Some(answers) = block.mark("terminal") {
            faults.extend(try_at_terminal(&run, &commands, answers).map(|fault| format!("{at}: {fault}")));
            continue;
        }
        let codes = block
            .mark("exits")
            .unwrap_or_default()
            .split(' ')
            .filter(|code| !code.is_empty());
        let mut codes = codes.map(|code| code.parse::<i32>().expect("a code"));
        for (command, expected) in commands {
            let code = codes.next().unwrap_or(0);
            faults.extend(try_command(&run.place, &command, &expected, code).map(|fault| format!("{at}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n\n"));
}

fn unparsed(language: &str, content: &str) -> Option<String> {
    match language {
        "toml" => content.parse::<toml::Table>().err().map(|error| error.to_string()),
        "json" => serde_json::from_str::<serde_json::Value>(content)
            .err()
            .map(|error| error.to_string()),
        "rust" => {
            // Compiled there.
            let library = fs::read_to_string(checkout().join("crates/stockade/src/lib.rs")).unwrap();
            let library: Vec<&str> = library.lines().filter_map(|line| line.strip_prefix("//!")).collect();
            let library: Vec<&str> = library
                .iter()
                .map(|line| line.strip_prefix(' ').unwrap_or(line))
                .collect();
            (!library.join("\n").contains(content)).then(|| "it isn't the example in crates/stockade/src/lib.rs".into())
        }
        _ => None,
    }
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is wrong with a command's exit code or output.
fn try_command(place: &Place, command: &str, expected: &str, code: i32) -> Option<String> {
    let mut shell = place.command("sh");
    shell.args(["-c", &format!("exec 2>&1\n{command}")]);
    shell.env("PATH", format!("{}/.cargo/bin:{PATH}", place.home.display()));
    let finished = finish(&mut shell, b"");
    let said = finished.stdout();
    if finished.status.code() != Some(code) {
        return Some(format!(
            "$ {command}\nends with {} and not with {code}:\n{said}",
            finished.status
        ));
    }
    let home = place.home.to_str().unwrap();
    let said = said.replace(home, "/home/ada");
    (!is_as_said(expected.trim_end(), said.trim_end()))
        .then(|| format!("$ {command}\nprints\n{said}\nand the page says\n{expected}"))
}

/// Types the answers, and waits for the question that the page shows.
fn try_at_terminal(run: &Run, commands: &[(String, String)], answers: &str) -> Option<String> {
    let keys = answers.strip_prefix("answers ").expect("answers");
    let [(command, expected)] = commands else {
        return Some("one command at a terminal".into());
    };
    let mut terminal = Terminal::new();
    // Paths and the process differ.
    for line in expected
        .lines()
        .filter(|line| !line.contains("/home/ada") && !line.contains("pid "))
    {
        if let Some((question, _)) = line.split_once("(60 s)? ") {
            terminal = terminal.awaits(question).types(&format!("{keys}\n"));
        } else {
            terminal = terminal.awaits(line);
        }
    }
    let path = format!("PATH={}/.cargo/bin:{PATH}", run.place.home.display());
    let words = ["/usr/bin/env", &path, "sh", "-c", command];
    let code = terminal
        .ends_within(60)
        .plays_command(run, words.map(Into::into).to_vec());
    (code != 0).then(|| format!("$ {command}\nends with {code}"))
}

/// Whether an output is the one of a page, where `…` stands for what is left out and numbers differ.
fn is_as_said(expected: &str, said: &str) -> bool {
    let (expected, said) = (without_numbers(expected), without_numbers(said));
    // A line of its own stands for any number of lines, also for none.
    let expected = format!("\n{expected}\n").replace("\n…\n", "\n…");
    let said = format!("\n{said}\n");
    let mut parts = expected.split('…');
    let Some(mut rest) = said.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn without_numbers(text: &str) -> String {
    let mut told = String::new();
    for character in text.chars() {
        match character.is_ascii_digit() {
            true if told.ends_with('#') => {}
            true => told.push('#'),
            false => told.push(character),
        }
    }
    told
}

#[test]
fn every_link_leads_somewhere() {
    let top = checkout();
    let pages = ["SECURITY.md", "CHANGELOG.md"];
    let mut faults = Vec::new();
    for page in PAGES.iter().chain(WITHOUT).chain(&pages) {
        let path = top.join(page);
        let text = fs::read_to_string(&path).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (target, _) in targets.filter(|(target, _)| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let leads_to = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let is_there = match heading {
                "" => leads_to.exists(),
                heading => fs::read_to_string(&leads_to).is_ok_and(|text| headings(&text).any(|one| one == heading)),
            };
            if !is_there {
                faults.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The names by which a page's headings are linked to.
fn headings(page: &str) -> impl Iterator<Item = String> {
    page.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|one| one.is_alphanumeric() || matches!(one, '-' | '_' | ' '));
        kept.map(|one| if one == ' ' { '-' } else { one }).collect()
    })
}

#[test]
fn what_is_left_out_of_an_output_may_be_anything() {
    assert!(is_as_said("one\n…\nthree", "one\ntwo\nthree"));
    assert!(is_as_said("one\n…\nthree", "one\nthree"));
    assert!(is_as_said("pid 4711, … ends", "pid 3, which ends"));
    assert!(!is_as_said("one\n…\nthree", "one\ntwo"));
    assert!(!is_as_said("one", "one\ntwo"));
}
