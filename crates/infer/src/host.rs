//! Hosts of URLs and addresses.

use super::text::Text;

/// The destination of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A host by name or address, with the port unless it is the scheme's default.
    Named(String),
    /// The host is computed.
    Unknown,
    /// A `file:` URL.
    File(String),
    /// A URL without a connection: `data:`, `blob:`.
    Nowhere,
}

/// Finds the host of a URL, a `host:port` or a host.
pub fn host(target: &Text) -> Host {
    let known = target.prefix();
    let is_exact = target.exact().is_some();
    if known.is_empty() {
        return Host::Unknown;
    }
    if let Some(path) = known.strip_prefix("file://") {
        return Host::File(path.to_string());
    }
    if ["data:", "blob:", "about:"]
        .iter()
        .any(|scheme| known.starts_with(scheme))
    {
        return Host::Nowhere;
    }
    let (scheme, rest) = known.split_once("://").unwrap_or(("", known));
    let end = rest.find(['/', '?', '#']);
    let authority = &rest[..end.unwrap_or(rest.len())];
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = split_port(authority);
    let name = name.to_ascii_lowercase();
    let is_name = |letter: char| letter.is_alphanumeric() || "-._[]:".contains(letter);
    if name.is_empty() || !name.chars().all(is_name) {
        return Host::Unknown;
    }
    // The known part ends inside the authority: the host may continue, unless the port has begun. A concatenated URL
    // mostly has the whole host there (`BASE + path`).
    let is_cut = !is_exact && end.is_none();
    if is_cut && port.is_none() && !name.contains('.') {
        return Host::Unknown;
    }
    let usual = match scheme {
        "http" | "ws" => "80",
        "https" | "wss" => "443",
        _ => "",
    };
    Host::Named(match port {
        Some(port) if is_cut && port.is_empty() => format!("{name}:*"),
        Some(port) if !port.is_empty() && port != usual => format!("{name}:{port}"),
        _ => name,
    })
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match authority.rsplit_once(':') {
        // An IPv6 address without brackets has no port.
        Some((name, port)) if digits(port) && (!name.contains(':') || name.ends_with(']')) => (name, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_is_found() {
        let named = |text: &str| Host::Named(text.into());
        for (url, expected) in [
            ("https://api.example.com/v1?x=1", named("api.example.com")),
            ("https://api.example.com:443/", named("api.example.com")),
            ("http://localhost:8080", named("localhost:8080")),
            ("http://user:pass@example.com/", named("example.com")),
            ("postgres://db.example.com:5432/x", named("db.example.com:5432")),
            ("example.com:25", named("example.com:25")),
            ("http://[::1]:8080/", named("[::1]:8080")),
            ("::1", named("::1")),
            ("HTTPS://API.EXAMPLE.COM", named("api.example.com")),
            ("file:///etc/hosts", Host::File("/etc/hosts".into())),
            ("data:text/plain,x", Host::Nowhere),
            ("", Host::Unknown),
            ("two words", Host::Unknown),
        ] {
            assert_eq!(host(&url.into()), expected, "{url}");
        }
    }

    #[test]
    fn a_host_that_is_computed_is_unknown() {
        let then = |known: &str| host(&Text::from(known).then(&Text::unknown()));
        assert_eq!(then("https://"), Host::Unknown);
        assert_eq!(then("https://api."), Host::Named("api.".into()));
        assert_eq!(
            then("https://api.example.com/users/"),
            Host::Named("api.example.com".into())
        );
        assert_eq!(then("http://localhost:"), Host::Named("localhost:*".into()));
        assert_eq!(then("http://host"), Host::Unknown);
    }
}
