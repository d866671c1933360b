//! Possible results of expansions: known variables, defaults, the output of `echo`, braces and `$'…'`.

use super::{MAX_BYTES, MAX_DEPTH, MAX_VALUE, Seer};

impl Seer {
    /// A text with its expansions replaced by their possible values; every substitution in it is read. Inside quotes
    /// backslashes are kept, except before the characters that they escape.
    pub(super) fn expanded(&mut self, text: &str, depth: usize) -> String {
        let mut value = String::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let next = rest[c.len_utf8()..].chars().next();
            match (c, next) {
                ('\\', Some(escaped @ ('$' | '`' | '"' | '\\' | '\n'))) => {
                    value.extend((escaped != '\n').then_some(escaped));
                    at += 2;
                }
                ('$' | '`', _) => {
                    let (inner, length) = self.value(rest, depth);
                    value.push_str(&inner);
                    at += length;
                }
                (c, _) => {
                    value.push(c);
                    at += c.len_utf8();
                }
            }
        }
        value
    }

    /// Stores a variable's value.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let cut = value.floor_char_boundary(MAX_VALUE);
        self.is_exhausted |= cut < value.len();
        self.is_boundless |= cut < value.len();
        self.variables.insert(name.to_string(), value[..cut].to_string());
    }

    /// A possible value of the expansion at the start of a text, and the expansion's length. All values together are bounded:
    /// a few variables that contain each other would fill any memory.
    pub(super) fn value(&mut self, text: &str, depth: usize) -> (String, usize) {
        let (value, length) = self.unbounded_value(text, depth);
        self.bytes += value.len();
        if self.bytes <= MAX_BYTES {
            return (value, length);
        }
        self.is_exhausted = true;
        self.is_boundless |= !value.is_empty();
        (String::new(), length)
    }

    fn unbounded_value(&mut self, text: &str, depth: usize) -> (String, usize) {
        if let Some(inner) = text.strip_prefix('`') {
            let length = closing(inner, '`', '\0');
            let script = inner[..length]
                .replace("\\`", "`")
                .replace("\\\\", "\\")
                .replace("\\$", "$");
            return (self.printed(&script, depth), (length + 2).min(text.len()));
        }
        let after = &text[1..];
        if let Some(inner) = after.strip_prefix('(') {
            let length = closing(inner, ')', '(');
            return (self.printed(&inner[..length], depth), (length + 3).min(text.len()));
        }
        if let Some(inner) = after.strip_prefix('{') {
            let length = closing(inner, '}', '{');
            // `${ …; }` and `${| …; }` are substitutions too.
            if let Some(script) = inner[..length].strip_prefix([' ', '\t', '\n', '|']) {
                return (self.printed(script, depth), (length + 3).min(text.len()));
            }
            return (self.parameter(&inner[..length], depth), (length + 3).min(text.len()));
        }
        let name = after
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        if name == 0 {
            // `$@`, `$*`, `$!`: usually empty. Before anything else a dollar is text.
            return match after.starts_with(['@', '*', '#', '?', '!', '$', '-']) {
                true => (String::new(), 2),
                false => ("$".to_string(), 1),
            };
        }
        (self.variable(&after[..name]), 1 + name)
    }

    fn variable(&self, name: &str) -> String {
        match name {
            "IFS" => " ".to_string(),
            _ => self.variables.get(name).cloned().unwrap_or_default(),
        }
    }

    /// `${name}`, `${name:-text}`: the variable, else the text, which may be a command.
    fn parameter(&mut self, inner: &str, depth: usize) -> String {
        let inner = inner.trim_start_matches(['#', '!']);
        let length = inner
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let (name, rest) = inner.split_at(length);
        let text = match depth < MAX_DEPTH {
            true => self.expanded(rest, depth + 1),
            false => {
                self.is_exhausted = true;
                String::new()
            }
        };
        let known = self.variable(name);
        match text.trim_start_matches(':').strip_prefix(['-', '=', '+']) {
            Some(other) if known.is_empty() => other.to_string(),
            _ => known,
        }
    }

    /// Reads a substitution's script and guesses its output: the arguments of `echo` and `printf`.
    fn printed(&mut self, script: &str, depth: usize) -> String {
        let before = self.found.len();
        self.script(script, depth + 1);
        let printing = self
            .found
            .get(before..)
            .unwrap_or_default()
            .iter()
            .find(|words| matches!(words.first().map(String::as_str), Some("echo" | "printf")));
        let texts = printing.map(|words| {
            words[1..]
                .iter()
                .filter(|word| !word.starts_with('-') && !word.contains('%'))
        });
        texts
            .map(|texts| texts.cloned().collect::<Vec<_>>().join(" "))
            .unwrap_or_default()
    }
}

