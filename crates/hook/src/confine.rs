//! Rewrites a shell's line so that it runs inside `stockade run`.

use std::path::{Path, PathBuf};

use stockade_text::quote::for_any_shell;

/// The kernel takes no longer argument of a program (`MAX_ARG_STRLEN`), and the agent's shell gets the whole line as one.
const MAX_LENGTH: usize = 128 * 1024 - 1;

/// Characters of the key in a report's name.
const KEY: usize = 32;

/// Starts the line in the agent's own directory, which may be below the root.
const ELSEWHERE: &str = r#"'cd -- "$0" || exit; exec bash -c -- "$1"' "$PWD" "#;

/// Ends the options of a shell before a line that reads like one.
const NO_OPTION: &str = "-- ";

/// How lines are confined.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// Stockade's own program.
    pub program: PathBuf,
    /// The flags of `run`, without those for the root and the report.
    pub flags: Vec<String>,
    /// The run's root.
    pub root: PathBuf,
    /// The directory of the reports that the hook after the call reads, if there is one.
    pub reports: Option<PathBuf>,
    /// The shell that reads the line.
    pub shell: &'static str,
}

/// Where a line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// In the root.
    Root,
    /// Wherever the agent's shell is.
    Here,
}

/// Why a line can't be confined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfinable {
    /// It is longer than an argument may be.
    #[error(
        "the command is longer than a shell's argument may be, so it can't be started inside a run; write it to a script"
    )]
    TooLong,
    /// A path isn't UTF-8.
    #[error("a path of Stockade's own isn't UTF-8")]
    Path,
}

impl Confinement {
    /// Refuses a line that no argument holds, before anything reads it.
    ///
    /// # Errors
    /// It is too long.
    pub fn check_length(line: &str) -> Result<(), Unconfinable> {
        match line.len() > MAX_LENGTH {
            true => Err(Unconfinable::TooLong),
            false => Ok(()),
        }
    }

    /// The line that runs `line` confined, and writes a report under this key.
    ///
    /// # Errors
    /// It would be too long.
    pub fn rewritten(&self, line: &str, key: &str, start: Start) -> Result<String, Unconfinable> {
        let mut text = self.head(Some(key)).ok_or(Unconfinable::Path)?;
        match start {
            Start::Here => text.push_str(&self.elsewhere()),
            Start::Root if is_like_option(line) => text.push_str(NO_OPTION),
            Start::Root => {}
        }
        text.push_str(&for_any_shell(line));
        match text.len() > MAX_LENGTH {
            true => Err(Unconfinable::TooLong),
            false => Ok(text),
        }
    }

    /// The line inside one that this confinement has rewritten. Any other line isn't, whatever it looks like.
    pub fn inner(&self, text: &str) -> Option<String> {
        let rest = match &self.reports {
            None => text.strip_prefix(&self.head(None)?)?,
            Some(_) => {
                // The key is the last thing in the head that may differ.
                let any = "0".repeat(KEY);
                let key_begins = self.head(Some(&any))?.rfind(&any)?;
                let key = text.get(key_begins..key_begins + KEY)?;
                is_key(key).then_some(())?;
                text.strip_prefix(&self.head(Some(key))?)?
            }
        };
        let (start, rest) = match rest.strip_prefix(&self.elsewhere()) {
            Some(rest) => (Start::Here, rest),
            None => (Start::Root, rest),
        };
        let is_ended = rest.starts_with(NO_OPTION);
        let rest = rest.strip_prefix(NO_OPTION).unwrap_or(rest);
        let line = unquoted(rest)?;
        let is_right = is_ended == (start == Start::Root && is_like_option(&line));
        (is_right && for_any_shell(&line) == rest).then_some(line)
    }

    /// Where a report is written.
    pub fn report(&self, key: &str) -> Option<PathBuf> {
        Some(self.reports.as_ref()?.join(format!("{key}.json")))
    }

    /// Everything before the line.
    fn head(&self, key: Option<&str>) -> Option<String> {
        let path = |path: &Path| path.to_str().map(for_any_shell);
        let mut words = vec![path(&self.program)?, "run".into()];
        words.extend(self.flags.iter().map(|flag| for_any_shell(flag)));
        words.extend(["--root".into(), path(&self.root)?]);
        if let Some(report) = key.and_then(|key| self.report(key)) {
            words.extend(["--report".into(), path(&report)?]);
        }
        words.extend(["--", self.shell, "-c", ""].map(String::from));
        Some(words.join(" "))
    }

    fn elsewhere(&self) -> String {
        ELSEWHERE.replace("bash", self.shell)
    }
}

