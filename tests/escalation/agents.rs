//! Agents: what their configuration makes of a run, and what a person is asked for them.

use crate::common::{Place, Run, STOCKADE, finish, run};

/// A program that answers each question, and keeps what it was asked.
const ANSWERS: &str = "cat >> @HOME/asked; echo >> @HOME/asked; echo '{\"answer\":\"yes\",\"lifetime\":\"once\"}'";

fn agent(name: &str) -> Run {
    run()
        .flags(["--agent", name])
        .file("src/a.rs", "text\n")
        .file("docs/b.md", "text\n")
}

fn answered(run: Run) -> Run {
    run.flags(["--ask", &format!("command={ANSWERS}")])
}

fn asked(place: &Place) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(place.home.join("asked")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).expect("a request is JSON"))
        .collect()
}

fn configured(run: Run, text: &str) -> Run {
    let directory = run.place.home.join(".config/stockade");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), text).unwrap();
    run
}

#[test]
fn a_judge_reads_the_tree_and_is_asked_for_each_write() {
    let ran = answered(agent("judge"))
        .bash("cat src/a.rs && echo one > new && echo two > other && cat new other")
        .stdout("text\none\ntwo\n")
        .ends();
    let asked = asked(&ran.place);
    let targets: Vec<_> = asked
        .iter()
        .map(|request| request["evidence"]["target"].clone())
        .collect();
    assert_eq!(
        targets,
        [
            ran.place.path("new").to_str().unwrap(),
            ran.place.path("other").to_str().unwrap()
        ]
    );
    assert_eq!(asked[0]["evidence"]["why"], "every change asks in mode `manual`");
    assert_eq!(asked[0]["evidence"]["agent"], "judge");
    assert_eq!(asked[0]["current_profile"], "workspace");
}

#[test]
fn a_judge_without_an_asker_reads_and_writes_nothing() {
    let ran = agent("judge")
        .bash("cat src/a.rs; echo x > new; rm src/a.rs; mv docs/b.md c; ls")
        .stdout("text\ndocs\nsrc\n")
        .any_stderr()
        .reporting()
        .ends();
    assert!(ran.place.path("src/a.rs").exists());
    for name in ["planner", "leader"] {
        agent(name).bash("echo x > new").status(1).any_stderr().ends();
    }
}

#[test]
fn in_manual_a_refusal_says_so_and_its_hint_is_a_way_on() {
    let ran = agent("judge")
        .command(["touch", "new"])
        .status(1)
        .stderr_has("was refused creating `@ROOT/new` (every change asks in mode `manual`)")
        .stderr_has("hint: to allow it: `--write @ROOT/new`")
        .ends();
    drop(ran);
    agent("judge")
        .flags(["--write", "@ROOT/new"])
        .command(["touch", "new"])
        .any_stderr()
        .ends();
}

#[test]
fn in_manual_an_exchange_asks_for_both_names_and_an_answer_for_always_counts_later() {
    let exchange = "import ctypes\nprint(ctypes.CDLL(None).syscall(316, -100, b'src/a.rs', -100, b'docs/b.md', 2))";
    let ran = answered(agent("judge")).python(exchange).stdout("0\n").ends();
    let asked = asked(&ran.place);
    assert_eq!(asked[0]["evidence"]["access"], "write", "{asked:#?}");
    let always = "command=cat > /dev/null; echo '{\"answer\":\"yes\",\"lifetime\":\"always\"}'";
    let place = agent("judge")
        .flags(["--ask", always])
        .command(["touch", "new"])
        .ends()
        .place;
    std::fs::remove_file(place.path("new")).unwrap();
    let mut again = place.command(STOCKADE);
    again
        .args(["run", "--ask", "command=false", "--agent", "judge", "--root"])
        .arg(&place.root)
        .args(["--", "touch", "new"]);
    let finished = finish(&mut again, b"");
    assert!(finished.status.success(), "{}", finished.stderr());
}

#[test]
fn a_worker_edits_freely() {
    let ran = agent("worker")
        .bash("echo x > new && rm src/a.rs && mv docs/b.md docs/c.md && cat docs/c.md")
        .stdout("text\n")
        .ends();
    assert!(ran.place.path("new").exists() && !ran.place.path("src/a.rs").exists());
}

#[test]
fn a_flag_names_the_mode_of_one_run() {
    let ran = answered(run().profile("workspace").flags(["--mode", "manual"]))
        .bash("echo x > new && mkdir sub && echo y > sub/more")
        .ends();
    assert_eq!(asked(&ran.place).len(), 3);
    run()
        .profile("workspace")
        .flags(["--mode", "manual", "--write", "@ROOT/out"])
        .bash("echo x > out")
        .stderr_has("`@ROOT/out` doesn't exist yet")
        .ends();
    run()
        .profile("workspace")
        .flags(["--mode", "accept"])
        .status(125)
        .stderr_has("a mode is `manual`, `accept-edits` or `bypass`")
        .ends();
}

const SCOPED: &str = r#"
version = 1

[agents.scoped]
profile = "workspace"
mode = "accept-edits"
capabilities = ["READ", "WRITE", "EXECUTE", "SPAWN"]

[agents.scoped.scope]
allowed = ["src/**", "docs/**"]
denied = ["*.log"]
read_only = ["docs/**"]
"#;

