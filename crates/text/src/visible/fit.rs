//! Fits visible texts into terminal columns.

use unicode_width::UnicodeWidthChar;

/// The beginning of a continuation row. No line of Stockade's begins like this.
pub const GOES_ON: &str = "  | ";

/// The most columns that a visible text takes: terminals differ on the width of ambiguous characters.
pub fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    if c.is_ascii() { 1 } else { c.width_cjk().unwrap_or(2) }
}

/// Breaks the line before the terminal does: otherwise the next row could begin with any part of it. Rows have at most
/// `most` columns, if that is enough for [`GOES_ON`] and a character.
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

/// Words separated by commas, in rows of at most `most` columns that end after a word.
pub fn listed(words: &[String], most: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in words {
        if used > 0 {
            let fits = used + 3 + columns(word) <= most;
            text.push_str(if fits { ", " } else { ",\n" });
            used = if fits { used + 2 } else { 0 };
        }
        text.push_str(word);
        used += columns(word);
    }
    text
}

/// Cuts the text in the middle to `most` columns: the ends of a path tell most. The file name keeps its directory if
/// both fit.
pub fn shortened(text: &str, most: usize) -> String {
    const CUT: &str = "…";
    if columns(text) <= most {
        return text.to_string();
    }
    let room = most.saturating_sub(columns(CUT));
    let name = text
        .rmatch_indices('/')
        .nth(1)
        .map_or(0, |(at, _)| columns(&text[at..]));
    let ending = if name <= room {
        name.max(room * 3 / 5)
    } else {
        room * 3 / 5
    };
    let end = from(text.chars().rev(), ending);
    let start = from(text.chars(), room - ending);
    let end: String = end.chars().rev().collect();
    format!("{start}{CUT}{end}")
}

/// The longest prefix that fits.
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
        assert_eq!(
            shortened("/home/ada/work/reports/summary.csv", 22),
            "…/reports/summary.csv"
        );
        assert_eq!(shortened("日本語日本語", 6), "日…語");
        for most in 0..40 {
            assert!(columns(&shortened("/r/ünï/cödé/日本語/abcdefghijklmnop", most)) <= most.max(2));
        }
    }

    #[test]
    fn rows_of_words_end_behind_a_word() {
        let words = ["one", "two", "three"].map(String::from);
        assert_eq!(listed(&words, 80), "one, two, three");
        assert_eq!(listed(&words, 14), "one, two,\nthree");
        assert_eq!(listed(&words, 3), "one,\ntwo,\nthree");
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
