//! The paths that the texts of a call name. A text that tools read in different ways is refused.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use stockade_judge::listed_names;

use super::wildcards::Part;

/// Characters with which a part of a pattern isn't the name of one file.
const OF_PATTERNS: [char; 9] = ['*', '?', '[', ']', '{', '}', '(', '!', '\\'];

/// The most bytes of a pattern that is read.
const MAX_PATTERN: usize = 8192;

/// Characters that a reader of URLs takes for something else than a part of a name.
const OF_URLS: [char; 4] = ['%', '?', '#', '\\'];

/// The paths that a text may mean to a tool.
///
/// # Errors
/// It names no path, or it isn't the same one to every tool.
pub fn spellings(text: &str, home: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    if text.is_empty() || text.contains('\0') {
        return Err("a path is empty or holds NUL".into());
    }
    // Some tools take blanks away.
    if text.starts_with(is_blank) || text.ends_with(is_blank) {
        return Err("a path begins or ends with a blank".into());
    }
    let mut paths = vec![expanded(text, home)?];
    if is_of_process(text) {
        return Err("a path leads to what the reading process has open".into());
    }
    // Gemini CLI reads `@file` as `file` where no file has the whole name.
    if let Some(rest) = text.strip_prefix('@').filter(|rest| !rest.is_empty()) {
        // Whether a tool drops the second one isn't known.
        if rest.starts_with('@') {
            return Err("a path begins with `@@`".into());
        }
        paths.extend(spellings(rest, home)?);
        let bare = rest.trim_start_matches('/');
        paths.extend((!bare.is_empty()).then(|| PathBuf::from(bare)));
    }
    paths.extend(of_url(text)?);
    Ok(paths)
}

/// Whether a path means something else to each process.
fn is_of_process(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.windows(2).any(|pair| {
        matches!(
            pair,
            ["proc", "self" | "thread-self"] | ["dev", "fd" | "stdin" | "stdout" | "stderr"]
        )
    })
}

/// What any language's function for it takes away at the ends of a text, and what can't be seen there.
pub fn is_blank(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(
            character,
            '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
        )
}

