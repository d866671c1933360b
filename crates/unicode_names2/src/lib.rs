//! Characters by their Unicode names, as Python's `\N{…}` has them: for ruff's parser, which asks the crate of this name.
//!
//! That crate holds each name, to tell it as well: 830 KB of the program. Here is a hash for each, 150 KB. A text that is
//! no name is taken for one once in 120,000 times; Python refuses such a script as it starts.

mod hash;

/// Pairs of numbers: the first character of a range, and how many there are.
const RANGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ranges"));
/// A hash for each character of the ranges.
const HASHES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hashes"));

/// The same pairs, for what is named by its number.
const IDEOGRAPHS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ideographs"));

/// Longer than each name.
const LONGEST: usize = 128;

const FIRST: [&str; 19] = [
    "G", "GG", "N", "D", "DD", "R", "M", "B", "BB", "S", "SS", "", "J", "JJ", "C", "K", "T", "P", "H",
];
const MIDDLE: [&str; 21] = [
    "A", "AE", "YA", "YAE", "EO", "E", "YEO", "YE", "O", "WA", "WAE", "OE", "YO", "U", "WEO", "WE", "WI", "YU", "EU",
    "YI", "I",
];
const LAST: [&str; 28] = [
    "", "G", "GG", "GS", "N", "NJ", "NH", "D", "L", "LG", "LM", "LB", "LS", "LT", "LP", "LH", "M", "B", "BS", "S",
    "SS", "NG", "J", "C", "K", "T", "P", "H",
];

/// Returns the character of a name, whose letters may be of either case.
pub fn character(name: &str) -> Option<char> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_ascii_uppercase();
    if let Some(syllable) = name.strip_prefix("HANGUL SYLLABLE ") {
        return hangul(syllable);
    }
    if let Some(number) = name.strip_prefix("CJK UNIFIED IDEOGRAPH-") {
        return ideograph(number);
    }
    let wanted = hash::of(&name).to_le_bytes();
    let index = HASHES.chunks_exact(4).position(|hash| hash == wanted)?;
    at(u32::try_from(index).ok()?)
}

/// The character that has so many named ones before it.
fn at(mut index: u32) -> Option<char> {
    for (first, count) in ranges(RANGES) {
        if index < count {
            return char::from_u32(first + index);
        }
        index -= count;
    }
    None
}

/// The first of each range, and how many it has.
fn ranges(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    bytes
        .chunks_exact(8)
        .map(|pair| (number(&pair[..4]), number(&pair[4..])))
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Reckons a syllable as chapter 3.12 of the standard does; no other divides into the same letters.
fn hangul(syllable: &str) -> Option<char> {
    for (first, begin) in (0..).zip(FIRST) {
        let Some(rest) = syllable.strip_prefix(begin) else {
            continue;
        };
        for (middle, vowel) in (0..).zip(MIDDLE) {
            let end = rest.strip_prefix(vowel);
            if let Some(last) = end.and_then(|end| LAST.iter().position(|letters| *letters == end)) {
                return char::from_u32(0xac00 + (first * 21 + middle) * 28 + u32::try_from(last).ok()?);
            }
        }
    }
    None
}

fn ideograph(number: &str) -> Option<char> {
    let is_number = matches!(number.len(), 4 | 5) && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(number, 16).ok().filter(|_| is_number)?;
    let there = ranges(IDEOGRAPHS).any(|(first, count)| (first..first + count).contains(&code));
    char::from_u32(code).filter(|_| there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_by_the_names_that_the_complete_crate_tells() {
        // Every forty-first, and each of those that are asked for most: a search takes long in a build that isn't optimised.
        let letters = ('\0'..='\u{17f}').chain(('\u{180}'..=char::MAX).step_by(41));
        let mut count = 0;
        for letter in letters {
            if let Some(name) = complete::name(letter) {
                let name = name.to_string();
                assert_eq!(character(&name), Some(letter), "{name}");
                count += 1;
            }
        }
        assert!(count > 3_500, "{count}");
    }

    #[test]
    fn aliases_are_found_in_any_case() {
        for alias in include_str!("../aliases.txt").lines() {
            assert_eq!(character(&alias.to_lowercase()), complete::character(alias), "{alias}");
        }
    }

    #[test]
    fn what_is_no_name_has_no_character() {
        for text in [
            "",
            "nonsense",
            "HANGUL SYLLABLE X",
            "CJK UNIFIED IDEOGRAPH-",
            "CJK UNIFIED IDEOGRAPH-+4E00",
        ] {
            assert_eq!(character(text), None, "{text}");
        }
        assert_eq!(character("CJK UNIFIED IDEOGRAPH-A000"), None);
        assert_eq!(character(&"A".repeat(4000)), None);
    }
}
