//! Whether a text names a file or host: the text is a line that the program wrote, or the words of its command line.

use crate::policy::Kind;

/// Whether a text names the target of a refusal of this kind, in one of these spellings.
pub fn names_on(text: &str, names: &[&str], kind: Kind) -> bool {
    match kind {
        Kind::Connect | Kind::Resolve | Kind::Listen => names_host(text, names),
        _ => names_path(text, names),
    }
}

/// Whether a text names one of these paths, as a word by itself.
pub fn names_path(text: &str, names: &[&str]) -> bool {
    let is_named = |name: &&str| places(text, name.trim_start_matches("./"), is_end).next().is_some();
    names.iter().any(is_named)
}

/// Whether a text names one of these hosts: alone, with a port, or in a URL; case-insensitive.
pub fn names_host(text: &str, names: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    names.iter().any(|name| has_host(&lower, &name.to_ascii_lowercase()))
}

/// Whether it is the whole of a host's name: `a.b` isn't named by `x.a.b`, `a.b.c` or `a.bc`.
fn has_host(text: &str, name: &str) -> bool {
    let is_label = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_apart = |at: usize| {
        let (before, mut rest) = (&text[..at], text[at + name.len()..].chars());
        let ends = match rest.next() {
            Some('.') => !rest.next().is_some_and(is_label),
            other => !other.is_some_and(is_label),
        };
        ends && !before.ends_with(|c| is_label(c) || c == '.')
    };
    !name.is_empty() && text.match_indices(name).any(|(at, _)| is_apart(at))
}

/// Whether a text names a path that is a prefix of the name: `/r/t-` where the target is `/r/t-Ab3x`. Templates as
/// mktemp(3) takes them end in `X`.
pub fn names_the_start(text: &str, directory: &str, name: &str) -> bool {
    places(text, directory, |rest| rest.starts_with('/')).any(|at| {
        let rest = &text[at + directory.len() + 1..];
        let end = rest.find(|c: char| !goes_on(c) && c != '.').unwrap_or(rest.len());
        let start = rest[..end].trim_end_matches("XXX").trim_end_matches('X');
        !start.is_empty() && start.len() < name.len() && name.starts_with(start)
    })
}

/// Whether a text names a variable, as a word by itself.
pub fn names_variable(text: &str, name: &str) -> bool {
    const MIN_LENGTH: usize = 3;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    name.len() >= MIN_LENGTH
        && text
            .match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// Offsets at which a name starts a word, and `follows` accepts the rest.
fn places<'a>(text: &'a str, name: &'a str, follows: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
    let found = (!name.is_empty()).then(|| text.match_indices(name));
    found.into_iter().flatten().map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].trim_end_matches("./");
        follows(&text[at + name.len()..]) && !before.ends_with(|c| goes_on(c) || c == '.')
    })
}

/// Whether a name ends before this rest: `/r/a` isn't named by `/r/a/b`, `/r/ab` or `/r/a.py`.
fn is_end(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        other => !other.is_some_and(goes_on),
    }
}

/// Whether a character next to a name makes it part of a longer one.
fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_only_as_a_whole() {
        for text in ["see /r/a.", "'/r/a'", "/r/a: no", "x=/r/a", "(/r/a)"] {
            assert!(names_path(text, &["/r/a"]), "{text}");
        }
        for text in ["/r/a/b", "/r/ab", "/x/r/a", "/r/a.py", "", "r/a"] {
            assert!(!names_path(text, &["/r/a"]), "{text}");
        }
        assert!(names_path("cat ./notes", &["notes"]));
        assert!(names_path("cat notes", &["./notes"]));
        assert!(names_path("cannot open ünï", &["ünï"]));
        assert!(!names_path("cat x", &[""]));
    }

    #[test]
    fn a_host_is_named_alone_and_in_a_url() {
        let names = ["api.example.com"];
        for text in [
            "https://API.example.com/v1",
            "host='api.example.com', port=443",
            "api.example.com:443",
            "user@api.example.com.",
            "dial tcp: lookup api.example.com: no such host",
        ] {
            assert!(names_host(text, &names), "{text}");
        }
        for text in [
            "x.api.example.com",
            "api.example.com.evil",
            "api.example.community",
            "my-api.example.com",
            "",
        ] {
            assert!(!names_host(text, &names), "{text}");
        }
        assert!(!names_host("x", &[""]));
    }

    #[test]
    fn the_start_of_a_made_up_name_is_found() {
        assert!(names_the_start("mkdtemp('/r/t-')", "/r", "t-Ab3x"));
        assert!(names_the_start(
            "template ‘/r/tmp.XXXXXXXXXX’: no",
            "/r",
            "tmp.XSnXyDxWvf"
        ));
        assert!(names_the_start("sort -o /r/a.txt", "/r", "a.txt.tmp"));
        for text in ["/r/", "/r/t-Ab3x", "/r/u", "/x/r/t-", "/r", "/r/t-/x"] {
            assert!(!names_the_start(text, "/r", "t-Ab3x"), "{text}");
        }
    }

    #[test]
    fn a_variable_is_a_word() {
        assert!(names_variable("KeyError: 'STAGE'", "STAGE"));
        for text in ["STAGE_2", "MY_STAGE", "STAGES", ""] {
            assert!(!names_variable(text, "STAGE"), "{text}");
        }
    }
}
