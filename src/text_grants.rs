//! Grants for resources that a script's text names, beside its profile.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::acting;
use super::ask::Ask;
use stockade::Sandbox;
use stockade_infer::{Effect, Inference, LeftOut, Setting};
use stockade_judge::lexical;
use stockade_policy::policy::{Access, Matcher, Policy, is_unsecure};
use stockade_policy::profile::{loads_code, visible};
use stockade_text::mask::holds_secret;
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit;

/// The grants of a script beside its profile.
#[derive(Debug, Default)]
pub struct Grants {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub env: Vec<OsString>,
    /// As flags.
    pub said: String,
    /// What the text seems to need and neither these nor the profile grant.
    pub left_out: Vec<LeftOut>,
}

/// The most flags that are printed, and the most columns of each. What isn't printed isn't granted.
const MAX_SAID: usize = 8;
const MAX_COLUMNS: usize = 120;

/// Resources that one flag of a text names.
struct Named<'w> {
    words: &'w [String],
    granted: Vec<PathBuf>,
    /// The directory whose other files of the kind are told by their number: for files to read, and for new ones.
    below: Option<&'w str>,
}

impl Grants {
    /// Grants the named resources, as exact paths: nothing that is closed, no link, no directory outside the root, and no
    /// variable that holds a secret or affects loading. The launch checks the paths again.
    pub fn of(answer: &Inference, setting: &Setting) -> Grants {
        let mut grants = Grants {
            left_out: answer.left_out.clone(),
            ..Grants::default()
        };
        if answer.runs_with.is_empty() {
            return grants;
        }
        let (Some(root), Some(policy)) = (&setting.root, policy_of_lowest(setting)) else {
            return Grants::default();
        };
        let matcher = Matcher::new(&policy);
        // A path that may be written may be read.
        let (writes, others): (Vec<_>, Vec<_>) = answer
            .runs_with
            .chunks_exact(2)
            .partition(|words| words[0] == "--write");
        let makes: Vec<String> = answer.makes.iter().map(|made| setting.absolute(made)).collect();
        let mut all: Vec<Named<'_>> = Vec::new();
        for words in writes.into_iter().chain(others) {
            let word = &words[1];
            let path = placed(word, root);
            let is_written = |path: &PathBuf| {
                let mut writes = all.iter().filter(|named| named.words[0] == "--write");
                writes.any(|named| named.granted.iter().any(|tree| path.starts_with(tree)))
            };
            let granted = match (words[0].as_str(), path) {
                ("--env", _) if may_be_given(word) => vec![PathBuf::from(word)],
                ("--read" | "--write", Some(path)) if is_written(&path) => continue,
                // Making a directory that is there takes no right.
                ("--write", Some(path)) if makes.contains(word) && path.is_dir() => continue,
                ("--read", Some(path)) if is_readable(&path, root, &matcher) => vec![path],
                ("--write", Some(path)) => writable(path, root, &matcher),
                _ => Vec::new(),
            };
            let is_short = fit::columns(&quoted(word.as_ref())) <= MAX_COLUMNS;
            match granted.is_empty() || !is_short {
                true => grants.leave_out(words),
                false => all.push(Named {
                    below: directory_of(words, setting).filter(|_| words[0] == "--read" || !granted[0].exists()),
                    words,
                    granted,
                }),
            }
        }
        grants.take(all);
        grants
    }

    fn leave_out(&mut self, words: &[String]) {
        self.left_out.push(LeftOut {
            effect: match words[0].as_str() {
                "--read" => Effect::Read,
                "--write" => Effect::Write,
                _ => Effect::Env,
            },
            target: words[1].clone(),
            flags: words.to_vec(),
        });
    }

    /// What becomes of the rest, as `asks for the rest: host example.com (--host example.com), reading ./a and 3 more`, no
    /// more than `most` of it.
    pub fn rest(&self, ask: &Ask, most: usize) -> Option<String> {
        let said: Vec<String> = self.left_out.iter().map(said_of).collect();
        let more = match said.len().saturating_sub(most) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verb = match ask {
            _ if self.left_out.iter().all(|act| act.effect == Effect::Env) => "lacks",
            Ask::Never => "is refused the rest:",
            _ => "asks for the rest:",
        };
        (!said.is_empty()).then(|| format!("{verb} {}{more}", said[..said.len().min(most)].join(", ")))
    }

