//! Parses the single values of a document: paths, globs, host patterns, names.
//!
//! Each function takes the text as written and returns the value or the complaint about it; none looks at the machine.

use std::path::PathBuf;

use globset::{GlobBuilder, GlobSetBuilder};

use super::code_variables::is_unsecure_variable;
use super::error::{Complaint, excerpt};
use super::host::HostPattern;
use super::rule::{Anchor, Glob, PathSpec};
use stockade_text::visible::is_invisible;

/// `PATH_MAX`: the kernel accepts no longer path, and no pattern needs to be longer.
const MAX_PATH: usize = 4096;

/// A profile's name has to fit in a file name, with its suffix.
const MAX_NAME: usize = 64;

/// Whether a text is a valid profile name: lowercase letters, digits, `-` and `_`, starting with a letter or digit.
pub(super) fn is_profile_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.len() <= MAX_NAME
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|b| plain(b) || b == b'-' || b == b'_')
}

/// Parses the name of a profile.
///
/// # Errors
/// The name is invalid.
pub fn profile_name(text: &str) -> Result<String, Complaint> {
    if is_profile_name(text) {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(format!("`{}` can't be the name of a profile", excerpt(text))).hint(format!(
        "a name has small letters, digits, `-` and `_`, starts with a letter or a digit, and has at most {MAX_NAME} of them"
    )))
}

/// One line of text for people: a reason or a description.
pub(super) fn line_of_text(text: &str) -> Result<String, Complaint> {
    if text.trim().is_empty() {
        return Err(Complaint::new("this text is empty"));
    }
    if text.chars().any(is_invisible) {
        return Err(Complaint::new(format!(
            "`{}` must be one line without control or invisible characters",
            excerpt(text)
        )));
    }
    Ok(text.to_owned())
}

pub(super) fn path(text: &str) -> Result<PathSpec, Complaint> {
    well_formed("path", text)?;
    let (anchor, rest) = match text {
        "." => (Anchor::Root, ""),
        "~" => (Anchor::Home, ""),
        _ => anchored(text).ok_or_else(|| {
            Complaint::new(format!(
                "the path `{}` doesn't say what it is relative to",
                excerpt(text)
            ))
            .hint("start it with `./` (the run's root), `~/` (the home directory) or `/`")
        })?,
    };
    Ok(PathSpec {
        anchor,
        rest: plain_components(rest),
    })
}

/// Parses a denial's pattern, and compiles it once so that no later use can fail.
///
/// # Errors
/// The pattern is invalid.
pub fn glob(text: &str) -> Result<Glob, Complaint> {
    well_formed("pattern", text)?;
    let rest = text
        .strip_prefix("**/")
        .or_else(|| anchored(text).map(|(_, rest)| rest))
        .ok_or_else(|| {
            Complaint::new(format!("the pattern `{}` doesn't say where it applies", excerpt(text)))
                .hint("start it with `**/` (anywhere), `./` (the run's root), `~/` (the home directory) or `/`")
        })?;
    let plain = plain_components(rest);
    if plain.as_os_str().is_empty() {
        return Err(Complaint::new(format!("the pattern `{}` names nothing", excerpt(text)))
            .hint(format!("write `{0}**` for everything there", excerpt(text))));
    }
    // As in .gitignore, `private/` is the directory; no path has an empty component or `.` for a pattern to match.
    let text = format!("{}{}", &text[..text.len() - rest.len()], plain.display());
    if has_idle_alternative(&text[text.len() - plain.as_os_str().len()..]) {
        let complaint = Complaint::new(format!(
            "`{}` has an alternative that matches nothing: it leaves an empty component or `.`",
            excerpt(&text)
        ));
        return Err(complaint.hint("write slashes outside of the braces, or a pattern for each"));
    }
    let invalid = |error: globset::Error| {
        Complaint::new(format!(
            "`{}` isn't a valid pattern: {}",
            excerpt(&text),
            excerpt(&error.kind().to_string())
        ))
    };
    let compiled = GlobBuilder::new(&text)
        .literal_separator(true)
        .build()
        .map_err(invalid)?;
    // Only building a set compiles the expression, and a glob that nests too deep fails only there.
    GlobSetBuilder::new().add(compiled).build().map_err(invalid)?;
    Ok(Glob(text))
}

