//! Separates typed input from the terminal's own: a terminal sends input too, when a program has queried it.
//!
//! Its answers are escape sequences with letters inside (`ESC ] 11 ; rgb:ffff/… ESC \`). A line with one, or with any
//! other control character, is unclear and is asked for again.

/// One line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputLine {
    /// Plain text; empty for a bare Enter.
    Text(String),
    /// A line with control characters.
    Unclear,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-D or Ctrl-\: breaks off.
    Broken,
}

const CTRL_C: u8 = 3;
const CTRL_Z: u8 = 0x1a;
const CTRL_BACKSLASH: u8 = 0x1c;

impl InputLine {
    /// Parses the bytes of one read. Without a line end, a break key ended it.
    pub fn of(bytes: &[u8]) -> InputLine {
        if bytes.ends_with(&[CTRL_C]) {
            return InputLine::Interrupt;
        }
        if bytes.ends_with(&[CTRL_Z]) {
            return InputLine::Suspend;
        }
        let Some(typed) = bytes.strip_suffix(b"\n") else {
            return InputLine::Broken;
        };
        if typed.contains(&CTRL_BACKSLASH) {
            return InputLine::Broken;
        }
        match std::str::from_utf8(typed) {
            Ok(text) if !text.contains(char::is_control) => InputLine::Text(text.to_string()),
            _ => InputLine::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_which_a_terminal_answers_says_nothing() {
        for sent in [
            "\x1b]11;rgb:0000/1111/once\x1b\\",
            "\x1b]11;rgb:ffff/aaaa/no\x07",
            "\x1bP>|XTerm(370) session\x1b\\",
            "\x1b[?25;1$y",
            "\x1b[?62;1;6;9;22c",
            "\x1b[M yn",
            "\x1b[200~",
            "\x1bOA",
            "\x1b",
            "\x07",
            "\t",
            "\0",
            "\x7f",
            "\r",
            "\u{9b}",
        ] {
            for line in [
                format!("{sent}y\n"),
                format!("y{sent}\n"),
                format!("ye{sent}s\n"),
                format!("{sent}\n"),
            ] {
                assert_eq!(InputLine::of(line.as_bytes()), InputLine::Unclear, "{line:?}");
            }
        }
        for bytes in [b"\x9b1my\n".as_slice(), b"y\xff\n"] {
            assert_eq!(InputLine::of(bytes), InputLine::Unclear, "{bytes:?}");
        }
        assert_eq!(
            InputLine::of("no, schäme dich\n".as_bytes()),
            InputLine::Text("no, schäme dich".into())
        );
        assert_eq!(InputLine::of(b"\n"), InputLine::Text(String::new()));
    }

    #[test]
    fn a_key_that_breaks_off_ends_it() {
        for bytes in [b"\x03".as_slice(), b"once\x03", b"\x1b[\x03"] {
            assert_eq!(InputLine::of(bytes), InputLine::Interrupt, "{bytes:?}");
        }
        for bytes in [b"\x1a".as_slice(), b"once\x1a"] {
            assert_eq!(InputLine::of(bytes), InputLine::Suspend, "{bytes:?}");
        }
        for bytes in [b"".as_slice(), b"once", b"once\x1c\n"] {
            assert_eq!(InputLine::of(bytes), InputLine::Broken, "{bytes:?}");
        }
    }
}
