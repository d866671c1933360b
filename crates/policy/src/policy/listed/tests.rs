use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use globset::{Glob, GlobBuilder, GlobSet};

use super::*;

const TEXT: &str = include_str!("closed.txt");

/// The definition: each line as globs, tried on the path and each directory above it.
pub fn closes(listed: &Listed, path: &Path) -> bool {
    static MADE: Mutex<BTreeMap<Listed, Arc<Globs>>> = Mutex::new(BTreeMap::new());
    let globs = {
        let mut made = MADE.lock().unwrap();
        Arc::clone(
            made.entry(listed.clone())
                .or_insert_with(|| Arc::new(Globs::of(listed))),
        )
    };
    let is_opened = listed.open.iter().any(|open| path.starts_with(&open.0));
    let parts: Vec<&Path> = path.ancestors().collect();
    let closes = |index: usize| globs.close(parts[index]) && !(index > 0 && globs.open_inside(parts[index - 1]));
    !is_opened && (0..parts.len()).any(closes)
}

struct Globs {
    literal: GlobSet,
    wild: GlobSet,
    open: GlobSet,
    /// What is open in a closed directory.
    inside: GlobSet,
}

impl Globs {
    fn of(listed: &Listed) -> Globs {
        let [mut literal, mut wild, mut open, mut inside] = [const { Vec::new() }; 4];
        let kind = match listed.list {
            SecretList::Secret => "secret",
            SecretList::Key => "key",
            SecretList::Guarded => "guarded",
            SecretList::Folder => "folder",
            SecretList::Project => "project",
        };
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let head = line.split('|').next().unwrap();
            let (word, pattern) = head.trim().split_once(' ').unwrap();
            let of_homes = pattern
                .strip_prefix("**/")
                .filter(|_| word == "project" && kind == "guarded");
            let (word, pattern) = match of_homes {
                Some(rest) => (kind, format!("~/{rest}")),
                None => (word, pattern.to_owned()),
            };
            let pattern = pattern.as_str();
            for glob in absolute(pattern, &listed.entries) {
                let glob = GlobBuilder::new(&glob)
                    .literal_separator(true)
                    .case_insensitive(true)
                    .build();
                let glob = glob.unwrap();
                match word {
                    "open" if pattern.trim_start_matches("**/").contains('/') => inside.push(glob),
                    "open" => open.push(glob),
                    word if word != kind => {}
                    _ if pattern.contains('*') && pattern.trim_start_matches("**/").contains('*') => wild.push(glob),
                    _ => literal.push(glob),
                }
            }
        }
        let set = |globs: Vec<Glob>| GlobSet::new(globs).unwrap();
        Globs {
            literal: set(literal),
            wild: set(wild),
            open: set(open),
            inside: set(inside),
        }
    }

    fn open_inside(&self, path: &Path) -> bool {
        self.inside.is_match(path) && !self.literal.is_match(path)
    }

    fn close(&self, path: &Path) -> bool {
        self.literal.is_match(path) || self.wild.is_match(path) && !self.open.is_match(path)
    }
}

/// The absolute globs of a pattern.
fn absolute(pattern: &str, entries: &[Entry]) -> Vec<String> {
    let Some(rest) = pattern.strip_prefix("~/") else {
        return vec![format!("/{}", pattern.trim_start_matches('/'))];
    };
    let parents = PARENTS_OF_HOMES.iter().map(|parent| format!("{parent}/*/{rest}"));
    let entries = entries.iter().map(|entry| {
        assert_eq!(entry.at, Path::new(""), "the definition is about homes");
        format!("{}/{rest}", entry.place.display())
    });
    parents.chain(entries).collect()
}

fn listed(list: SecretList, entries: &[(&str, &str)]) -> Closing {
    let entry = |(place, at): &(&str, &str)| Entry {
        place: PathBuf::from(place),
        at: PathBuf::from(at),
    };
    Closing::new(&Listed {
        list,
        entries: entries.iter().map(entry).collect(),
        open: [].into(),
    })
}

#[test]
fn names_of_a_home_are_closed_in_every_home_and_nowhere_else() {
    let closing = listed(SecretList::Secret, &[("/root", ""), ("/srv/ada", "")]);
    let closes = |path: &str| closing.line(Path::new(path)).is_some();
    for home in ["/root", "/srv/ada", "/home/bob", "/var/home/eve"] {
        assert!(closes(&format!("{home}/.npmrc")), "{home}");
    }
    assert!(!closes("/w/.npmrc"));
    assert!(!closes("/home/bob/project/.npmrc"));
    assert!(!closes("/srv/.npmrc") && !closes("/.npmrc"));
}

#[test]
fn names_of_a_home_are_closed_where_that_is_the_root_directory() {
    for list in [SecretList::Secret, SecretList::Guarded] {
        let closing = listed(list, &[("//", "")]);
        for path in paths_of_homes(list) {
            let path = Path::new("/").join(path.to_str().unwrap().replace('*', "x"));
            assert!(closing.line(&path).is_some(), "{}", path.display());
        }
        assert!(closing.is_placed_below(Path::new("/")));
    }
    let closing = listed(SecretList::Secret, &[("/", "")]);
    assert!(!closing.is_placed_below(Path::new("/srv")));
    assert!(closing.line(Path::new("/srv/.npmrc")).is_none());
}