/// Parses a host, an address range or a pattern.
///
/// # Errors
/// The text is no host pattern.
pub fn host(text: &str) -> Result<HostPattern, Complaint> {
    HostPattern::parse(text).map_err(|error| Complaint::new(error.message).hint(error.hint))
}

pub(super) fn variable(text: &str) -> Result<String, Complaint> {
    variable_name(text)?;
    if is_unsecure_variable(text) {
        return Err(Complaint::new(format!(
            "`{}` can't be passed: it tells the loader or the C library which code or files to use",
            excerpt(text)
        )));
    }
    Ok(text.to_owned())
}

/// Whether a text is a valid variable name, including those that are never passed.
pub(super) fn variable_name(text: &str) -> Result<(), Complaint> {
    let starts = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let well_formed = text.bytes().next().is_some_and(starts) && text.bytes().all(|b| starts(b) || b.is_ascii_digit());
    if well_formed {
        return Ok(());
    }
    Err(
        Complaint::new(format!("`{}` isn't the name of a variable", excerpt(text)))
            .hint("names have letters, digits and `_`, and are given one by one, without `*` or a value"),
    )
}

pub(super) fn system_call(text: &str) -> Result<String, Complaint> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(
        Complaint::new(format!("`{}` isn't the name of a system call", excerpt(text)))
            .hint("write it as its manual page does, as in `ptrace`"),
    )
}

fn well_formed(kind: &str, text: &str) -> Result<(), Complaint> {
    if text.is_empty() {
        return Err(Complaint::new(format!("this {kind} is empty")));
    }
    if text.contains('\0') {
        return Err(Complaint::new(format!("the {kind} `{}` contains a NUL", excerpt(text))));
    }
    if text.chars().any(char::is_control) {
        return Err(Complaint::new(format!(
            "the {kind} `{}` contains a control character",
            excerpt(text)
        )));
    }
    // The meaning of `..` depends on symlinks that somebody else may control.
    if text.split('/').any(|component| component == "..") {
        let complaint = Complaint::new(format!("the {kind} `{}` contains `..`", excerpt(text)));
        return Err(complaint.hint("write the place that it means"));
    }
    if text.len() > MAX_PATH {
        return Err(Complaint::new(format!("this {kind} is longer than {MAX_PATH} bytes")));
    }
    Ok(())
}

fn anchored(text: &str) -> Option<(Anchor, &str)> {
    let anchors = [("./", Anchor::Root), ("~/", Anchor::Home), ("/", Anchor::Absolute)];
    anchors
        .into_iter()
        .find_map(|(prefix, anchor)| Some((anchor, text.strip_prefix(prefix)?)))
}

/// The components after the anchor, without empty ones and `.`.
fn plain_components(rest: &str) -> PathBuf {
    rest.split('/')
        .filter(|component| !matches!(*component, "" | "."))
        .collect()
}

