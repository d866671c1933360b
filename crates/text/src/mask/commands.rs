//! Secrets in command lines: the values of options by their names, and what certain programs get.

use super::MASK;
use super::pairs::{end_of_quoted, is_name, names_secret};

/// Programs that take secrets in options whose names don't say so, as `mysql -p…` does. The
/// values of all their options are masked, except URLs.
#[rustfmt::skip]
const CLIENTS: &[&str] = &[
    "7z", "7za", "7zz", "bcp", "cadaver", "codecov", "cqlsh", "curl", "glab", "http", "https", "influx", "ipmitool",
    "ldapadd", "ldapmodify", "ldapsearch", "lftp", "mariadb", "mariadb-admin", "mariadb-dump", "mongo", "mongodump",
    "mongorestore", "mongosh", "mosquitto_pub", "mosquitto_sub", "mysql", "mysqladmin", "mysqldump", "mysqlimport",
    "ncftp", "ncftpput", "ngrok", "nmcli", "nuget", "openssl", "rabbitmqadmin", "rar", "rclone", "rdesktop", "redis-cli",
    "rpcclient", "smbclient", "smbget", "snmpget", "snmpwalk", "snowsql", "snyk", "sqlcmd", "ssh-keygen", "sshpass",
    "supabase", "twine", "unrar", "unzip", "useradd", "usermod", "valkey-cli", "vercel", "wget", "xh", "zip",
];

/// Options of one letter that hold no secret, of the clients that people use most: switches, and those whose value is a number
/// or one of the program's own words. Sources: curl(1), ssh-keygen(1), unzip(1), wget(1), zip(1).
const HARMLESS: &[(&str, &str, &str)] = &[
    ("curl", "#012346aBfgGiIjJklLMnNOpqRsSvVZ", "CmrXyYz"),
    ("ssh-keygen", "AhHlpqvy", "abt"),
    ("unzip", "aCfjKlLnoqtuvXz", ""),
    ("wget", "bcdEFhHkKLmnNpqrSvx", "QTtw"),
    ("zip", "0123456789DfgjmoqruvXyT", ""),
];

/// Subcommands of which the same holds. They are words of sentences, too.
const SUBCOMMANDS: &[&str] = &["login", "put-parameter", "secret"];

/// Programs that take secrets in any word: of theirs only the names of options are kept.
const WHOLE: &[&str] = &[
    "expdp", "fly", "flyctl", "htpasswd", "impdp", "mc", "sqlldr", "sqlplus", "vault", "xfreerdp",
];

/// A command line after some of its words.
#[derive(Default)]
pub(super) struct Line {
    next: Next,
    /// A program of `CLIENTS` came.
    is_client: bool,
    /// Its harmless letters, unless another client came.
    harmless: Option<(&'static str, &'static str)>,
    /// A program of `WHOLE` came.
    is_whole: bool,
    /// `set` or the like came: a value follows each secret name.
    sets: bool,
}

#[derive(Default)]
enum Next {
    #[default]
    Anything,
    /// A secret, unless it is an option itself.
    Secret,
    /// The value of an option of a client.
    Value,
    /// A secret name came: `=`, then its value; or, in quotes, the value itself, as in SQL.
    Sign,
    /// SQL's `identified` came: `by`, then a value in quotes.
    By,
}

impl Line {
    /// Takes the text between two words, which may end a command. An entry of netrc(5) spans lines.
    fn pass(&mut self, between: &str) {
        let between = between.replace("\\\n", "");
        let ends = between.contains([';', '|', '&', '(', ')']);
        if ends || between.contains('\n') {
            *self = Line {
                sets: self.sets && !ends,
                ..Line::default()
            };
        }
    }

