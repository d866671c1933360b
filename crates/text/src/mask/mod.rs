//! Masks secrets in texts before they are stored.
//!
//! Pure: text in, text out, in time linear in the text's length. It recognises secrets by names and shapes:
//! options and variables by their names, headers, the user's part of URLs, and tokens by their shape. A text of
//! several words is split as a shell would split it, to a few levels of quotes. A secret without a mark (a password as
//! a bare argument of an unknown program) isn't found; masking too much costs less than masking too little.

mod clients;
mod context;
mod pairs;
mod pieces;
mod shapes;
mod variables;

#[cfg(test)]
mod lines;
#[cfg(test)]
mod tests;

use serde_json::Value;

use context::Context;
use pieces::{Piece, Quotes};
use shapes::holds_token;
pub use variables::looks_secret;

/// The replacement of a secret.
pub const MASK: &str = "***";

/// The depth limit of nested texts (`sh -c "sh -c '…'"`): below it, quotes are ordinary letters.
const MAX_DEPTH: usize = 4;

/// Masks every text of a JSON value. A list of texts is treated as the words of a command line.
pub fn json(value: &mut Value) {
    match value {
        Value::String(text) => mask_in_place(text),
        Value::Array(entries) if entries.iter().all(Value::is_string) => {
            let texts: Vec<String> = entries.iter().filter_map(Value::as_str).map(str::to_string).collect();
            *entries = words(&texts).into_iter().map(Value::String).collect();
        }
        Value::Array(entries) => entries.iter_mut().for_each(json),
        Value::Object(fields) => fields.values_mut().for_each(json),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_in_place(text: &mut String) {
    // Most texts of a trail are paths and names, in which no secret can begin.
    if text.bytes().any(|byte| b"=:@ -_".contains(&byte)) || shapes::may_hold(text) {
        *text = self::text(text);
    }
}

/// Masks the secrets in a text of any kind: a sentence, a shell command, a URL.
pub fn text(text: &str) -> String {
    let masked = pairs::mask(&shapes::mask(text), pairs::Extent::Text);
    commands(&masked, MAX_DEPTH)
}

/// Whether a variable's value, under a harmless name, holds something to mask. A path may look like a token.
pub fn holds_secret(text: &str) -> bool {
    holds_token(text) || commands(&pairs::mask(text, pairs::Extent::Text), MAX_DEPTH) != text
}

/// Masks the secrets in the words of a command line.
pub fn words(words: &[String]) -> Vec<String> {
    let mut context = Context::default();
    let one = |word: &str| commands(&pairs::mask(&shapes::mask(word), pairs::Extent::Word), MAX_DEPTH);
    words.iter().map(|word| context.word(word, word, one)).collect()
}

/// Masks the secrets in a text's commands by their context; blanks and quotes are kept.
fn commands(text: &str, depth: usize) -> String {
    // One word, or words without an option or a setting among them.
    if !text.contains(char::is_whitespace) {
        return text.to_string();
    }
    let quotes = if depth == 0 { Quotes::AreLetters } else { Quotes::Hold };
    let mut context = Context::default();
    let mut masked = String::with_capacity(text.len());
    for piece in pieces::of(text, quotes) {
        match piece {
            Piece::Between(between) => {
                context.pass(between);
                masked.push_str(between);
            }
            Piece::Word(word) => {
                let (before, bare, after) = pieces::unquoted(word);
                let inner = |word: &str| {
                    // Each level is deeper than the last, or nested words would be parsed without end.
                    if depth == 0 {
                        return word.to_string();
                    }
                    let depth = if before.is_empty() { 0 } else { depth.saturating_sub(1) };
                    format!("{before}{}{after}", commands(bare, depth))
                };
                masked.push_str(&context.word(word, bare, inner));
            }
        }
    }
    masked
}
