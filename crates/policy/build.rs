//! Compiles `src/policy/listed/closed.txt` into tables: a tree of names for each kind of line, as numbers and one text, so
//! that nothing of it has to be relocated or parsed when the program starts.

#![expect(clippy::disallowed_methods, reason = "it compiles a file")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

const LIST: &str = "src/policy/listed/closed.txt";
/// In place of a number that isn't there.
const NONE: usize = u16::MAX as usize;

fn main() {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string(LIST).expect("the list is there");
    let mut tables = Tables::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            tables
                .read(line)
                .unwrap_or_else(|fault| panic!("{LIST}:{}: {fault}", index + 1));
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("closed.rs");
    // FNV-1a: another list has another number.
    let number = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let fingerprint =
        format!("/// Tells one state of the lists from another.\npub const FINGERPRINT: u64 = {number};\n");
    fs::write(out, tables.source() + &fingerprint).expect("the directory can be written");
}

/// Texts in one.
#[derive(Default)]
struct Texts {
    all: String,
}

impl Texts {
    /// Where the text is, and its length.
    fn place(&mut self, text: &str) -> (usize, usize) {
        let at = self.all.find(text).unwrap_or_else(|| {
            self.all.push_str(text);
            self.all.len() - text.len()
        });
        (at, text.len())
    }
}

#[derive(Default)]
struct Tables {
    trees: BTreeMap<&'static str, Tree>,
    /// Kind, pattern, what, whose, where.
    lines: Vec<[String; 5]>,
    moved: Vec<(String, String)>,
}

/// A node: the names below it, and the line that closes it.
#[derive(Default)]
struct Node {
    names: BTreeMap<String, usize>,
    wild: BTreeMap<(String, String), usize>,
    line: Option<usize>,
    is_open: bool,
}

struct Tree {
    nodes: Vec<Node>,
}

/// The kinds of lines that close something, each with a tree of its own.
const KINDS: [&str; 5] = ["secret", "key", "guarded", "folder", "project"];

/// The first nodes of a tree, in this order: patterns of any depth, of homes, of the machine.
const ROOTS: [&str; 3] = ["**/", "~/", "/"];

impl Default for Tree {
    fn default() -> Tree {
        Tree {
            nodes: ROOTS.iter().map(|_| Node::default()).collect(),
        }
    }
}

impl Tables {
    fn read(&mut self, line: &str) -> Result<(), String> {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [head, what, whose, documented] = columns[..] else {
            return Err("a line has four columns".into());
        };
        let (kind, pattern) = head.split_once(' ').ok_or("a line begins with its kind")?;
        match kind {
            "moved" => {
                let (variable, place) = pattern.split_once(' ').ok_or("a variable has a place")?;
                let place = place.strip_prefix("~/").ok_or("a variable moves a place of a home")?;
                self.moved.push((variable.into(), place.to_lowercase()));
                Ok(())
            }
            "open" => KINDS.iter().try_for_each(|kind| self.add(kind, pattern, None)),
            kind if KINDS.contains(&kind) => {
                let line = [kind, pattern, what, whose, documented].map(String::from);
                self.lines.push(line);
                let number = Some(self.lines.len() - 1);
                // What tools look for at the top of a project they look for in a home, too.
                let of_homes = pattern.strip_prefix("**/").filter(|_| kind == "project");
                of_homes.map_or(Ok(()), |rest| self.add("guarded", &format!("~/{rest}"), number))?;
                self.add(kind, pattern, number)
            }
            _ => Err(format!("`{kind}` isn't a kind")),
        }
    }

    fn add(&mut self, kind: &str, pattern: &str, line: Option<usize>) -> Result<(), String> {
        let kind = KINDS.into_iter().find(|known| *known == kind).expect("known");
        let (root, rest) = ROOTS
            .iter()
            .enumerate()
            .find_map(|(root, prefix)| Some((root, pattern.strip_prefix(prefix)?)))
            .ok_or("a pattern begins with `**/`, `~/` or `/`")?;
        for path in alternatives(&rest.to_lowercase()) {
            let tree = self.trees.entry(kind).or_default();
            tree.add(root, &path, line)
                .map_err(|fault| format!("`{pattern}`: {fault}"))?;
        }
        Ok(())
    }

