//! No cycle between the top modules of a crate; between crates cargo allows none. ARCHITECTURE.md has the crates.
//! Each promise of docs/promises.md has its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use stockade_plan::plan::Shortfall;

use crate::common::checkout;

/// Each crate's name and directory.
fn crates() -> Vec<(String, PathBuf)> {
    let top = checkout();
    let members = fs::read_dir(top.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = |directory: PathBuf| {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        (name.trim_matches('"').to_string(), directory)
    };
    members.chain([top]).map(named).collect()
}

/// Top modules, each with those that it names.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The sources of a crate, each with the names of its modules. What only tests compile is left out.
fn sources(directory: &Path, modules: &[String], found: &mut Vec<(Vec<String>, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let below: Vec<String> = modules.iter().cloned().chain([name.clone()]).collect();
        match path.extension().map(|extension| extension.to_str().unwrap()) {
            _ if name.contains("test") => {}
            None => sources(&path, &below, found),
            Some("rs") => {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
                let code = text.lines().map(|line| line.split("//").next().unwrap());
                let modules = if name == "mod" { modules.to_vec() } else { below };
                found.push((modules, code.collect::<Vec<_>>().join("\n")));
            }
            Some(_) => {}
        }
    }
}

/// The names that follow each `path` in a source: one, or the first of each in braces.
fn named<'s>(source: &'s str, path: &str) -> Vec<&'s str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let first = |text: &'s str| text.trim_start().split(|c| !is_word(c)).next().unwrap();
    let mut names = Vec::new();
    for (at, _) in source.match_indices(path) {
        if source[..at].ends_with(|c| is_word(c) || c == ':') {
            continue;
        }
        let rest = &source[at + path.len()..];
        let Some(listed) = rest.strip_prefix('{') else {
            names.push(first(rest));
            continue;
        };
        let mut depth = 1;
        let mut begins = 0;
        for (index, c) in listed.char_indices() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 || (depth == 1 && c == ',') {
                names.push(first(&listed[begins..]));
                begins = index + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// The modules of a directory, each with those of them that it names: by `path`, as `crate::`, or by `super::`.
fn edges(directory: &Path, path: &str) -> Edges {
    let mut found = Vec::new();
    sources(directory, &[], &mut found);
    let tops: BTreeSet<String> = found
        .iter()
        .filter_map(|(modules, _)| modules.first().cloned())
        .collect();
    let mut edges = Edges::new();
    for (modules, source) in &found {
        if matches!(modules.first().map(String::as_str), None | Some("lib" | "main")) {
            continue;
        }
        let names = named(source, path);
        let names = names.into_iter().chain(named(source, &"super::".repeat(modules.len())));
        let others = names.filter(|name| tops.contains(*name) && **name != modules[0]);
        edges
            .entry(modules[0].clone())
            .or_default()
            .extend(others.map(String::from));
    }
    edges
}

/// The modules that name each other, in a ring or not: what is left when those that name no other go, again and again.
fn rings(mut edges: Edges) -> Edges {
    loop {
        let free: Vec<String> = edges
            .iter()
            .filter(|(_, named)| named.is_empty())
            .map(|(name, _)| name.clone())
            .collect();
        if free.is_empty() {
            return edges;
        }
        for name in free {
            edges.remove(&name);
            edges.values_mut().for_each(|named| _ = named.remove(&name));
        }
    }
}

#[test]
fn no_two_top_modules_of_a_crate_need_each_other() {
    let mut edges_of_all = 0;
    for (name, directory) in crates() {
        let edges = edges(&directory.join("src"), "crate::");
        edges_of_all += edges.values().map(BTreeSet::len).sum::<usize>();
        let left = rings(edges);
        assert!(
            left.is_empty(),
            "{name}: each of these needs another of them: {left:#?}"
        );
    }
    // It would be as well where nothing was understood.
    assert!(edges_of_all > 200, "{edges_of_all}");
}

/// The floors of the supervisor, the highest first.
const FLOORS: [&str; 8] = [
    "serve",
    "handlers",
    "judge",
    "run",
    "approvals",
    "state",
    "object",
    "call",
];

#[test]
fn the_supervisor_imports_downwards_and_has_no_ring() {
    let supervise = checkout().join("crates/stockade/src/supervise");
    let floors = edges(&supervise, "crate::supervise::");
    assert_eq!(
        floors.keys().collect::<BTreeSet<_>>(),
        FLOORS.map(String::from).iter().collect()
    );
    for (at, floor) in FLOORS.into_iter().enumerate() {
        let above: Vec<&String> = floors[floor]
            .iter()
            .filter(|named| FLOORS[..at].contains(&named.as_str()))
            .collect();
        assert!(above.is_empty(), "{floor} names {above:?}");
    }
    let mut folders = vec![(supervise, "crate::supervise::".to_string())];
    let mut edges_of_all = 0;
    while let Some((folder, path)) = folders.pop() {
        let found = edges(&folder, &path);
        edges_of_all += found.values().map(BTreeSet::len).sum::<usize>();
        for name in found.keys().filter(|name| folder.join(name).is_dir()) {
            folders.push((folder.join(name), format!("{path}{name}::")));
        }
        let left = rings(found);
        assert!(
            left.is_empty(),
            "{path}: each of these needs another of them: {left:#?}"
        );
    }
    assert!(edges_of_all > 100, "{edges_of_all}");
}

#[test]
fn a_ring_is_found() {
    let edge = |from: &str, to: &[&str]| (from.to_string(), to.iter().map(ToString::to_string).collect());
    let edges = |last: &[&str]| Edges::from([edge("a", &["b"]), edge("b", &["c"]), edge("c", last), edge("d", &[])]);
    assert!(rings(edges(&["d"])).is_empty());
    assert_eq!(rings(edges(&["a", "d"])).len(), 3);
    let source = "use crate::{a, b::{x, y},\n c::Z};\nfn f() { crate::d::g(mycrate::e) }";
    assert_eq!(named(source, "crate::"), ["a", "b", "c", "d"]);
}

/// The table of crates says what each may import, which is what its manifest has.
#[test]
fn the_table_of_crates_is_what_the_manifests_say() {
    let architecture = fs::read_to_string(checkout().join("docs/ARCHITECTURE.md")).unwrap();
    for (name, directory) in crates() {
        let row = format!("| `{name}` |");
        let row = architecture
            .lines()
            .find(|line| line.starts_with(&row))
            .unwrap_or_else(|| panic!("no row of {name}"));
        let listed = row.split('|').nth(3).unwrap();
        let listed: BTreeSet<&str> = listed.split('`').filter(|word| word.starts_with("stockade")).collect();
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let needed = manifest
            .split("\n[dependencies]\n")
            .nth(1)
            .unwrap()
            .split("\n[")
            .next()
            .unwrap();
        let needed = needed.lines().filter_map(|line| line.split(['.', ' ']).next());
        let needed: BTreeSet<&str> = needed.filter(|name| name.starts_with("stockade")).collect();
        assert_eq!(listed, needed, "{name}");
    }
}

/// Promises, each with the paths of its tests.
type Promises = BTreeMap<String, BTreeSet<String>>;

/// The tests below a directory that name a promise on the line above their `#[test]`.
fn tests_of_promises(directory: &Path, path: &str, found: &mut Promises) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_stem().unwrap().to_str().unwrap();
        let below = if matches!(name, "mod" | "lib") {
            path.into()
        } else {
            format!("{path}{name}::")
        };
        if entry.is_dir() {
            tests_of_promises(&entry, &below, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            for named in text.split("\n// promise: ").skip(1) {
                let (ids, rest) = named.split_once('\n').unwrap();
                assert!(
                    rest.starts_with("#[test]\n"),
                    "{}: `{ids}` isn't above a test",
                    entry.display()
                );
                let test = rest.split("\nfn ").nth(1).unwrap().split('(').next().unwrap();
                for id in ids.split(", ") {
                    found.entry(id.into()).or_default().insert(format!("{below}{test}"));
                }
            }
        }
    }
}

#[test]
fn each_promise_names_its_tests_and_each_test_its_promise() {
    let page = fs::read_to_string(checkout().join("docs/promises.md")).unwrap();
    let mut promised = Promises::new();
    for row in page
        .lines()
        .filter(|line| line.starts_with("| ") && line.ends_with("` |"))
    {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let tests = cells[5].split('`').filter(|word| word.contains("::")).map(String::from);
        let before = promised.insert(cells[0].into(), tests.collect());
        assert!(before.is_none(), "{} stands twice", cells[0]);
    }
    let mut kept = Promises::new();
    tests_of_promises(&checkout().join("tests"), "", &mut kept);
    for (name, directory) in crates() {
        let path = format!("{}::", name.replace('-', "_"));
        tests_of_promises(&directory.join("src"), &path, &mut kept);
    }
    assert!(promised.len() >= 60, "{}", promised.len());
    let lacked = Shortfall::ALL.iter().flat_map(|shortfall| shortfall.promises());
    for lacked in lacked {
        let is_it = |id: &String| id == lacked || id.starts_with(&format!("{lacked}."));
        assert!(
            promised.keys().any(is_it),
            "no promise `{lacked}` for a shortfall to take away"
        );
    }
    for (id, tests) in &promised {
        assert_eq!(
            kept.get(id),
            Some(tests),
            "{id}: the tests that say so, and those of the page"
        );
    }
    let unknown: Vec<_> = kept.keys().filter(|id| !promised.contains_key(*id)).collect();
    assert!(unknown.is_empty(), "no promises: {unknown:?}");
}

/// The types of what enforces and decides, beside tests.
#[test]
fn a_type_name_stands_once_in_a_crate() {
    for (name, directory) in crates() {
        if ![
            "stockade",
            "stockade-policy",
            "stockade-plan",
            "stockade-report",
            "stockade-network",
            "stockade-sys",
        ]
        .contains(&name.as_str())
        {
            continue;
        }
        let mut found = Vec::new();
        sources(&directory.join("src"), &[], &mut found);
        let mut seen = BTreeSet::new();
        for line in found.iter().flat_map(|(_, source)| source.lines()) {
            let public = line.strip_prefix("pub").unwrap_or(line);
            let public = public
                .strip_prefix("(super)")
                .or(public.strip_prefix("(crate)"))
                .unwrap_or(public);
            let kinds = ["struct ", "enum ", "trait ", "type "];
            let Some(rest) = kinds.iter().find_map(|kind| public.trim_start().strip_prefix(kind)) else {
                continue;
            };
            let is_top = !line.starts_with(' ');
            let type_name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            assert!(
                !is_top || seen.insert(type_name.to_string()),
                "{name}: {type_name} stands twice"
            );
        }
        assert!(name == "stockade-sys" || seen.len() > 20, "{name}: {}", seen.len());
    }
}
