//! Refused hosts: which explain a failure, and which grants would allow them.

use super::*;

#[test]
fn a_connection_to_an_address_explains_and_is_granted_by_its_port() {
    let report = run(&["python3", "fetch.py"])
        .tries(Kind::Read, "/etc/hosts")
        .tries(Kind::Connect, "93.184.216.34:443")
        .fails_on("93.184.216.34:443")
        .judged();
    assert_eq!(explaining(&report), ["93.184.216.34:443"]);
    assert_eq!(flags(&report), "--host 93.184.216.34:443");
    assert_eq!(report.denials[0].profile.as_deref(), Some("mcp-standard"));
}

#[test]
fn a_socket_of_the_internet_is_allowed_by_a_profile_alone() {
    let report = run(&["python3", "fetch.py"]).tries(Kind::Connect, "internet").judged();
    assert_eq!(perhaps(&report), ["internet"]);
    let [candidate] = &report.suggestion.as_ref().unwrap().candidates[..] else {
        panic!()
    };
    assert_eq!(
        (candidate.flags.len(), candidate.profile.as_deref()),
        (0, Some("mcp-standard"))
    );
}

#[test]
fn a_host_is_perhaps_the_reason_where_the_program_saved_something_after_naming_it() {
    let fails = || {
        let begun = run(&["yarn", "install"]).tries(Kind::Resolve, "registry.example.com");
        begun.says("error Error: getaddrinfo ENOTFOUND registry.example.com\n")
    };
    assert_eq!(explaining(&fails().judged()), ["registry.example.com"]);
    let saved = fails().goes_on().judged();
    assert_eq!(
        (explaining(&saved).len(), perhaps(&saved)),
        (0, vec!["registry.example.com"])
    );
    let own = fails().says("SyntaxError: unexpected token there\n").judged();
    assert_eq!(
        (explaining(&own).len(), perhaps(&own)),
        (0, vec!["registry.example.com"])
    );
}

#[test]
fn a_name_that_is_printed_explains() {
    let report = run(&["python3", "x.py"])
        .tries(Kind::Resolve, "api.example.com")
        .tries(Kind::Resolve, "telemetry.example.net")
        .tries(Kind::Read, "/srv/x")
        .says("curl: (6) Could not resolve host: api.example.com\n");
    let printed = report.judged();
    assert_eq!(explaining(&printed), ["api.example.com"]);
    assert_eq!(flags(&printed), "--host api.example.com");
    assert_eq!(printed.denials[0].profile, Some("network-api".into()));
}

#[test]
fn a_host_with_a_port_is_granted_with_it() {
    for (target, flag) in [
        ("api.example.com:443", "--host api.example.com"),
        ("db.internal:5432", "--host db.internal:5432"),
        ("127.0.0.1:5432", "--host localhost:5432"),
    ] {
        let report = run(&["psql", target])
            .tries(Kind::Connect, target)
            .fails_on(target)
            .judged();
        assert_eq!(flags(&report), flag);
    }
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
        .fails_on("api.example.com:443")
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
    assert_eq!(perhaps(&report), ["169.254.169.254:80"]);
    assert_eq!((&report.denials[0].grant, &report.denials[0].profile), (&None, &None));
    assert!(report.suggestion.unwrap().candidates[0].flags.is_empty());
}

#[test]
fn a_server_that_may_not_listen_is_told_its_port() {
    let report = run(&["python3", "-m", "http.server", "8080"])
        .tries(Kind::Listen, "0.0.0.0:8080")
        .says("OSError: cannot listen on port 8080\n")
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
            report
                .suggestion
                .iter()
                .all(|one| one.flags.is_empty() && one.candidates.iter().all(|one| one.flags.is_empty())),
            "{target}"
        );
    }
}