    fn source(&self) -> String {
        let mut texts = Texts::default();
        let mut details = Texts::default();
        let mut source = String::new();
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|line| {
                let [kind, rest @ ..] = line;
                let list = match kind.as_str() {
                    "secret" => "Secret",
                    "key" => "Key",
                    "folder" => "Folder",
                    "project" => "Project",
                    _ => "Guarded",
                };
                let places = rest.each_ref().map(|text| details.place(text));
                format!(
                    "Line {{ list: SecretList::{list}, texts: {} }}",
                    numbers(places.iter().copied())
                )
            })
            .collect();
        let _ = writeln!(
            source,
            "static LINES: [Line; {}] = [{}];",
            lines.len(),
            lines.join(", ")
        );
        let moved: Vec<_> = self
            .moved
            .iter()
            .map(|(variable, place)| numbers([texts.place(variable), texts.place(place)].into_iter()))
            .collect();
        let _ = writeln!(
            source,
            "static MOVED: [[(u16, u16); 2]; {}] = [{}];",
            moved.len(),
            moved.join(", ")
        );
        for kind in KINDS {
            let empty = Tree::default();
            self.trees
                .get(kind)
                .unwrap_or(&empty)
                .write(kind, &mut texts, &mut source);
        }
        assert!(texts.all.len() < NONE, "the texts are longer than a number tells");
        let _ = writeln!(source, "static TEXT: &str = {:?};", texts.all);
        let _ = writeln!(source, "static DETAILS: &str = {:?};", details.all);
        source
    }
}

fn numbers(places: impl Iterator<Item = (usize, usize)>) -> String {
    let places: Vec<_> = places.map(|(at, length)| format!("({at}, {length})")).collect();
    format!("[{}]", places.join(", "))
}

impl Tree {
    fn add(&mut self, root: usize, path: &str, line: Option<usize>) -> Result<(), String> {
        let parts: Vec<&str> = path.split('/').collect();
        let mut at = root;
        for (depth, part) in parts.iter().enumerate() {
            if part.is_empty() || *part == "." || *part == ".." || part.contains(['?', '[', ']', '\\']) {
                return Err(format!("`{part}` isn't a name or one `*`"));
            }
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            at = match part.split_once('*') {
                None => *node.names.entry((*part).into()).or_insert(next),
                Some((prefix, suffix)) => {
                    if suffix.contains('*') || root != 0 || depth + 1 < parts.len() {
                        return Err(format!("`{part}`: one `*`, in the last part of a pattern of any depth"));
                    }
                    *node.wild.entry((prefix.into(), suffix.into())).or_insert(next)
                }
            };
            if at == next {
                self.nodes.push(Node::default());
            }
        }
        let node = &mut self.nodes[at];
        match line {
            Some(_) if node.line.is_some() => return Err("it is there twice".into()),
            Some(line) => node.line = Some(line),
            None => node.is_open = true,
        }
        Ok(())
    }

    fn write(&self, kind: &str, texts: &mut Texts, source: &mut String) {
        let (mut nodes, mut names, mut wild) = (Vec::new(), Vec::new(), Vec::new());
        for node in &self.nodes {
            let line = node.line.unwrap_or(NONE);
            nodes.push(format!(
                "Node {{ names: ({}, {}), wild: ({}, {}), line: {line}, is_open: {} }}",
                names.len(),
                names.len() + node.names.len(),
                wild.len(),
                wild.len() + node.wild.len(),
                node.is_open,
            ));
            for (name, next) in &node.names {
                let (at, length) = texts.place(name);
                names.push(format!("({at}, {length}, {next})"));
            }
            for ((prefix, suffix), next) in &node.wild {
                let places = numbers([texts.place(prefix), texts.place(suffix)].into_iter());
                wild.push(format!("({places}, {next})"));
            }
        }
        assert!(self.nodes.len() < NONE, "more nodes than a number tells");
        let name = kind.to_uppercase();
        let _ = writeln!(
            source,
            "static {name}_NODES: [Node; {}] = [{}];",
            nodes.len(),
            nodes.join(", ")
        );
        let _ = writeln!(
            source,
            "static {name}_NAMES: [(u16, u16, u16); {}] = [{}];",
            names.len(),
            names.join(", ")
        );
        let _ = writeln!(
            source,
            "static {name}_WILD: [([(u16, u16); 2], u16); {}] = [{}];",
            wild.len(),
            wild.join(", ")
        );
        let any = &self.nodes[0];
        let firsts = any.names.keys().chain(any.wild.keys().map(|(prefix, _)| prefix));
        let lasts = any.wild.keys().filter(|(prefix, _)| prefix.is_empty());
        let first = bytes(firsts.filter_map(|name| name.bytes().next()));
        let last = bytes(lasts.filter_map(|(_, suffix)| suffix.bytes().last()));
        let _ = writeln!(source, "const {name}_FIRST: [u64; 4] = {first:?};");
        let _ = writeln!(source, "const {name}_LAST: [u64; 4] = {last:?};");
    }
}

/// A set of bytes.
fn bytes(all: impl Iterator<Item = u8>) -> [u64; 4] {
    let mut set = [0; 4];
    for byte in all {
        set[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    set
}

/// `a{b,c}d` as `abd` and `acd`.
fn alternatives(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![pattern.into()];
    };
    let Some((inside, after)) = rest.split_once('}') else {
        panic!("`{pattern}`: a brace isn't closed");
    };
    inside
        .split(',')
        .flat_map(|one| alternatives(&format!("{before}{one}{after}")))
        .collect()
}
