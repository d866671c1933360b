use std::io::Cursor;

use super::*;

const FILE: u32 = 0o100_644;
const SUBMODULE: u32 = 0o160_000;
const TREE: u32 = 0o040_000;

struct Made {
    version: u32,
    hash: usize,
    entries: Vec<(u32, String)>,
    extensions: Vec<(&'static [u8; 4], usize)>,
}

/// An index as git writes it.
fn made(version: u32, hash: usize, entries: &[(u32, &str)]) -> Made {
    let entries = entries.iter().map(|(mode, path)| (*mode, (*path).to_owned())).collect();
    Made {
        version,
        hash,
        entries,
        extensions: vec![(b"TREE", 25)],
    }
}

impl Made {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(self.version.to_be_bytes());
        bytes.extend((self.entries.len() as u32).to_be_bytes());
        let mut before = String::new();
        for (mode, path) in &self.entries {
            let start = bytes.len();
            bytes.extend([0x69; 24]);
            bytes.extend(mode.to_be_bytes());
            bytes.extend([7; 12]);
            bytes.extend(vec![0xab; self.hash]);
            bytes.extend((path.len().min(0xfff) as u16).to_be_bytes());
            if self.version == 4 {
                let common = before.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
                bytes.extend(varint(before.len() - common));
                bytes.extend(&path.as_bytes()[common..]);
                bytes.push(0);
            } else {
                bytes.extend(path.as_bytes());
                let read = bytes.len() - start;
                bytes.extend(vec![0; 8 - read % 8]);
            }
            before.clone_from(path);
        }
        for (name, length) in &self.extensions {
            bytes.extend(*name);
            bytes.extend((*length as u32).to_be_bytes());
            bytes.extend(vec![1; *length]);
        }
        bytes.extend(vec![0xcd; self.hash]);
        bytes
    }
}

/// As in git's `varint.c`.
fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = vec![(number & 127) as u8];
    while number > 127 {
        number = (number >> 7) - 1;
        bytes.insert(0, 128 | (number & 127) as u8);
    }
    bytes
}

fn read(bytes: &[u8], hash: usize) -> Option<Index> {
    Index::read(&mut Cursor::new(bytes), hash, None).unwrap()
}

/// Whether a submodule was added, or the index can't be parsed.
fn leads_on(hash: usize, old: Option<&[u8]>, new: &[u8]) -> bool {
    let old = old.and_then(|old| read(old, hash));
    let beyond = read(new, hash).and_then(|new| new.submodules_beyond(old.as_ref()));
    beyond.is_none_or(|beyond| !beyond.is_empty())
}

#[test]
fn a_submodule_that_was_not_there_leads_on() {
    let long = "x/".repeat(2047) + "y";
    for version in [2, 3, 4] {
        for hash in HASHES {
            let of = |entries: &[(u32, &str)]| made(version, hash, entries).bytes();
            let plain = of(&[(FILE, "a"), (FILE, "a/b"), (FILE, &long), (FILE, "z")]);
            let sub = of(&[(FILE, "a"), (SUBMODULE, "sub")]);
            let first = of(&[(SUBMODULE, "a"), (FILE, "b")]);
            assert!(!leads_on(hash, None, &plain), "{version} {hash}");
            assert!(!leads_on(hash, Some(&plain), &plain));
            assert!(!leads_on(hash, Some(&sub), &plain));
            assert!(!leads_on(hash, Some(&sub), &of(&[(SUBMODULE, "sub"), (FILE, "z")])));
            assert!(!leads_on(
                hash,
                Some(&first),
                &of(&[(SUBMODULE, "a"), (FILE, "b"), (FILE, "c")])
            ));
            for new in [&sub, &first, &of(&[(FILE, &long), (SUBMODULE, "z")])] {
                assert!(leads_on(hash, None, new));
                assert!(leads_on(hash, Some(&plain), new));
            }
            assert!(leads_on(
                hash,
                Some(&sub),
                &of(&[(SUBMODULE, "sub"), (SUBMODULE, "sub2")])
            ));
            assert!(leads_on(hash, Some(&plain), &of(&[(TREE, "d/")])));
            assert!(!leads_on(hash, Some(&of(&[(TREE, "d/")])), &of(&[(TREE, "d/")])));
            // A mode that git also takes for a submodule.
            assert!(leads_on(hash, Some(&plain), &of(&[(SUBMODULE | 0o755, "sub")])));
        }
    }
}

