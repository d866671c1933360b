//! The places of homes and of files that belong in one: the paths on the built-in lists are closed in all of them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::links_inside::LinksInside;
use super::mounts::Mounts;
use crate::config::Secrets;
use crate::policy::{
    Entry, ListedNames, Opened, PARENTS_OF_HOMES, SecretList, moved_places, names_anywhere, paths_of_homes,
};
use crate::real_path::Walker;
use crate::surroundings::Surroundings;
use crate::user_database::UserDatabase;
use stockade_sys::notify;

/// The most homes of the user database, and the most children of `/home` that are searched for links.
const MAX_HOMES: usize = 256;

/// All homes, and the places that variables name. Links are unresolved.
pub(super) fn entries(surroundings: &Surroundings) -> Vec<Entry> {
    let own = surroundings.home.iter().chain(&surroundings.named_home).cloned();
    // Also `/`, which a container gives a user without an entry.
    let relative = surroundings
        .variable("HOME")
        .map(|home| surroundings.directory.join(home));
    let own = own.chain(relative);
    let all = own.chain([PathBuf::from("/root")]).chain(surroundings.users.homes());
    let homes = all.map(home);
    let entries: BTreeSet<Entry> = homes.chain(moved(surroundings)).collect();
    entries.into_iter().collect()
}

/// The paths that a person opened, unresolved: a run that may write there could replace them by a link to another
/// secret.
pub(super) fn opened(surroundings: &Surroundings, secrets: &Secrets) -> Vec<Opened> {
    let absolute = |path: &PathBuf| match path.strip_prefix("~") {
        Ok(rest) => surroundings.home.as_ref().map(|home| home.join(rest)),
        Err(_) => Some(path.clone()),
    };
    let rules = secrets.open.iter();
    rules.filter_map(|rule| absolute(&rule.value)).map(Opened).collect()
}

/// The homes of another machine that is mounted at a place: root's, those of its user database and the usual ones.
fn of_machine(place: &Path) -> Vec<PathBuf> {
    let there = |path: &Path| place.join(path.strip_prefix("/").unwrap_or(path));
    let named = UserDatabase::read(&place.join("etc/passwd")).homes();
    let parents = PARENTS_OF_HOMES.iter().map(|parent| there(Path::new(parent)));
    let usual = parents.flat_map(|parent| children(&parent));
    let known = named.iter().map(|home| there(home)).chain([place.join("root")]);
    known.chain(usual).take(MAX_HOMES).collect()
}

fn children(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.take(MAX_HOMES).map(|entry| entry.path())
}

/// The places to which the caller's variables move files.
fn moved(surroundings: &Surroundings) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (variable, at) in moved_places() {
        let Some(value) = surroundings.variable(variable) else {
            continue;
        };
        // For a single path the colon may be part of it.
        let parts = std::env::split_paths(&value).chain([PathBuf::from(&value)]);
        let written: BTreeSet<_> = parts.filter(|place| !place.as_os_str().is_empty()).collect();
        // Some programs expand a tilde that the shell left, such as the AWS command line.
        let expanded = |place: &PathBuf| Some(surroundings.home.as_ref()?.join(place.strip_prefix("~").ok()?));
        let expanded = written.iter().filter_map(expanded);
        // Many programs use `ENV` as the name of a stage. A shell reads it as a file, relative to its directory.
        let written = written.iter().filter(|place| variable != "ENV" || place.is_absolute());
        let all = expanded.chain(written.map(|place| surroundings.directory.join(place)));
        for place in all {
            let holds_home = surroundings
                .home
                .as_ref()
                .is_some_and(|home| home.starts_with(&place) && *home != place);
            if place != Path::new("/") && !holds_home && may_hold_files(&place) {
                entries.push(Entry {
                    place,
                    at: PathBuf::from(at),
                });
            }
        }
    }
    entries
}

