//! How much room a visible text takes on a terminal.

use unicode_width::UnicodeWidthChar;

/// What a row begins with that goes on with the line above. No line of ours begins so.
pub const GOES_ON: &str = "  | ";

/// Columns that a visible text takes at most: terminals differ in how wide an ambiguous character is.
pub fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    if c.is_ascii() { 1 } else { c.width_cjk().unwrap_or(2) }
}

/// Rows of so many columns, where the terminal breaks the line.
pub fn rows(text: &str, width: usize) -> usize {
    columns(text).div_ceil(width).max(1)
}

/// The line, broken before the terminal would: then the next row would begin with whatever stands there. Rows take at
/// most so many columns, where that is enough for [`GOES_ON`] and a character.
pub fn broken(line: &str, most: usize) -> String {
    let mut text = String::with_capacity(line.len());
    let mut used = 0;
    for c in line.chars() {
        if used + width(c) > most && used > GOES_ON.len() {
            text.push('\n');
            text.push_str(GOES_ON);
            used = GOES_ON.len();
        }
        text.push(c);
        used += width(c);
    }
    text
}

/// Cut in the middle to so many columns: the two ends of a path tell most.
pub fn shortened(text: &str, most: usize) -> String {
    const CUT: &str = "…";
    if columns(text) <= most {
        return text.to_string();
    }
    let room = most.saturating_sub(columns(CUT));
    let end = from(text.chars().rev(), room * 3 / 5);
    let start = from(text.chars(), room - room * 3 / 5);
    let end: String = end.chars().rev().collect();
    format!("{start}{CUT}{end}")
}

/// As many as there is room for.
fn from(text: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    text.take_while(|c| {
        used += width(*c);
        used <= room
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_ends_and_a_short_one_everything() {
        assert_eq!(shortened("/etc/hosts", 10), "/etc/hosts");
        assert_eq!(
            shortened("/usr/lib/python3/dist-packages/x.py", 20),
            "/usr/lib…kages/x.py"
        );
        assert_eq!(shortened("日本語日本語", 6), "日…語");
        for most in 0..40 {
            assert!(columns(&shortened("/r/ünï/cödé/日本語/abcdefghijklmnop", most)) <= most.max(2));
        }
    }

    #[test]
    fn a_line_goes_on_behind_a_mark_of_ours() {
        assert_eq!(broken("  target: /etc/hosts", 20), "  target: /etc/hosts");
        assert_eq!(
            broken("  target: /etc/hosts.d/日本語", 20),
            "  target: /etc/hosts\n  | .d/日本語"
        );
        assert_eq!(broken("  target: /etc/日本語", 17), "  target: /etc/日\n  | 本語");
    }
}
