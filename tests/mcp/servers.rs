//! The reference servers, driven by the official libraries: as bare, and with reasons and questions where they are refused.

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

fn wrapped(words: &[String]) -> Vec<String> {
    let prefix = [STOCKADE.path(), "mcp", "wrap", "--"].map(str::to_owned);
    prefix.into_iter().chain(words.iter().cloned()).collect()
}

/// The same calls bare and wrapped, each in a place of its own below `/tmp`, which the profile writes.
fn same(library: Library, words: impl Fn(&str) -> Vec<String>, calls: impl Fn(&str) -> Value) {
    let talk = |is_wrapped: bool| {
        let place = Place::new();
        let files = tempfile::Builder::new().prefix("mcp-").tempdir_in("/tmp").unwrap();
        let here = files.path().to_str().unwrap().to_owned();
        std::fs::write(files.path().join("there.txt"), "content\n").unwrap();
        let git = |words: &[&str]| Command::new("git").args(["-C", &here]).args(words).output().unwrap();
        git(&["init", "-q"]);
        git(&["add", "there.txt"]);
        let words = words(&here);
        let words = if is_wrapped { wrapped(&words) } else { words };
        let got = drive(library, &place, &words, &calls(&here), None)?;
        Some(got.to_string().replace(&here, "HERE"))
    };
    let Some(bare) = talk(false) else {
        return;
    };
    assert_eq!(talk(true), Some(bare));
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
    let bare = drive(Library::Python, &place, &fetch, &calls, None);
    let confined = drive(Library::Python, &place, &wrapped(&fetch), &calls, None);
    pages.kill().unwrap();
    pages.wait().unwrap();
    assert!(
        bare.is_none() || bare.as_ref().unwrap().to_string().contains("a page"),
        "{bare:?}"
    );
    assert_eq!(confined, bare);
}

/// A call that the profile refuses: with the reason, and made by a yes of the client's user.
fn refused_and_asked(library: Library, words: &[String], place: &Place, call: &Value, made: &Path) {
    let calls = json!([call]);
    let Some(refused) = drive(library, place, &wrapped(words), &calls, None) else {
        return;
    };
    assert!(
        refused.to_string().contains("Permission denied: ") && refused.to_string().contains("--write"),
        "{refused}"
    );
    assert!(!made.exists());
    let Some(asked) = drive(library, place, &wrapped(words), &calls, Some("session")) else {
        return;
    };
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
