//! The screen area that a question takes, so that it can be erased again.

use super::screen::Screen;
use stockade_text::visible::fit;

/// The written rows of a question.
pub struct Page {
    screen: Screen,
    width: usize,
    /// Rows above the cursor.
    rows: usize,
    /// Columns used in the last row before any input.
    used: usize,
}

impl Page {
    /// An empty page whose rows have at most `width` columns.
    pub fn new(screen: Screen, width: usize) -> Page {
        Page {
            screen,
            width,
            rows: 0,
            used: 0,
        }
    }

    /// Counts a text, whose rows fit, and returns it.
    pub fn adds<'t>(&mut self, text: &'t str) -> &'t str {
        self.rows += text.matches('\n').count();
        self.used = fit::columns(text.rsplit('\n').next().unwrap_or(text));
        text
    }

    /// Counts the input typed after it, and the line end.
    pub fn adds_typed(&mut self, typed: &[u8]) {
        let typed = String::from_utf8_lossy(typed);
        let shown = typed.trim_end_matches('\n').chars();
        // ECHOCTL: a control character is shown as `^C`.
        let shown: String = shown
            .map(|c| if c.is_control() { "^C".into() } else { c.to_string() })
            .collect();
        self.rows += (self.used + fit::columns(&shown)).div_ceil(self.width).max(1);
    }

    /// Returns the sequence that erases the page; on a plain terminal it stays, and the next row begins.
    pub fn taken_away(&mut self) -> String {
        let rows = std::mem::take(&mut self.rows);
        match self.screen {
            Screen::Obeys if rows > 0 => format!("\x1b[{rows}A\r\x1b[J"),
            Screen::Obeys => "\r\x1b[J".into(),
            Screen::Plain => String::new(),
        }
    }
}
