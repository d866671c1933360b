//! Hosts that aren't granted are asked for, while the program waits in `connect`.

use stockade_report::approve::{Answer, EscalationRequest, Lifetime};

use crate::common::{Run, Terminal, run};
use crate::network::person::{Asking, asking, no, once, session};
use crate::network::servers::{Http, Names, Streams, Witness, echo, listeners_of_localhost};

const CONNECT: &str = "import socket\n\
                       s = socket.create_connection((NAME, PORT), 20); s.sendall(b'ping'); print(s.recv(4).decode())";

fn code(name: &str, port: u16, body: &str) -> String {
    format!("NAME, PORT = '{name}', {port}\n{body}")
}

fn resolving(asking: Asking, names: &Names) -> Asking {
    let server = names.address();
    asking.with(|sandbox| sandbox.resolver(server))
}

#[test]
fn a_host_is_asked_for_and_then_its_address_where_that_is_not_public() {
    let echo = Streams::echo();
    let (names, port) = (Names::new(), echo.address.port());
    names.lead("api.shop.test", echo.address.ip());
    resolving(asking("minimal", session), &names)
        .python(&code("api.shop.test", port, CONNECT))
        .was_asked(&[
            &format!("--host api.shop.test:{port}"),
            &format!("--host {}", echo.address),
        ])
        .was_refused_nothing()
        .prints("ping\n");
}

#[test]
fn once_is_for_one_connection() {
    let echo = Streams::echo();
    let (names, port) = (Names::new(), echo.address.port());
    names.lead("api.shop.test", echo.address.ip());
    let address = echo.address.to_string();
    let twice = format!(
        "for _ in 1, 2:\n  {}",
        CONNECT.replace("import socket\n", "import socket; ")
    );
    resolving(asking("minimal", once), &names)
        .with(|sandbox| sandbox.host(&address).unwrap())
        .python(&code("api.shop.test", port, &twice))
        .was_asked(&[
            &format!("--host api.shop.test:{port}"),
            &format!("--host api.shop.test:{port}"),
        ])
        .prints("ping\nping\n");
}

#[test]
fn a_name_is_asked_for_outside_only_after_a_yes() {
    let names = Names::new();
    names.lead("api.shop.test", "127.0.0.1".parse().unwrap());
    resolving(asking("minimal", no), &names)
        .python(&code(
            "api.shop.test",
            8443,
            "import socket\n\
             try: socket.create_connection((NAME, PORT), 20)\n\
             except PermissionError: print('closed')",
        ))
        .was_asked(&["--host api.shop.test:8443"])
        .prints("closed\n");
    assert_eq!(names.asked(), Vec::<String>::new());
}

#[test]
fn a_page_is_fetched_after_a_yes() {
    let http = Http::new();
    let (names, port) = (Names::new(), http.address.port());
    names.lead("api.shop.test", http.address.ip());
    let address = http.address.to_string();
    resolving(asking("minimal", session), &names)
        .with(|sandbox| sandbox.host(&address).unwrap())
        .python(&code(
            "api.shop.test",
            port,
            "import urllib.request\n\
             print(urllib.request.urlopen(f'http://{NAME}:{PORT}/', timeout=20).status)",
        ))
        .was_asked(&[&format!("--host api.shop.test:{port}")])
        .prints("200\n");
}

#[test]
fn an_address_is_asked_for_as_one_and_nothing_else_opens() {
    let echo = Streams::echo();
    let witness = Witness::new();
    let (granted, other) = (echo.address, witness.address);
    let rule = move |request: &EscalationRequest| match request.evidence.target == granted.to_string() {
        true => Answer::yes(Lifetime::Session, "ada"),
        false => Answer::no("ada"),
    };
    let body = format!(
        "{CONNECT}\n\
         try: socket.create_connection(('{}', {}), 20); print('open')\n\
         except PermissionError: print('closed')",
        other.ip(),
        other.port()
    );
    asking("minimal", rule)
        .python(&code(&granted.ip().to_string(), granted.port(), &body))
        .was_asked(&[&format!("--host {granted}"), &format!("--host {other}")])
        .prints("ping\nclosed\n");
    witness.saw_none();
}

#[test]
fn no_question_is_asked_for_where_credentials_are_handed_out() {
    asking("minimal", session)
        .python(
            "import socket\n\
             try: socket.create_connection(('169.254.169.254', 80), 5); print('open')\n\
             except PermissionError: print('closed')",
        )
        .was_asked(&[])
        .prints("closed\n");
}