/// Whether files may be there. Files that a variable moves to `/dev/null` don't exist.
fn may_hold_files(place: &Path) -> bool {
    fs::metadata(place).map_or(true, |found| found.is_file() || found.is_dir())
}

/// How links among the listed names are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HomesLookedAt {
    /// In every home, by listing it.
    All,
    /// In the caller's, one name after the other: in a nested run listing is refused, and reported there.
    Own,
}

/// How links are found from here, and the caller's homes.
pub(super) fn looking(surroundings: &Surroundings) -> (HomesLookedAt, Vec<PathBuf>) {
    let own = surroundings.home.iter().chain(&surroundings.named_home).cloned();
    match notify::is_available() {
        true => (HomesLookedAt::All, own.collect()),
        false => (HomesLookedAt::Own, own.collect()),
    }
}

/// The entries, extended by the targets of links among the listed names and by their other mounts, and the links on the
/// way. Adds the links inside directories that are closed as a whole.
pub(super) fn elsewhere(
    entries: &[Entry],
    (looking, inside): (HomesLookedAt, &mut LinksInside<'_>),
    walker: &mut Walker,
    mounts: &Mounts,
) -> (Vec<Entry>, BTreeSet<PathBuf>) {
    let mut all: BTreeSet<Entry> = entries.iter().cloned().collect();
    let (around, (behind, links)) = match looking {
        HomesLookedAt::All => {
            let others = PARENTS_OF_HOMES.iter().flat_map(|parent| children(parent.as_ref()));
            let others = others.take(MAX_HOMES).map(home);
            let around: Vec<Entry> = entries.iter().cloned().chain(others).collect();
            let behind = behind_links(&around, inside, walker);
            (around, behind)
        }
        HomesLookedAt::Own => (entries.to_vec(), behind_names(inside.own, walker)),
    };
    all.extend(behind.iter().cloned());
    let mut others: Vec<PathBuf> = mounts
        .machines()
        .iter()
        .flat_map(|machine| of_machine(machine))
        .collect();
    if !mounts.show_nothing_twice() {
        // All homes of another machine, as a volume or a subvolume.
        let volumes = mounts
            .parts()
            .filter(|(root, _)| root.ends_with("home") || root.ends_with("@home"));
        others.extend(volumes.flat_map(|(_, place)| children(place)));
    }
    let behind_others: Vec<_> = others.iter().map(|place| walker.walk(place).real).collect();
    let others: BTreeSet<Entry> = others.into_iter().chain(behind_others).map(home).collect();
    all.extend(others.iter().cloned());
    if !mounts.show_nothing_twice() {
        for entry in around.iter().chain(&behind).chain(&others) {
            all.extend(mounts.showing(&entry.place).into_iter().map(|shown| Entry {
                place: shown.place,
                at: entry.at.join(shown.part),
            }));
        }
        for (layer, place) in mounts.unknown_overlays() {
            all.insert(home(place.clone()));
            all.extend(part_of_home(layer, place));
        }
        all.extend(mounts.parts().filter_map(|(root, place)| part_of_home(root, place)));
    }
    (all.into_iter().filter(is_of_use).collect(), links)
}

/// The targets of the listed names in these homes, and the links on the way.
fn behind_names(homes: &[PathBuf], walker: &mut Walker) -> (Vec<Entry>, BTreeSet<PathBuf>) {
    let of_list = |list: SecretList| paths_of_homes(list).into_iter().chain(names_anywhere(list));
    let mut found = BTreeSet::new();
    let mut links = BTreeSet::new();
    for at in SecretList::ALL.into_iter().flat_map(of_list).chain([PathBuf::new()]) {
        for home in homes {
            let place: PathBuf = home.join(&at).components().collect();
            let walked = walker.walk(&place);
            links.extend(walked.links);
            if walked.real != place {
                found.insert(Entry {
                    place: walked.real,
                    at: at.clone(),
                });
            }
        }
    }
    (found.into_iter().collect(), links)
}

fn home(place: PathBuf) -> Entry {
    Entry {
        place,
        at: PathBuf::new(),
    }
}

/// Whether the lists have anything for the place.
fn is_of_use(entry: &Entry) -> bool {
    ListedNames::at(&entry.at).know_place()
}

/// A mount of part of a home, by its path in the file system: perhaps of another mount namespace, whose paths aren't
/// known here.
fn part_of_home(root: &Path, place: &Path) -> Option<Entry> {
    let parents = PARENTS_OF_HOMES.iter().map(Path::new);
    let below = parents
        .filter_map(|parent| root.strip_prefix(parent).ok())
        .map(|rest| rest.components().skip(1).collect());
    let of_root = root.strip_prefix("/root").ok().map(PathBuf::from);
    let at = below
        .chain(of_root)
        .next()
        .or_else(|| root.file_name().map(PathBuf::from))?;
    // A whole home of another namespace has its path in `/home`.
    let is_home = at.as_os_str().is_empty() && (root == Path::new("/root") || root.parent().is_some_and(is_parent));
    (is_home || !at.as_os_str().is_empty()).then(|| Entry {
        place: place.to_path_buf(),
        at,
    })
}

fn is_parent(directory: &Path) -> bool {
    PARENTS_OF_HOMES.iter().any(|parent| directory == Path::new(parent))
}

/// Whether the target of a link is closed for its sake: of root's links, the caller's, and those whose owner owns the
/// target. Otherwise any user could close the system's files to the runs of others.
pub(super) fn may_lead(place: &Path) -> bool {
    let Ok(link) = place.symlink_metadata() else {
        return true;
    };
    let is_owners = || place.metadata().is_ok_and(|target| target.uid() == link.uid());
    !link.is_symlink() || link.uid() == 0 || link.uid() == nix::unistd::geteuid().as_raw() || is_owners()
}

/// A place to search for links.
struct HomeAhead {
    entry: Entry,
    /// The listed names below it.
    names: ListedNames,
    /// Whether it was listed as a directory at its real path: no link leads there.
    is_real: bool,
}

/// The targets of links among the listed names, as further entries, and the links on the way.
fn behind_links(
    entries: &[Entry],
    inside: &mut LinksInside<'_>,
    walker: &mut Walker,
) -> (Vec<Entry>, BTreeSet<PathBuf>) {
    let mut found = BTreeSet::new();
    let mut links = BTreeSet::new();
    let mut seen: BTreeSet<Entry> = entries.iter().cloned().collect();
    let as_written = |entry: &Entry| HomeAhead {
        entry: entry.clone(),
        names: ListedNames::at(&entry.at),
        is_real: false,
    };
    let mut ahead: Vec<HomeAhead> = entries.iter().map(as_written).collect();
    while let Some(HomeAhead { entry, names, is_real }) = ahead.pop() {
        let Entry { place, at } = entry;
        let real = if is_real {
            place
        } else {
            let walked = walker.walk(&place);
            links.extend(walked.links);
            let is_elsewhere = walked.real != place;
            if is_elsewhere && !may_lead(&place) {
                continue;
            }
            if is_elsewhere {
                found.insert(Entry {
                    place: walked.real.clone(),
                    at: at.clone(),
                });
            }
            // A missing directory has nothing to list.
            if !walked.exists {
                continue;
            }
            walked.real
        };
        let children = walker.children(&real);
        if let Some(list) = names.closing() {
            inside.add(&real, list, walker);
        }
        for child in children.iter() {
            let Some(names) = names.below(&child.name) else {
                continue;
            };
            let entry = Entry {
                place: real.join(&child.name),
                at: at.join(&child.name),
            };
            if seen.insert(entry.clone()) {
                ahead.push(HomeAhead {
                    entry,
                    names,
                    is_real: !child.is_link,
                });
            }
        }
    }
    (found.into_iter().collect(), links)
}
