//! Programs that Stockade starts unconfined, as the user: `on_violation`, `--ask command=TEXT`.
//!
//! They are resolved once, before a run starts, and the run is denied the files that they consist of. Files that such a
//! program reads or executes by itself can't be derived from its command line.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::command;

/// The most words of a command line to examine. No command line needs more.
const MAX_WORDS: usize = 64;

/// The most directories of a command line below which its other words are looked up, as after `cd`.
const MAX_DIRECTORIES: usize = 4;

/// Their working directory. In the run's root, interpreters and `make` would load files of the run on their own.
pub const DIRECTORY: &str = "/";

/// The environment in which Stockade starts them.
pub struct UnconfinedCaller {
    /// The working directory.
    pub directory: PathBuf,
    /// `PATH`.
    pub search_path: Option<OsString>,
    /// `HOME`.
    pub home: Option<PathBuf>,
}

impl UnconfinedCaller {
    /// The environment of this process, in [`DIRECTORY`].
    pub fn of_process() -> UnconfinedCaller {
        UnconfinedCaller {
            directory: DIRECTORY.into(),
            search_path: std::env::var_os("PATH"),
            home: std::env::var_os("HOME").map(PathBuf::from),
        }
    }

    /// The absolute path of a program, looked up in `PATH`. Entries that aren't absolute are ignored.
    pub fn program(&self, name: &OsStr) -> Option<PathBuf> {
        self.find(name).map(|found| found.program)
    }

    /// The files that a command consists of: its program with the interpreters of its `#!` lines, and the files that its words
    /// name. For a name found in `PATH` also its candidates in the earlier directories, for one not found those in all.
    pub fn files(&self, program: &OsStr, arguments: &[&OsStr]) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let words: Vec<OsString> = std::iter::once(program)
            .chain(arguments.iter().copied())
            .flat_map(|word| self.words(word))
            .take(MAX_WORDS)
            .collect();
        let below = words.iter().map(|word| self.directory.join(word));
        let mut directories: Vec<PathBuf> = below.filter(|path| path.is_dir()).take(MAX_DIRECTORIES).collect();
        directories.push(self.directory.clone());
        for word in &words {
            files.extend(self.named(word, &directories));
        }
        files.sort();
        files.dedup();
        files
    }

    /// The files that one word may name.
    fn named(&self, word: &OsStr, directories: &[PathBuf]) -> Vec<PathBuf> {
        let is_path = word.as_bytes().contains(&b'/');
        let is_whole_line = word.as_bytes().iter().any(u8::is_ascii_whitespace);
        let here = directories.iter().map(|directory| plain(&directory.join(word)));
        let counts = |path: &PathBuf| match fs::metadata(path) {
            Ok(metadata) => metadata.is_file(),
            Err(_) => is_path && !is_whole_line,
        };
        let mut files: Vec<PathBuf> = here.filter(counts).collect();
        let found = self.find(word);
        if !is_path && is_name(word) {
            let path = self.search_path.as_deref().unwrap_or_default();
            for directory in std::env::split_paths(path).filter(|directory| directory.is_absolute()) {
                let candidate = directory.join(word);
                let is_last = found.as_ref().is_some_and(|found| found.program == candidate);
                files.push(candidate);
                if is_last {
                    break;
                }
            }
        }
        if let Some(found) = found {
            files.extend([found.program]);
            files.extend(found.executables);
        }
        files
    }

    fn find(&self, word: &OsStr) -> Option<command::ResolvedCommand> {
        let argv = [word.to_owned()];
        command::find(&command::Request {
            argv: &argv,
            root: &self.directory,
            search_path: self.search_path.as_deref(),
            home: self.home.as_deref(),
            variable: &|_| None,
            others: None,
            written: &[],
            is_foreign: false,
            script: None,
        })
        .ok()
    }

    /// The word itself, and the words that a shell would split it into.
    fn words(&self, text: &OsStr) -> Vec<OsString> {
        let mut words = vec![text.to_owned()];
        let Some(text) = text.to_str() else { return words };
        let home = self.home.as_deref().and_then(Path::to_str).unwrap_or("~");
        for word in split(text) {
            let word = match word.strip_prefix("~/") {
                Some(rest) => format!("{home}/{rest}"),
                None => word.replace("${HOME}", home).replace("$HOME", home),
            };
            words.extend(word.split_once('=').map(|(_, value)| OsString::from(value)));
            words.push(word.into());
        }
        words.retain(|word| !word.is_empty());
        words
    }
}

/// Splits a shell's command line into words, whatever they mean. Characters after a backslash or in quotes belong to the word.
pub fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let word = words.last_mut().expect("there is always one");
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None | Some('"'), '\\') => word.extend(characters.next()),
            (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' | '`' | '{' | '}') if word != "$" => {
                words.push(String::new());
            }
            _ => word.push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a word can be the name of a program, rather than an option or a number.
fn is_name(word: &OsStr) -> bool {
    let bytes = word.as_bytes();
    let of_names = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(byte);
    !bytes.starts_with(b"-") && bytes.iter().all(of_names) && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Removes `.`; keeps `..`, whose meaning depends on links.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn files(command: &str) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for (name, text) in [
            ("here/ask.sh", "#!/bin/sh\n"),
            ("here/with blank", "x"),
            ("here/sub/inner.sh", "#!/bin/sh\n"),
            ("home/own.py", "x"),
            ("two/notify", "#!/bin/sh\n"),
            ("three/notify", "#!/bin/sh\n"),
        ] {
            let path = place.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let caller = UnconfinedCaller {
            directory: place.join("here"),
            search_path: Some(std::env::join_paths(["one", "two", "three"].map(|name| place.join(name))).unwrap()),
            home: Some(place.join("home")),
        };
        let files = caller.files(OsStr::new("/bin/sh"), &[OsStr::new("-c"), OsStr::new(command)]);
        let below = |file: &PathBuf| Some(file.strip_prefix(&place).ok()?.to_str()?.to_owned());
        files.iter().filter_map(below).collect()
    }

    #[test]
    fn every_file_that_the_words_of_a_command_name_belongs_to_it() {
        assert_eq!(files("./ask.sh --now"), ["here/ask.sh"]);
        assert_eq!(files("exec sh ask.sh")[0], "here/ask.sh");
        assert_eq!(files("'./with blank' 2>&1|cat")[0], "here/with blank");
        assert_eq!(files("/x/python3 \"$HOME/own.py\""), ["home/own.py"]);
        assert_eq!(files("/x/python3 ~/own.py"), ["home/own.py"]);
        assert_eq!(files("FILE=ask.sh; \\. $FILE")[0], "here/ask.sh");
        assert!(files("cd sub && ./inner.sh").contains(&"here/sub/inner.sh".into()));
    }

    #[test]
    fn a_name_is_kept_free_before_the_directory_where_path_finds_it() {
        assert_eq!(files("notify --all"), ["one/notify", "two/notify"]);
        assert_eq!(files("absent"), ["one/absent", "three/absent", "two/absent"]);
        assert_eq!(files("./absent"), ["here/absent"]);
    }

    #[test]
    fn a_program_is_found_with_its_interpreter() {
        let caller = UnconfinedCaller {
            directory: "/".into(),
            search_path: Some("/bin".into()),
            home: None,
        };
        assert_eq!(caller.program(OsStr::new("sh")), Some("/bin/sh".into()));
        assert_eq!(caller.program(OsStr::new("no-such-program")), None);
        let real = fs::canonicalize("/bin/sh").unwrap();
        assert!(caller.files(OsStr::new("sh"), &[]).contains(&real));
    }
}
