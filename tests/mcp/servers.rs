//! The reference servers, driven by the official libraries: bare, in `stockade mcp wrap` and in plain `stockade run`.
//!
//! Allowed calls return the same with each. A refused call is the server's own error in a plain run, whose report names the
//! refusal; `mcp wrap` tells the client the reason, or asks.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Place, STOCKADE, checkout, python, skipped};

/// Where `tests/setup-programs.sh` puts something, if it is there.
fn prepared(variable: &str, default: &str, program: &str) -> Option<PathBuf> {
    let place = std::env::var_os(variable).map_or_else(|| checkout().join("target").join(default), PathBuf::from);
    let path = place.join(program);
    if !path.exists() {
        skipped(&format!("`{program}` isn't installed: tests/setup-programs.sh"));
    }
    path.exists().then_some(path)
}

fn of_npm(program: &str) -> Option<PathBuf> {
    prepared("STOCKADE_TEST_NPM", "test-npm", &format!("node_modules/{program}"))
}

fn of_pypi(program: &str) -> Option<PathBuf> {
    prepared("STOCKADE_TEST_MCP", "test-mcp", &format!("bin/{program}"))
}

/// A server that is made with an older library.
fn of_old_pypi(program: &str) -> Option<PathBuf> {
    prepared("STOCKADE_TEST_MCP", "test-mcp", &format!("old/bin/{program}"))
}

/// The official libraries.
#[derive(Clone, Copy)]
enum Library {
    TypeScript,
    Python,
}

impl Library {
    /// The client's command, which runs in `place`.
    fn client(self, place: &Place) -> Option<Command> {
        match self {
            Library::TypeScript => {
                let library = of_npm("@modelcontextprotocol/sdk")?;
                // Modules are looked for beside the script.
                let modules = library.parent().and_then(Path::parent).unwrap();
                let link = place.home.join("node_modules");
                if !link.exists() {
                    std::os::unix::fs::symlink(modules, &link).unwrap();
                }
                let script = place.file("~/sdk.mjs", include_str!("sdk.mjs"));
                let mut command = Command::new("node");
                command.arg(script);
                Some(command)
            }
            Library::Python => {
                let mut command = Command::new(of_pypi("python")?);
                command.arg(checkout().join("tests/mcp/sdk.py"));
                Some(command)
            }
        }
    }
}

/// The report of a plain run, in the directory where the server runs.
const REPORT: &str = "report.json";

/// How a client starts a server.
#[derive(Clone, Copy, Debug)]
enum Launcher {
    Bare,
    Wrap,
    Run,
}

impl Launcher {
    /// The server's words with the launcher's before them.
    fn line(self, server: &[String]) -> Vec<String> {
        let launcher = match self {
            Launcher::Bare => vec![],
            Launcher::Wrap => vec![STOCKADE.path(), "mcp", "wrap", "--"],
            Launcher::Run => vec![
                STOCKADE.path(),
                "run",
                "--ask",
                "never",
                "--profile",
                "mcp-standard",
                "--report",
                REPORT,
                "--",
            ],
        };
        let launcher = launcher.into_iter().map(str::to_owned);
        launcher.chain(server.iter().cloned()).collect()
    }
}

/// What a client got of a server.
fn drive(library: Library, place: &Place, words: &[String], calls: &Value, elicit: Option<&str>) -> Option<Value> {
    let environment = json!({ "HOME": place.home });
    let mut plan = json!({ "command": words, "calls": calls, "cwd": place.root, "env": environment });
    if let Some(answer) = elicit {
        plan["elicit"] = json!(answer);
    }
    let output = library
        .client(place)?
        .arg(plan.to_string())
        .env("HOME", &place.home)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {stderr}");
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}")))
}