/// The key of a call: the same before and after it.
pub fn key(session: &str, id: Option<&str>, line: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [session, id.unwrap_or_default(), line] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..KEY].to_string()
}

/// Whether a shell would read a line as its own options.
fn is_like_option(line: &str) -> bool {
    line.starts_with(['-', '+'])
}

fn is_key(text: &str) -> bool {
    text.len() == KEY
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The word that `for_any_shell` wrote; its caller writes it anew and compares.
fn unquoted(text: &str) -> Option<String> {
    let mut word = String::new();
    let mut rest = text;
    while let Some(quote) = rest.chars().next() {
        if quote != '\'' && quote != '"' {
            return word.is_empty().then(|| text.to_string());
        }
        let (inside, after) = rest[1..].split_once(quote)?;
        match (quote, inside) {
            ('"', r"\\") => word.push('\\'),
            _ => word.push_str(inside),
        }
        rest = after;
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn confinement() -> Confinement {
        Confinement {
            program: "/opt/my tools/stockade".into(),
            flags: ["--profile", "workspace"].map(String::from).into(),
            root: "/home/ada/it's".into(),
            reports: Some("/home/ada/.local/state/stockade/hook".into()),
            shell: "bash",
        }
    }

    #[test]
    fn a_line_is_one_word_of_the_rewritten_one() {
        let key = key("s", None, "x");
        let confinement = Confinement {
            program: "/usr/bin/stockade".into(),
            root: "/p".into(),
            reports: None,
            ..confinement()
        };
        assert_eq!(
            confinement.rewritten("echo 'a' && b", &key, Start::Root).unwrap(),
            r#"/usr/bin/stockade run --profile workspace --root /p -- bash -c 'echo '"'"'a'"'"' && b'"#
        );
    }

    #[test]
    fn a_line_that_begins_like_an_option_is_a_line() {
        let key = key("s", None, "--help");
        let text = confinement().rewritten("--help", &key, Start::Root).unwrap();
        assert!(text.ends_with(" -- bash -c -- --help"), "{text}");
        assert_eq!(confinement().inner(&text).as_deref(), Some("--help"));
        for other in [text.replace("-c -- --help", "-c --help"), text.replace("--help", "ls")] {
            assert_eq!(confinement().inner(&other), None, "{other}");
        }
    }

    #[test]
    fn only_what_was_rewritten_is_taken_for_it() {
        let confinement = confinement();
        let good = confinement
            .rewritten("make", &key("s", Some("1"), "make"), Start::Here)
            .unwrap();
        assert_eq!(confinement.inner(&good).as_deref(), Some("make"));
        for other in [
            format!("{good}; id"),
            format!("{good} x"),
            format!("{good}\n"),
            format!(" {good}"),
            good.replace("--profile workspace", "--profile trusted"),
            good.replace("-c 'cd", "-c 'id; cd"),
            good.replace(".json", ".jso"),
            good.replace(" -- bash", " --net all -- bash"),
            "stockade run --profile workspace -- bash -c make".into(),
            format!("{}'a'b", good.strip_suffix("make").unwrap()),
            format!("{}\"$(id)\"", good.strip_suffix("make").unwrap()),
            format!("{}$(id)", good.strip_suffix("make").unwrap()),
            String::new(),
        ] {
            assert_eq!(confinement.inner(&other), None, "{other}");
        }
    }

    #[test]
    fn a_line_that_no_argument_holds_is_refused() {
        let key = key("s", None, "");
        let long = confinement().rewritten(&"a".repeat(1 << 20), &key, Start::Root);
        assert_eq!(long, Err(Unconfinable::TooLong));
    }

    proptest! {
        #[test]
        fn every_line_comes_back(line in "\\PC*|[-+]?[ -~\n\t'\"\\\\$`!]*", here: bool) {
            let start = if here { Start::Here } else { Start::Root };
            let text = confinement().rewritten(&line, &key("s", None, &line), start).unwrap();
            prop_assert_eq!(confinement().inner(&text), Some(line));
        }

        /// What any text looks like to be inside is the whole of the one word that follows the head.
        #[test]
        fn no_text_passes_for_a_rewritten_one(tail in "[ -~\n]*") {
            let confinement = confinement();
            let whole = confinement.rewritten("", &key("s", None, ""), Start::Root).unwrap();
            let text = format!("{}{tail}", whole.strip_suffix("''").unwrap());
            if let Some(line) = confinement.inner(&text) {
                let again = confinement.rewritten(&line, &key("s", None, ""), Start::Root).unwrap();
                let elsewhere = confinement.rewritten(&line, &key("s", None, ""), Start::Here).unwrap();
                prop_assert!(again == text || elsewhere == text);
            }
        }
    }
}