/// The distance to the closing character, across quotes and nested pairs; the whole text if there is none.
pub(super) fn closing(text: &str, close: char, open: char) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    // Quotes inside `"…"`, `` `…` `` and `$'…'` don't hide the end.
    let is_pair = open != '\0';
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                chars.next();
            }
            (c, Some(end)) if c == end => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) if is_pair => quote = Some(c),
            (c, None) if c == close && depth == 0 => return at,
            (c, None) if c == close && is_pair => depth -= 1,
            (c, None) if c == open && is_pair => depth += 1,
            // A substitution inside `"…"` has quotes of its own.
            ('$', None) if close == '"' && text[at + 1..].starts_with('(') => {
                let inner = closing(&text[at + 2..], ')', '(');
                while chars.as_str().len() > text.len() - (at + 2 + inner).min(text.len()) {
                    chars.next();
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The value of `$'…'`: octal, hexadecimal and the letters.
#[must_use]
pub fn ansi_c(text: &str) -> String {
    let mut value = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            value.push(c);
            continue;
        }
        let Some(kind) = rest.chars().next() else {
            break;
        };
        let (skipped, most, radix) = match kind {
            'x' => (1, 2, 16),
            'u' => (1, 4, 16),
            'U' => (1, 8, 16),
            '0'..='7' => (0, 3, 8),
            _ => {
                rest = &rest[kind.len_utf8()..];
                value.push(match kind {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
                continue;
            }
        };
        let digits = rest[skipped..]
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let code = u32::from_str_radix(&rest[skipped..skipped + digits], radix).ok();
        value.extend(code.and_then(char::from_u32));
        rest = &rest[skipped + digits..];
    }
    value
}

/// `a{b,c}` as its words, and `{b..c}` as its first; at most `most` words. Other braces are text.
pub(super) fn braces(word: &str, words: &mut Vec<String>, most: usize) {
    const TEXT: [char; 2] = ['\u{1}', '\u{2}'];
    let mut pending = vec![word.to_string()];
    let mut made = 0;
    while let Some(mut word) = pending.pop() {
        // The innermost pair.
        let open = word.rfind('{');
        let pair = open.and_then(|open| Some((open, open + word[open..].find('}')?)));
        let Some((open, close)) = pair.filter(|_| made + pending.len() < most) else {
            made += 1;
            // An unclosed last `{` hides only pairs to its right, which are done.
            words.push(word.replace(TEXT[0], "{").replace(TEXT[1], "}"));
            continue;
        };
        let inner = &word[open + 1..close];
        if !inner.contains(',') && !inner.contains("..") {
            word.replace_range(close..=close, "\u{2}");
            word.replace_range(open..=open, "\u{1}");
            pending.push(word);
            continue;
        }
        let parts = inner.split(',').map(|part| part.split("..").next().unwrap_or(part));
        let whole = parts.map(|part| format!("{}{part}{}", &word[..open], &word[close + 1..]));
        let whole: Vec<_> = whole.collect();
        pending.extend(whole.into_iter().rev());
    }
}
