//! The hosts that a network policy opens, and the laws of its intersection.

use std::net::IpAddr;
use std::path::Path;

use proptest::prelude::*;

use super::super::*;
use super::policy;
use crate::command::ResolvedCommand;
use crate::profile::{Catalog, HostPattern, Name, Origin, models};

fn grant(pattern: &str) -> HostGrant {
    HostGrant {
        pattern: HostPattern::parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")),
        origin: Origin::Flag("test".into()),
    }
}

fn hosts(patterns: &[&str]) -> NetworkPolicy {
    NetworkPolicy::Hosts(patterns.iter().map(|pattern| grant(pattern)).collect())
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn speech(reach: &NetworkPolicy, host: &str, port: u16) -> Option<ProtocolCheck> {
    reach.name(&name(host), port)
}

fn opens(reach: &NetworkPolicy, address: &str, port: u16) -> bool {
    reach.address(address.parse().unwrap(), port)
}

#[test]
fn a_grant_without_a_port_means_the_web_and_a_named_port_anything() {
    let reach = hosts(&[
        "api.example.com",
        "*.internal:5432",
        "git.example.com:22",
        "git.example.com",
    ]);
    assert_eq!(speech(&reach, "api.example.com", 443), Some(ProtocolCheck::Checked));
    assert_eq!(speech(&reach, "api.example.com", 80), Some(ProtocolCheck::Checked));
    assert_eq!(speech(&reach, "api.example.com", 8443), None);
    assert_eq!(speech(&reach, "db.internal", 5432), Some(ProtocolCheck::Anything));
    assert_eq!(speech(&reach, "db.internal", 443), None);
    assert_eq!(speech(&reach, "git.example.com", 22), Some(ProtocolCheck::Anything));
    assert_eq!(
        speech(&hosts(&["a.b", "*.b:443"]), "a.b", 443),
        Some(ProtocolCheck::Anything)
    );
    assert!(reach.knows(&name("x.internal")) && !reach.knows(&name("internal")));
    let exact: Vec<_> = reach.exact_names().map(Name::as_str).collect();
    assert_eq!(exact, ["api.example.com", "git.example.com"]);
}

#[test]
fn a_name_opens_no_address_and_an_address_no_name() {
    let reach = hosts(&["*", "*:5432", "10.0.0.0/8:5432", "localhost:8080", "[fd00::/8]:443"]);
    assert!(opens(&reach, "10.1.2.3", 5432));
    assert!(opens(&reach, "::ffff:10.1.2.3", 5432));
    assert!(opens(&reach, "fd12::1", 443));
    for (address, port) in [
        ("10.1.2.3", 443),
        ("11.0.0.1", 5432),
        ("127.0.0.1", 5432),
        ("fd12::1", 80),
    ] {
        assert!(!opens(&reach, address, port), "{address}");
    }
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
        assert!(opens(&reach, address, 8080), "{address}");
    }
    assert!(!opens(&reach, "127.0.0.2", 8080));
    assert!(!hosts(&["10.0.0.0/8", "localhost:1"]).knows(&name("a.b")));
}

#[test]
fn no_range_opens_where_clouds_hand_out_credentials() {
    for address in ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"] {
        for reach in [
            hosts(&["0.0.0.0/0", "::/0", "169.254.0.0/16"]),
            NetworkPolicy::Everything,
            NetworkPolicy::Nothing,
        ] {
            assert!(!opens(&reach, address, 80), "{address}");
        }
    }
    let exact = hosts(&["169.254.169.254"]);
    assert!(opens(&exact, "169.254.169.254", 80) && opens(&exact, "::ffff:169.254.169.254", 80));
    for wider in [hosts(&["169.254.0.0/16"]), NetworkPolicy::Everything] {
        for met in [wider.meet(&exact), exact.meet(&wider)] {
            assert!(!opens(&met, "169.254.169.254", 80), "{met:?}");
        }
    }
}

