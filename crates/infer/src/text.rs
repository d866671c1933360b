//! Partially known texts: `"data/" + name + ".csv"`.

pub use stockade_shell::sed::PART;

/// A text: its pieces in order, some of them unknown. Two known pieces are never adjacent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece {
    Known(String),
    Unknown,
}

impl Text {
    /// Maximum bytes and pieces of a text; the rest of a longer one is unknown.
    const MAX_LENGTH: usize = 1 << 18;
    const MAX_PIECES: usize = 64;

    /// A wholly unknown text.
    pub fn unknown() -> Text {
        Text {
            pieces: vec![Piece::Unknown],
        }
    }

    /// The whole text if it is known.
    pub fn exact(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The known prefix; empty if the beginning is unknown.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }

    /// The known suffix; empty if the end is unknown.
    pub fn suffix(&self) -> &str {
        match self.pieces.last() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }

    /// Whether nothing of it is known.
    pub fn is_unknown(&self) -> bool {
        self.pieces.iter().all(|piece| *piece == Piece::Unknown) && !self.pieces.is_empty()
    }

    /// Appends another text.
    pub fn then(&self, other: &Text) -> Text {
        let mut text = self.clone();
        let mut length: usize = text.pieces.iter().map(Piece::len).sum();
        for piece in &other.pieces {
            length += piece.len();
            if length > Self::MAX_LENGTH || text.pieces.len() >= Self::MAX_PIECES {
                if text.pieces.last() != Some(&Piece::Unknown) {
                    text.pieces.push(Piece::Unknown);
                }
                break;
            }
            match (text.pieces.last_mut(), piece) {
                (Some(Piece::Known(before)), Piece::Known(more)) => before.push_str(more),
                (Some(Piece::Unknown), Piece::Unknown) => {}
                _ => text.pieces.push(piece.clone()),
            }
        }
        text
    }

    /// Joins two paths as `os.path.join` does: an absolute second one replaces the first.
    pub fn joined(&self, other: &Text) -> Text {
        if other.prefix().starts_with('/') {
            return other.clone();
        }
        if self.exact() == Some("") || other.exact() == Some("") {
            return self.then(other);
        }
        match self.suffix().ends_with('/') {
            true => self.then(other),
            false => self.then(&"/".into()).then(other),
        }
    }

    /// The directory part of a path (`dirname`): `.` if it has none.
    pub fn directory(&self) -> Text {
        match self.exact() {
            Some(path) => match path.trim_end_matches('/').rsplit_once('/') {
                Some(("", _)) => "/".into(),
                Some((directory, _)) => directory.into(),
                None if path.starts_with('/') => "/".into(),
                None => ".".into(),
            },
            None => match self.prefix().rsplit_once('/') {
                Some((directory, _)) if self.pieces.len() <= 2 => directory.into(),
                Some((directory, _)) => Text::from(format!("{directory}/")).then(&Text::unknown()),
                None => Text::unknown(),
            },
        }
    }

    /// For display: unknown parts as `…`.
    pub fn shown(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Known(text) => text,
                Piece::Unknown => "…",
            })
            .collect()
    }

    /// Removes the first bytes; the result is unknown if they aren't known.
    pub fn without_prefix(&self, bytes: usize) -> Text {
        let Some(rest) = self.prefix().get(bytes..) else {
            return Text::unknown();
        };
        let behind = Text {
            pieces: self.pieces.get(1..).unwrap_or_default().to_vec(),
        };
        Text::from(rest).then(&behind)
    }

    /// The whole text with `other` for each unknown piece.
    pub fn with_unknown_as(&self, other: &str) -> String {
        let each = self.pieces.iter().map(|piece| match piece {
            Piece::Known(text) => text,
            Piece::Unknown => other,
        });
        each.collect()
    }

    /// The whole text as characters: `PART` stands for each unknown piece.
    pub fn marked(&self) -> String {
        self.with_unknown_as(&PART.to_string())
    }

    /// Parses a text in which `PART` stands for unknown pieces.
    pub fn of_marked(text: &str) -> Text {
        let mut parts = text.split(PART).map(Text::from);
        let first = parts.next().unwrap_or_else(Text::unknown);
        parts.fold(first, |text, part| text.then(&Text::unknown()).then(&part))
    }

    /// Strips a known prefix; `None` if the text doesn't start with it.
    pub fn without_start(&self, start: &str) -> Option<Text> {
        self.prefix()
            .starts_with(start)
            .then(|| self.without_prefix(start.len()))
    }

    /// Splits at a separator; `None` if part of the text is unknown.
    pub fn split(&self, separator: &str) -> Option<Vec<Text>> {
        let text = self.exact()?;
        (!separator.is_empty()).then(|| text.split(separator).take(4096).map(Text::from).collect())
    }
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Known(text) => text.len(),
            Piece::Unknown => 0,
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let pieces = match text.len() {
            0 => Vec::new(),
            1..=Text::MAX_LENGTH => vec![Piece::Known(text)],
            _ => vec![Piece::Unknown],
        };
        Text { pieces }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        text.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_text_is_kept_around_what_is_not() {
        let text = Text::from("data/").then(&Text::unknown()).then(&".csv".into());
        assert_eq!(text.exact(), None);
        assert_eq!((text.prefix(), text.suffix()), ("data/", ".csv"));
        assert_eq!(text.shown(), "data/….csv");
        assert_eq!(Text::from("a").then(&"b".into()).exact(), Some("ab"));
        assert_eq!(Text::from("").exact(), Some(""));
        assert!(Text::unknown().then(&Text::unknown()).is_unknown());
        assert!(!Text::from("").is_unknown());
    }

    #[test]
    fn paths_are_joined_and_taken_apart() {
        let joined = |first: &str, second: &str| Text::from(first).joined(&second.into()).shown();
        assert_eq!(joined("data", "a.csv"), "data/a.csv");
        assert_eq!(joined("data/", "a.csv"), "data/a.csv");
        assert_eq!(joined("data", "/etc/hosts"), "/etc/hosts");
        assert_eq!(joined("", "a"), "a");
        let directory = |path: &str| Text::from(path).directory().shown();
        assert_eq!(directory("./src/a.py"), "./src");
        assert_eq!(directory("a.py"), ".");
        assert_eq!(directory("/a"), "/");
        assert_eq!(directory("/"), "/");
    }

    #[test]
    fn a_known_beginning_is_taken_off() {
        let url = Text::from("file://").then(&Text::unknown());
        assert_eq!(url.without_start("file://"), Some(Text::unknown()));
        assert_eq!(Text::from("/a").without_start("/"), Some("a".into()));
        assert_eq!(Text::from("/").without_start("/"), Some("".into()));
        assert_eq!(Text::from("a").without_start("/"), None);
    }

    #[test]
    fn texts_are_bounded() {
        let mut text = Text::from("x".repeat(1000));
        for _ in 0..12 {
            text = text.then(&text.clone());
        }
        assert!(text.shown().len() <= Text::MAX_LENGTH + 8);
        let mut pieces = Text::unknown();
        for _ in 0..1000 {
            pieces = pieces.then(&"a".into()).then(&Text::unknown());
        }
        assert!(pieces.pieces.len() <= Text::MAX_PIECES + 1);
    }
}
