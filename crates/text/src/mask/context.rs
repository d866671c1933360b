//! The meaning of the next word of a command, as its earlier words determine it.

use super::clients::{self, Client, Value};
use super::{MASK, pairs};

/// The state after the words so far.
#[derive(Default)]
pub(super) struct Context {
    next: Next,
    /// Whether `set` came before: the value follows each secret name.
    sets: bool,
    /// Whether `machine` came before, as in netrc(5): the value follows `password`.
    names_machine: bool,
    /// Whether every further word that isn't an option is secret.
    takes_the_rest: bool,
    client: Option<&'static Client>,
}

/// The kind of the next word.
#[derive(Default, PartialEq, Eq)]
enum Next {
    #[default]
    Anything,
    /// A secret, unless it is an option itself.
    Secret,
    /// `Name: value`.
    Header,
    /// `config` came before: a name, then its value.
    Setting,
    /// A secret name came before: `=`, then its value; or, in quotes, the value itself, as in SQL.
    Equals,
    /// `IDENTIFIED` came before; `BY` follows.
    By,
}

impl Context {
    /// Takes the text between two words, which may end a command.
    pub(super) fn pass(&mut self, between: &str) {
        if between.contains([';', '|', '&', '(', ')', '\n']) {
            *self = Context {
                // An entry of netrc(5) may span lines.
                names_machine: self.names_machine && !between.contains([';', '|', '&', '(', ')']),
                ..Context::default()
            };
        }
    }

    /// Masks a word; `bare` is the word without its quotes. `otherwise` masks a word without context.
    pub(super) fn word(&mut self, word: &str, bare: &str, otherwise: impl Fn(&str) -> String) -> String {
        if word.is_empty() {
            return String::new();
        }
        let is_option = bare.starts_with('-') && bare.len() > 1;
        let names_setting =
            || !is_option && !bare.contains('=') && bare.split([':', '/', '.']).any(pairs::names_secret);
        match std::mem::take(&mut self.next) {
            Next::Secret if !is_option => return MASK.to_string(),
            Next::Header => return header(word).unwrap_or_else(|| otherwise(word)),
            Next::Setting if is_option => self.next = Next::Setting,
            Next::Setting if names_setting() => {
                self.next = Next::Secret;
                return word.to_string();
            }
            Next::Anything if self.sets && names_setting() => {
                self.next = Next::Secret;
                return word.to_string();
            }
            Next::Equals if bare == "=" => {
                self.next = Next::Secret;
                return word.to_string();
            }
            Next::Equals if bare.len() < word.len() => return MASK.to_string(),
            Next::By if bare.eq_ignore_ascii_case("by") => {
                self.next = Next::Secret;
                return word.to_string();
            }
            Next::Secret | Next::Setting | Next::Equals | Next::By | Next::Anything => {}
        }
        if self.takes_the_rest && !is_option {
            return MASK.to_string();
        }
        self.sets |= bare == "set";
        self.names_machine |= bare == "machine";
        let is_of_netrc = self.names_machine && matches!(bare, "password" | "account");
        if is_of_netrc || self.client.is_some_and(|client| client.words.contains(&bare)) {
            self.next = Next::Secret;
            return word.to_string();
        }
        let name = bare.rsplit('/').next().unwrap_or(bare);
        self.client = clients::find(name).or(self.client);
        if self.client.is_some_and(|client| client.rest.contains(&name)) {
            self.takes_the_rest = true;
            return word.to_string();
        }
        if let Some(masked) = self.option_of_client(bare) {
            return masked;
        }
        self.next = next(bare).unwrap_or_else(|| std::mem::take(&mut self.next));
        if self.next == Next::Secret {
            return word.to_string();
        }
        let joined = ["-H", "--header=", "/p:"].iter().find_map(|option| {
            let value = bare.strip_prefix(option).filter(|value| !value.is_empty())?;
            match *option {
                "/p:" => Some(format!("/p:{MASK}")),
                _ => header(value).map(|masked| format!("{option}{masked}")),
            }
        });
        match (joined, bare.strip_prefix("pass:")) {
            (Some(masked), _) => masked,
            (None, Some(secret)) if !secret.is_empty() => format!("pass:{MASK}"),
            (None, _) => otherwise(word),
        }
    }

    /// `-pSECRET`, or `-p` before a secret, or `--user=SECRET`, of the current program.
    fn option_of_client(&mut self, word: &str) -> Option<String> {
        let client = self.client?;
        if client.options.contains(&word) {
            self.next = Next::Secret;
            return None;
        }
        if let Some((option, value)) = word.split_once('=')
            && client.options.contains(&option)
        {
            return (!value.is_empty()).then(|| format!("{option}={MASK}"));
        }
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let at = letters.find(|letter| !client.before.contains(letter))?;
        let option = letters[at..].chars().next()?;
        if !client.letters.contains(option) {
            return None;
        }
        let end = at + option.len_utf8();
        if letters[end..].is_empty() {
            if client.value == Value::SameOrNext {
                self.next = Next::Secret;
            }
            return None;
        }
        Some(format!("-{}{MASK}", &letters[..end]))
    }
}

/// The kind of the next word that a word alone determines.
fn next(bare: &str) -> Option<Next> {
    match bare {
        "-H" | "--header" => Some(Next::Header),
        "config" => Some(Next::Setting),
        _ if bare.eq_ignore_ascii_case("identified") => Some(Next::By),
        _ if is_secret_option(bare) => Some(Next::Secret),
        _ if !bare.starts_with('-') && pairs::is_name(bare) && pairs::names_secret(bare) => Some(Next::Equals),
        _ => None,
    }
}

/// A header whose name marks its value as secret, with or without quotes around it.
fn header(word: &str) -> Option<String> {
    let (name, value) = word.split_once(':')?;
    let bare = name.trim_start_matches(['"', '\'', '\\', '$']);
    if value.is_empty() || !pairs::is_name(bare) || !pairs::names_secret(bare) {
        return None;
    }
    let blank = if value.starts_with(' ') { " " } else { "" };
    let quote = value.len() - value.trim_end_matches(['"', '\'', '\\']).len();
    let closing = if bare.len() < name.len() {
        &value[value.len() - quote..]
    } else {
        ""
    };
    Some(format!("{name}:{blank}{MASK}{closing}"))
}

/// `--token`, before its value. `--password-file` and similar options name places.
fn is_secret_option(word: &str) -> bool {
    let Some(name) = word.strip_prefix('-') else {
        return false;
    };
    let name = name.strip_prefix('-').unwrap_or(name);
    // One letter is no name; some programs write long options with one dash.
    (name.len() > 2 || name == "pw") && pairs::is_name(name) && !name.starts_with("no-") && pairs::names_secret(name)
}