    /// Takes a word. If it holds a secret, returns the count of bytes before it.
    pub(super) fn take(&mut self, word: &str, is_quoted: bool) -> Option<usize> {
        let is_option = word.starts_with('-') && word.len() > 1;
        let is_secret_name = |name: &str| is_name(name) && names_secret(name);
        match std::mem::take(&mut self.next) {
            Next::Secret | Next::Value if word == "=" => {
                self.next = Next::Secret;
                return None;
            }
            // `login password 'x'`.
            Next::Secret if !is_quoted && is_secret_name(word) => {
                self.next = Next::Secret;
                return None;
            }
            Next::By if word.eq_ignore_ascii_case("by") => {
                self.next = Next::Sign;
                return None;
            }
            Next::Secret if !is_option => return Some(0),
            Next::Value if !is_option && !word.contains("://") => return Some(0),
            Next::Sign if word == "=" => {
                self.next = Next::Secret;
                return None;
            }
            Next::Sign if is_quoted => return Some(0),
            Next::Anything | Next::Secret | Next::Value | Next::Sign | Next::By => {}
        }
        if is_option {
            return self.option(word);
        }
        if self.is_whole {
            return Some(0);
        }
        let program = word.rsplit('/').next().unwrap_or(word);
        self.is_whole |= WHOLE.contains(&program);
        let is_client = CLIENTS.contains(&program);
        if is_client || SUBCOMMANDS.contains(&word) {
            let found = HARMLESS.iter().find(|(name, ..)| *name == program && !self.is_client);
            self.harmless = found.map(|(_, switches, valued)| (*switches, *valued));
        }
        self.is_client |= is_client;
        self.sets |= self.is_client || matches!(word, "set" | "config");
        self.is_client |= SUBCOMMANDS.contains(&word);
        self.next = match word {
            "login" | "unlock" => Next::Secret,
            _ if word.eq_ignore_ascii_case("identified") => Next::By,
            _ if self.sets && word.split([':', '/', '.']).any(is_secret_name) => Next::Secret,
            _ if !is_quoted && is_secret_name(word) => Next::Sign,
            _ => Next::Anything,
        };
        None
    }

    fn option(&mut self, word: &str) -> Option<usize> {
        let is_secret = is_secret_option(word);
        if !is_secret && self.harmless.is_some_and(|letters| are_harmless(word, letters)) {
            return None;
        }
        self.next = match is_secret {
            true => Next::Secret,
            false if self.is_client => Next::Value,
            false => Next::Anything,
        };
        if !self.is_client {
            return None;
        }
        let value = match word.starts_with("--") {
            true => word.find('=')? + 1,
            // Behind the first letter is a value, or other options, the last of which may have one.
            false => 1 + word[1..].chars().next()?.len_utf8(),
        };
        (value < word.len()).then_some(value)
    }
}

/// Whether all letters are harmless. What follows one with a value isn't letters.
fn are_harmless(word: &str, (switches, valued): (&str, &str)) -> bool {
    let other = word.chars().skip(1).find(|letter| !switches.contains(*letter));
    !word.starts_with("--") && other.is_none_or(|letter| valued.contains(letter))
}

/// `--token`, before its value. `--password-file` and similar options name places.
fn is_secret_option(word: &str) -> bool {
    let name = word.strip_prefix("--").unwrap_or(&word[1..]);
    // One letter is no name; some programs write long options with one dash.
    let is_secret = names_secret(name) || matches!(name, "upw" | "opw");
    (name.len() > 2 || name == "pw") && is_name(name) && !name.starts_with("no-") && is_secret
}

/// Masks the secrets in a text's commands. Quotes separate words, so that commands in quotes are read like others.
pub(super) fn mask(text: &str) -> String {
    // One word, or words without an option or a setting among them.
    if !text.contains(char::is_whitespace) {
        return text.to_string();
    }
    let mut line = Line::default();
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (between, after) = rest.split_at(rest.find(|c| !is_between(c)).unwrap_or(rest.len()));
        line.pass(between);
        masked.push_str(between);
        let end = after.find(is_between).unwrap_or(after.len());
        let quote = between.chars().next_back().filter(|c| "'\"".contains(*c));
        let taken = if end > 0 {
            line.take(&after[..end], quote.is_some())
        } else {
            None
        };
        let Some(kept) = taken else {
            masked.push_str(&after[..end]);
            rest = &after[end..];
            continue;
        };
        masked.push_str(&after[..kept]);
        masked.push_str(MASK);
        let is_escaped = between
            .strip_suffix(['"', '\''])
            .is_some_and(|before| before.ends_with('\\'));
        let closing = quote.and_then(|quote| end_of_quoted(after, quote, is_escaped));
        // A value goes on behind its quotes: `ada:"b c"`, `"ada":"b"`.
        let end = match closing {
            Some(closing) if !is_escaped => match after[closing + 1..].chars().next() {
                Some(c) if c == '\\' || !is_between(c) => closing + 1 + end_of_value(&after[closing + 1..]),
                _ => closing,
            },
            Some(closing) => closing,
            None => end_of_value(after),
        };
        rest = &after[end..];
    }
    masked
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || ";|&()<>`'\"\\".contains(c)
}

/// The end of a value that begins without quotes. A blank behind a backslash or in quotes belongs to it.
fn end_of_value(text: &str) -> usize {
    let (mut is_escaped, mut quote) = (false, None);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match quote {
            Some(open) if c == open => quote = None,
            Some('\'') => {}
            _ if c == '\\' => is_escaped = true,
            Some(_) => {}
            // A quote that isn't closed ends what is around the value.
            None if matches!(c, '\'' | '"') && at > 0 && text[at + 1..].contains(c) => quote = Some(c),
            None if is_between(c) => return at,
            None => {}
        }
    }
    text.len()
}
