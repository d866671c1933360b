//! Styles for Stockade's texts on a terminal: bold, and a few colours if wanted.

/// The styles that a terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text alone: `TERM` is `dumb` or missing.
    Plain,
    /// Bold, and no colour: the terminal has none, or `NO_COLOR` is set.
    Bold,
    /// Bold and colours.
    Coloured,
}

/// The role of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The access asked for.
    Asked,
    /// A warning before a yes.
    Careful,
    /// The line after a yes.
    Granted,
    /// The line after a no.
    Refused,
}

impl Ink {
    /// Chosen by the caller's environment variables (<https://no-color.org>).
    pub fn here() -> Ink {
        let set = |name| std::env::var(name).unwrap_or_default();
        Ink::of(&set("TERM"), &set("NO_COLOR"))
    }

    fn of(term: &str, no_color: &str) -> Ink {
        let has_none = term.starts_with("vt") || term.ends_with("-m") || term.ends_with("-mono");
        match term {
            "" | "dumb" => Ink::Plain,
            _ if has_none || !no_color.is_empty() => Ink::Bold,
            _ => Ink::Coloured,
        }
    }

    /// The text in this style (ECMA-48, SGR), each row styled separately.
    pub fn styled(self, style: Style, text: &str) -> String {
        let parameters = match (self, style) {
            (Ink::Plain, _) | (Ink::Bold, Style::Granted | Style::Refused) => return text.to_string(),
            (Ink::Bold, _) | (_, Style::Asked) => "1",
            (Ink::Coloured, Style::Careful) => "1;33",
            (Ink::Coloured, Style::Granted) => "32",
            (Ink::Coloured, Style::Refused) => "31",
        };
        let rows = text.split('\n').map(|row| format!("\x1b[{parameters}m{row}\x1b[0m"));
        rows.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_where_the_terminal_has_it_and_no_color_isnt_set() {
        for (term, no_color, ink) in [
            ("xterm-256color", "", Ink::Coloured),
            ("screen", "", Ink::Coloured),
            ("xterm-256color", "1", Ink::Bold),
            ("vt100", "", Ink::Bold),
            ("xterm-mono", "", Ink::Bold),
            ("dumb", "", Ink::Plain),
            ("", "", Ink::Plain),
        ] {
            assert_eq!(Ink::of(term, no_color), ink, "{term} {no_color}");
        }
        assert_eq!(
            Ink::Coloured.styled(Style::Careful, "a\nb"),
            "\x1b[1;33ma\x1b[0m\n\x1b[1;33mb\x1b[0m"
        );
        assert_eq!(Ink::Bold.styled(Style::Asked, "a"), "\x1b[1ma\x1b[0m");
        assert_eq!(Ink::Bold.styled(Style::Granted, "a"), "a");
        assert_eq!(Ink::Plain.styled(Style::Asked, "a"), "a");
    }
}
