//! What is closed in every profile and mode: the lines of `closed.txt`, as tables that the build made of them.
//!
//! A list is an automaton over the components of a path. It begins at the root with the machine's names, at every component
//! with the patterns of any depth, and wherever an [`Entry`] says so with the names of a home. Most components begin
//! nothing, which has to be cheap to tell.

#[cfg(test)]
pub(super) mod tests;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Target;
use crate::profile::path_bytes;

include!(concat!(env!("OUT_DIR"), "/closed.rs"));

/// A list of `closed.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum List {
    /// Closed for reading and writing, in every grant.
    Secret,
    /// The same, but where certificates and test keys are shipped.
    Key,
    /// Closed for writing.
    Guarded,
}

/// What a list closes on this machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The list.
    pub list: List,
    /// Where homes are, and what of one is elsewhere.
    pub entries: Arc<[Entry]>,
    /// Paths that a person opened, with all below them.
    pub open: Arc<[Opened]>,
}

/// A place that counts as one of a home.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The absolute path.
    #[serde(with = "path_bytes")]
    pub place: PathBuf,
    /// The place of a home that it is, relative to that; empty for a home.
    #[serde(with = "path_bytes")]
    pub at: PathBuf,
}

/// A path that a person opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Opened(#[serde(with = "path_bytes")] pub PathBuf);

/// Directories whose every child is a home.
pub const PARENTS_OF_HOMES: [&str; 2] = ["/home", "/var/home"];

/// A line of the list.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// The list that it belongs to.
    list: List,
    /// Pattern, what it holds, whose, where that is documented.
    texts: [(u32, u16); 4],
}

impl Line {
    /// The pattern.
    pub fn pattern(&self) -> &'static str {
        detail(self.texts[0])
    }

    /// What it holds.
    pub fn holds(&self) -> &'static str {
        detail(self.texts[1])
    }

    /// The program that it belongs to.
    pub fn owner(&self) -> &'static str {
        detail(self.texts[2])
    }

    /// Where that is documented.
    pub fn source(&self) -> &'static str {
        detail(self.texts[3])
    }
}

/// All lines with their lists, in the order of the file.
pub fn lines() -> impl Iterator<Item = (List, &'static Line)> {
    LINES.iter().map(|line| (line.list, line))
}

/// The machine's paths of a list, as they are written.
pub fn paths_of_machine(list: List) -> Vec<PathBuf> {
    paths(list, |pattern| pattern.starts_with('/').then_some(pattern))
}

/// The paths of a list in every home, relative to it, as they are written.
pub fn paths_of_homes(list: List) -> Vec<PathBuf> {
    paths(list, |pattern| pattern.strip_prefix("~/"))
}

/// The names of a list that mean the same everywhere, without those that hold a wildcard.
pub fn names_anywhere(list: List) -> Vec<PathBuf> {
    paths(list, |pattern| {
        pattern.strip_prefix("**/").filter(|rest| !rest.contains('*'))
    })
}

fn paths(list: List, kind: fn(&str) -> Option<&str>) -> Vec<PathBuf> {
    let of_list = lines().filter(|(of, _)| *of == list);
    let all = of_list
        .filter_map(|(_, line)| kind(line.pattern()))
        .flat_map(alternatives);
    all.map(PathBuf::from).collect()
}

/// `a{b,c}d` as `abd` and `acd`.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (inside, after))) = parts else {
        return vec![pattern.into()];
    };
    let all = inside.split(',').map(|one| format!("{before}{one}{after}"));
    all.flat_map(|one| alternatives(&one)).collect()
}

/// The variables that move a place of a home, with that place.
pub fn moved() -> impl Iterator<Item = (&'static str, &'static str)> {
    MOVED.iter().map(|[variable, place]| (text(*variable), text(*place)))
}

fn detail((at, length): (u32, u16)) -> &'static str {
    let at = usize::try_from(at).unwrap_or(DETAILS.len());
    DETAILS.get(at..at + usize::from(length)).unwrap_or_default()
}