/// Whether an alternative in braces leaves a component that no path has. Escapes and classes aren't checked.
fn has_idle_alternative(rest: &str) -> bool {
    const MAX: usize = 256;
    let mut ahead = vec![rest.to_owned()];
    let mut looked_at = 0;
    while let Some(text) = ahead.pop().filter(|text| !text.contains(['\\', '['])) {
        let innermost = text.find('}').and_then(|end| Some((text[..end].rfind('{')?, end)));
        match innermost {
            Some((start, end)) => {
                let parts = text[start + 1..end].split(',');
                ahead.extend(parts.map(|part| format!("{}{part}{}", &text[..start], &text[end + 1..])));
            }
            None if text.split('/').any(|part| matches!(part, "" | ".")) => return true,
            None => {}
        }
        looked_at += 1;
        if looked_at == MAX {
            break;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T, Complaint>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn a_path_is_below_the_root_below_the_home_or_absolute() {
        for (text, anchor, rest) in [
            (".", Anchor::Root, ""),
            ("./", Anchor::Root, ""),
            ("./data", Anchor::Root, "data"),
            (".//a/./b/", Anchor::Root, "a/b"),
            ("~", Anchor::Home, ""),
            ("~/", Anchor::Home, ""),
            ("~/x y", Anchor::Home, "x y"),
            ("/", Anchor::Absolute, ""),
            ("//tmp", Anchor::Absolute, "tmp"),
            ("/tmp/..x", Anchor::Absolute, "tmp/..x"),
        ] {
            assert_eq!(
                path(text),
                Ok(PathSpec {
                    anchor,
                    rest: rest.into()
                }),
                "{text}"
            );
        }
    }

    #[test]
    fn a_path_that_could_mean_several_things_is_refused() {
        assert!(message(path("")).contains("empty"));
        assert!(message(path("/a\0b")).contains("NUL"));
        assert!(message(path("/a\nb")).contains("control"));
        for text in ["data", "~root/x", "$HOME/x", " /tmp"] {
            assert!(message(path(text)).contains("relative"), "{text}");
        }
        for text in ["..", "../x", "./..", "./a/../b", "/..", "~/../x"] {
            assert!(message(path(text)).contains("contains `..`"), "{text}");
        }
        assert!(message(path(&format!("/{}", "a".repeat(5000)))).contains("longer"));
    }

    #[test]
    fn a_glob_says_where_it_applies_and_compiles() {
        for text in ["**/private/**", "./a/*.txt", "~/x", "/etc/{a,b}", "**/*.pem"] {
            assert_eq!(glob(text), Ok(Glob(text.to_owned())));
        }
        for (text, meant) in [
            (".//t", "./t"),
            ("**/t/", "**/t"),
            ("./t*//", "./t*"),
            ("**//key", "**/key"),
            ("./t/./**", "./t/**"),
            ("**/./t", "**/t"),
            ("~//t/.", "~/t"),
            ("//srv//t/**", "/srv/t/**"),
        ] {
            assert_eq!(glob(text), Ok(Glob(meant.to_owned())));
        }
        for text in [
            "",
            "private/**",
            "*.pem",
            "**",
            "./",
            "**/",
            "**//.",
            "/",
            "/a/../b",
            "/[",
            "/{a",
            "/a\0",
        ] {
            assert!(glob(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_alternative_that_could_match_nothing_is_refused() {
        for text in [
            "**/{private/,secret/}",
            "./{./a,b}",
            "./{a/,b}/c",
            "./x{/,y}",
            "./{a,{b/,c}}",
            "./x/{,a}/b",
        ] {
            assert!(message(glob(text)).contains("alternative"), "{text}");
        }
        for text in ["./{a/,b/}c", "./a{/b,}", "/etc/{a,b/c}", "./[{]/,}x", "./a}b"] {
            assert!(
                !glob(text).is_err_and(|complaint| complaint.message.contains("alternative")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_glob_that_nests_too_deep_is_a_complaint_and_no_panic() {
        let deep = format!("/{}x{}", "{".repeat(2000), "}".repeat(2000));
        assert!(glob(&deep).is_err());
    }

    #[test]
    fn the_longest_glob_compiles_within_the_matcher_s_limits() {
        let long = format!("/{}", "[a-z]".repeat(800));
        assert!(glob(&long).is_ok());
    }

    #[test]
    fn loader_and_libc_variables_never_pass() {
        for name in [
            "LD_PRELOAD",
            "LD_ANYTHING",
            "GLIBC_TUNABLES",
            "GCONV_PATH",
            "TMPDIR",
            "RES_OPTIONS",
        ] {
            assert!(message(variable(name)).contains("can't be passed"), "{name}");
        }
        for name in ["", "1A", "A B", "FOO_*", "A=b", "Ü"] {
            assert!(message(variable(name)).contains("isn't the name"), "{name}");
        }
        assert_eq!(variable("MY_VAR2"), Ok("MY_VAR2".to_owned()));
    }

    #[test]
    fn names_and_system_calls_have_plain_characters() {
        for text in ["", "-a", "A", "a/b", "../a", "a.toml"] {
            assert!(profile_name(text).is_err(), "{text}");
        }
        assert!(system_call("pidfd_open").is_ok());
        assert!(system_call("Ptrace").is_err());
        assert!(line_of_text("one\ntwo").is_err());
        assert!(line_of_text("  ").is_err());
    }
}
