//! The accepted patterns, their meaning, and the errors of the others.

use proptest::prelude::*;

use super::*;

fn pattern(text: &str) -> HostPattern {
    HostPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> String {
    let HostError { message, hint } = HostPattern::parse(text).expect_err(text);
    assert!(!hint.is_empty(), "{text}");
    format!("{message} ({hint})")
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn a_name_has_one_form_however_it_is_written() {
    for text in [
        "API.GitHub.com",
        "api.github.com.",
        "api。github.com",
        "ａｐｉ.github.com",
    ] {
        assert_eq!(name(text).as_str(), "api.github.com", "{text}");
    }
    assert_eq!(name("münchen.de"), name("xn--mnchen-3ya.de"));
    assert_eq!(name("_dmarc.example.com").as_str(), "_dmarc.example.com");
}

#[test]
fn an_address_is_no_name_in_any_numeric_form() {
    for text in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "1.2.3",
        "example.0x1",
        "example.1",
        "[::1]",
        "::1",
        "１２７.0.0.1",
    ] {
        assert_eq!(Name::parse(text), None, "{text}");
    }
    for text in ["", ".", "a..b", ".a", "a b", "a%2eb", "a/b", "a\0b", "a:b", "*.a"] {
        assert_eq!(Name::parse(text), None, "{text}");
    }
    assert_eq!(Name::parse(&"a".repeat(64)), None);
    assert_eq!(Name::parse(&"a.".repeat(200)), None);
}

#[test]
fn protocols_carry_ascii_alone() {
    assert_eq!(Name::from_wire(b"API.Example.com."), Some(name("api.example.com")));
    for bytes in [
        &b""[..],
        b".",
        b"a..",
        b"m\xc3\xbcnchen.de",
        b"a\0",
        b"1.2.3.4",
        b"a.0x",
        b"a.0x7F",
        b"a:443",
    ] {
        assert_eq!(Name::from_wire(bytes), None, "{bytes:?}");
    }
}

#[test]
fn patterns_are_shown_in_one_form() {
    for (text, shown) in [
        ("API.github.com.", "api.github.com"),
        ("*.GitHub.com", "*.github.com"),
        ("api.*", "api.*"),
        ("API.v1.*:8443", "api.v1.*:8443"),
        ("*", "*"),
        ("*:443", "*:443"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("*.münchen.de", "*.xn--mnchen-3ya.de"),
        ("a.b:443,80", "a.b:80,443"),
        ("a.b:8000-9000,8500-9500,9501", "a.b:8000-9501"),
        ("a.b:*", "a.b:*"),
        ("a.b:1-65535", "a.b:*"),
        ("a.b:https", "a.b:https"),
        ("10.0.0.0/8:5432", "10.0.0.0/8:5432"),
        ("10.0.0.5/32", "10.0.0.5"),
        ("0x7f.1:80", "127.0.0.1:80"),
        ("::1", "::1"),
        ("[::1]:8080", "[::1]:8080"),
        ("[::1]", "::1"),
        ("[FD00::/8]:443", "[fd00::/8]:443"),
        ("fd00::/8", "fd00::/8"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("[::ffff:10.0.0.0/104]:5432", "10.0.0.0/8:5432"),
        ("LOCALHOST:5432", "localhost:5432"),
        ("localhost.:*", "localhost:*"),
    ] {
        assert_eq!(pattern(text).to_string(), shown, "{text}");
        assert_eq!(pattern(shown), pattern(text), "{text}");
    }
}

#[test]
fn a_wildcard_stands_for_whole_labels() {
    let has = |text: &str, host: &str| pattern(text).host.has_name(&name(host));
    for host in ["api.github.com", "a.b.github.com"] {
        assert!(has("*.github.com", host), "{host}");
    }
    for host in ["github.com", "evilgithub.com", "api.github.com.evil.com", "com"] {
        assert!(!has("*.github.com", host), "{host}");
    }
    for host in ["api.com", "api.example.com", "api.v1.x"] {
        assert!(has("api.*", host), "{host}");
    }
    for host in ["api", "apis.com", "x.api.com", "api-x.com"] {
        assert!(!has("api.*", host), "{host}");
    }
    assert!(has("*", "com") && has("Api.Example.COM", "api.example.com"));
    assert!(!has("10.0.0.0/8", "a.b") && !has("localhost:1", "localhost"));
}

#[test]
fn what_is_no_pattern_is_told_with_a_hint() {
    let texts = [
        "",
        "http://api.example.com/v1",
        "https://user:secret@",
        "git@github.com:x/y",
        "api.example.com/v1",
        "a.*.com",
        "*api.example.com",
        "**",
        "*.*",
        "10.*",
        "10.0.0.5/8",
        "[fd00::1/8]:443",
        "10.0.0.0/33",
        "fe80::1%eth0",
        "::1]:80",
        "[::1]80",
        "[10.0.0.1]:80",
        "localhost",
        "a.b:",
        "a.b:0",
        "a.b:65536",
        "a.b:90-80",
        "a.b:ssh",
        "a.b:+1",
        "a.b:80:90",
        ":443",
        "a b",
        "a..b",
        "api.*&*.b.c",
    ];
    insta::assert_snapshot!(texts.map(fault).join("\n"), @"
    this host pattern is empty (write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443)
    `http://api.example.com/v1` is a URL, not a host (write the host alone, without `http://` and path: `api.example.com`)
    `https://user:secret@` is a URL, not a host (write the host alone, without scheme and path)
    `git@github.com:x/y` names a user, and only hosts are granted (write what stands behind the `@`)
    `api.example.com/v1` is neither a name nor a range of addresses (a host has no path: write the name alone)
    the `*` of `a.*.com` isn't the first or the last part of a name (write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name)
    the `*` of `*api.example.com` isn't the first or the last part of a name (write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name)
    the `*` of `**` isn't the first or the last part of a name (write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name)
    the `*` of `*.*` isn't the first or the last part of a name (write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name)
    `10.*` is a wildcard in an address (write a range, as in `10.0.0.0/8`)
    `10.0.0.5/8` has bits set behind the first 8 (write `10.0.0.0/8` for the range, or `10.0.0.5` for the address)
    `[fd00::1/8]:443` has bits set behind the first 8 (write `fd00::/8` for the range, or `fd00::1` for the address)
    `10.0.0.0/33` is neither a name nor a range of addresses (write `10.0.0.0/8`, `fd00::/8`, and an IPv6 address in brackets where a port follows: `[fd00::1]:443`)
    `fe80::1%eth0` is neither a name nor a range of addresses (write `10.0.0.0/8`, `fd00::/8`, and an IPv6 address in brackets where a port follows: `[fd00::1]:443`)
    `::1]:80` is neither a name nor a range of addresses (write `10.0.0.0/8`, `fd00::/8`, and an IPv6 address in brackets where a port follows: `[fd00::1]:443`)
    the brackets of `[::1]80` don't fit (an IPv6 address or range stands in them, and a port behind: `[fd00::/8]:443`)
    the brackets of `[10.0.0.1]:80` don't fit (an IPv6 address or range stands in them, and a port behind: `[fd00::/8]:443`)
    `localhost` stands without a port (name the port, as in `localhost:5432`, or `localhost:*` for all of them)
    no port stands behind the colon (leave the colon away for 80 and 443, or write `:*` for all ports)
    `0` isn't a port (ports are 1 to 65535)
    `65536` isn't a port (ports are 1 to 65535)
    the ports `90-80` run backwards (write `80-90`)
    `ssh` isn't a port (write `:443`, `:8000-9000`, `:80,443` or `:*` for all ports behind the host)
    `+1` isn't a port (write `:443`, `:8000-9000`, `:80,443` or `:*` for all ports behind the host)
    `a.b:80:90` is neither a name nor a range of addresses (write `10.0.0.0/8`, `fd00::/8`, and an IPv6 address in brackets where a port follows: `[fd00::1]:443`)
    `:443` isn't a host pattern (write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443)
    `a b` isn't a host pattern (write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443)
    `a..b` isn't a host pattern (write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443)
    the `*` of `api.*&*.b.c` isn't the first or the last part of a name (write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name)
    ");
}

#[test]
fn what_two_policies_have_in_common_survives_a_record() {
    let both = HostPattern {
        host: Host::Both("api".into(), name("github.com")),
        ports: Ports::Https,
    };
    for pattern in [both, pattern("*.github.com:443"), pattern("[fd00::/8]:443")] {
        let text = serde_json::to_string(&pattern).unwrap();
        assert_eq!(serde_json::from_str::<HostPattern>(&text).unwrap(), pattern, "{text}");
    }
    for text in ["a.b&c.d", "api.*:80&*.b.c", "api.*&*.b.c&*.d", "*&*", "&"] {
        assert!(HostPattern::of_record(text).is_err(), "{text}");
    }
}

#[test]
fn an_address_that_could_end_in_a_port_is_asked_for_in_brackets() {
    let error = HostPattern::parse("::1:8080").unwrap_err();
    assert!(error.hint.contains("[::1]:8080") && error.hint.contains("[::1:8080]"));
    for text in [
        "::1",
        "fd00::1",
        "2001:db8::10",
        "[::1:8080]",
        "[::1]:8080",
        "1:2:3:4:5:6:7:8",
    ] {
        assert!(HostPattern::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn a_loopback_address_is_shown_as_localhost() {
    let of = |text: &str| HostPattern::of_address(text.parse().unwrap(), 8080).to_string();
    assert_eq!(of("127.0.0.1"), "localhost:8080");
    assert_eq!(of("::ffff:127.0.0.1"), "localhost:8080");
    assert_eq!(of("::1"), "[::1]:8080");
    assert_eq!(of("127.0.0.2"), "127.0.0.2:8080");
    assert_eq!(of("fd00::1"), "[fd00::1]:8080");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_shown_is_read_again(text in "(\\*\\.|)(api|10|x|ü|0x1|localhost|fd00:|\\[|::1)(\\.github|\\.0\\.0\\.0|)(\\.com|\\.\\*|/8|/8\\]|\\]|)(:[0-9]{1,5}|:80,443|:1-9|:\\*|:https|)") {
        if let Ok(pattern) = HostPattern::parse(&text) {
            prop_assert_eq!(HostPattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>()) {
        let _ = HostPattern::parse(&text);
        let _ = HostPattern::of_record(&text);
    }

    #[test]
    fn a_name_of_the_wire_is_one_that_people_write(bytes in "[a-zA-Z0-9_.-]{1,20}") {
        if let Some(name) = Name::from_wire(bytes.as_bytes()) && !bytes.to_ascii_lowercase().contains("xn--") {
            prop_assert_eq!(Name::parse(&bytes), Some(name));
        }
    }
}