fn text((at, length): (u16, u16)) -> &'static str {
    &TEXT[usize::from(at)..usize::from(at) + usize::from(length)]
}

/// A node: ranges of names and of wildcards, and the line that closes what is here.
struct Node {
    names: (u16, u16),
    wild: (u16, u16),
    line: u16,
    is_open: bool,
}

/// In place of a line.
const NONE: u16 = u16::MAX;
/// The first nodes of a tree.
const ANYWHERE: u16 = 0;
const HOME: u16 = 1;
const MACHINE: u16 = 2;

struct Tree {
    nodes: &'static [Node],
    names: &'static [(u16, u16, u16)],
    wild: &'static [([(u16, u16); 2], u16)],
    /// The first bytes of what [`ANYWHERE`] knows.
    first: [u64; 4],
    /// The last bytes of its patterns that begin with a wildcard.
    last: [u64; 4],
}

static SECRET: Tree = Tree {
    nodes: &SECRET_NODES,
    names: &SECRET_NAMES,
    wild: &SECRET_WILD,
    first: SECRET_FIRST,
    last: SECRET_LAST,
};
static KEY: Tree = Tree {
    nodes: &KEY_NODES,
    names: &KEY_NAMES,
    wild: &KEY_WILD,
    first: KEY_FIRST,
    last: KEY_LAST,
};
static GUARDED: Tree = Tree {
    nodes: &GUARDED_NODES,
    names: &GUARDED_NAMES,
    wild: &GUARDED_WILD,
    first: GUARDED_FIRST,
    last: GUARDED_LAST,
};

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            List::Secret | List::Key => "secret",
            List::Guarded => "guarded",
        })
    }
}

impl List {
    fn tree(self) -> &'static Tree {
        match self {
            List::Secret => &SECRET,
            List::Key => &KEY,
            List::Guarded => &GUARDED,
        }
    }
}

fn holds(bytes: &[u64; 4], byte: u8) -> bool {
    bytes[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
}

impl Tree {
    fn node(&self, number: u16) -> &'static Node {
        &self.nodes[usize::from(number)]
    }

    /// Whether a pattern of any depth may begin with this name.
    fn may_begin(&self, name: &[u8]) -> bool {
        match (name.first(), name.last()) {
            (Some(first), Some(last)) => holds(&self.first, *first) || holds(&self.last, *last),
            _ => false,
        }
    }

    /// Adds what comes after a name, in lower case; the line that closes it.
    fn step(&self, from: u16, name: &[u8], after: &mut Vec<u16>) -> Option<u16> {
        let node = self.node(from);
        let names = &self.names[usize::from(node.names.0)..usize::from(node.names.1)];
        let named = names
            .binary_search_by(|(at, length, _)| text((*at, *length)).as_bytes().cmp(name))
            .ok()
            .map(|index| names[index].2);
        let wild = &self.wild[usize::from(node.wild.0)..usize::from(node.wild.1)];
        let matching = wild.iter().filter(|([prefix, suffix], _)| {
            let (prefix, suffix) = (text(*prefix).as_bytes(), text(*suffix).as_bytes());
            name.len() >= prefix.len() + suffix.len() && name.starts_with(prefix) && name.ends_with(suffix)
        });
        let mut closing = None;
        let mut is_open = named.is_some_and(|named| self.node(named).is_open);
        for (_, next) in matching {
            let next = self.node(*next);
            is_open |= next.is_open;
            closing = closing.or((next.line != NONE).then_some(next.line));
        }
        let closing = closing.filter(|_| !is_open);
        let Some(named) = named else { return closing };
        after.push(named);
        let line = self.node(named).line;
        (line != NONE).then_some(line).or(closing)
    }
}

/// A list with its places, ready to be asked.
#[derive(Debug, Clone)]
pub struct Closing {
    list: List,
    entries: Vec<(PathBuf, Start)>,
    /// The names that count directly below `/`, where that is a home.
    root: Vec<u16>,
    open: Arc<[Opened]>,
}

