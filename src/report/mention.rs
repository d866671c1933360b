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
        .map(|at| {
            let line = line_around(text, at);
            if tells_of_refusal(line) || has_any(line, FAILED) {
                Mention::Blamed
            } else {
                Mention::Named
            }
        })
        .max()
        .unwrap_or(Mention::None)
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