#[test]
fn what_two_patterns_have_in_common_is_written_in_patterns() {
    let common = |a: &str, b: &str| match hosts(&[a]).meet(&hosts(&[b])) {
        NetworkPolicy::Hosts(grants) => grants.iter().map(|grant| grant.pattern.to_string()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(common("api.*", "*.github.com"), ["api.*&*.github.com"]);
    assert_eq!(common("*.com:443", "*.github.com"), ["*.github.com:https"]);
    assert_eq!(common("api.*", "api.v1.*:80,8080"), ["api.v1.*:http"]);
    assert_eq!(common("a.b:1-100", "*:50-200"), ["a.b:50-100"]);
    assert_eq!(common("127.0.0.0/8:*", "localhost:80"), ["127.0.0.1:80"]);
    assert_eq!(common("10.0.0.0/8", "10.1.0.0/16:443"), ["10.1.0.0/16:https"]);
    for (a, b) in [
        ("a.b", "c.d"),
        ("api.*", "www.*"),
        ("a.b:1", "a.b:2"),
        ("*", "10.0.0.1"),
        ("ap.*", "api.*"),
    ] {
        assert_eq!(common(a, b), [""; 0], "{a} {b}");
    }
}

#[test]
fn one_grant_contains_another() {
    let contains = |a: &str, b: &str| grant(a).pattern.contains(&grant(b).pattern);
    for (a, b) in [
        ("api.*", "api.a.b"),
        ("api.*", "api.a.b:https"),
        ("*:*", "a.b"),
        ("10.0.0.0/8", "10.1.1.1"),
    ] {
        assert!(contains(a, b) && !contains(b, a), "{a} {b}");
    }
    assert!(!contains("a.b", "a.b:443"), "which lets anything be spoken");
    assert!(contains("*", "*"));
}

#[test]
fn ports_to_listen_on_are_those_of_both() {
    let listening = |reach: NetworkPolicy, ports: &[u16]| {
        let origin = Origin::BuiltIn;
        let mut policy = policy(vec![], vec![]);
        policy.reach = reach;
        policy.listen = ports
            .iter()
            .map(|port| ListenGrant {
                port: *port,
                origin: origin.clone(),
            })
            .collect();
        policy
    };
    let ports = |policy: Policy| policy.listen.iter().map(|grant| grant.port).collect::<Vec<_>>();
    let narrow = listening(hosts(&[]), &[0, 80]);
    assert_eq!(ports(narrow.meet(&listening(hosts(&[]), &[80, 81]))), [80]);
    assert_eq!(ports(narrow.meet(&listening(NetworkPolicy::Everything, &[]))), [0, 80]);
    assert_eq!(ports(listening(NetworkPolicy::Everything, &[]).meet(&narrow)), [0, 80]);
    assert_eq!(ports(narrow.meet(&listening(NetworkPolicy::Nothing, &[]))), [0; 0]);
}

#[test]
fn a_policy_with_hosts_survives_its_way_to_an_inner_run() {
    let mut policy = policy(vec![], vec![]);
    policy.reach = hosts(&["api.*"]).meet(&hosts(&["*.b.c:443", "*.d"]));
    let odd: Vec<_> = (0..300).map(|n| (1000 + 3 * n).to_string()).collect();
    let pairs: Vec<_> = (0..150).map(|n| format!("{}-{}", 1000 + 6 * n, 1003 + 6 * n)).collect();
    let ports = |host: &str, ports: &[String]| grant(&format!("{host}:{}", ports.join(",")));
    let met = NetworkPolicy::Hosts(vec![ports("a.b", &odd)]).meet(&NetworkPolicy::Hosts(vec![ports("*", &pairs)]));
    let text = serde_json::to_string(&met).unwrap();
    assert_eq!(serde_json::from_str::<NetworkPolicy>(&text).unwrap(), met, "{text}");
    policy.listen = vec![ListenGrant {
        port: 0,
        origin: Origin::BuiltIn,
    }];
    let text = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy, "{text}");
}

const LABELS: &[&str] = &["api", "v1", "github", "com"];
const ADDRESSES: &[&str] = &[
    "10.0.0.1",
    "10.1.0.1",
    "127.0.0.1",
    "127.0.0.2",
    "169.254.169.254",
    "169.254.1.1",
    "::1",
    "fd00:ec2::254",
    "fd00::1",
];
const PORTS: &[u16] = &[80, 443, 5432];

fn any_labels() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(LABELS), 1..5).prop_map(|labels| labels.join("."))
}

