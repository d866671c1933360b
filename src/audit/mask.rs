//! Secrets in texts, masked before anybody keeps them.
//!
//! Pure: text in, text out. It looks for what says of itself that it is secret: options and variables by their names,
//! headers, the user's part of URLs, and tokens by their shape. What looks like nothing (a password as a bare
//! argument of an unknown program) isn't found; masking too much costs less than masking too little.

mod pairs;
mod shapes;

#[cfg(test)]
mod tests;

use serde_json::Value;

/// What stands in a secret's place.
pub const MASK: &str = "***";

/// Programs whose short options take secrets: the options, and the ones that may stand before them in one word.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("curl", "uUb", "sSLkfvigINOJ"),
    ("mysql", "p", ""),
    ("mysqldump", "p", ""),
    ("mysqladmin", "p", ""),
    ("mariadb", "p", ""),
    ("mariadb-dump", "p", ""),
    ("sshpass", "p", ""),
    ("redis-cli", "a", ""),
    ("http", "a", ""),
    ("https", "a", ""),
    ("ldapsearch", "w", "x"),
    ("ldapmodify", "w", "x"),
    ("smbclient", "U", ""),
    ("mongosh", "p", ""),
    ("sqlcmd", "P", ""),
    ("7z", "p", ""),
    ("zip", "P", ""),
    ("unzip", "P", ""),
    // `docker login -p SECRET`; elsewhere their `-p` is a port.
    ("login", "p", ""),
];

/// Masks every text of a JSON value. A list of texts is read as the words of a command line.
pub fn json(value: &mut Value) {
    match value {
        Value::String(text) => mask_in_place(text, self::text),
        Value::Array(entries) if entries.iter().all(Value::is_string) => {
            let texts: Vec<String> = entries.iter().filter_map(Value::as_str).map(str::to_string).collect();
            *entries = words(&texts).into_iter().map(Value::String).collect();
        }
        Value::Array(entries) => entries.iter_mut().for_each(json),
        Value::Object(fields) => fields.values_mut().for_each(json),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_in_place(text: &mut String, mask: fn(&str) -> String) {
    // Most texts of a trail are paths and names: nothing in them begins a secret.
    if text.bytes().any(|byte| b"=:@ -_".contains(&byte)) || shapes::may_hold(text) {
        *text = mask(text);
    }
}

/// Masks what is secret in a text of any kind: a sentence, a shell command, a URL.
pub fn text(text: &str) -> String {
    let masked = pairs::mask(&shapes::mask(text), pairs::Extent::Text);
    if masked.contains(" -") {
        flags_in_text(&masked)
    } else {
        masked
    }
}

/// Masks what is secret in the words of a command line.
pub fn words(words: &[String]) -> Vec<String> {
    let mut context = Context::default();
    words.iter().map(|word| context.word(word, one_word)).collect()
}

/// One word of a command line, which may be a command of its own (`sh -c "…"`).
fn one_word(word: &str) -> String {
    let masked = pairs::mask(&shapes::mask(word), pairs::Extent::Word);
    if masked.contains(" -") {
        flags_in_text(&masked)
    } else {
        masked
    }
}

/// The words of a shell command within a text, its spaces kept.
fn flags_in_text(text: &str) -> String {
    let mut context = Context::default();
    text.split_inclusive(char::is_whitespace)
        .map(|piece| {
            let word = piece.trim_end();
            let space = &piece[word.len()..];
            // Quotes belong to the shell; what stands outside them is all that tells here.
            context.word(word, str::to_string) + space
        })
        .collect()
}

/// What the words so far say of the next one.
#[derive(Default)]
struct Context {
    is_secret_next: bool,
    client: Option<&'static (&'static str, &'static str, &'static str)>,
}

impl Context {
    fn word(&mut self, word: &str, otherwise: impl Fn(&str) -> String) -> String {
        if word.is_empty() {
            return String::new();
        }
        if std::mem::take(&mut self.is_secret_next) {
            return MASK.to_string();
        }
        let bare = word.trim_matches(['"', '\'']);
        let name = bare.rsplit('/').next().unwrap_or(bare);
        if let Some(client) = CLIENTS.iter().find(|(client, ..)| *client == name) {
            self.client = Some(client);
        }
        if let Some(masked) = self.short_option(bare) {
            return masked;
        }
        if is_secret_option(bare) {
            self.is_secret_next = true;
            return word.to_string();
        }
        match bare.strip_prefix("pass:") {
            Some(secret) if !secret.is_empty() => format!("pass:{MASK}"),
            _ => otherwise(word),
        }
    }

    /// `-pSECRET`, or `-p` before a secret, of the program that is called.
    fn short_option(&mut self, word: &str) -> Option<String> {
        let (_, options, harmless) = self.client?;
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let at = letters.find(|letter| !harmless.contains(letter))?;
        let option = letters[at..].chars().next()?;
        if !options.contains(option) {
            return None;
        }
        let attached = &letters[at + option.len_utf8()..];
        if attached.is_empty() {
            // `mysql -p` asks; what follows it is the database.
            self.is_secret_next = !matches!(self.client, Some((name, ..)) if name.starts_with("my") || name.starts_with("maria") || *name == "7z");
            return None;
        }
        Some(format!("-{}{MASK}", &letters[..at + option.len_utf8()]))
    }
}

/// `--token`, before its value. `--password-file` and its like name places.
fn is_secret_option(word: &str) -> bool {
    const PLACES: [&str; 5] = ["-file", "-stdin", "-path", "-dir", "-name"];
    let Some(name) = word.strip_prefix('-') else {
        return false;
    };
    let name = name.strip_prefix('-').unwrap_or(name);
    // One letter is no name, and one dash before a word is how some programs write long options.
    name.len() > 2
        && !name.contains('=')
        && !name.starts_with("no-")
        && !PLACES.iter().any(|place| name.ends_with(place))
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && pairs::names_secret(name)
}
