//! Whether something lies within what a label names.

use super::label::Label;

/// Whether a path is one of those named, or lies below one. Paths are as labels have them: `./x`, `~/x`, `/x`.
pub fn is_named(path: &str, named: &[String]) -> bool {
    named.iter().any(|name| covers(name, path))
}

/// Whether a name means this path, a directory above it, or any.
pub fn covers(name: &str, path: &str) -> bool {
    let (name, path) = (plain_path(name), plain_path(path));
    name == "*"
        || path
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Without what means nothing: `./` is `.`, `./src/` is `./src`.
pub fn plain_path(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => "/",
        path => path,
    }
}

/// Whether a connection is to one of a label's hosts. A host without a port means that of HTTP or TLS; an address of this
/// machine means any, since its listeners are asked there.
pub fn is_host(target: &str, label: &Label) -> bool {
    let target = target.replace("[::1]", "localhost").replace("127.0.0.1", "localhost");
    label.hosts.iter().any(|host| {
        let host = host.replace("127.0.0.1", "localhost");
        match host.as_str() {
            "*" => true,
            "localhost" => target.starts_with("localhost:"),
            host => {
                target == host
                    || target
                        .strip_prefix(host)
                        .is_some_and(|port| [":80", ":443"].contains(&port))
            }
        }
    })
}

/// A host without the port that means nothing.
pub fn plain_host(host: &str) -> String {
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(host);
    host.to_ascii_lowercase()
}

#[test]
fn a_directory_means_what_is_below_it() {
    for (name, path, is_so) in [
        ("./", "./a/b", true),
        (".", ".", true),
        ("./a", "./ab", false),
        ("./a", ".", false),
        ("*", "/etc/hosts", true),
        ("/tmp", "/tmp/x", true),
    ] {
        assert_eq!(covers(name, path), is_so, "{name} {path}");
    }
}
