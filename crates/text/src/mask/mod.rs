//! Masks secrets in texts before they are stored.
//!
//! Pure: text in, text out, in time linear in the text's length. It recognises secrets by names and shapes:
//! options and variables by their names, headers, the user's part of URLs, and tokens by their shape. A secret without a
//! mark (a password as a bare argument of an unknown program) isn't found; masking too much costs less than too little.

mod commands;
mod pairs;
mod shapes;
mod variables;

#[cfg(test)]
mod lines;
#[cfg(test)]
mod tests;

use serde_json::Value;

use shapes::holds_token;
pub use variables::looks_secret;

/// The replacement of a secret.
pub const MASK: &str = "***";

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
    commands::mask(&masked)
}

/// Whether a variable's value, under a harmless name, holds something to mask. A path may look like a token.
pub fn holds_secret(text: &str) -> bool {
    holds_token(text) || commands::mask(&pairs::mask(text, pairs::Extent::Text)) != text
}

/// Masks the secrets in the words of a command line.
pub fn words(words: &[String]) -> Vec<String> {
    let mut line = commands::Line::default();
    let masked = |word: &String| match line.take(word, false) {
        Some(kept) => format!("{}{MASK}", &word[..kept]),
        None => commands::mask(&pairs::mask(&shapes::mask(word), pairs::Extent::Word)),
    };
    words.iter().map(masked).collect()
}