/// Where the automaton is at a place.
#[derive(Debug, Clone)]
enum Start {
    /// Before these names, beside those of any depth.
    At(Vec<u16>),
    Closed(u16),
}

impl Start {
    fn is_nothing(&self) -> bool {
        matches!(self, Start::At(nodes) if nodes.is_empty())
    }
}

/// Where the automaton can be behind a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Positions {
    /// This line closes the path.
    Closed(u16),
    /// Before these names, beside those of any depth.
    Before(Vec<u16>),
}

/// What of the list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All of it.
    Any,
    /// What has a place.
    Placed,
    /// Patterns of any depth.
    Pattern,
}

impl Closing {
    /// Makes a list ready.
    pub fn new(listed: &Listed) -> Closing {
        let mut closing = Closing {
            list: listed.list,
            entries: Vec::new(),
            root: Vec::new(),
            open: Arc::clone(&listed.open),
        };
        let tree = listed.list.tree();
        for entry in listed.entries.iter() {
            let start = start(tree, &entry.at);
            match start {
                // Of some places one list knows nothing.
                start if start.is_nothing() => {}
                Start::At(nodes) if entry.place == Path::new("/") => closing.root.extend(nodes),
                // It is compared by its bytes: `/home/ada/` and `/home//ada` are `/home/ada`.
                start => closing.entries.push((entry.place.components().collect(), start)),
            }
        }
        closing
    }

    /// Whether a pattern of any depth begins with this name.
    pub fn begins(&self, name: &[u8]) -> bool {
        let mut after = Vec::new();
        self.may_begin(name)
            && (self.list.tree().step(ANYWHERE, &lower(name), &mut after).is_some() || !after.is_empty())
    }

    /// Whether one may: both in upper case and in lower case, since a file system may not tell them apart.
    fn may_begin(&self, name: &[u8]) -> bool {
        name.iter().any(u8::is_ascii_uppercase) || self.list.tree().may_begin(name)
    }

