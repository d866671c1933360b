//! Escapes every text that Stockade didn't write itself for display on a terminal.
//!
//! A character is kept only if every terminal shows it by itself: in one or two columns, left to right, without
//! changing its neighbours. Unicode's properties of the character decide, so characters from later versions
//! are escaped until they are known. Nothing is normalised: a name with a combining mark is another name than the one
//! with the composed letter, and the two look different here. Similar letters of other scripts are kept.

pub mod fit;
#[doc(hidden)]
pub mod odd;
pub mod style;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use icu_properties::CodePointMapData;
use icu_properties::props::{BidiClass, GeneralCategory, GeneralCategoryGroup, GraphemeClusterBreak};
use unicode_width::UnicodeWidthChar;

/// The text with all other characters as `\u{…}`. A single blank between two words is kept: more of them, and those
/// at either end, could fill a line, so that the following text looks like a line of Stockade's.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_blank_alone = || !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ");
    if text.chars().all(is_visible) && is_blank_alone() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    let mut is_after_blank = true;
    while let Some(c) = rest.next() {
        match c {
            ' ' if is_after_blank || rest.peek().is_none() => shown.push_str("\\u{20}"),
            _ => push(&mut shown, c),
        }
        is_after_blank = c == ' ';
    }
    Cow::Owned(shown)
}

/// The same but keeps all blanks, for a text composed of Stockade's own and of already visible texts.
pub fn visible_but_for_blanks(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut shown, c));
    Cow::Owned(shown)
}

/// JSON from `serde_json`, with characters that a terminal wouldn't show by themselves as JSON escapes (RFC 8259, section 7):
/// programs parse the same values.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii() && c != '\u{7f}' || is_visible(c);
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_plain(c) {
            true => shown.push(c),
            false => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| shown.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, c: char) {
    if is_visible(c) {
        shown.push(c);
    } else {
        shown.extend(c.escape_default());
    }
}

/// Whether a terminal shows the character by itself, or it is the ASCII space.
pub fn is_visible(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    has_shape(c) && is_left_to_right(c) && stands_alone(c) && has_known_width(c)
}

/// Whether it is a letter, digit, punctuation or symbol: no mark, blank, control or unassigned character.
fn has_shape(c: char) -> bool {
    // Symbols and letters by category that draw nothing: Braille's blank, a music note's head, two of Egyptian, and the
    // object replacement character.
    const EMPTY: [char; 5] = ['\u{2800}', '\u{1d159}', '\u{13441}', '\u{13442}', '\u{fffc}'];
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    let shapes = [
        GeneralCategoryGroup::Letter,
        GeneralCategoryGroup::Number,
        GeneralCategoryGroup::Punctuation,
        GeneralCategoryGroup::Symbol,
    ];
    shapes.iter().any(|group| group.contains(category)) && !EMPTY.contains(&c)
}

/// Whether it is neither right-to-left nor a directional control.
fn is_left_to_right(c: char) -> bool {
    matches!(
        CodePointMapData::<BidiClass>::new().get(c),
        BidiClass::LeftToRight
            | BidiClass::EuropeanNumber
            | BidiClass::EuropeanSeparator
            | BidiClass::EuropeanTerminator
            | BidiClass::CommonSeparator
            | BidiClass::OtherNeutral
    )
}

/// Whether it forms no cluster with its neighbours (UAX #29): no mark, no part of a syllable or of a flag.
fn stands_alone(c: char) -> bool {
    matches!(
        CodePointMapData::<GraphemeClusterBreak>::new().get(c),
        GraphemeClusterBreak::Other | GraphemeClusterBreak::LV | GraphemeClusterBreak::LVT
    )
}

/// Whether terminals give it one or two columns, including those that treat ambiguous characters as wide.
fn has_known_width(c: char) -> bool {
    matches!((c.width(), c.width_cjk()), (Some(1 | 2), Some(1 | 2)))
}

/// Whether a character shows nothing itself or changes the display of its neighbours: controls, and Unicode's
/// default-ignorable ones (DerivedCoreProperties.txt), including the blank Hangul letters and variation selectors. No
/// name or description in a configuration needs one; marks and right-to-left letters may be intended there.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}
