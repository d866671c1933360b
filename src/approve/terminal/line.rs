//! What was typed, without what wasn't: a terminal types too, when a program has asked it something.
//!
//! Answers to queries are escape sequences with letters inside (`ESC ] 11 ; rgb:ffff/… ESC \`). They are dropped wherever
//! they stand; a line with half of one, or with any other control character, says nothing.

/// One line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Plain text, trimmed; empty where only Enter was pressed.
    Text(String),
    /// Nothing that a person means.
    Unclear,
    /// Ctrl-C, Ctrl-D, Ctrl-Z or Ctrl-\: enough.
    Broken,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 7;
const CTRL_BACKSLASH: u8 = 0x1c;

impl Line {
    /// Of the bytes that one read gave. Without a line end, one of the keys that break off ended it.
    pub fn of(bytes: &[u8]) -> Line {
        let Some(bytes) = bytes.strip_suffix(b"\n") else {
            return Line::Broken;
        };
        let Some(typed) = typed(bytes) else {
            return Line::Unclear;
        };
        if typed.contains(&CTRL_BACKSLASH) {
            return Line::Broken;
        }
        match String::from_utf8(typed) {
            Ok(text) if !text.contains(char::is_control) => Line::Text(text.trim().to_string()),
            _ => Line::Unclear,
        }
    }
}

/// All but the escape sequences; `None` where one is unfinished or malformed.
fn typed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut typed = Vec::new();
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        if byte == ESCAPE {
            skip_sequence(&mut rest)?;
        } else {
            typed.push(byte);
        }
    }
    Some(typed)
}

/// Behind the escape character (ECMA-48, sections 5.3 to 5.6).
fn skip_sequence(rest: &mut impl Iterator<Item = u8>) -> Option<()> {
    match rest.next()? {
        b'[' => skip_control_sequence(rest),
        // OSC, DCS, SOS, PM, APC.
        b']' | b'P' | b'X' | b'^' | b'_' => skip_string(rest),
        // SS2 and SS3 shift the next character: function keys.
        b'N' | b'O' => is_shown(rest.next()?).then_some(()),
        intermediate @ 0x20..=0x2f => {
            let mut byte = intermediate;
            while matches!(byte, 0x20..=0x2f) {
                byte = rest.next()?;
            }
            is_shown(byte).then_some(())
        }
        byte => is_shown(byte).then_some(()),
    }
}

fn skip_control_sequence(rest: &mut impl Iterator<Item = u8>) -> Option<()> {
    let mut has_parameters = false;
    loop {
        match rest.next()? {
            // X10's reports of the mouse have three bytes behind the end, which may be letters.
            b'M' if !has_parameters => {
                let bytes: Vec<u8> = rest.take(3).collect();
                return (bytes.len() == 3).then_some(());
            }
            // The Linux console's function keys: `ESC [ [ A`.
            b'[' if !has_parameters => return is_shown(rest.next()?).then_some(()),
            0x20..=0x3f => has_parameters = true,
            0x40..=0x7e => return Some(()),
            _ => return None,
        }
    }
}

/// To its end, ST, or BEL as xterm takes it.
fn skip_string(rest: &mut impl Iterator<Item = u8>) -> Option<()> {
    loop {
        match rest.next()? {
            BELL => return Some(()),
            ESCAPE => return (rest.next()? == b'\\').then_some(()),
            byte if byte.is_ascii_control() => return None,
            _ => {}
        }
    }
}

fn is_shown(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Line {
        Line::Text(text.into())
    }

    #[test]
    fn what_a_terminal_sends_is_dropped_wherever_it_stands() {
        for sent in [
            "\x1b]11;rgb:0000/1111/once\x1b\\",
            "\x1b]11;rgb:ffff/aaaa/no\x07",
            "\x1bP1$r0 q\x1b\\",
            "\x1bP>|XTerm(370) session\x1b\\",
            "\x1b[?62;1;6;9;22c",
            "\x1b[24;80R",
            "\x1b[0n",
            "\x1b[I",
            "\x1b[M on",
            "\x1b[<0;1;1M",
            "\x1bOA",
            "\x1b[[A",
            "\x1b[200~",
            "\x1b]lonce\x1b\\",
            "\x1b_Gi=1;OK\x1b\\",
            "\x1b(B",
            "\x1bx",
            "\x1b]11;rgb:00/00/00\x1b\\\x1b[1;1R\x1b[0n",
        ] {
            for (line, is) in [
                (format!("{sent}once\n"), "once"),
                (format!("on{sent}ce\n"), "once"),
                (format!("once{sent}\n"), "once"),
                (format!("{sent}\n"), ""),
            ] {
                assert_eq!(Line::of(line.as_bytes()), text(is), "{line:?}");
            }
        }
        assert_eq!(Line::of(b"\x1b[200~once\x1b[201~\n"), text("once"));
        assert_eq!(Line::of(" no thank you \n".as_bytes()), text("no thank you"));
        assert_eq!(Line::of("no, schäme dich\n".as_bytes()), text("no, schäme dich"));
    }

    #[test]
    fn half_a_sequence_or_a_control_character_says_nothing() {
        for bytes in [
            b"once\x1b\n".as_slice(),
            b"\x1b]11;rgb:once\n",
            b"\x1b]11;rgb:once\x1b\n",
            b"\x1b]0;x\x1b[0nonce\n",
            b"\x1b[once;\x01\n",
            b"once\x1b[1;\n",
            b"\x1b[Mon\n",
            b"\x1bO\n",
            b"\x1bP\x00once\x1b\\\n",
            b"on\x07ce\n",
            b"once\t\n",
            b"\x00once\n",
            b"once\x7f\n",
            b"once\r\n",
            b"\x9b1monce\n",
            b"once\xff\n",
            "once\u{9b}\n".as_bytes(),
        ] {
            assert_eq!(Line::of(bytes), Line::Unclear, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_key_that_breaks_off_ends_it() {
        for bytes in [b"".as_slice(), b"once\x03", b"once", b"\x1a", b"once\x1c\n"] {
            assert_eq!(Line::of(bytes), Line::Broken, "{bytes:?}");
        }
    }
}