#[test]
fn the_hosts_file_is_asked_for_by_who_reads_it_and_not_by_who_looks_for_a_host() {
    let echo = Streams::echo();
    let (names, port) = (Names::new(), echo.address.port());
    names.lead("api.shop.test", echo.address.ip());
    let address = echo.address.to_string();
    let body = format!("open('/etc/hosts').close()\n{CONNECT}");
    resolving(asking("minimal", session), &names)
        .with(|sandbox| sandbox.host(&address).unwrap())
        .python(&code("api.shop.test", port, CONNECT))
        .was_asked(&[&format!("--host api.shop.test:{port}")])
        .prints("ping\n");
    resolving(asking("minimal", session), &names)
        .python(&code("api.shop.test", port, &body))
        .was_asked(&[
            "--read /etc/hosts",
            &format!("--host api.shop.test:{port}"),
            &format!("--host {}", echo.address),
        ])
        .prints("ping\n");
}

/// What a person sees and does at a terminal: three questions, and one start.
const ANALYSIS: &str = "import urllib.request\n\
    print('started', flush=True)\n\
    hosts = open('/etc/hosts').read()\n\
    with open('out.csv', 'w') as out: out.write('a,b')\n\
    print(urllib.request.urlopen(f'http://{NAME}:{PORT}/', timeout=20).status, 'localhost' in hosts)\n";

struct Analysis {
    run: Run,
    _names: Names,
    _http: Http,
}

fn analysis() -> Analysis {
    let http = Http::new();
    let (names, port) = (Names::new(), http.address.port());
    names.lead("api.shop.test", http.address.ip());
    let (server, address) = (names.address().to_string(), http.address.to_string());
    let run = run()
        .profile("minimal")
        .flags(["--resolver", &server, "--host", &address, "--ask", "terminal"])
        .reporting()
        .python(&code("api.shop.test", port, ANALYSIS));
    Analysis {
        run,
        _names: names,
        _http: http,
    }
}

fn report(run: &Run) -> serde_json::Value {
    let text = std::fs::read(run.place.path("~/report.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn a_person_at_the_terminal_says_yes_three_times_and_the_program_never_notices() {
    let analysis = analysis();
    let code = Terminal::new()
        .awaits("started")
        .awaits("--read /etc/hosts")
        .awaits("?")
        .types("once\n")
        .awaits("out.csv")
        .awaits("?")
        .types("yes\n")
        .awaits("--host api.shop.test")
        .awaits("?")
        .types("O\n")
        .awaits("200 True")
        .ends_within(20)
        .plays(&analysis.run);
    assert_eq!(code, 0);
    let report = report(&analysis.run);
    let requests = report["escalation"]["requests"].as_array().unwrap();
    let lifetimes: Vec<_> = requests
        .iter()
        .map(|request| request["lifetime"].as_str().unwrap())
        .collect();
    assert_eq!(lifetimes, ["once", "session", "once"]);
    assert_eq!(
        (&report["status"], report["denials"].as_array().unwrap().len()),
        (&"completed".into(), 0)
    );
    assert_eq!(
        std::fs::read_to_string(analysis.run.place.path("out.csv")).unwrap(),
        "a,b"
    );
}

#[test]
fn a_person_at_the_terminal_says_no_and_the_report_says_who_and_why() {
    let analysis = analysis();
    let code = Terminal::new()
        .awaits("--read /etc/hosts")
        .awaits("?")
        .types("no not on this machine\n")
        .awaits("PermissionError")
        .ends_within(20)
        .plays(&analysis.run);
    assert_eq!(code, 1);
    let report = report(&analysis.run);
    assert_eq!(report["status"], "permission_denied");
    let rule = &report["denials"][0]["rule"];
    let text = rule["text"].as_str().unwrap();
    assert!(text.contains("at the terminal: not on this machine"), "{text}");
}

#[test]
fn the_local_machine_by_any_spelling_is_asked_for_once_at_most() {
    let (v4, v6) = listeners_of_localhost();
    let port = v4.local_addr().unwrap().port();
    for listener in [Some(v4), v6].into_iter().flatten() {
        Streams::at(listener, |stream, _| echo(stream));
    }
    asking("minimal", session)
        .python(&code("localhost", port, CONNECT))
        .was_asked(&[&format!("--host localhost:{port}")])
        .prints("ping\n");
    let asked = asking("minimal", session).python(&code(
        "localhost.",
        port,
        "import socket\n\
         try: socket.create_connection((NAME, PORT), 20); print('open')\n\
         except OSError: print('closed')",
    ));
    assert!(asked.asked.len() <= 1, "{:?}", asked.asked);
}