    /// The line that closes a path, by itself or by a directory above it.
    pub fn line(&self, path: &Path) -> Option<&'static Line> {
        self.line_for_maker(path, &|_| false)
    }

    /// The same for a run that made some directories itself: nothing in one is guarded for its name alone.
    pub fn line_for_maker(&self, path: &Path, made: &dyn Fn(&Path) -> bool) -> Option<&'static Line> {
        match self.positions_for_maker(path, Depth::Any, made) {
            Positions::Closed(line) => LINES.get(usize::from(line)),
            Positions::Before(_) => None,
        }
    }

    /// What the line that closes a path closes there: a pattern or a place.
    pub fn target(&self, path: &Path) -> Option<Target> {
        let pattern = self.line(path)?.pattern();
        if pattern.starts_with("**/") {
            return Some(Target::Glob {
                below: PathBuf::from("/"),
                glob: pattern.into(),
            });
        }
        let is_closed = |above: &&Path| self.line(above).is_some();
        path.ancestors()
            .take_while(is_closed)
            .last()
            .map(|place| Target::Path(place.into()))
    }

    /// Where the automaton can be behind a path.
    pub fn positions(&self, path: &Path, depth: Depth) -> Positions {
        self.positions_for_maker(path, depth, &|_| false)
    }

    /// The same where guarded patterns of any depth begin in no directory that was `made` by the run.
    fn positions_for_maker(&self, path: &Path, depth: Depth, made: &dyn Fn(&Path) -> bool) -> Positions {
        if self.is_opened(path) {
            return Positions::Before(Vec::new());
        }
        let tree = self.list.tree();
        let bytes = path.as_os_str().as_bytes();
        let mut before = Vec::new();
        if bytes == b"/" && depth != Depth::Pattern {
            before.push(MACHINE);
        }
        if depth != Depth::Pattern {
            before.extend(&self.root);
        }
        let mut end = 0;
        let mut is_first = true;
        for part in bytes.split(|byte| *byte == b'/') {
            let above = Path::new(OsStr::from_bytes(&bytes[..end]));
            end += part.len();
            let here = &bytes[..end];
            end += 1;
            if part.is_empty() {
                continue;
            }
            let mut after = Vec::new();
            let mut closing = None;
            let begins = depth != Depth::Placed && self.may_begin(part);
            if begins || is_first || !before.is_empty() {
                let name = lower(part);
                if begins {
                    closing = tree.step(ANYWHERE, &name, &mut after);
                    let is_known = closing.is_some() || !after.is_empty();
                    // What a run writes is never policy of ours, wherever it lies.
                    let may_be_made = self.list == List::Guarded && *name != *b".stockade";
                    if is_known && may_be_made && made(above) {
                        closing = None;
                        after.clear();
                    }
                }
                if is_first && depth != Depth::Pattern {
                    closing = closing.or(tree.step(MACHINE, &name, &mut after));
                }
                for node in &before {
                    closing = closing.or(tree.step(*node, &name, &mut after));
                }
            }
            is_first = false;
            let placed = depth != Depth::Pattern;
            for (place, start) in self.entries.iter().filter(|_| placed) {
                if place.as_os_str().as_bytes() == here {
                    match start {
                        Start::At(nodes) => after.extend(nodes),
                        Start::Closed(line) => closing = closing.or(Some(*line)),
                    }
                }
            }
            if let Some(line) = closing {
                return Positions::Closed(line);
            }
            if placed && is_home(here) {
                after.push(HOME);
            }
            before = after;
        }
        before.sort_unstable();
        before.dedup();
        Positions::Before(before)
    }

    /// Whether a person opened a path, or one above it.
    fn is_opened(&self, path: &Path) -> bool {
        self.open.iter().any(|open| path.starts_with(&open.0))
    }

    /// Whether a directory that moves goes into what a person opened, or out of it, or holds such a place by one of its names.
    pub fn is_opened_by_moving(&self, old: &Path, new: &Path) -> bool {
        let holds = |path: &Path| self.open.iter().any(|open| open.0 != path && open.0.starts_with(path));
        self.is_opened(old) != self.is_opened(new) || holds(old) || holds(new)
    }

    /// Whether a path has a name that means the same everywhere, or lies below one.
    pub fn closes_by_name(&self, path: &Path) -> bool {
        matches!(self.positions(path, Depth::Pattern), Positions::Closed(_))
    }

    /// Whether a place from which names count lies strictly below a directory.
    fn has_entry_below(&self, directory: &Path) -> bool {
        let is_below = |place: &Path| place != directory && place.starts_with(directory);
        let placed = self.entries.iter().any(|(place, _)| is_below(place));
        placed
            || PARENTS_OF_HOMES
                .iter()
                .any(|parent| Path::new(parent).starts_with(directory))
    }

    /// Whether something that has a place may be closed strictly below a directory.
    pub fn is_placed_below(&self, directory: &Path) -> bool {
        match self.positions(directory, Depth::Placed) {
            Positions::Closed(_) => false,
            Positions::Before(before) => !before.is_empty() || self.has_entry_below(directory),
        }
    }

    /// Whether something that has a place closes all of a path.
    pub fn closes_by_place(&self, path: &Path) -> bool {
        matches!(self.positions(path, Depth::Placed), Positions::Closed(_))
    }

    /// Whether something that has a place closes all of a tree, or may be closed in it.
    pub fn touches(&self, tree: &Path) -> bool {
        self.closes_by_place(tree) || self.is_placed_below(tree)
    }

    /// Whether something that is closed at or below `old` for a run that made some directories may be open at or below
    /// `new`.
    pub fn opens(&self, old: &Path, new: &Path, made: &dyn Fn(&Path) -> bool) -> bool {
        let from = self.positions_for_maker(old, Depth::Any, made);
        match (from, self.positions(new, Depth::Any)) {
            (_, Positions::Closed(_)) => false,
            (Positions::Closed(_), Positions::Before(_)) => true,
            (Positions::Before(old_ones), Positions::Before(new_ones)) => {
                self.has_entry_below(old) || old_ones.iter().any(|node| !new_ones.contains(node))
            }
        }
    }

    /// Whether something is closed strictly below `new` that wasn't below `from`; without it, whether something is that
    /// has a place.
    pub fn is_filled(&self, from: Option<&Path>, new: &Path) -> bool {
        let Some(from) = from else {
            return self.is_placed_below(new);
        };
        match (self.positions(from, Depth::Any), self.positions(new, Depth::Any)) {
            (_, Positions::Closed(_)) => false,
            (Positions::Closed(_), Positions::Before(after)) => !after.is_empty() || self.has_entry_below(new),
            (Positions::Before(before), Positions::Before(after)) => {
                self.has_entry_below(new) || after.iter().any(|node| !before.contains(node))
            }
        }
    }
}