#[test]
fn every_closed_path_stays_closed_however_the_slashes_of_its_home_are_written() {
    for list in SecretList::ALL {
        for spelling in ["/srv/ada/", "/srv/ada//", "/srv/ada/.", "/srv//ada", "//srv/./ada"] {
            let homes = listed(list, &[(spelling, ""), (spelling, ".config/gh")]);
            for path in paths_of_homes(list) {
                let path = Path::new("/srv/ada").join(path.to_str().unwrap().replace('*', "x"));
                assert!(homes.line(&path).is_some(), "{} with {spelling}", path.display());
            }
        }
    }
}

#[test]
fn a_place_that_a_variable_moved_is_closed_where_it_is() {
    let closing = listed(
        SecretList::Secret,
        &[("/data/cargo", ".cargo"), ("/k/config", ".kube/config")],
    );
    let closes = |path: &str| closing.line(Path::new(path)).is_some();
    assert!(closes("/data/cargo/credentials.toml"));
    assert!(closes("/k/config") && closes("/k/config/x"));
    assert!(!closes("/data/cargo/bin/x") && !closes("/k/other"));
}

#[test]
fn templates_and_public_keys_are_open_and_what_only_looks_like_one_is_not() {
    let closing = listed(SecretList::Key, &[]);
    let closes = |path: &str| closing.line(Path::new(path)).is_some();
    for open in [
        "/w/.env.example",
        "/w/.env.SAMPLE",
        "/w/id_rsa.pub",
        "/w/environment",
        "/w/keyboard.txt",
    ] {
        assert!(!closes(open), "{open}");
    }
    for closed in [
        "/w/.env",
        "/w/.ENV",
        "/w/.env.local",
        "/w/.env.example.local",
        "/w/.env/x",
        "/w/id_rsa",
        "/w/x.PEM",
    ] {
        assert!(closes(closed), "{closed}");
    }
}

#[test]
fn what_a_person_opened_is_open_with_all_below_it() {
    let mut all = Listed {
        list: SecretList::Secret,
        entries: [].into(),
        open: [Opened(PathBuf::from("/home/ada/.aws/config"))].into(),
    };
    let closes = |listed: &Listed, path: &str| Closing::new(listed).line(Path::new(path)).is_some();
    assert!(!closes(&all, "/home/ada/.aws/config"));
    assert!(closes(&all, "/home/ada/.aws/credentials"));
    all.open = [Opened(PathBuf::from("/home/ada/.aws"))].into();
    assert!(!closes(&all, "/home/ada/.aws/credentials"));
    assert!(closes(&all, "/home/bob/.aws/credentials"));
}

#[test]
fn every_line_has_a_list_and_says_what_it_holds() {
    for (list, line) in lines() {
        assert!(
            !line.holds().is_empty() && !line.owner().is_empty() && !line.source().is_empty(),
            "{line:?}"
        );
        assert!(list.tree().nodes.iter().any(|node| node.line != NONE));
    }
    let longest = TEXT.lines().map(str::len).max();
    assert!(longest <= Some(128), "{longest:?}");
}

#[test]
fn a_line_names_the_place_that_it_closes() {
    let closing = listed(SecretList::Secret, &[("/root", "")]);
    let target = |path: &str| closing.target(Path::new(path));
    assert_eq!(
        target("/root/.npmrc"),
        Some(Target::Path(PathBuf::from("/root/.npmrc")))
    );
    let anywhere = Target::Glob {
        below: PathBuf::from("/"),
        glob: "**/.ssh".into(),
    };
    assert_eq!(target("/w/.ssh/x/y"), Some(anywhere));
    assert_eq!(target("/w"), None);
}

#[test]
fn what_a_machine_starts_and_loads_is_guarded_and_what_else_it_has_is_not() {
    let closing = listed(SecretList::Guarded, &[]);
    let closes = |path: &str| closing.line(Path::new(path)).is_some();
    for path in [
        "/etc/systemd/system/a.service",
        "/etc/ld.so.conf.d/a.conf",
        "/etc/skel/.bashrc",
        "/etc/apt/apt.conf.d/9",
    ] {
        assert!(closes(path), "{path}");
    }
    for path in [
        "/etc/systemd/journald.conf",
        "/etc/apt/sources.list",
        "/etc/X11/fonts",
        "/etc/hosts",
    ] {
        assert!(!closes(path), "{path}");
    }
}

#[test]
fn in_a_closed_directory_is_open_what_the_list_names() {
    let closes = |list, path: &str| listed(list, &[]).line(Path::new(path)).is_some();
    for open in [
        "/w/.claude/worktrees",
        "/w/.claude/worktrees/x/src/a",
        "/w/.CLAUDE/Worktrees/x",
    ] {
        assert!(!closes(SecretList::Project, open), "{open}");
    }
    for closed in [
        "/w/.claude",
        "/w/.claude/settings.json",
        "/w/.claude/worktrees/x/.claude",
        "/w/.claude/worktrees/x/.mcp.json",
        "/w/.claude/x/worktrees",
    ] {
        assert!(closes(SecretList::Project, closed), "{closed}");
    }
    assert!(closes(SecretList::Guarded, "/w/.jj/repo") && closes(SecretList::Guarded, "/w/.jj/repo/config.toml"));
    assert!(!closes(SecretList::Guarded, "/w/.jj/repo/store/x") && !closes(SecretList::Guarded, "/w/.jj/working_copy"));
}