/// The same calls with each launcher, each in a place of its own below `/tmp`, which the profile writes.
fn same(library: Library, words: impl Fn(&str) -> Vec<String>, calls: impl Fn(&str) -> Value) {
    let talk = |launcher: Launcher| {
        let place = Place::new();
        let files = tempfile::Builder::new().prefix("mcp-").tempdir_in("/tmp").unwrap();
        let here = files.path().to_str().unwrap().to_owned();
        std::fs::write(files.path().join("there.txt"), "content\n").unwrap();
        let git = |words: &[&str]| Command::new("git").args(["-C", &here]).args(words).output().unwrap();
        git(&["init", "-q"]);
        git(&["add", "there.txt"]);
        let got = drive(library, &place, &launcher.line(&words(&here)), &calls(&here), None)?;
        Some(got.to_string().replace(&here, "HERE"))
    };
    let Some(bare) = talk(Launcher::Bare) else {
        return;
    };
    for launcher in [Launcher::Wrap, Launcher::Run] {
        assert_eq!(talk(launcher).as_ref(), Some(&bare), "{launcher:?}");
    }
}

fn words(program: Option<PathBuf>, more: &[&str]) -> Option<Vec<String>> {
    let program = program?.to_str().unwrap().to_owned();
    Some(
        std::iter::once(program)
            .chain(more.iter().map(ToString::to_string))
            .collect(),
    )
}

#[test]
fn the_servers_of_npm_answer_as_bare() {
    let program = |name: &str| of_npm(&format!(".bin/mcp-server-{name}"));
    let Some(filesystem) = words(program("filesystem"), &[]) else {
        return;
    };
    let at = |words: &[String], here: &str| words.iter().cloned().chain([here.to_owned()]).collect::<Vec<_>>();
    same(
        Library::TypeScript,
        |here| at(&filesystem, here),
        |here| {
            json!([
                ["read_text_file", { "path": format!("{here}/there.txt") }],
                ["write_file", { "path": format!("{here}/new.txt"), "content": "a" }],
                ["search_files", { "path": here, "pattern": "*.txt" }],
                ["read_text_file", { "path": format!("{here}/missing") }],
            ])
        },
    );
    let Some(everything) = words(program("everything"), &["stdio"]) else {
        return;
    };
    let calls = json!([
        ["echo", { "message": "hey" }],
        ["get-sum", { "a": 40, "b": 2 }],
        ["trigger-long-running-operation", { "duration": 0.2, "steps": 2 }],
    ]);
    same(Library::TypeScript, |_| everything.clone(), |_| calls.clone());
    let Some(thinking) = words(program("sequential-thinking"), &[]) else {
        return;
    };
    let thought = json!([["sequentialthinking", { "thought": "t", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 }]]);
    same(Library::TypeScript, |_| thinking.clone(), |_| thought.clone());
    let Some(memory) = words(program("memory"), &[]) else {
        return;
    };
    let entities = json!([{ "name": "a", "entityType": "t", "observations": ["o"] }]);
    let graph = json!([["create_entities", { "entities": entities }], ["read_graph", {}]]);
    let kept = |here: &str| {
        let variable = ["env".to_owned(), format!("MEMORY_FILE_PATH={here}/memory.jsonl")];
        variable.into_iter().chain(memory.iter().cloned()).collect()
    };
    same(Library::TypeScript, kept, |_| graph.clone());
}

#[test]
fn the_servers_of_pypi_answer_as_bare() {
    let Some(time) = words(of_pypi("mcp-server-time"), &[]) else {
        return;
    };
    let convert =
        json!([["convert_time", { "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" }]]);
    same(Library::Python, |_| time.clone(), |_| convert.clone());
    let Some(git) = words(of_pypi("mcp-server-git"), &[]) else {
        return;
    };
    same(
        Library::Python,
        |_| git.clone(),
        |here| json!([["git_status", { "repo_path": here }], ["git_add", { "repo_path": here, "files": ["there.txt"] }]]),
    );
    let Some(sqlite) = words(of_old_pypi("mcp-server-sqlite"), &["--db-path"]) else {
        return;
    };
    let queries = json!([
        ["create_table", { "query": "create table t(a int)" }],
        ["write_query", { "query": "insert into t values (1)" }],
        ["read_query", { "query": "select * from t" }],
    ]);
    let at = |here: &str| sqlite.iter().cloned().chain([format!("{here}/db.sqlite")]).collect();
    same(Library::Python, at, |_| queries.clone());
}

