//! Refused hosts: which explain a failure, and which grants would allow them.

use super::*;

#[test]
fn a_connection_to_an_address_explains_and_is_granted_by_its_port() {
    let report = run(&["python3", "fetch.py"])
        .tries(Kind::Read, "/etc/hosts")
        .tries(Kind::Connect, "93.184.216.34:443")
        .judged();
    assert_eq!(explaining(&report), ["93.184.216.34:443"]);
    assert_eq!(flags(&report), "--host 93.184.216.34:443");
    assert_eq!(report.denials[0].profile.as_deref(), Some("mcp-standard"));
}

#[test]
fn a_socket_of_the_internet_is_allowed_by_a_profile_alone() {
    let report = run(&["python3", "fetch.py"]).tries(Kind::Connect, "internet").judged();
    assert_eq!(explaining(&report), ["internet"]);
    let suggestion = report.suggestion.unwrap();
    assert_eq!(
        (suggestion.flags.len(), suggestion.profile.as_deref()),
        (0, Some("mcp-standard"))
    );
}

#[test]
fn a_host_that_the_last_words_name_explains_whatever_is_saved_then() {
    let fails = || {
        let begun = run(&["yarn", "install"]).tries(Kind::Resolve, "registry.example.com");
        begun.says("error Error: getaddrinfo ENOTFOUND registry.example.com\n")
    };
    let saved = fails().gets(Kind::Create, "/srv/cache").goes_on().exits(1).judged();
    assert_eq!(explaining(&saved), ["registry.example.com"]);
    let own = fails().goes_on().says("SyntaxError: unexpected token\n").judged();
    assert_eq!(explaining(&own), [""; 0]);
}

#[test]
fn who_waits_for_a_server_in_vain_is_told_its_port() {
    let begun = run(&["node", "x.js"]).tries(Kind::Listen, "127.0.0.1:0").goes_on();
    let waited =
        begun.says("TimeoutError: Timed out after 30000 ms while waiting for the endpoint\n    at launch (x.js:1)\n");
    let report = waited.exits(1).judged();
    assert_eq!(explaining(&report), ["127.0.0.1:0"]);
    assert_eq!(flags(&report), "--listen 0");
}

#[test]
fn a_name_that_is_printed_or_given_explains() {
    let tries = |run: Run| {
        run.tries(Kind::Resolve, "api.example.com")
            .tries(Kind::Resolve, "telemetry.example.net")
            .tries(Kind::Read, "/srv/x")
            .judged()
    };
    let printed = tries(run(&["python3", "x.py"]).prints("curl: (6) Could not resolve host: api.example.com\n"));
    assert_eq!(explaining(&printed), ["api.example.com"]);
    let given = tries(run(&["curl", "https://API.example.com/v1"]));
    assert_eq!(explaining(&given), ["api.example.com"]);
    assert_eq!(flags(&given), "--host api.example.com");
    assert_eq!(given.denials[0].profile, Some("network-api".into()));
}

#[test]
fn a_name_and_its_port_are_one_grant() {
    let report = run(&["curl", "api.example.com"])
        .tries(Kind::Resolve, "api.example.com")
        .tries(Kind::Connect, "api.example.com:443")
        .judged();
    assert_eq!(report.denials.len(), 2);
    assert_eq!(flags(&report), "--host api.example.com");
    let report = run(&["psql", "db.internal", "127.0.0.1"])
        .tries(Kind::Connect, "db.internal:5432")
        .tries(Kind::Connect, "127.0.0.1:5432")
        .judged();
    assert_eq!(flags(&report), "--host db.internal:5432 --host localhost:5432");
    assert_eq!(report.denials[0].profile, Some("mcp-standard".into()));
}

#[test]
fn what_is_granted_in_a_narrower_form_is_granted_by_its_port() {
    let limited = Refusal {
        reason: Reason::Limited("on port 443 only TLS that names a granted host is let through".into()),
        ..refusal(Kind::Connect, "api.example.com:443")
    };
    let report = run(&["ssh", "api.example.com"])
        .profile("network-api")
        .refused(limited)
        .judged();
    assert_eq!(explaining(&report), ["api.example.com:443"]);
    let rule = report.denials[0].rule.as_ref().unwrap();
    assert_eq!(
        (rule.text.as_str(), rule.origin.as_str()),
        (
            "on port 443 only TLS that names a granted host is let through",
            "built in"
        )
    );
    assert_eq!(flags(&report), "--host api.example.com:443");
    assert_eq!(report.suggestion.unwrap().profile.as_deref(), Some("mcp-standard"));
}

#[test]
fn where_credentials_are_handed_out_nothing_is_suggested() {
    let never = Refusal {
        reason: Reason::Never("cloud metadata services hand out the machine's own credentials".into()),
        ..refusal(Kind::Connect, "169.254.169.254:80")
    };
    let report = run(&["curl", "http://169.254.169.254/"]).refused(never).judged();
    assert_eq!(explaining(&report), ["169.254.169.254:80"]);
    assert_eq!((&report.denials[0].grant, &report.denials[0].profile), (&None, &None));
    assert_eq!(report.suggestion, None);
}

#[test]
fn a_server_that_may_not_listen_is_told_its_port() {
    let report = run(&["python3", "-m", "http.server", "8080"])
        .tries(Kind::Listen, "0.0.0.0:8080")
        .judged();
    assert_eq!(explaining(&report), ["0.0.0.0:8080"]);
    assert_eq!(flags(&report), "--listen 8080");
    assert_eq!(report.denials[0].profile.as_deref(), Some("mcp-standard"));
}

#[test]
fn a_text_of_the_target_is_no_flag() {
    for target in ["*", "*.com:443", "x --net all", "a.b:443 --write /", "\u{1b}[2J.com"] {
        let report = run(&["x", target])
            .tries(Kind::Connect, target)
            .tries(Kind::Resolve, target)
            .judged();
        assert!(report.denials.iter().all(|denial| denial.grant.is_none()), "{target}");
        assert!(
            report.suggestion.is_none_or(|suggestion| suggestion.flags.is_empty()),
            "{target}"
        );
    }
}
