//! The hosts of addresses.

use url::Url;

/// `host:port` of an address on the web.
///
/// # Errors
/// It isn't such an address.
pub fn host(address: &str) -> Result<String, String> {
    let url = Url::parse(address).map_err(|error| format!("it has no address on the web: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its address isn't one of `http` or `https`".into());
    }
    let port = url.port_or_known_default();
    match (url.host_str(), port) {
        (Some(host), Some(port)) => Ok(format!("{host}:{port}")),
        _ => Err("its address has no host".into()),
    }
}

/// The hosts of all addresses in a text, whose words are separated by blanks.
///
/// # Errors
/// A word looks like an address, and isn't one.
pub fn hosts_in(text: &str) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    for word in text.split_whitespace().filter(|word| word.contains("://")) {
        hosts.push(host(word)?);
        // Gemini CLI fetches the raw file in place of such a page.
        if hosts.last().is_some_and(|host| host.starts_with("github.com:")) {
            hosts.push("raw.githubusercontent.com:443".into());
        }
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (address, expected) in [
            ("https://docs.example.com/a?b", "docs.example.com:443"),
            ("http://ada:secret@Example.com", "example.com:80"),
            ("https://[2001:db8::1]:8443/", "[2001:db8::1]:8443"),
            ("http://0x7f.1/", "127.0.0.1:80"),
            ("https:\\\\example.com\\@other", "example.com:443"),
        ] {
            assert_eq!(host(address).as_deref(), Ok(expected), "{address}");
        }
        for address in [
            "",
            "example.com",
            "file:///etc/passwd",
            "ftp://a/",
            "https://",
            "javascript:x",
        ] {
            assert!(host(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_text_may_hold_several() {
        let found = hosts_in("compare https://a.example.com/x and\nhttp://b.example.com");
        assert_eq!(found, Ok(vec!["a.example.com:443".into(), "b.example.com:80".into()]));
        assert_eq!(hosts_in("no address"), Ok(Vec::new()));
        assert!(hosts_in("read (file:///etc/passwd) https://a.example.com").is_err());
    }
}