#[test]
fn a_name_is_there_where_something_is_below_it() {
    let bytes = made(2, 20, &[(FILE, "a"), (FILE, "ab/c"), (FILE, "d/e/f")]).bytes();
    let has = |name: &str| {
        Index::read(&mut Cursor::new(&bytes), 20, Some(Path::new(name)))
            .unwrap()
            .unwrap()
            .has_name
    };
    assert!(["a", "ab", "ab/c", "d", "d/e", "d/e/f"].into_iter().all(has));
    assert!(!["b", "ab/", "ab/cd", "d/e/f/g", "e"].into_iter().any(has));
}

#[test]
fn places_are_those_of_submodules_and_of_directories() {
    let entries = [
        (FILE, "a-b/f"),
        (FILE, "a/b/c/f"),
        (FILE, "a/b/g"),
        (SUBMODULE, "a/s"),
        (FILE, "ab/f"),
        (FILE, "f"),
    ];
    let index = read(&made(4, 20, &entries).bytes(), 20).unwrap();
    let below = |name: &str| index.places(Path::new(name)).map(Path::to_path_buf).collect::<Vec<_>>();
    assert_eq!(below("a"), ["s", "", "b", "b/c"].map(PathBuf::from));
    assert_eq!(below("a/b"), ["", "c"].map(PathBuf::from));
    assert_eq!(below("a/s"), [""].map(PathBuf::from));
    assert!(below("a/b/g").is_empty() && below("f").is_empty() && below("b").is_empty());
    assert_eq!(below("").len(), 6);
}

/// With several threads git locates the entries by these extensions.
#[test]
fn extensions_that_say_where_entries_are_say_it_right() {
    let of = |version: u32, name: &[u8; 4], text: &[u32]| {
        let mut bytes = made(version, 20, &[(FILE, "a"), (FILE, "ab"), (FILE, "c")]).bytes();
        bytes.truncate(bytes.len() - 20);
        bytes.extend(name);
        bytes.extend((4 * text.len() as u32).to_be_bytes());
        bytes.extend(text.iter().flat_map(|number| number.to_be_bytes()));
        bytes.extend([0xcd; 20]);
        read(&bytes, 20).is_some()
    };
    let checksum = [0xcdcd_cdcd; 5];
    let end = |at: u32| [&[at], checksum.as_slice()].concat();
    // The entries are at 12, 76 and 148, and end at 212.
    for version in [2, 3] {
        assert!(of(version, b"EOIE", &end(212)));
        assert!(!of(version, b"EOIE", &end(204)));
        assert!(!of(version, b"EOIE", &end(12)));
        assert!(!of(version, b"EOIE", &[]));
        assert!(of(version, b"IEOT", &[1, 12, 3]));
        assert!(of(version, b"IEOT", &[1, 12, 2, 148, 1]));
        for wrong in [
            [1, 12, 2].as_slice(),
            &[1, 12, 4],
            &[1, 76, 3],
            &[1, 12, 1, 148, 2],
            &[1, 12, 3, 12],
            &[1],
            &[],
        ] {
            assert!(!of(version, b"IEOT", wrong), "{wrong:?}");
        }
    }
    // Inside another extension, where git looks for it.
    let hidden = [&[u32::from_be_bytes(*b"EOIE"), 24], end(212).as_slice()].concat();
    assert!(!of(2, b"AAAA", &hidden) && !of(2, b"AAAA", &[&[7], hidden.as_slice()].concat()));
    assert!(of(2, b"AAAA", &[hidden.as_slice(), &[7]].concat()));
    // `ab` takes its first letter from `a`, and would be `b` at the start of a block.
    let length = 62 + 1 + 2;
    assert!(of(4, b"IEOT", &[1, 12, 2, 12 + 2 * length, 1]));
    assert!(!of(4, b"IEOT", &[1, 12, 1, 12 + length, 2]));
}

#[test]
fn what_is_not_understood_leads_on() {
    let plain = made(2, 20, &[(FILE, "a")]).bytes();
    assert!(!leads_on(20, Some(&plain), &plain));
    // Cut there, the rest is as long as a checksum, which git verifies.
    const BEHIND_ENTRIES: usize = 12 + 64 + 20;
    for length in (0..plain.len()).filter(|length| *length != BEHIND_ENTRIES) {
        assert!(leads_on(20, Some(&plain), &plain[..length]), "{length}");
    }
    assert!(leads_on(20, Some(&plain), &[plain.as_slice(), b"x"].concat()));
    // A repository with the other hash.
    assert!(leads_on(20, None, &made(2, 32, &[(FILE, "a")]).bytes()));
    assert!(leads_on(32, None, &plain));
    // Paths that git would read differently.
    assert!(leads_on(20, None, &made(2, 20, &[(SUBMODULE, "a\0b")]).bytes()));
    assert!(leads_on(20, None, &made(2, 20, &[(SUBMODULE, "")]).bytes()));
    for path in ["x/../d", "./d", "/d", "d//e", "d/.git/e", "..", "d/.GIT"] {
        assert!(leads_on(20, None, &made(2, 20, &[(SUBMODULE, path)]).bytes()), "{path}");
        assert!(read(&made(2, 20, &[(SUBMODULE, path)]).bytes(), 20).is_none(), "{path}");
    }
    let tree = made(2, 20, &[(TREE, "d/")]).bytes();
    let alike = format!("d/\0{}", "\u{2b}".repeat(20));
    assert!(leads_on(20, Some(&tree), &made(2, 20, &[(SUBMODULE, &alike)]).bytes()));
    let mut many = b"DIRC\0\0\0\x02\xff\xff\xff\xff".to_vec();
    many.extend([0; 100]);
    assert!(leads_on(20, Some(&plain), &many));
}