    /// Grants what can be said in a line: what is there to be written first, of other files one for all of a directory.
    fn take(&mut self, mut all: Vec<Named<'_>>) {
        all.sort_by_key(|named| {
            (
                named.below.is_some(),
                named.words[0] != "--write" || !named.granted[0].exists(),
            )
        });
        let mut said: Vec<(&Named<'_>, usize)> = Vec::new();
        for named in &all {
            let is_alike = |(told, _): &&mut (&Named<'_>, usize)| {
                named.below.is_some() && (told.below, &told.words[0]) == (named.below, &named.words[0])
            };
            let has_room = said.len() < MAX_SAID;
            match said.iter_mut().find(is_alike) {
                Some((_, count)) => *count += 1,
                None if has_room => said.push((named, 0)),
                None => {
                    self.leave_out(named.words);
                    continue;
                }
            }
            let granted = named.granted.iter().cloned();
            match named.words[0].as_str() {
                "--read" => self.read.extend(granted),
                "--write" => self.write.extend(granted),
                _ => self.env.extend(granted.map(OsString::from)),
            }
        }
        for (named, more) in said {
            self.said += &format!(" {} {}", named.words[0], quoted(named.words[1].as_ref()));
            if let (Some(below), 1..) = (named.below, more) {
                self.said += &format!(" and {more} more under {}", quoted(below.as_ref()));
            }
        }
    }
}

/// An act that isn't granted, with the flag that would.
fn said_of(act: &LeftOut) -> String {
    let target = visible(&act.target);
    let what = match act.effect {
        Effect::Read => format!("reading {target}"),
        Effect::Write => format!("writing {target}"),
        Effect::Connect if act.target == "*" => "computed hosts".into(),
        Effect::Connect => format!("host {target}"),
        Effect::Listen => format!("listening on {target}"),
        Effect::Env if act.target == "*" => "computed variables".into(),
        Effect::Env => format!("variable {target}"),
        Effect::Start => format!("starting {target}"),
        Effect::Dynamic => target.into_owned(),
    };
    // A variable is never asked for: the program finds it missing and goes on.
    let only = if act.effect == Effect::Env { "only by " } else { "" };
    match act.flags.is_empty() {
        true => what,
        false => format!("{what} ({only}`{}`)", visible(&command_line(&act.flags))),
    }
}

/// The directory of a path as it is written, unless that is the root, the home or `/tmp`.
fn directory_of<'w>(words: &'w [String], setting: &Setting) -> Option<&'w str> {
    let (directory, _) = words[1].trim_end_matches('/').rsplit_once('/')?;
    let is_home = setting.home.as_deref() == Some(Path::new(directory));
    (words[0] != "--env" && !is_home && !["", ".", "/tmp"].contains(&directory)).then_some(directory)
}

/// Whether a variable that a text names may be passed: it is a valid name, and doesn't affect loading.
fn may_be_given(name: &str) -> bool {
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let holds = || std::env::var_os(name).is_some_and(|value| holds_secret(&value.to_string_lossy()));
    is_name && !is_unsecure(name.as_ref()) && name != "PATH" && !loads_code(name) && !holds()
}

/// Resolves a path of a text lexically, `.` and `..` included.
fn placed(word: &str, root: &Path) -> Option<PathBuf> {
    (!word.starts_with("~/")).then(|| lexical(&root.join(word)))
}

fn is_itself(path: &Path) -> bool {
    std::fs::canonicalize(path).is_ok_and(|real| real == path)
}

fn is_readable(path: &Path, root: &Path, matcher: &Matcher<'_>) -> bool {
    let is_below = path.starts_with(root) && path != root;
    is_itself(path) && (is_below || path.is_file()) && matcher.denial(Access::READ, path, path.is_dir()).is_none()
}

/// What is granted to write a path: itself, or the first directory above that isn't there; nothing where that isn't what its path
/// says, is closed, or is a directory outside the root. With what SQLite makes beside a database (sqlite.org, "Temporary Files").
fn writable(path: PathBuf, root: &Path, matcher: &Matcher<'_>) -> Vec<PathBuf> {
    let absent = path.ancestors().take_while(|above| above.symlink_metadata().is_err());
    let first = absent.last().unwrap_or(&path).to_path_buf();
    let is_near = |path: &Path| match path.symlink_metadata() {
        Ok(found) => found.is_file() || found.is_dir() && path.starts_with(root) && path != root,
        Err(_) => true,
    };
    let is_above_itself = |path: &Path| path.parent().is_some_and(is_itself);
    let is_given = |path: &PathBuf| {
        is_near(path)
            && is_above_itself(path)
            && matcher.denial(Access::WRITE, path, path.is_dir()).is_none()
            && matcher.denial(Access::WRITE, path, false).is_none()
    };
    let ending = path.extension().and_then(OsStr::to_str);
    let suffixes: &[&str] = match ending {
        Some("db" | "db3" | "sqlite" | "sqlite3") if first == path => &["", "-journal", "-wal", "-shm"],
        _ => &[""],
    };
    let beside = |suffix: &&str| {
        let mut name = first.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let all: Vec<PathBuf> = suffixes.iter().map(beside).collect();
    // Check the whole path too: a closed path may lie in the new directory.
    match is_given(&first) && matcher.denial(Access::WRITE, &path, false).is_none() {
        true => all.into_iter().filter(is_given).collect(),
        false => Vec::new(),
    }
}

fn policy_of_lowest(setting: &Setting) -> Option<Policy> {
    let sandbox = Sandbox::profile(acting::LOWEST).ok()?;
    let root = setting.root.as_ref()?;
    sandbox.root(root).policy_of_any_command().ok()
}
