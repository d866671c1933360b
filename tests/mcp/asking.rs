//! Questions to the client's user, and grants that hold for single tools and for the client's roots.

use serde_json::{Value, json};

use super::client::{Start, is_error, text};
use crate::common::Place;

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn form(request: &Value, answer: &Value) -> Option<Value> {
    (request["method"] == "elicitation/create").then(|| answer.clone())
}

#[test]
fn a_yes_of_the_clients_user_makes_the_very_call_succeed() {
    let place = Place::new();
    let path = place.path("out.txt");
    for (version, choices) in [("2025-06-18", "enum"), ("2025-11-25", "oneOf")] {
        let mut client = Start::wrapped(&["--name", "files"])
            .version(version)
            .abilities(forms())
            .answering(|request| form(request, &json!({ "action": "accept", "content": { "answer": "once" } })))
            .start(&place);
        let result = client.call("write", json!({ "path": path }));
        assert_eq!(
            (is_error(&result), text(&result).as_str()),
            (false, "written"),
            "{result}"
        );
        let asked: Vec<Value> = client
            .heard
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|message: &Value| message["method"] == "elicitation/create")
            .collect();
        assert_eq!(asked.len(), 1);
        let parameters = &asked[0]["params"];
        assert!(
            parameters["requestedSchema"]["properties"]["answer"]
                .get(choices)
                .is_some(),
            "{parameters}"
        );
        let message = parameters["message"].as_str().unwrap();
        for part in ["files", "write", path.to_str().unwrap(), "--write"] {
            assert!(message.contains(part), "{message}");
        }
        client.end();
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn anything_but_a_yes_is_a_no_and_its_reason_comes_to_the_server() {
    let place = Place::new();
    let answers: [fn(&Value) -> Option<Value>; 4] = [
        |request| form(request, &json!({ "action": "decline" })),
        |request| form(request, &json!({ "action": "cancel" })),
        |request| {
            form(
                request,
                &json!({ "action": "accept", "content": { "answer": "certainly" } }),
            )
        },
        |request| form(request, &json!("yes")),
    ];
    for answer in answers {
        let mut client = Start::wrapped(&[]).abilities(forms()).answering(answer).start(&place);
        let result = client.call("write_quietly", json!({ "path": place.path("out.txt") }));
        assert!(
            is_error(&result) && text(&result).contains("Permission denied"),
            "{result}"
        );
        client.end();
    }
    let mut client = Start::wrapped(&[])
        .abilities(forms())
        .answering(|request| {
            form(
                request,
                &json!({ "action": "accept", "content": { "answer": "no", "reason": "not there" } }),
            )
        })
        .start(&place);
    let result = client.call("write", json!({ "path": place.path("out.txt") }));
    assert!(
        text(&result).contains("refused by the client's user: not there"),
        "{result}"
    );
    client.end();
    assert!(!place.path("out.txt").exists());
}

#[test]
fn a_question_that_no_one_answers_is_taken_back_in_time() {
    let place = Place::new();
    let mut client = Start::wrapped(&["--ask-timeout", "2s"])
        .abilities(forms())
        .start(&place);
    let result = client.call("write", json!({ "path": place.path("out.txt") }));
    assert!(is_error(&result), "{result}");
    assert!(
        client.heard.iter().any(|line| line.contains("notifications/cancelled")),
        "{:?}",
        client.heard
    );
    client.end();
}

#[test]
fn a_client_without_forms_is_not_asked() {
    let place = Place::new();
    for (version, abilities) in [
        ("2025-06-18", json!({})),
        ("2025-06-18", json!({ "elicitation": { "url": {} } })),
        ("2025-03-26", forms()),
    ] {
        let mut client = Start::wrapped(&[]).version(version).abilities(abilities).start(&place);
        assert!(is_error(&client.call("write", json!({ "path": place.path("x") }))));
        assert!(client.heard.iter().all(|line| !line.contains("elicitation/create")));
        client.end();
    }
}

// promise: agents.6
#[test]
fn a_tools_grants_hold_while_only_such_calls_run() {
    let place = Place::new();
    let config = "version = 1\n[mcp.servers.files.tools.write]\nwrite = [\"./open\"]\n";
    place.file("~/.config/stockade/config.toml", config);
    std::fs::create_dir(place.path("open")).unwrap();
    let mut client = Start::wrapped(&["--name", "files", "--ask", "never"]).start(&place);
    let write = |name: &str| json!({ "path": place.path(name) });
    // The other tool first: its no doesn't count for this one.
    assert!(is_error(&client.call("write_quietly", write("open/a"))));
    for _ in 0..60 {
        assert_eq!(text(&client.call("write", write("open/a"))), "written");
    }
    assert!(is_error(&client.call("write", write("opened"))));
    assert!(is_error(&client.call("write_quietly", write("open/a"))));
    let other = client.send("tools/call", json!({ "name": "sleep", "arguments": { "seconds": 1 } }));
    assert!(is_error(&client.call("write", write("open/b"))));
    client.response(other);
    assert_eq!(text(&client.call("write", write("open/b"))), "written");
    client.end();
}

#[test]
fn a_tools_host_is_granted_where_it_is_an_address_of_localhost() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || while listener.accept().is_ok() {});
    let connects = |host: &str| {
        let config = format!("version = 1\n[mcp.servers.files.tools.connect]\nhost = [\"{host}:{port}\"]\n");
        place.file("~/.config/stockade/config.toml", config);
        let mut client = Start::wrapped(&["--name", "files", "--profile", "minimal"]).start(&place);
        let result = client.call("connect", json!({ "target": format!("127.0.0.1:{port}") }));
        client.end();
        !is_error(&result)
    };
    assert!(connects("127.0.0.1") && connects("localhost"));
    assert!(!connects("[::1]") && !connects("10.0.0.1"));
}

