//! Input of the plain mode: a question's number with an answer, or a command.

pub use stockade_report::approve::grammar::Word;
use stockade_text::visible::fit;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order<'l> {
    /// An answer to one question, in the words of [`stockade_report::approve::grammar`].
    Answer(u32, &'l str),
    /// Refuse all pending questions, with the reason.
    Refuse(Option<String>),
    /// List the pending questions.
    List,
    /// Print the help.
    Help,
    /// Quit.
    Quit,
    /// An empty line.
    Nothing,
}

/// The help text.
pub const HELP: &str = "\
N y               yes to question N, until its run ends
N o, N a          yes for this access alone; for later runs too
N w, N w a        yes to the wider one, until its run ends; for later runs too
N n [REASON]      no
N n all           no to everything that this run asks
N d               all of question N
all no [REASON]   no to all that wait
list, help, quit  what waits; this; end (what waits is refused)
Each is a letter or the whole word: yes, once, always, wider, no, details";

/// Columns of unrecognised input that the error repeats.
const MAX_COLUMNS: usize = 160;

/// Parses a line. The error names what isn't understood.
pub fn read(line: &str) -> Result<Order<'_>, String> {
    let (first, rest) = split(line);
    if first.bytes().all(|byte| byte.is_ascii_digit()) && !first.is_empty() {
        let number = first
            .parse()
            .map_err(|_| format!("`{first}` isn't the number of a question"))?;
        return Ok(Order::Answer(number, rest));
    }
    match (first.to_ascii_lowercase().as_str(), rest) {
        ("", _) => Ok(Order::Nothing),
        ("l" | "list", "") => Ok(Order::List),
        ("h" | "help", "") => Ok(Order::Help),
        ("q" | "quit", "") => Ok(Order::Quit),
        ("all", rest) => match split(rest) {
            (word, reason) if Word::No.is(word) => Ok(Order::Refuse((!reason.is_empty()).then(|| reason.to_string()))),
            _ => Err("only `no` can be said to all".to_string()),
        },
        _ => Err(format!(
            "`{}` isn't the number of a question with an answer, as in `1 y`; `help` lists the commands",
            fit::shortened(line.trim(), MAX_COLUMNS)
        )),
    }
}

fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (first, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_number_and_a_command_has_none() {
        for (line, order) in [
            ("1 once", Order::Answer(1, "once")),
            (" 12  Y ", Order::Answer(12, "Y")),
            ("1 no not  today", Order::Answer(1, "no not  today")),
            ("1", Order::Answer(1, "")),
            ("all no", Order::Refuse(None)),
            ("ALL n too late", Order::Refuse(Some("too late".into()))),
            ("list", Order::List),
            ("h", Order::Help),
            ("Quit", Order::Quit),
            ("  ", Order::Nothing),
        ] {
            assert_eq!(read(line), Ok(order), "{line}");
        }
        for line in [
            "y",
            "once",
            "once 1",
            "all once",
            "all",
            "-1 once",
            "99999999999 once",
            "quit now",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
