//! The difference between two texts as a person sees it: secrets masked, every character visible, long lines cut.

use similar::{ChangeTag, TextDiff};

use stockade_text::mask;
use stockade_text::visible::visible_but_for_blanks;

/// Lines of context around a change.
const CONTEXT: usize = 2;

/// The most characters of a line.
const MAX_LENGTH: usize = 400;

/// The most lines.
const MAX: usize = 1000;

/// The lines of a unified difference, without the names of the files.
pub fn unified(old: &str, new: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(hunk.header().to_string());
        let changes: Vec<(ChangeTag, String)> = hunk
            .iter_changes()
            .map(|change| (change.tag(), masked(change.value())))
            .collect();
        let begin = begin(&changes);
        for (tag, line) in changes {
            let begin = if tag == ChangeTag::Equal { 0 } else { begin };
            lines.push(format!("{tag}{}", cut(&line, begin)));
            if lines.len() > MAX {
                lines.push("… (more lines)".to_string());
                return lines;
            }
        }
    }
    lines
}

/// A whole line is masked before any of it is left out: what makes a value a secret stands before it.
fn masked(line: &str) -> String {
    // Tabs are layout, and no characters to escape.
    mask::text(&line.trim_end_matches(['\r', '\n']).replace('\t', "    "))
}

/// The character from which long lines are shown: shortly before the first one that differs.
fn begin(changes: &[(ChangeTag, String)]) -> usize {
    const BEFORE: usize = 40;
    let first = |wanted: ChangeTag| changes.iter().find(|(tag, _)| *tag == wanted).map(|(_, line)| line);
    let (Some(old), Some(new)) = (first(ChangeTag::Delete), first(ChangeTag::Insert)) else {
        return 0;
    };
    if old.len().max(new.len()) <= MAX_LENGTH {
        return 0;
    }
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    same.saturating_sub(BEFORE)
}

fn cut(line: &str, begin: usize) -> String {
    let mut rest = line.chars().skip(begin);
    let shown: String = rest.by_ref().take(MAX_LENGTH).collect();
    let before = if begin > 0 { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{}{after}", visible_but_for_blanks(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_no_secret_and_moves_no_terminal() {
        let old = "{\n  \"env\": {\"API_TOKEN\": \"s3cr3t-value\"},\n  \"a\": \"\u{1b}[2J\"\n}\n";
        let new = old.replace("\"a\"", "\"b\"");
        let lines = unified(old, &new).join("\n");
        assert!(!lines.contains("s3cr3t") && !lines.contains('\u{1b}'), "{lines}");
        assert!(lines.contains("-  \"a\": \"\\u{1b}[2J\"\n+  \"b\""), "{lines}");
    }

    #[test]
    fn long_texts_are_cut() {
        let old = "x".repeat(1 << 16);
        let lines = unified(&old, &format!("{}y", &old[1..]));
        assert!(lines[2].starts_with("+…x") && lines[2].ends_with("xy"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() < 500), "{}", lines.len());
        let many = "a\n".repeat(5000);
        assert!(unified(&many, "").len() < 1010);
    }
}
