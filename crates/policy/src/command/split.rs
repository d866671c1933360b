//! Splits a text into words like `env -S` of coreutils: blanks, both kinds of quotes, backslashes, `${NAME}`, and a
//! comment from `#`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::Variable;

/// The words of `text`.
pub(super) fn split(text: &[u8], variable: Variable<'_>) -> Vec<OsString> {
    let mut splitter = Splitter {
        rest: text,
        quote: None,
        word: None,
        words: Vec::new(),
        variable,
    };
    while splitter.step() {}
    splitter.end_word();
    splitter.words
}

struct Splitter<'t> {
    rest: &'t [u8],
    quote: Option<u8>,
    /// The current word; an empty one counts only if it was quoted.
    word: Option<Vec<u8>>,
    words: Vec<OsString>,
    variable: Variable<'t>,
}

impl Splitter<'_> {
    /// Consumes one character; returns false at the end.
    fn step(&mut self) -> bool {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return false;
        };
        self.rest = rest;
        match (byte, self.quote) {
            (b'\'' | b'"', None) => {
                self.quote = Some(byte);
                self.extend(b"");
            }
            (byte, Some(open)) if byte == open => self.quote = None,
            (b'\\', _) => return self.escape(),
            (b'$', None | Some(b'"')) if rest.starts_with(b"{") => self.expand(),
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => self.end_word(),
            (b'#', None) if self.word.is_none() => return false,
            (byte, _) => self.extend(&[byte]),
        }
        true
    }

    fn escape(&mut self) -> bool {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return false;
        };
        let literal = match (byte, self.quote) {
            (b'\'' | b'\\', Some(b'\'')) => byte,
            // Inside single quotes a backslash before any other character is literal.
            (_, Some(b'\'')) => {
                self.extend(b"\\");
                return true;
            }
            (b'c', _) => return false,
            (b'_', None) => {
                self.rest = rest;
                self.end_word();
                return true;
            }
            (b'_', _) => b' ',
            (b'f', _) => 0x0c,
            (b'n', _) => b'\n',
            (b'r', _) => b'\r',
            (b't', _) => b'\t',
            (b'v', _) => 0x0b,
            (other, _) => other,
        };
        self.rest = rest;
        self.extend(&[literal]);
        true
    }

    fn expand(&mut self) {
        let Some(end) = self.rest.iter().position(|&byte| byte == b'}') else {
            return self.extend(b"$");
        };
        let value = std::str::from_utf8(&self.rest[1..end])
            .ok()
            .and_then(|name| (self.variable)(name));
        self.rest = &self.rest[end + 1..];
        if let Some(value) = value {
            self.extend(value.as_bytes());
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.word.get_or_insert_default().extend_from_slice(bytes);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take().map(OsString::from_vec));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_env() {
        let words = |text: &str| -> Vec<String> {
            let variable = |name: &str| (name == "A").then(|| OsString::from("1 2"));
            split(text.as_bytes(), &variable)
                .into_iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(words("  python3 -u\t-O "), ["python3", "-u", "-O"]);
        assert_eq!(words(r#"a 'b c' "d e" ''"#), ["a", "b c", "d e", ""]);
        assert_eq!(words(r"a\_b c\ d '\n' \t"), ["a", "b", "c d", r"\n", "\t"]);
        assert_eq!(words(r#"x${A}y "${A}" '${A}' ${B} $A"#), ["x1 2y", "1 2", "${A}", "$A"]);
        assert_eq!(words("a #b"), ["a"]);
        assert_eq!(words(r"a b\c d"), ["a", "b"]);
        assert_eq!(words("${open"), ["${open"]);
        assert_eq!(words("end\\"), ["end"]);
    }
}
