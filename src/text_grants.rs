//! Grants for resources that a script's text names, beside its profile.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::acting;
use stockade::Sandbox;
use stockade::policy::{Access, Matcher, Policy, is_unsecure};
use stockade::profile::loads_code;
use stockade_infer::{Inference, Setting};
use stockade_judge::lexical;
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
    /// Whether these and the profile cover all that the text seems to need.
    pub is_all: bool,
    /// Resources that the text names and that aren't granted.
    pub left_out: Vec<String>,
}

/// The most flags that are printed, and the most columns of each.
const MOST_SAID: usize = 8;
const LONGEST_SAID: usize = 60;

impl Grants {
    /// Grants the named resources, as exact paths: nothing that is closed, no link, no directory outside the root, and no
    /// variable that holds a secret or affects loading. The launch checks the paths again.
    pub fn of(answer: &Inference, setting: &Setting) -> Grants {
        let least = &answer.least_grants;
        let mut grants = Grants {
            is_all: answer.runs_with == least.flags && answer.runs_as == least.profile,
            ..Grants::default()
        };
        if answer.runs_with.is_empty() {
            return grants;
        }
        let (Some(root), Some(policy)) = (&setting.root, policy_of_lowest(setting)) else {
            return Grants::default();
        };
        let matcher = Matcher::new(&policy);
        let mut said = Vec::new();
        // A path that may be written may be read.
        let (writes, others): (Vec<_>, Vec<_>) = answer
            .runs_with
            .chunks_exact(2)
            .partition(|words| words[0] == "--write");
        for words in writes.into_iter().chain(others) {
            let word = &words[1];
            let given = grants.count();
            match (words[0].as_str(), placed(word, root, setting)) {
                ("--env", _) if may_be_given(word) => grants.env.push(OsString::from(word)),
                ("--read" | "--write", Some(path)) if grants.write.iter().any(|tree| path.starts_with(tree)) => {
                    continue;
                }
                ("--read", Some(path)) if is_readable(&path, root, &matcher) => grants.read.push(path),
                ("--write", Some(path)) => grants.write.extend(writable(path, root, &matcher)),
                _ => {}
            }
            match grants.count() > given {
                true => said.push(format!(
                    " {} {}",
                    words[0],
                    fit::shortened(&quoted(word.as_ref()), LONGEST_SAID)
                )),
                false => grants.left_out.push(command_line(words)),
            }
        }
        let more = said.len().saturating_sub(MOST_SAID);
        said.truncate(MOST_SAID);
        grants.said = said.concat();
        if more > 0 {
            grants.said += &format!(" and {more} more");
        }
        grants.is_all &= grants.left_out.is_empty();
        grants
    }

    fn count(&self) -> usize {
        self.read.len() + self.write.len() + self.env.len()
    }
}

/// Whether a variable that a text names may be passed: it is a valid name, and doesn't affect loading.
fn may_be_given(name: &str) -> bool {
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let holds = || std::env::var_os(name).is_some_and(|value| holds_secret(&value.to_string_lossy()));
    is_name && !is_unsecure(name.as_ref()) && name != "PATH" && !loads_code(name) && !holds()
}

/// Resolves a path of a text lexically, `.` and `..` included.
fn placed(word: &str, root: &Path, setting: &Setting) -> Option<PathBuf> {
    let path = match word.strip_prefix("~/") {
        Some(rest) => setting.home.as_ref()?.join(rest),
        None => root.join(word),
    };
    Some(lexical(&path))
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