// promise: capabilities.7
#[test]
fn a_scope_holds_while_the_program_runs_and_no_question_is_asked_about_it() {
    let temporary = format!("/tmp/stockade-scope-{}", std::process::id());
    let code = format!(
        "for f in src/new docs/b.md top {temporary}; do echo x 2>/dev/null > $f && echo $f; done; \
         cat src/a.log 2>/dev/null || echo closed; rm src/a.rs 2>/dev/null || echo kept; cat docs/b.md; true"
    );
    let ran = answered(configured(agent("scoped"), SCOPED))
        .file("src/a.log", "log\n")
        .bash(&format!("({code}) 2>/dev/null | sed s,/tmp/.*,tmp,"))
        .stdout("src/new\ntmp\nclosed\nkept\ntext\n")
        .any_stderr()
        .reporting()
        .ends();
    std::fs::remove_file(temporary).unwrap();
    assert_eq!(asked(&ran.place).len(), 0);
    let report = ran.report();
    let rules: Vec<String> = report["denials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|denial| denial["rule"]["text"].as_str().unwrap_or_default().to_string())
        .collect();
    assert!(
        rules.contains(&"outside the scope `src/**`, `docs/**`".to_string()),
        "{rules:#?}"
    );
    assert!(
        rules.contains(&"permission denied: DELETE capability required".to_string()),
        "{rules:#?}"
    );
}

#[test]
fn a_new_repository_is_made_only_where_the_scope_allows_it() {
    let ran = configured(agent("scoped"), SCOPED)
        .file("docs/x", "x")
        .bash("for d in . src docs; do mkdir $d/.git 2>/dev/null && echo $d; done; true")
        .stdout("src\n")
        .any_stderr()
        .ends();
    assert!(!ran.place.path(".git").exists());
}

#[test]
fn a_yes_to_removing_a_directory_removes_it() {
    let ran = answered(agent("judge")).file("gone/x", "x").bash("rm -r gone").ends();
    assert!(!ran.place.path("gone").exists());
    assert!(!asked(&ran.place).is_empty());
}

#[test]
fn no_question_is_asked_about_one_name_where_the_other_is_closed() {
    let ran = answered(configured(agent("scoped"), SCOPED).flags(["--mode", "manual"]))
        .bash("ln docs/b.md src/c.md; mv src/a.rs top; true")
        .any_stderr()
        .ends();
    assert!(asked(&ran.place).is_empty());
}

#[test]
fn in_bypass_the_scope_does_not_count_and_what_is_always_denied_does() {
    configured(agent("scoped"), SCOPED)
        .flags(["--mode", "bypass"])
        .file(".env", "KEY=1\n")
        .bash("echo x > top && cat top; cat .env; echo x > .envrc; echo x > /etc/stockade-test; true")
        .stdout("x\n")
        .stderr_has("DANGER: mode `bypass`")
        .stderr_has("cat: .env: Permission denied")
        .stderr_has(".envrc: Permission denied")
        .stderr_has("/etc/stockade-test: Permission denied")
        .ends();
}

// promise: capabilities.8
#[test]
fn a_project_s_file_narrows_an_agent_and_never_widens_one() {
    let of = |text: &str| agent("worker").file(".stockade/config.toml", text);
    of("version = 1\n[agents.worker.scope]\nread_only = [\"docs/**\"]\n")
        .bash("echo x > docs/b.md")
        .status(1)
        .any_stderr()
        .ends();
    of("version = 1\n[agents.worker]\nprofile = \"trusted\"\n")
        .bash("echo x > @HOME/out")
        .status(1)
        .stderr_has("isn't trusted")
        .ends();
    of("version = 1\n[agents.worker]\nmode = \"bypass\"\n")
        .bash("true")
        .status(125)
        .stderr_has("bypass")
        .ends();
    of("version = 1\n")
        .bash("echo 'version = 1' > .stockade/config.toml")
        .status(1)
        .stderr_has("guarded")
        .ends();
}

#[test]
fn a_tool_runs_in_its_profile_with_its_commands_and_capabilities_alone() {
    let tools = "version = 1\n[tools.show]\nprofile = \"workspace\"\ncommands = [\"cat\", \"sh\"]\n\
                 capabilities = [\"READ\", \"EXECUTE\", \"SPAWN\"]\n\
                 [agents.own]\ntools = [\"show\"]\n[agents.other]\ntools = [\"bash\"]\n\
                 [[permissions.deny]]\ntool = \"bash\"\ncommand = \"rm\"\n";
    let of = |agent: &str, tool: &str| {
        let run = run().flags(["--agent", agent, "--tool", tool]).file("a", "text\n");
        configured(run, tools)
    };
    of("own", "show").command(["cat", "a"]).stdout("text\n").ends();
    of("own", "show")
        .command(["sh", "-c", "echo x > new"])
        .status(2)
        .stderr_has("WRITE capability required")
        .ends();
    for (agent, tool, command, said) in [
        ("own", "show", "ls", "may run `cat`, `sh` alone"),
        (
            "other",
            "show",
            "cat",
            "CapabilityDenied: the agent `other` doesn't declare the tool `show`",
        ),
        ("own", "nothing", "cat", "doesn't know the tool"),
    ] {
        of(agent, tool)
            .command([command, "a"])
            .status(125)
            .stderr_has(said)
            .ends();
    }
    of("own", "show")
        .command(["sh", "-c", "rm a"])
        .status(125)
        .stderr_has("Permission denied: a rule denies it")
        .ends();
}
