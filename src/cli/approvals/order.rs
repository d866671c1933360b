//! What a person types in the plain mode: a line, and what it means.

use crate::approve::Lifetime;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// An answer to one question.
    Answer(u32, Said),
    /// No to all that wait, with the reason.
    Refuse(Option<String>),
    /// Show what waits.
    List,
    /// Show all of one question.
    Details(u32),
    /// Say what can be typed.
    Help,
    /// End.
    Quit,
    /// An empty line.
    Nothing,
}

/// An answer in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Yes to what was requested, with the profile's name where it was typed.
    Yes(Lifetime, Option<String>),
    /// Yes to the wider one; for how long, if that was said.
    Wider(Option<Lifetime>),
    /// No, with a reason.
    No(Option<String>),
    /// No to this and all else that the run will ask.
    NoAll,
}

/// What can be typed.
pub const HELP: &str = "\
N once | session | always [PROFILE]   yes, for so long
N wider [once | session | always]     yes to the wider one; for the session where nothing is said
N no [REASON]                         no
N no all                              no to everything that this run asks
all no [REASON]                       no to all that wait
list, details N, help, quit           what waits; all of one; this; end (what waits is refused)
Words may be shortened to two letters or more";

const WORDS: &[&str] = &["once", "session", "always", "wider", "no"];
const COMMANDS: &[&str] = &["all", "list", "details", "help", "quit"];

/// Reads a line. The error says what isn't understood.
pub fn read(line: &str) -> Result<Order, String> {
    let (first, rest) = split(line);
    if first.is_empty() {
        return Ok(Order::Nothing);
    }
    if first.bytes().all(|byte| byte.is_ascii_digit()) {
        return said(rest).map(|said| number(first).map(|number| Order::Answer(number, said)))?;
    }
    let order = match word(first, COMMANDS)? {
        "all" => {
            let (second, reason) = split(rest);
            match word(second, WORDS) {
                Ok("no") => return Ok(Order::Refuse(text(reason))),
                _ => return Err("only `no` can be said to all".to_string()),
            }
        }
        "details" => return number(rest).map(Order::Details),
        "list" => Order::List,
        "help" => Order::Help,
        _ => Order::Quit,
    };
    ends(rest)?;
    Ok(order)
}

fn said(rest: &str) -> Result<Said, String> {
    let (first, rest) = split(rest);
    Ok(match word(first, WORDS)? {
        "no" if word(rest, &["all"]).is_ok() => Said::NoAll,
        "no" => Said::No(text(rest)),
        "wider" => Said::Wider(match rest {
            "" => None,
            rest => Some(lifetime(word(rest, &WORDS[..3])?)),
        }),
        name => Said::Yes(lifetime(name), text(rest)),
    })
}

fn lifetime(word: &str) -> Lifetime {
    match word {
        "once" => Lifetime::Once,
        "session" => Lifetime::Session,
        _ => Lifetime::Always,
    }
}

/// The one word that this is, or that it begins with at least two letters.
fn word(typed: &str, words: &[&'static str]) -> Result<&'static str, String> {
    let lower = typed.to_lowercase();
    let found = words.iter().find(|word| lower.len() >= 2 && word.starts_with(&lower));
    found.copied().ok_or_else(|| match typed {
        "" => "an answer is missing; `help` says which there are".to_string(),
        _ => format!("`{typed}` is no word here; `help` says which there are"),
    })
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is no question's number"))
}

fn ends(rest: &str) -> Result<(), String> {
    match rest {
        "" => Ok(()),
        rest => Err(format!("`{rest}` is too much")),
    }
}

fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (first, rest.trim())
}

fn text(rest: &str) -> Option<String> {
    (!rest.is_empty()).then(|| rest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_shortened_to_two_letters() {
        for (line, order) in [
            ("1 once", Order::Answer(1, Said::Yes(Lifetime::Once, None))),
            ("1 on", Order::Answer(1, Said::Yes(Lifetime::Once, None))),
            (" 12  SESS ", Order::Answer(12, Said::Yes(Lifetime::Session, None))),
            (
                "1 al trusted",
                Order::Answer(1, Said::Yes(Lifetime::Always, Some("trusted".into()))),
            ),
            ("1 wi", Order::Answer(1, Said::Wider(None))),
            ("1 wider always", Order::Answer(1, Said::Wider(Some(Lifetime::Always)))),
            ("1 no", Order::Answer(1, Said::No(None))),
            ("1 no not  today", Order::Answer(1, Said::No(Some("not  today".into())))),
            ("1 no all", Order::Answer(1, Said::NoAll)),
            (
                "1 no all of it is wrong",
                Order::Answer(1, Said::No(Some("all of it is wrong".into()))),
            ),
            ("all no", Order::Refuse(None)),
            ("al no too late", Order::Refuse(Some("too late".into()))),
            ("li", Order::List),
            ("de 3", Order::Details(3)),
            ("he", Order::Help),
            ("qu", Order::Quit),
            ("  ", Order::Nothing),
        ] {
            assert_eq!(read(line), Ok(order), "{line}");
        }
    }

    #[test]
    fn what_isnt_understood_is_no_answer() {
        for line in [
            "1",
            "1 o",
            "1 s",
            "1 y",
            "1 yes",
            "once",
            "1 oncee",
            "1 wider forever",
            "all once",
            "all",
            "-1 once",
            "99999999999 once",
            "details",
            "details x",
            "quit now",
            "q",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
