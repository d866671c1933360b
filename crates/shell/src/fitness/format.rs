//! Formats of `git` that only display and start nothing.
//!
//! To check a signature, git starts the program that the repository's configuration names. The configuration can also
//! define format names, so only git's own names are safe.

const NAMES: [&str; 10] = [
    "",
    "oneline",
    "short",
    "medium",
    "full",
    "fuller",
    "reference",
    "email",
    "mboxrd",
    "raw",
];

/// Whether a format of `git log` checks no signature and isn't one that the configuration defines.
pub(super) fn only_shows(format: &str) -> bool {
    let is_own = format.starts_with("format:") || format.starts_with("tformat:") || format.contains('%');
    (is_own || NAMES.contains(&format)) && checks_nothing(format)
}

/// Whether a format, or a key to sort refs by, requests no signature and no trailer.
pub(super) fn checks_nothing(format: &str) -> bool {
    // `%+GG` puts a newline before the output of `%GG`.
    let mut behind = format
        .split('%')
        .skip(1)
        .map(|text| text.trim_start_matches(['+', '-', ' ']));
    let asks = |text: &str| text.starts_with('G') || text.starts_with("(trailers");
    !behind.any(asks) && !format.to_ascii_lowercase().contains("signature")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_that_checks_signatures_or_has_a_name_of_its_own_does_more_than_show() {
        for format in [
            "%h %s",
            "format:%H%n%an",
            "tformat:%C(auto)%h",
            "oneline",
            "",
            "GG",
            "%(refname:short)",
        ] {
            assert_eq!(only_shows(format), format != "GG", "{format}");
        }
        for format in [
            "%GG",
            "%G?",
            "%GK",
            "format:%GS",
            "tformat:x%h%GF",
            "%+GG",
            "%-G?",
            "% GG",
            "%%GG",
            "%<(10)%GG",
            "%(trailers)",
            "%+(trailers:key=x)",
            "%(signature:grade)",
            "%(*signature)",
            "evil",
            "onelin",
        ] {
            assert!(!only_shows(format), "{format}");
        }
    }
}