fn any_grant() -> impl Strategy<Value = HostGrant> {
    let networks = vec![
        "10.0.0.0/8",
        "10.0.0.1",
        "0.0.0.0/0",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "169.254.169.254",
        "[::/0]",
        "[fd00::/8]",
        "[fd00:ec2::254]",
        "localhost",
    ];
    let hosts = prop_oneof![
        any_labels(),
        any_labels().prop_map(|labels| format!("*.{labels}")),
        any_labels().prop_map(|labels| format!("{labels}.*")),
        Just("*".to_string()),
        proptest::sample::select(networks).prop_map(String::from),
    ];
    let ports = vec!["", ":80", ":443", ":80,443", ":5432", ":*", ":443-5432", ":https"];
    (hosts, proptest::sample::select(ports)).prop_map(|(host, ports)| match (host.as_str(), ports) {
        ("localhost", "") => grant("localhost:80"),
        _ => grant(&format!("{host}{ports}")),
    })
}

fn any_reach() -> impl Strategy<Value = NetworkPolicy> {
    prop_oneof![
        8 => proptest::collection::vec(any_grant(), 0..4).prop_map(NetworkPolicy::Hosts),
        1 => Just(NetworkPolicy::Nothing),
        1 => Just(NetworkPolicy::Everything),
    ]
}

fn any_names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_labels(), 12)
}

/// The network policy's answers for every probe.
fn answers(reach: &NetworkPolicy, names: &[String]) -> Vec<Option<ProtocolCheck>> {
    let names = names
        .iter()
        .flat_map(|text| PORTS.iter().map(move |port| reach.name(&name(text), *port)));
    let addresses = ADDRESSES.iter().flat_map(|text| {
        let address: IpAddr = text.parse().unwrap();
        let answer = move |port: &u16| reach.address(address, *port).then_some(ProtocolCheck::Anything);
        PORTS.iter().map(answer)
    });
    names.chain(addresses).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_a_meeting_allows_is_exactly_what_both_allow(a in any_reach(), b in any_reach(), names in any_names()) {
        let both = answers(&a, &names).into_iter().zip(answers(&b, &names)).map(|(a, b)| a.min(b));
        prop_assert_eq!(answers(&a.meet(&b), &names), both.collect::<Vec<_>>());
    }

    #[test]
    fn meeting_is_commutative_and_associative(a in any_reach(), b in any_reach(), c in any_reach(), names in any_names()) {
        prop_assert_eq!(answers(&a.meet(&b), &names), answers(&b.meet(&a), &names));
        prop_assert_eq!(answers(&a.meet(&b).meet(&c), &names), answers(&a.meet(&b.meet(&c)), &names));
    }

    #[test]
    fn meeting_oneself_changes_nothing(a in any_reach(), names in any_names()) {
        prop_assert_eq!(answers(&a.meet(&a), &names), answers(&a, &names));
    }

    #[test]
    fn what_contains_a_grant_allows_it(a in any_grant(), b in any_grant(), names in any_names()) {
        if a.pattern.contains(&b.pattern) {
            let (wide, narrow) = (NetworkPolicy::Hosts(vec![a]), NetworkPolicy::Hosts(vec![b]));
            for (wide, narrow) in answers(&wide, &names).into_iter().zip(answers(&narrow, &names)) {
                prop_assert!(wide >= narrow);
            }
        }
    }

    #[test]
    fn a_meeting_survives_its_way_to_an_inner_run(a in any_reach(), b in any_reach()) {
        let met = a.meet(&b);
        let text = serde_json::to_string(&met).unwrap();
        prop_assert_eq!(serde_json::from_str::<NetworkPolicy>(&text).unwrap(), met);
    }
}

