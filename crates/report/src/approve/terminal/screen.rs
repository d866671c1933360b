//! Undoes the state that a program may have left in a terminal: an unfinished sequence would swallow the question,
//! hidden text hide it, a one-line scroll region leave a forged question above the true prompt.

/// Whether the terminal executes escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// It executes them.
    Obeys,
    /// It doesn't, or it is unknown: `TERM` is `dumb` or missing.
    Plain,
}

/// In this order: CAN and ST end unfinished sequences, the rest are ordinary control sequences (ECMA-48, VT510, xterm).
/// A terminal that lacks one ignores it. DECSTR's resets are also sent one by one, because not every terminal has it.
const UNDO: &[&str] = &[
    "\x18",           // CAN: cancels an unfinished sequence
    "\x1b\\",         // ST: ends an unfinished string
    "\x1b]104\x1b\\", // the palette; next: the colours of text, screen and cursor. If equal, they hide everything
    "\x1b]110\x1b\\",
    "\x1b]111\x1b\\",
    "\x1b]112\x1b\\",
    "\x1b[4i",     // MC: to the screen, not to a printer
    "\x0f",        // SI; next: no alternate character set
    "\x1b(B",      // ASCII as G0
    "\x1b[!p",     // DECSTR: soft reset
    "\x1b[0$}",    // DECSASD: to the screen, not to its status line
    "\x1b[0m",     // SGR: neither hidden nor coloured
    "\x1b[4l",     // IRM: text replaces and doesn't insert
    "\x1b[?69l",   // DECLRMM: no side margins
    "\x1b7",       // DECSC: because the next moves the cursor
    "\x1b[r",      // DECSTBM: the whole screen scrolls
    "\x1b8",       // DECRC
    "\x1b[?7h",    // DECAWM: long lines wrap
    "\x1b[?25h",   // DECTCEM: the cursor is shown
    "\x1b[?2026l", // output is shown at once
];

impl Screen {
    /// The screen for this `TERM`.
    pub fn of(term: Option<&str>) -> Screen {
        match term {
            None | Some("" | "dumb") => Screen::Plain,
            Some(_) => Screen::Obeys,
        }
    }

    /// The sequence that undoes it.
    pub fn undo(self) -> String {
        match self {
            Screen::Obeys => UNDO.concat(),
            Screen::Plain => String::new(),
        }
    }

    /// The sequence that clears the screen, whatever its state.
    pub fn wiped(self) -> String {
        match self {
            Screen::Obeys => self.undo() + "\x1b[2J\x1b[H",
            Screen::Plain => "\n".into(),
        }
    }

    /// The sequence that begins a question: a new line, with nothing of the program's below or beside it.
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
