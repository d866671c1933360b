//! The files of a patch in the format of `apply_patch`.

use stockade_judge::Action;

use super::paths::is_blank;

/// Lines that begin with `*** ` and name a file.
const NAMING: [(&str, Action); 4] = [
    ("*** Add File: ", Action::Write),
    ("*** Update File: ", Action::Write),
    ("*** Move to: ", Action::Write),
    ("*** Delete File: ", Action::Delete),
];

/// Lines that begin with `***` and name none.
const OTHERS: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];

/// What ends a line in any language.
fn is_line_end(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The files that a patch changes or removes. A file that is moved is removed at its old name.
///
/// # Errors
/// It isn't such a patch, or has a line of that kind that isn't known.
pub fn files(patch: &str) -> Result<Vec<(Action, String)>, String> {
    let mut files: Vec<(Action, String)> = Vec::new();
    let mut begun = false;
    for line in patch.split(is_line_end) {
        // Readers of patches are lenient about blanks and ends of lines, so a line of a file's content may be taken for one
        // of these: it is judged too.
        let line = line.trim_matches(is_blank);
        if !line.starts_with("***") {
            continue;
        }
        begun |= line == OTHERS[0];
        let named = NAMING
            .iter()
            .find_map(|(start, action)| Some((*action, line.strip_prefix(start)?)));
        match named {
            Some((action, path)) => {
                if line.starts_with("*** Move to: ")
                    && let Some((_, old)) = files.last().cloned()
                {
                    files.push((Action::Delete, old));
                }
                files.push((action, path.trim_matches(is_blank).to_string()));
            }
            None if OTHERS.contains(&line) => {}
            None => return Err("a line of the patch isn't known".into()),
        }
    }
    match begun && !files.is_empty() {
        true => Ok(files),
        false => Err("it isn't a patch that names files".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_what_it_changes() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n *** Delete File: /c \n*** Add File: d\n+z\n*** End Patch\n";
        let found = files(patch).unwrap();
        let found: Vec<(Action, &str)> = found.iter().map(|(action, path)| (*action, path.as_str())).collect();
        assert_eq!(
            found,
            [
                (Action::Write, "a.rs"),
                (Action::Delete, "a.rs"),
                (Action::Write, "b.rs"),
                (Action::Delete, "/c"),
                (Action::Write, "d")
            ]
        );
    }

    #[test]
    fn a_line_of_any_reader_counts() {
        for lead in ["\r", "\u{feff}", "+x\r", "+x\u{2028}", "+x\u{85}\u{a0}", "\u{200b}"] {
            let patch = format!("*** Begin Patch\n*** Add File: a\n{lead}*** Add File: /etc/x\n+y\n*** End Patch");
            let found = files(&patch).unwrap();
            assert!(found.contains(&(Action::Write, "/etc/x".into())), "{lead:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for text in [
            "",
            "ls",
            "*** Begin Patch\n*** End Patch",
            "*** Update File: a",
            "*** Begin Patch\n*** Rename File: a\n*** Add File: b",
        ] {
            assert!(files(text).is_err(), "{text}");
        }
    }
}