/// The policy of a profile with these lines for a run with these flags; there are two models.
fn resolved(lines: &str, additions: &Additions) -> Policy {
    let dir = tempfile::tempdir().unwrap();
    let head = "version = 1\nname = \"mine\"\ndescription = \"d\"\n";
    std::fs::write(dir.path().join("mine.toml"), format!("{head}{lines}")).unwrap();
    let list = dir.path().join("list.toml");
    let model =
        "version = 1\n[[model]]\nname = 'm'\nhost = ['llm.example.com', 'localhost:11434']\nkey = ['M_KEY', 'N']\n";
    std::fs::write(&list, model).unwrap();
    resolve(
        &Catalog::new(Some(dir.path().into())).load("mine").unwrap(),
        &Circumstances {
            root: Path::new("/r"),
            home: None,
            environment: &[("M_KEY".into(), "secret".into()), ("OTHER_KEY".into(), "x".into())],
            command: &ResolvedCommand::nothing(),
            entries: &[],
            opened: &[],
            closed: &[],
            own: &[],
            programs: &[],
            models: &models(Some(&list)).unwrap(),
            memory: None,
            additions,
        },
    )
}

/// The network policy in one line: its patterns, the ports, and the models' key.
fn network(policy: &Policy) -> String {
    let reach = match &policy.reach {
        NetworkPolicy::Nothing => "nothing".into(),
        NetworkPolicy::Everything => "everything".into(),
        NetworkPolicy::Hosts(grants) => {
            let patterns: Vec<_> = grants.iter().map(|grant| grant.pattern.to_string()).collect();
            format!("[{}]", patterns.join(" "))
        }
    };
    let ports: Vec<_> = policy.listen.iter().map(|grant| grant.port).collect();
    let key = policy.environment.contains_key(std::ffi::OsStr::new("M_KEY"));
    format!("{reach} {ports:?}{}", if key { " key" } else { "" })
}

#[test]
fn hosts_of_the_profile_the_flags_and_the_models_add_up() {
    let none = Additions::NONE;
    let flags = Additions {
        hosts: vec![grant("b.c:22")],
        listen: vec![ListenGrant {
            port: 0,
            origin: Origin::BuiltIn,
        }],
        ..Additions::NONE
    };
    let llm = Additions {
        llm: true,
        ..Additions::NONE
    };
    let named = "network.host = [{ pattern = 'a.b' }]\nnetwork.listen = [{ port = 80 }]\n";
    let models = "llm.example.com localhost:11434";
    assert_eq!(network(&resolved("", &none)), "nothing []");
    assert_eq!(network(&resolved("", &flags)), "[b.c:22] [0]");
    assert_eq!(network(&resolved(named, &flags)), "[a.b b.c:22] [80, 0]");
    assert_eq!(network(&resolved("network.listen = [{ port = 80 }]", &none)), "[] [80]");
    assert_eq!(network(&resolved("network.host = []", &none)), "[] []");
    assert_eq!(network(&resolved("network.all = true", &flags)), "everything [0]");
    assert_eq!(network(&resolved("", &llm)), format!("[{models}] [] key"));
    assert_eq!(
        network(&resolved("network.llm = true", &none)),
        format!("[{models}] [] key")
    );
    assert_eq!(network(&resolved("network.all = true", &llm)), "everything [] key");
    let choose = |choice| Additions {
        network: Some(choice),
        ..Additions::NONE
    };
    let closed = choose(NetworkChoice::None);
    assert_eq!(
        network(&resolved(&format!("{named}network.llm = true"), &closed)),
        "nothing []"
    );
    assert_eq!(
        network(&resolved(named, &choose(NetworkChoice::All))),
        "everything [80]"
    );
}

#[test]
fn a_grant_of_a_model_names_its_file_and_line() {
    let policy = resolved("network.llm = true", &Additions::NONE);
    let NetworkPolicy::Hosts(grants) = &policy.reach else {
        panic!("{:?}", policy.reach)
    };
    assert!(
        grants[0].origin.to_string().ends_with("list.toml:4"),
        "{}",
        grants[0].origin
    );
    assert!(!policy.environment.contains_key(std::ffi::OsStr::new("OTHER_KEY")));
}
