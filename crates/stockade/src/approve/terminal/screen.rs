//! What a program may have left in a terminal, undone: an unfinished sequence would swallow the question, hidden text
//! hide it, a scroll region of one line leave a forged question standing above the true prompt.

/// Whether the terminal obeys escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// It does.
    Obeys,
    /// It doesn't, or it isn't known: `TERM` is `dumb` or missing.
    Plain,
}

/// In this order: CAN and ST end what is unfinished, the rest is ordinary control sequences (ECMA-48, VT510, xterm). A
/// terminal that lacks one ignores it. What DECSTR resets is reset singly too, because not every terminal has it.
const UNDO: &[&str] = &[
    "\x18",           // CAN: gives an unfinished sequence up
    "\x1b\\",         // ST: ends an unfinished string
    "\x1b]104\x1b\\", // the palette, and the next: the colours of text, screen and cursor. Of one colour they'd hide all
    "\x1b]110\x1b\\",
    "\x1b]111\x1b\\",
    "\x1b]112\x1b\\",
    "\x1b[4i",     // MC: to the screen, not to a printer
    "\x0f",        // SI, and the next: letters are letters
    "\x1b(B",      // ASCII as G0
    "\x1b[!p",     // DECSTR: soft reset
    "\x1b[0$}",    // DECSASD: to the screen, not to its status line
    "\x1b[0m",     // SGR: neither hidden nor coloured
    "\x1b[4l",     // IRM: text replaces and doesn't push
    "\x1b[?69l",   // DECLRMM: no side margins
    "\x1b7",       // DECSC: the next moves the cursor
    "\x1b[r",      // DECSTBM: the whole screen scrolls
    "\x1b8",       // DECRC
    "\x1b[?7h",    // DECAWM: long lines wrap
    "\x1b[?25h",   // DECTCEM: the cursor is shown
    "\x1b[?2026l", // output is shown at once
];

impl Screen {
    /// As `TERM` says.
    pub fn of(term: Option<&str>) -> Screen {
        match term {
            None | Some("" | "dumb") => Screen::Plain,
            Some(_) => Screen::Obeys,
        }
    }

    /// What undoes it.
    pub fn undo(self) -> String {
        match self {
            Screen::Obeys => UNDO.concat(),
            Screen::Plain => String::new(),
        }
    }

    /// What clears all of it, whatever was left in it.
    pub fn wiped(self) -> String {
        match self {
            Screen::Obeys => self.undo() + "\x1b[2J\x1b[H",
            Screen::Plain => "\n".into(),
        }
    }

    /// What begins a question: a line of its own, and nothing of the program's below or beside it.
    pub fn fresh(self) -> &'static str {
        match self {
            Screen::Obeys => "\n\x1b[J",
            Screen::Plain => "\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_of_which_nothing_is_known_gets_no_escape_sequence() {
        for term in [None, Some(""), Some("dumb")] {
            assert_eq!(Screen::of(term).undo(), "");
            assert_eq!(Screen::of(term).fresh(), "\n");
        }
        let undo = Screen::of(Some("xterm")).undo();
        assert!(undo.starts_with("\x18\x1b\\"));
        for colour in ["104", "110", "111", "112"] {
            assert!(undo.contains(&format!("\x1b]{colour}\x1b\\")), "{colour}");
        }
    }
}
