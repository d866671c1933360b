//! Makes the tables from the complete crate: the ranges of characters that have names, and a hash for each name.

#[path = "src/hash.rs"]
mod hash;

use std::collections::HashSet;
use std::path::PathBuf;
use std::{env, fs};

/// Names that the complete crate finds though it tells none of them: what the standard calls aliases, one a line.
const ALIASES: &str = "aliases.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ALIASES}");
    println!("cargo::rerun-if-changed=src/hash.rs");
    let mut named: Vec<(char, String)> = ('\0'..=char::MAX)
        .filter(|letter| !is_counted(*letter))
        .filter_map(|letter| Some((letter, complete::name(letter)?.to_string())))
        .collect();
    let aliases = fs::read_to_string(ALIASES).expect("the list is there");
    let aliases = aliases
        .lines()
        .map(|alias| (complete::character(alias).expect("each is one"), alias.to_string()));
    // They come behind, each a range of its own.
    named.extend(aliases);
    let mut hashes = HashSet::new();
    assert!(
        named.iter().all(|(_, name)| hashes.insert(hash::of(name))),
        "two names have one hash: `hash::START` has to be another"
    );
    write("ranges", ranges(named.iter().map(|(letter, _)| *letter)));
    write("hashes", named.iter().map(|(_, name)| hash::of(name)));
    let ideographs = ('\0'..=char::MAX).filter(|letter| begins(*letter, "CJK UNIFIED IDEOGRAPH-"));
    write("ideographs", ranges(ideographs));
}

/// Whether its name is made of its number or sounds: `lib.rs` reckons those.
fn is_counted(letter: char) -> bool {
    begins(letter, "HANGUL SYLLABLE ") || begins(letter, "CJK UNIFIED IDEOGRAPH-")
}

fn begins(letter: char, words: &str) -> bool {
    complete::name(letter).is_some_and(|name| name.to_string().starts_with(words))
}

/// The first of each range, and how many it has, one after the other.
fn ranges(letters: impl Iterator<Item = char>) -> impl Iterator<Item = u32> {
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for code in letters.map(u32::from) {
        match ranges.last_mut() {
            Some([first, count]) if *first + *count == code => *count += 1,
            _ => ranges.push([code, 1]),
        }
    }
    ranges.into_iter().flatten()
}

fn write(name: &str, numbers: impl Iterator<Item = u32>) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    fs::write(out.join(name), bytes).expect("the directory can be written");
}
