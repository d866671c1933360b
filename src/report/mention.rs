//! Whether a text names a path: what the program printed, or the words of its command line.

/// How a text names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention {
    /// Not at all.
    None,
    /// It does.
    Named,
    /// On a line that tells of a failure.
    Blamed,
}

/// Words for a refusal. A program that prints one of them was refused something, and knows it.
const REFUSED: &[&str] = &["denied", "not permitted", "permission", "eacces", "eperm", "read-only"];
/// Words for a failure of any kind.
const FAILED: &[&str] = &[
    "error",
    "fail",
    "unable",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unreachable",
    "refused",
    // Resolvers, by way of the C library, Node and Go.
    "not known",
    "enotfound",
    "no such host",
];

/// Whether a text tells of a refusal.
pub fn tells_of_refusal(text: &str) -> bool {
    has_any(text, REFUSED)
}

/// How a text names one of these.
pub fn mention(text: &str, names: &[&str]) -> Mention {
    names
        .iter()
        .flat_map(|name| places(text, name.trim_start_matches("./"), is_end))
        .map(|at| blame(line_around(text, at)))
        .max()
        .unwrap_or(Mention::None)
}

/// How a line names what stands in it.
fn blame(line: &str) -> Mention {
    if tells_of_refusal(line) || has_any(line, FAILED) {
        Mention::Blamed
    } else {
        Mention::Named
    }
}

/// How a text names one of these hosts: alone, with a port, or in a URL; in any case.
pub fn mention_host(text: &str, names: &[&str]) -> Mention {
    // As many bytes as before, so that places stay the same.
    let lower = text.to_ascii_lowercase();
    names
        .iter()
        .flat_map(|name| host_places(&lower, &name.to_ascii_lowercase()))
        .map(|at| blame(line_around(text, at)))
        .max()
        .unwrap_or(Mention::None)
}

/// Where a host's name stands that isn't part of a longer one: `a.b` isn't named by `x.a.b`, `a.b.c` or `a.bc`.
fn host_places(text: &str, name: &str) -> Vec<usize> {
    let is_label = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_apart = |at: &usize| {
        let (before, mut rest) = (&text[..*at], text[at + name.len()..].chars());
        let ends = match rest.next() {
            Some('.') => !rest.next().is_some_and(is_label),
            other => !other.is_some_and(is_label),
        };
        ends && !before.ends_with(|c| is_label(c) || c == '.')
    };
    if name.is_empty() {
        return Vec::new();
    }
    text.match_indices(name).map(|(at, _)| at).filter(is_apart).collect()
}

/// Whether a text names a path that a name goes on from: `/r/t-` where the target is `/r/t-Ab3x`.
pub fn names_the_start(text: &str, directory: &str, name: &str) -> bool {
    places(text, directory, |rest| rest.starts_with('/')).any(|at| {
        let rest = &text[at + directory.len() + 1..];
        let end = rest.find(|c: char| !goes_on(c) && c != '.').unwrap_or(rest.len());
        let start = &rest[..end];
        !start.is_empty() && start.len() < name.len() && name.starts_with(start)
    })
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Where a name begins a word, and what follows it is fitting.
fn places<'a>(text: &'a str, name: &'a str, follows: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
    let found = (!name.is_empty()).then(|| text.match_indices(name));
    found.into_iter().flatten().map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].trim_end_matches("./");
        follows(&text[at + name.len()..]) && !before.ends_with(|c| goes_on(c) || c == '.')
    })
}

/// Whether a name ends where this goes on: `/r/a` isn't named by `/r/a/b`, `/r/ab` or `/r/a.py`.
fn is_end(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        other => !other.is_some_and(goes_on),
    }
}

/// Whether a character next to a name makes it a part of a longer one.
fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/')
}

fn line_around(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_only_as_a_whole() {
        for text in ["see /r/a.", "'/r/a'", "/r/a: no", "x=/r/a", "(/r/a)"] {
            assert_eq!(mention(text, &["/r/a"]), Mention::Named, "{text}");
        }
        for text in ["/r/a/b", "/r/ab", "/x/r/a", "/r/a.py", "", "r/a"] {
            assert_eq!(mention(text, &["/r/a"]), Mention::None, "{text}");
        }
        assert_eq!(mention("cat ./notes", &["notes"]), Mention::Named);
        assert_eq!(mention("cat notes", &["./notes"]), Mention::Named);
        assert_eq!(mention("cat x", &[""]), Mention::None);
    }

    #[test]
    fn a_host_is_named_alone_and_in_a_url() {
        let names = ["api.example.com"];
        for text in [
            "https://API.example.com/v1",
            "host='api.example.com', port=443",
            "api.example.com:443",
            "user@api.example.com.",
        ] {
            assert_eq!(mention_host(text, &names), Mention::Named, "{text}");
        }
        for text in [
            "x.api.example.com",
            "api.example.com.evil",
            "api.example.community",
            "my-api.example.com",
            "",
        ] {
            assert_eq!(mention_host(text, &names), Mention::None, "{text}");
        }
        for text in [
            "curl: (6) Could not resolve host: api.example.com",
            "getaddrinfo ENOTFOUND api.example.com",
            "dial tcp: lookup api.example.com: no such host",
        ] {
            assert_eq!(mention_host(text, &names), Mention::Blamed, "{text}");
        }
        assert_eq!(mention_host("x", &[""]), Mention::None);
    }

    #[test]
    fn the_start_of_a_made_up_name_is_found() {
        assert!(names_the_start("mkdtemp('/r/t-')", "/r", "t-Ab3x"));
        assert!(names_the_start("sort -o /r/a.txt", "/r", "a.txt.tmp"));
        for text in ["/r/", "/r/t-Ab3x", "/r/u", "/x/r/t-", "/r", "/r/t-/x"] {
            assert!(!names_the_start(text, "/r", "t-Ab3x"), "{text}");
        }
    }

    #[test]
    fn a_line_that_tells_of_a_failure_blames() {
        let text = "reading /r/a\nPermissionError: [Errno 13] Permission denied: '/r/b'\n";
        assert_eq!(mention(text, &["/r/a"]), Mention::Named);
        assert_eq!(mention(text, &["/r/b"]), Mention::Blamed);
        assert_eq!(mention("cannot open ünï", &["ünï"]), Mention::Blamed);
    }
}
