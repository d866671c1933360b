//! How much room text takes on a terminal.

/// Columns that it takes at most: characters beyond ASCII may be wide, and terminals differ in which are.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// Rows of so many columns.
pub fn rows(text: &str, width: usize) -> usize {
    columns(text).div_ceil(width).max(1)
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
        used += columns(c.encode_utf8(&mut [0; 4]));
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
}