#[test]
fn a_split_index_says_what_it_has_elsewhere() {
    let mut split = made(2, 20, &[(FILE, "a")]);
    split.extensions = vec![(b"link", 28)];
    assert_eq!(read(&split.bytes(), 20).unwrap().shared.unwrap(), "01".repeat(20));
    split.extensions = vec![(b"link", 28), (b"link", 28)];
    assert!(read(&split.bytes(), 20).is_none());
    split.extensions = vec![(b"link", 19)];
    assert!(read(&split.bytes(), 20).is_none());
    let shared = read(&made(2, 20, &[(SUBMODULE, "s")]).bytes(), 20).unwrap();
    let whole = read(&made(2, 20, &[(FILE, "a")]).bytes(), 20).unwrap().with(shared);
    assert_eq!(whole.links().collect::<Vec<_>>(), [Path::new("s")]);
}

#[test]
fn a_head_names_a_branch_or_an_object() {
    for text in [
        "ref: refs/heads/main\n",
        "ref: refs/heads/a/b",
        &"0a".repeat(20),
        &"0a".repeat(32),
        "ref: refs/heads/wip.2/v1.0-rc",
    ] {
        assert!(is_head(text.as_bytes()), "{text:?}");
    }
    let long = format!("ref: refs/{}", "x".repeat(300));
    for text in [
        "",
        "x",
        "ref: refs/",
        "ref: heads/main",
        "ref: /etc/passwd",
        &"0a".repeat(19),
        "ref: refs/a b",
        "ref: refs/heads/.invalid\n",
        "ref: refs/heads/../../x",
        "ref: refs/heads/a..b",
        "ref: refs/heads//a",
        "ref: refs/heads/a/",
        "ref: refs/heads/a.lock/b",
        "ref: refs/heads/a.",
        "ref: refs/heads/a@{1}",
        &long,
    ] {
        assert!(!is_head(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn a_configuration_says_how_long_names_are() {
    let length = |text: &str| object_name_length(text.as_bytes());
    assert_eq!(length("[core]\n\tbare = false\n"), Some(20));
    assert_eq!(length("[extensions]\n\tobjectformat = sha256\n"), Some(32));
    assert_eq!(length("[Extensions]\n\tobjectFormat = sha1\n"), Some(20));
    assert_eq!(length("[extensions] objectformat=sha256\n"), Some(32));
    assert_eq!(length("[extensions]\n\tobjectformat = md5\n"), None);
    assert_eq!(
        length("[user]\n\tname = objectformat = sha256\n\tname = [extensions] objectformat = sha256\n"),
        Some(20)
    );
}

#[test]
fn an_index_that_git_makes_is_understood() {
    let place = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
        ]);
        let done = command.args(words).current_dir(place.path()).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !git(&["init", "--quiet"]) {
        return eprintln!("skipped: there is no git here");
    }
    let index = || std::fs::read(place.path().join(".git/index")).unwrap();
    for name in ["a", "some/where/b", "some/where/else/c", "z"] {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    assert!(git(&["add", "."]));
    let first = index();
    assert!(!leads_on(20, None, &first) && !leads_on(20, Some(&first), &first));
    assert!(git(&["commit", "--quiet", "--message", "x"]));
    for version in ["4", "2"] {
        assert!(git(&[
            "update-index",
            "--index-version",
            version,
            "--force-write-index"
        ]));
        assert!(!leads_on(20, Some(&first), &index()), "version {version}");
    }
    assert!(
        git(&["init", "--quiet", "nested"]) && git(&["-C", "nested", "commit", "--quiet", "--allow-empty", "-m", "x"])
    );
    assert!(git(&["add", "nested"]));
    let linked = index();
    assert!(leads_on(20, Some(&first), &linked) && leads_on(20, None, &linked) && !leads_on(20, Some(&linked), &first));
    assert!(git(&["update-index", "--split-index"]));
    assert!(read(&index(), 20).unwrap().shared.is_some());
}
