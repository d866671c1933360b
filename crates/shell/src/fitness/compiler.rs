//! Options of C compilers that only compile and link: no plugin, no replacement for the compiler's own tools, no
//! file of further options.

use super::table::{Row, Value};

/// Checks that all arguments are safe; the error is the reason.
pub(super) fn check(name: &str, row: &Row, arguments: &[String]) -> Result<(), String> {
    let unfit = |word: &str| Err(format!("`{name} {word}` isn't in the tables of safe options"));
    let mut rest = arguments;
    while let [word, after @ ..] = rest {
        rest = after;
        // A response file, even where a value is expected.
        if word.starts_with('@') {
            return unfit(word);
        }
        if !word.starts_with('-') || word == "-" || row.word(word) == [Value::None] {
            continue;
        }
        if row.word(word) == [Value::Any] {
            match after.first() {
                Some(value) if !value.starts_with(['@', '-']) => rest = &after[1..],
                _ => return unfit(word),
            }
            continue;
        }
        // `-Wl,`, `-Wa,` and `-Wp,` pass options to other tools.
        let hands_on = word.starts_with("-W") && word.contains(',');
        if hands_on || !row.beginnings.iter().any(|beginning| word.starts_with(*beginning)) {
            return unfit(word);
        }
    }
    Ok(())
}