#[test]
fn the_server_that_fetches_reaches_its_host() {
    let Some(fetch) = words(
        of_pypi("mcp-server-fetch"),
        &["--ignore-robots-txt", "--allow-private-ips"],
    ) else {
        return;
    };
    let place = Place::new();
    place.file("page.txt", "a page\n");
    let mut pages = Command::new(python())
        .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"])
        .current_dir(&place.root)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = pages.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let port = line
        .split_whitespace()
        .find_map(|word| word.parse::<u16>().ok())
        .unwrap();
    let calls = json!([["fetch", { "url": format!("http://127.0.0.1:{port}/page.txt") }]]);
    let [bare, wrapped, run] = [Launcher::Bare, Launcher::Wrap, Launcher::Run]
        .map(|launcher| drive(Library::Python, &place, &launcher.line(&fetch), &calls, None));
    pages.kill().unwrap();
    pages.wait().unwrap();
    assert!(
        bare.is_none() || bare.as_ref().unwrap().to_string().contains("a page"),
        "{bare:?}"
    );
    assert_eq!(wrapped, bare);
    assert_eq!(run, bare);
}

/// A call that the profile refuses: the server's own error and a report of it in a plain run, the reason from `mcp wrap`,
/// and made by a yes of the client's user.
fn refused_and_asked(library: Library, server: &[String], place: &Place, call: &Value, made: &Path) {
    let calls = json!([call]);
    let drive = |launcher: Launcher, elicit| drive(library, place, &launcher.line(server), &calls, elicit);
    let Some(run) = drive(Launcher::Run, None) else {
        return;
    };
    let result = &run["results"][0];
    // The Python library prints its own field's name.
    let is_error = result["isError"] == true || result["is_error"] == true;
    assert!(is_error && !result.to_string().contains("--write"), "{result}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(place.path(REPORT)).unwrap()).unwrap();
    let is_told = |denial: &Value| {
        let target = denial["target"].as_str().unwrap();
        target.starts_with(made.to_str().unwrap()) && denial["grant"][0] == "--write"
    };
    assert!(report["denials"].as_array().unwrap().iter().any(is_told), "{report}");
    let refused = drive(Launcher::Wrap, None).unwrap().to_string();
    assert!(
        refused.contains("Permission denied: ") && refused.contains("--write"),
        "{refused}"
    );
    assert!(!made.exists());
    let asked = drive(Launcher::Wrap, Some("session")).unwrap();
    assert!(
        asked["asked"].as_u64() > Some(0) && !asked.to_string().contains("Permission denied"),
        "{asked}"
    );
    assert!(made.exists(), "{asked}");
}

#[test]
fn a_refused_write_is_told_and_a_yes_makes_it() {
    let place = Place::new();
    let (made, root) = (place.path("made.txt"), place.root.to_str().unwrap().to_owned());
    if let Some(words) = words(of_npm(".bin/mcp-server-filesystem"), &[&root]) {
        let call = json!(["write_file", { "path": made, "content": "a" }]);
        refused_and_asked(Library::TypeScript, &words, &place, &call, &made);
    }
    // The repository is in the root, which the profile only reads.
    let git = |words: &[&str]| {
        Command::new("git")
            .arg("-C")
            .arg(&place.root)
            .args(words)
            .output()
            .unwrap()
    };
    git(&["init", "-q"]);
    place.file("new.txt", "x");
    if let Some(words) = words(of_pypi("mcp-server-git"), &[]) {
        let call = json!(["git_add", { "repo_path": root, "files": ["new.txt"] }]);
        refused_and_asked(Library::Python, &words, &place, &call, &place.path(".git/index"));
    }
}