/// The path of `file:///…`; other addresses are refused.
fn of_url(text: &str) -> Result<Option<PathBuf>, String> {
    let Some((scheme, rest)) = text.split_once(':') else {
        return Ok(None);
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
    let is_file = scheme.eq_ignore_ascii_case("file");
    if !is_scheme || !(is_file || rest.starts_with(['/', '\\'])) {
        return Ok(None);
    }
    let has_special = rest.contains(|character: char| OF_URLS.contains(&character) || character.is_control());
    match rest.strip_prefix("//").filter(|path| path.starts_with('/')) {
        Some(path) if scheme == "file" && !has_special => Ok(Some(PathBuf::from(path))),
        _ => Err("a path is an address, which is read only in the form `file:///PATH`, without escapes".into()),
    }
}

/// A path whose `~` is the caller's home.
fn expanded(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let Some(rest) = text.strip_prefix('~') else {
        return Ok(PathBuf::from(text));
    };
    let home = home.ok_or("there is no home for `~`")?;
    match rest.strip_prefix('/') {
        Some(rest) => Ok(home.join(rest.trim_start_matches('/'))),
        None if rest.is_empty() => Ok(home.to_path_buf()),
        None => Err("`~NAME` isn't read".into()),
    }
}

/// The directory that a pattern of paths searches: its beginning that holds no wildcard.
///
/// # Errors
/// The rest may lead out of that directory.
pub fn literal_part(pattern: &Path) -> Result<PathBuf, String> {
    let text = pattern.to_string_lossy();
    let begins = text.find(OF_PATTERNS).unwrap_or(text.len());
    let begins = match begins == text.len() {
        true => begins,
        false => text[..begins].rfind('/').map_or(0, |slash| slash + 1),
    };
    let (literal, rest) = text.split_at(begins);
    match leads_away(rest, literal.is_empty()) {
        true => Err("a pattern may lead elsewhere by `..`, `~` or `/` behind a wildcard or within alternatives".into()),
        false => Ok(PathBuf::from(literal)),
    }
}

/// Paths that a pattern may be meant for: each of its alternatives with its wildcards filled in. A pattern of `.env` or
/// `*.pem` names secrets as much as a path does, and so does one of `.e*`; `*` and `*.json` name nothing.
///
/// # Errors
/// It has too many alternatives.
pub fn examples(pattern: &str) -> Result<Vec<PathBuf>, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("a pattern is longer than {MAX_PATTERN} bytes"));
    }
    let mut paths = Vec::new();
    let mut all = alternatives(pattern)?;
    all.extend(alternatives(&without_groups(pattern))?);
    for pattern in all {
        // Some tools take several patterns in one text.
        let words = pattern.split(|character: char| character.is_whitespace() || character == ',');
        for word in words.filter(|word| !word.starts_with('!') || word.starts_with("!(")) {
            let bare = word.replace(['[', ']', '\\'], "").replace("**/", "").replace('?', "x");
            let filled = ["", "x"].map(|fill| bare.replace('*', fill));
            paths.extend(filled.iter().filter(|path| !path.is_empty()).map(PathBuf::from));
            paths.extend(closed_examples(word)?);
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Paths that a pattern names by the wildcards in its parts.
fn closed_examples(pattern: &str) -> Result<Vec<PathBuf>, String> {
    static CLOSED: LazyLock<Vec<String>> = LazyLock::new(|| listed_names().into_iter().collect());
    const MAX: usize = 1000;
    let root = if pattern.starts_with('/') { "/" } else { "" };
    let mut paths = vec![PathBuf::from(root)];
    for part in pattern.split('/').filter(|part| !["", "**"].contains(part)) {
        let names = Part::read(part)?.map_or_else(|| vec![part.to_string()], |part| part.names(&CLOSED));
        if paths.len() * names.len() > MAX {
            return Err(format!("a pattern may name more than {MAX} files that hold secrets"));
        }
        let below = |path: &PathBuf| names.iter().map(|name| path.join(name)).collect::<Vec<_>>();
        paths = paths.iter().flat_map(below).collect();
    }
    paths.retain(|path| !path.as_os_str().is_empty());
    Ok(paths)
}

/// `@(a|b)` as `{a,b}`, and `!(a)` as `*`, as some tools take them.
fn without_groups(pattern: &str) -> String {
    let mut pattern = pattern.to_string();
    while let Some(at) = pattern.find("!(") {
        let length = pattern[at..].find(')').unwrap_or(pattern.len() - at - 1);
        pattern.replace_range(at..=at + length, "*");
    }
    for group in ["@(", "+(", "?(", "*(", "("] {
        pattern = pattern.replace(group, "{");
    }
    pattern.replace('|', ",").replace(')', "}")
}

/// The patterns that `{a,b}` stands for.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    const MAX: usize = 100;
    let mut done = Vec::new();
    let mut ahead = vec![pattern.to_string()];
    while let Some(pattern) = ahead.pop() {
        match innermost(&pattern) {
            Some((_, inside, _)) if done.len() + ahead.len() + inside.split(',').count() > MAX => {
                return Err(format!("a pattern has more than {MAX} alternatives"));
            }
            Some((before, inside, after)) => {
                let split = inside.split(',').map(|one| format!("{before}{one}{after}"));
                ahead.extend(split);
            }
            None => done.push(pattern),
        }
    }
    Ok(done)
}

/// The text before, in and after braces that hold no others.
fn innermost(pattern: &str) -> Option<(&str, &str, &str)> {
    let (head, after) = pattern.split_once('}')?;
    let (before, inside) = head.rsplit_once('{')?;
    Some((before, inside, after))
}

/// Whether a pattern whose first part has a wildcard may name `.` or `..`, or another root. Alternatives and escapes aren't
/// read, as tools differ in them: what any of them could make of it counts.
fn leads_away(pattern: &str, is_all: bool) -> bool {
    let bare = pattern.replace(['[', ']', '\\'], "");
    let is_of_dots = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte == b'.');
    let mut alternatives = bare.split(['{', '(', ',', '|']).skip(1);
    let has_empty = ["{,", ",,", ",}"].iter().any(|empty| bare.contains(empty));
    bare.split(['/', '{', '}', '(', ')', ',', '|']).any(is_of_dots)
        || alternatives.any(|alternative| alternative.starts_with(['/', '~']))
        || is_all && (bare.starts_with(['/', '~']) || bare.starts_with('{') && has_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Option<Vec<String>> {
        let paths = spellings(text, Some(Path::new("/home/ada"))).ok()?;
        Some(paths.iter().map(|path| path.to_str().unwrap().to_string()).collect())
    }

    #[test]
    fn a_text_that_means_one_path_is_that_path() {
        for text in [
            "/etc/x",
            "a b/c",
            "a:b",
            "routes/$id.tsx",
            "app/[id]/(x)",
            "1:/x",
            "\u{e9}",
        ] {
            assert_eq!(spelled(text), Some(vec![text.to_string()]));
        }
        assert_eq!(spelled("~/a"), Some(vec!["/home/ada/a".into()]));
        assert_eq!(
            spelled("file:///etc/x"),
            Some(vec!["file:///etc/x".into(), "/etc/x".into()])
        );
        let of_both = spelled("@file:///etc/x").unwrap();
        assert!(of_both.contains(&"/etc/x".to_string()), "{of_both:?}");
    }

    #[test]
    fn a_path_with_blanks_at_its_ends_is_refused() {
        for blank in [
            " ", "\t", "\n", "\r", "\u{b}", "\u{c}", "\u{1c}", "\u{85}", "\u{a0}", "\u{180e}", "\u{200b}", "\u{2028}",
            "\u{3000}", "\u{feff}",
        ] {
            for text in [
                format!("{blank}/etc/shadow"),
                format!("/etc/shadow{blank}"),
                format!("{blank}~/.bashrc"),
                format!("@{blank}/etc/shadow"),
            ] {
                assert_eq!(spelled(&text), None, "{text:?}");
            }
        }
    }

    #[test]
    fn a_path_that_is_another_one_to_each_process_is_refused() {
        for text in [
            "/proc/self/cwd/a.txt",
            "/proc//./self/root/etc/shadow",
            "../../proc/thread-self/cwd",
            "/dev/fd/3",
            "@/proc/self/environ",
        ] {
            assert_eq!(spelled(text), None, "{text}");
        }
        assert!(spelled("/proc/cpuinfo").is_some() && spelled("src/proc/self.rs").is_some());
    }

    #[test]
    fn a_path_of_many_signs_is_refused() {
        for text in ["@@/etc/shadow".to_string(), "@".repeat(1 << 20)] {
            assert_eq!(spelled(&text), None, "{}", &text[..10]);
        }
    }

    #[test]
    fn an_address_is_refused_unless_it_is_plain() {
        for text in [
            "file:/etc/shadow",
            "file:etc/shadow",
            "FILE:///etc/shadow",
            "File:/etc/shadow",
            "file://localhost/etc/shadow",
            "file:///%65tc/shadow",
            "file:///p/.env?x",
            "file:///p/.env#x",
            "file:///p\\..\\..\\etc",
            "file:///p/.e\tnv",
            "file:\\\\\\etc\\shadow",
            "https://example.com/x",
            "vscode-remote://x/etc/shadow",
            "C:/x",
            "@file:/etc/shadow",
        ] {
            assert_eq!(spelled(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_searches_below_its_literal_part() {
        for (pattern, base) in [
            ("**/*.ts", ""),
            ("/etc/ssl/**/*.pem", "/etc/ssl/"),
            ("../x/*", "../x/"),
            ("src/*.{ts,tsx}", "src/"),
            ("{src,test}/**/*.d.ts", ""),
            ("{src/a,test/b}/*", ""),
            ("{.eslintrc,.prettierrc}*", ""),
            ("src/{,a/}*.ts", "src/"),
            ("*.ts{,x}", ""),
            ("a/{1..3}/*", "a/"),
            ("app/(group)/[id]/*", "app/"),
            (".*", ""),
            ("plain/file", "plain/file"),
        ] {
            assert_eq!(literal_part(Path::new(pattern)), Ok(base.into()), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_names_what_it_is_meant_for() {
        for (pattern, named) in [
            (".env", ".env"),
            ("**/.env", ".env"),
            ("*.env", ".env"),
            (".en[v]", ".env"),
            (".{env,x}", ".env"),
            ("{a,.{b,env}}", ".env"),
            ("*.ts,.env", ".env"),
            ("*.ts /etc/*", "/etc/x"),
            ("src/**/*.pem", "src/x.pem"),
            ("**/.ssh/*", ".ssh/x"),
            (".e*", ".env"),
            ("**/.e??", ".env"),
            (".[e]*", ".env"),
            ("a,.e*", ".env"),
            ("*/.k*/c*g", "x/.kube/config"),
            ("/srv/.e*", "/srv/.env"),
            ("@(.env|x)", ".env"),
            ("?(a|.e*)", ".env"),
            (".!(x)", ".env"),
        ] {
            let found = examples(pattern).unwrap();
            assert!(found.contains(&PathBuf::from(named)), "{pattern}: {found:?}");
        }
        assert_eq!(examples("!**/.env"), Ok(Vec::new()));
        assert_eq!(examples("**/*"), Ok(vec!["x".into()]));
        for long in [
            "{a,b}".repeat(10),
            format!("{{{}}}", ",".repeat(2000)),
            "{".repeat(1 << 20),
            ",".repeat(1 << 20),
            ".*/.*/.*".into(),
        ] {
            assert!(examples(&long).is_err(), "{}", &long[..10]);
        }
    }

    #[test]
    fn a_pattern_that_may_lead_elsewhere_is_refused() {
        for pattern in [
            "*/../../.ssh/*",
            "sub/*/../../../.ssh/*",
            "*/..",
            "{/etc/shadow,/etc/passwd}",
            "{x,/etc/passwd}",
            "{x,~/.ssh/id_rsa}",
            "{..,x}/.ssh/*",
            ".{.,x}/.ssh/*",
            "{.,x}./.ssh/*",
            ".{,x}./.ssh/*",
            "{,x}/etc/shadow",
            "{x,}/etc/shadow",
            "{{,x},y}/etc/shadow",
            "@(..|x)/.ssh/*",
            "(/etc/shadow|x)",
            "[.][.]/.ssh/*",
            "\\.\\./.ssh/*",
            "\\/etc/shadow",
            "[/]etc/shadow",
            "\\~/.ssh/*",
            "a/{b,../../.ssh}/*",
        ] {
            assert!(literal_part(Path::new(pattern)).is_err(), "{pattern}");
        }
    }
}