/// No one watches, so nothing is waited for.
#[test]
fn a_question_at_a_socket_that_no_one_watches_is_a_no_at_once() {
    let place = Place::new();
    let mut client = Start::wrapped(&["--ask", "socket"]).start(&place);
    let begun = std::time::Instant::now();
    assert!(is_error(&client.call("write", json!({ "path": place.path("x") }))));
    assert!(begun.elapsed() < std::time::Duration::from_secs(15));
    client.end();
}

/// An earlier run may have made the link.
#[test]
fn no_link_of_the_root_leads_a_tools_grants_or_the_clients_roots_elsewhere() {
    let place = Place::new();
    std::fs::create_dir(place.path("~/elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.path("~/elsewhere"), place.path("open")).unwrap();
    let configuration = "~/.config/stockade/config.toml";
    place.file(
        configuration,
        "version = 1\n[mcp.servers.files.tools.write]\nwrite = [\"./open\"]\n",
    );
    let (code, stderr) = Start::wrapped(&["--name", "files"]).silent(&place).end();
    assert_eq!(code, Some(125));
    assert!(stderr.contains("`./open` leads out of"), "{stderr}");

    // One that only another tool writes in.
    std::fs::create_dir(place.path("~/shared")).unwrap();
    std::os::unix::fs::symlink(place.path("~/elsewhere"), place.path("~/shared/in")).unwrap();
    place.file(
        configuration,
        "version = 1\n[mcp.servers.files.tools]\nwrite.write = [\"~/shared\"]\nread.read = [\"~/shared/in\"]\n",
    );
    let (code, stderr) = Start::wrapped(&["--name", "files"]).silent(&place).end();
    assert_eq!(code, Some(125));
    assert!(stderr.contains("`~/shared/in` leads out of"), "{stderr}");

    place.file(configuration, "version = 1\n[mcp.servers.files]\nroots = \"write\"\n");
    let (inside, _, stderr) = with_root(&place, "open", ["open/a", "x"]);
    assert!(inside && !place.path("~/elsewhere/a").exists());
    assert!(
        stderr.contains("a root of the client grants nothing") && stderr.contains("leads out of"),
        "{stderr}"
    );
}

// promise: agents.6
#[test]
fn a_tools_grants_open_no_secret() {
    let place = Place::new();
    let key = place.file("~/.ssh/id_ed25519", "private");
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[mcp.servers.files.tools.read]\nread = [\"~/.ssh\"]\n",
    );
    let mut client = Start::wrapped(&["--name", "files"]).start(&place);
    let result = client.call("read", json!({ "path": key }));
    assert!(is_error(&result) && !text(&result).contains("private"), "{result}");
    client.end();
}

#[test]
fn the_clients_roots_open_what_the_configuration_says() {
    let place = Place::new();
    std::fs::create_dir(place.path("work")).unwrap();
    let talk = |configuration: &str, place: &Place| {
        place.file("~/.config/stockade/config.toml", configuration);
        let (inside, outside, _) = with_root(place, "work", ["work/a", "workshop"]);
        (inside, outside)
    };
    assert_eq!(talk("version = 1\n", &place), (true, true));
    assert_eq!(
        talk("version = 1\n[mcp.servers.files]\nroots = true\n", &place),
        (true, true)
    );
    assert_eq!(
        talk("version = 1\n[mcp.servers.files]\nroots = \"write\"\n", &place),
        (false, true)
    );
}

/// Whether each of two writes is refused to a server whose client announces this root, and what the wrapper told.
fn with_root(place: &Place, root: &str, writes: [&str; 2]) -> (bool, bool, String) {
    let roots = json!({ "roots": [{ "uri": format!("file://{}", place.path(root).display()) }] });
    let mut client = Start::wrapped(&["--name", "files"])
        .abilities(json!({ "roots": {} }))
        .start(place);
    // The wrapper's own question comes right after the handshake, if at all.
    let id = client.send("ping", json!({}));
    loop {
        let line = client.line().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "roots/list" {
            client.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": roots }));
        }
        if message["id"] == json!(id) {
            break;
        }
    }
    client.ask("ping", json!({}));
    let [inside, outside] = writes.map(|name| client.call("write", json!({ "path": place.path(name) })));
    let (_, stderr) = client.end();
    (is_error(&inside), is_error(&outside), stderr)
}
