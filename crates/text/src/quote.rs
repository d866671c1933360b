//! Words of a command line, quoted so that they can be pasted into a shell.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use crate::visible::is_visible;

/// All words, separated by spaces.
pub fn command_line<T: AsRef<OsStr>>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

/// The words of a line that [`command_line`] wrote; `None` for any other, whatever a shell would make of it.
pub fn words_of(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut is_inside = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => is_inside = !is_inside,
            ' ' if !is_inside => words.push(String::new()),
            '\\' if !is_inside => words.last_mut()?.push(chars.next()?),
            _ => words.last_mut()?.push(c),
        }
    }
    (command_line(&words) == line).then_some(words)
}

/// One word: bare if no shell interprets it, otherwise in single quotes; as `$'…'` (bash, zsh, ksh, POSIX 2024)
/// if it holds characters that a terminal wouldn't show as they are.
pub fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(&byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(is_plain) => text.to_string(),
        Some(text) if text.chars().all(is_visible) && !text.contains(BLANKS) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => escaped(word.as_bytes()),
    }
}

/// One word as every shell of the sh family and fish reads it, for a program and not for a person: bare if no shell
/// interprets it, otherwise in single quotes. What some shells take for an escape inside of these stands in double quotes.
pub fn for_any_shell(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:,@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_string();
    }
    let mut text = String::from("'");
    for c in word.chars() {
        match c {
            '\'' => text.push_str(r#"'"'"'"#),
            '\\' => text.push_str(r#"'"\\"'"#),
            _ => text.push(c),
        }
    }
    text.push('\'');
    text
}

/// Runs of blanks could fill a line, so that the following text looks like a line of Stockade's.
const BLANKS: &str = "  ";

/// Escapes byte by byte, except for visible characters.
fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                ' ' if shown.ends_with(' ') || shown.ends_with("\\040") => push_bytes(&mut shown, b" "),
                '\'' | '\\' => shown.extend(['\\', c]),
                _ if is_visible(c) => shown.push(c),
                _ => push_bytes(&mut shown, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut shown, chunk.invalid());
    }
    shown.push('\'');
    shown
}

/// Three octal digits, which end by themselves: `\x1` would also take a digit after it.
fn push_bytes(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(shown, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[&[u8]] = &[
        b"/etc/hosts",
        b"",
        b"/r/a b",
        b"/r/a    b",
        b"/r/it's",
        b"/r/$HOME;rm -rf `x`\\",
        b"~/x",
        b"/r/\xff\x01a1",
        b"/r/\x1b[2J'\\ \n",
        "/r/\u{202e}gpj.exe\u{200b}".as_bytes(),
        "/r/ünï".as_bytes(),
        "/r/a\u{a0}\u{2800}\u{3000} \u{301}א".as_bytes(),
        b"  a  ",
    ];

    #[test]
    fn words_come_back_from_the_line_that_was_written() {
        let words = ["/usr/bin/x", "--read", "it's a", "", r"a\b"];
        assert_eq!(words_of(&command_line(&words)).unwrap(), words);
        for other in ["a  b", "\"a b\"", "'a", r"a\", "$'a'", "a 'b'"] {
            assert_eq!(words_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_shell_reads_every_word_as_it_was() {
        for word in WORDS {
            let text = quoted(OsStr::from_bytes(word));
            let ran = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {text}")])
                .output()
                .unwrap();
            assert_eq!(ran.stdout, *word, "{text}");
        }
    }

    #[test]
    fn every_shell_that_is_here_reads_a_word_as_it_was() {
        let words = WORDS.iter().filter_map(|word| std::str::from_utf8(word).ok());
        let hard = [
            "a\\'; id; '",
            "\\",
            "'\\''",
            "!x",
            "-n",
            "a\nb\tc",
            "$(id)`id`",
            "~",
            "=ls",
            "#",
            "{a,b}",
            "\u{1}'x",
        ];
        for word in words.chain(hard) {
            let text = for_any_shell(word);
            for shell in ["sh", "bash", "dash", "zsh", "ksh", "fish"] {
                let script = format!("printf '%s' {text}");
                let Ok(ran) = std::process::Command::new(shell).args(["-c", &script]).output() else {
                    continue;
                };
                assert_eq!(ran.stdout, word.as_bytes(), "{shell}: {text}");
            }
        }
    }

    #[test]
    fn nothing_in_it_moves_a_terminal() {
        for word in WORDS {
            let text = quoted(OsStr::from_bytes(word));
            assert!(text.chars().all(is_visible) && !text.contains(BLANKS), "{text}");
        }
        assert_eq!(quoted(OsStr::new("/etc/hosts")), "/etc/hosts");
        assert_eq!(quoted(OsStr::new("/r/a b")), "'/r/a b'");
    }
}