/// What the lists know below a place of a home.
#[derive(Debug, Clone)]
pub struct Names([Start; 3]);

impl Names {
    const LISTS: [List; 3] = [List::Secret, List::Key, List::Guarded];

    /// What they know where no home is: names that mean the same everywhere.
    pub fn anywhere() -> Names {
        Names([const { Start::At(Vec::new()) }; 3])
    }

    /// What they know below this place, relative to a home.
    pub fn at(at: &Path) -> Names {
        Names(Self::LISTS.map(|list| start(list.tree(), at)))
    }

    /// Whether they know the place, or something in it, by more than a pattern of any depth that begins there.
    pub fn know_place(&self) -> bool {
        !self.0.iter().all(Start::is_nothing)
    }

    /// The strictest list that closes all of the place.
    pub fn closing(&self) -> Option<List> {
        let mut lists = Self::LISTS.into_iter().zip(&self.0);
        let closing = lists.find(|(_, start)| matches!(start, Start::Closed(_)));
        closing.map(|(list, _)| list)
    }

    /// What they know below a name in it, if they know anything of that: something of that name is closed, or something in
    /// it, and what is around it isn't.
    pub fn below(&self, name: &OsStr) -> Option<Names> {
        let name = lower(name.as_bytes());
        let mut are_known = false;
        let mut below = self.clone();
        for (list, start) in Self::LISTS.into_iter().zip(&mut below.0) {
            if let Start::At(nodes) = start {
                *start = step(list.tree(), nodes, &name);
                are_known |= !start.is_nothing();
            }
        }
        are_known.then_some(below)
    }
}

/// Where the automaton is behind a name, in lower case.
fn step(tree: &Tree, before: &[u16], name: &[u8]) -> Start {
    let anywhere: &[u16] = if tree.may_begin(name) { &[ANYWHERE] } else { &[] };
    let mut after = Vec::new();
    let mut steps = before.iter().chain(anywhere);
    match steps.find_map(|node| tree.step(*node, name, &mut after)) {
        Some(line) => Start::Closed(line),
        None => Start::At(after),
    }
}

/// Where the automaton is at a place of a home.
fn start(tree: &Tree, at: &Path) -> Start {
    let names = at
        .components()
        .map(|part| part.as_os_str().as_bytes().to_ascii_lowercase());
    names.fold(Start::At(vec![HOME]), |before, name| match before {
        Start::At(nodes) => step(tree, &nodes, &name),
        closed => closed,
    })
}

/// Whether it is a home by the directory that it is in.
fn is_home(path: &[u8]) -> bool {
    PARENTS_OF_HOMES.iter().any(|parent| {
        path.strip_prefix(parent.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"/"))
            .is_some_and(|name| !name.is_empty() && !name.contains(&b'/'))
    })
}

fn lower(name: &[u8]) -> Cow<'_, [u8]> {
    match name.iter().any(u8::is_ascii_uppercase) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}
