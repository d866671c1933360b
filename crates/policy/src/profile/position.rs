//! Converts byte offsets of a text to lines and columns as editors count them.

/// The lines of one text.
pub(super) struct Positions<'t> {
    text: &'t str,
    /// The byte offset at which each line starts.
    starts: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        // A byte order mark belongs to no column.
        let first = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let later = text
            .bytes()
            .enumerate()
            .filter(|&(_, byte)| byte == b'\n')
            .map(|(at, _)| at + 1);
        Positions {
            text,
            starts: std::iter::once(first).chain(later).collect(),
        }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1)
    }

    /// The line and the column in characters of an offset, both from 1. An offset past the end counts as the end.
    pub(super) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.line(offset);
        let start = self.starts[line - 1].min(offset);
        (line, self.text[start..offset].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_at_line_feeds() {
        let positions = Positions::of("ab\r\nüü x\n");
        assert_eq!(positions.line_and_column(0), (1, 1));
        assert_eq!(positions.line_and_column(4), (2, 1));
        assert_eq!(
            positions.line_and_column(9),
            (2, 4),
            "two letters of two bytes and a space"
        );
        assert_eq!(positions.line_and_column(5), (2, 1), "inside a character is its start");
        assert_eq!(positions.line_and_column(999), (3, 1));
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(Positions::of("\u{feff}abc").line_and_column(4), (1, 2));
        assert_eq!(Positions::of("\u{feff}abc").line_and_column(0), (1, 1));
        assert_eq!(Positions::of("").line_and_column(0), (1, 1));
    }
}
