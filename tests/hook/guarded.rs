//! An agent's own tools change no file that its runs may not: the profile that judges it, and programs that run unconfined.

use super::place::{call, place, said};

/// What the hook says to each of these tools about a file.
fn answers(place: &crate::common::Place, flags: &[&str], file: &str) -> Vec<String> {
    let words: Vec<&str> = std::iter::once("claude-code").chain(flags.iter().copied()).collect();
    let of_tool = |tool: &str| {
        let event = serde_json::json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"file_path": file}, "cwd": place.root,
        });
        let output = call(place, &words, event.to_string().as_bytes());
        said("claude-code", &output)
    };
    ["Read", "Edit", "Write", "MultiEdit"].map(of_tool).into()
}

#[test]
fn no_tool_of_an_agent_changes_the_profile_that_judges_it() {
    let place = place();
    let profile = |name: &str, base: &str| {
        let text = format!("version = 1\nname = {name:?}\ndescription = \"x\"\nextends = {base:?}\n");
        place.file(&format!("{name}.toml"), &text);
    };
    profile("base", "workspace");
    profile("pp", "./base.toml");
    profile("free", "workspace");
    std::os::unix::fs::symlink("pp.toml", place.root.join("led.toml")).unwrap();
    let changed = ["allow", "allow", "allow", "allow"];
    let guarded = ["allow", "deny", "deny", "deny"];
    let of_profile = ["--profile", "./pp.toml"];
    for file in ["pp.toml", "base.toml", "sub/../pp.toml", "led.toml"] {
        assert_eq!(answers(&place, &[], file), changed, "{file}");
        assert_eq!(answers(&place, &of_profile, file), guarded, "{file}");
    }
    assert_eq!(answers(&place, &of_profile, "free.toml"), changed);
}

#[test]
fn no_tool_of_an_agent_changes_a_program_that_runs_unconfined() {
    let place = place();
    place.file("told.sh", "#!/bin/sh\n");
    place.file("asked.sh", "#!/bin/sh\n");
    let guarded = ["allow", "deny", "deny", "deny"];
    let program = place.root.join("asked.sh");
    let ask = format!("command={}", program.display());
    assert_eq!(answers(&place, &["--ask", &ask], "asked.sh"), guarded);
    let told = place.root.join("told.sh");
    place.file(
        "~/.config/stockade/config.toml",
        format!("version = 1\non_violation = [{told:?}]\n"),
    );
    assert_eq!(answers(&place, &[], "told.sh"), guarded);
    assert_eq!(answers(&place, &["--agent", "worker"], "told.sh"), guarded);
    let check = |file: &str| {
        let words = ["check", "--agent", "worker", "--action", "write", "--path", file];
        let mut command = super::place::command(&place, crate::common::STOCKADE.path().as_ref());
        String::from_utf8(command.args(words).output().unwrap().stdout).unwrap()
    };
    assert!(check("told.sh").starts_with("deny: "), "{}", check("told.sh"));
    assert!(check("a.txt").starts_with("allow: "), "{}", check("a.txt"));
}
