//! Reads any text as a shell might, and never refuses one.

use super::Seer;

/// A text that is being read.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    words: Vec<String>,
    /// The word being read; `None` between words.
    word: Option<String>,
    /// Whether the word began with a quote or backslash: then it is no word of the shell's language.
    is_quoted: bool,
    /// The word holds braces that a shell would expand.
    has_braces: bool,
    /// The next word is where a redirection goes; `true` for the end mark of a here-document.
    target: Option<bool>,
    /// End marks of here-documents whose bodies begin on the next line.
    documents: Vec<String>,
}

impl Seer {
    /// Reads a text and keeps every command in it.
    pub(super) fn script(&mut self, text: &str, depth: usize) {
        if !self.has_room(text.len(), depth) {
            return;
        }
        let mut lexer = Lexer {
            text,
            at: 0,
            depth,
            words: Vec::new(),
            word: None,
            is_quoted: false,
            has_braces: false,
            target: None,
            documents: Vec::new(),
        };
        while lexer.step(self) {}
        lexer.end_command(self);
    }
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads one thing; false at the end.
    fn step(&mut self, seer: &mut Seer) -> bool {
        let Some(c) = self.rest().chars().next() else {
            return false;
        };
        let after = &self.rest()[c.len_utf8()..];
        self.at += c.len_utf8();
        match c {
            '\n' => {
                self.end_command(seer);
                self.bodies(seer);
            }
            ' ' | '\t' | '\r' | '\x0b' | '\x0c' => self.end_word(seer),
            ';' | '&' | '|' | '(' | ')' => self.operator(c, after, seer),
            '<' | '>' => self.redirection(c, seer),
            '#' if self.word.is_none() => self.at += after.find('\n').unwrap_or(after.len()),
            '\\' => {
                let next = after.chars().next();
                self.at += next.map_or(0, char::len_utf8);
                self.is_quoted |= self.word.is_none();
                self.push(
                    next.filter(|&c| c != '\n')
                        .map(String::from)
                        .as_deref()
                        .unwrap_or_default(),
                );
            }
            '\'' => {
                let end = after.find('\'').unwrap_or(after.len());
                self.quoted(&after[..end]);
                self.at += (end + 1).min(after.len());
            }
            '"' => {
                let length = closing(after, '"', '\0');
                self.at += (length + 1).min(after.len());
                let value = seer.expanded(&after[..length], self.depth);
                self.quoted(&value);
            }
            '$' | '`' => self.expansion(seer),
            '{' | '}' if self.word.is_none() && after.starts_with(|c: char| c.is_whitespace()) => {
                self.end_command(seer)
            }
            _ => {
                self.has_braces |= c == '{';
                self.push(c.encode_utf8(&mut [0; 4]));
            }
        }
        true
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn quoted(&mut self, text: &str) {
        self.is_quoted |= self.word.is_none();
        self.push(text);
    }

    fn operator(&mut self, c: char, after: &str, seer: &mut Seer) {
        // `&>x` sends output somewhere and ends no command.
        if c == '&' && after.starts_with('>') {
            return self.end_word(seer);
        }
        self.end_command(seer);
    }

    fn redirection(&mut self, c: char, seer: &mut Seer) {
        let is_number = self
            .word
            .as_ref()
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        match is_number && !self.is_quoted {
            true => self.word = None,
            false => self.end_word(seer),
        }
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('(') {
            let length = closing(inner, ')', '(');
            self.at += (length + 2).min(rest.len());
            seer.script(&inner[..length], self.depth + 1);
            return self.push("");
        }
        let operators: &[(&str, Option<bool>)] = match c {
            // The word behind `<<<` is text that the command reads, and stays among its words.
            '<' => &[
                ("<<", None),
                ("<-", Some(true)),
                ("<", Some(true)),
                ("&", Some(false)),
                (">", Some(false)),
                ("", Some(false)),
            ],
            _ => &[
                (">", Some(false)),
                ("&", Some(false)),
                ("|", Some(false)),
                ("", Some(false)),
            ],
        };
        if let Some((text, target)) = operators.iter().find(|(text, _)| rest.starts_with(text)) {
            self.at += text.len();
            self.target = *target;
        }
    }

    /// `$…` and backticks outside quotes: their values are cut into words.
    fn expansion(&mut self, seer: &mut Seer) {
        let rest = &self.text[self.at - 1..];
        let after = &rest[1..];
        if rest.starts_with("$'") {
            let length = closing(&after[1..], '\'', '\0');
            self.at += (length + 2).min(after.len());
            return self.quoted(&ansi_c(&after[1..1 + length]));
        }
        if rest.starts_with("$\"") {
            return;
        }
        let (value, length) = seer.value(rest, self.depth);
        self.at += length - 1;
        for (index, piece) in value.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.end_word(seer);
            }
            if !piece.is_empty() {
                self.push(piece);
            }
        }
    }

    fn end_word(&mut self, seer: &mut Seer) {
        let Some(word) = self.word.take() else {
            return;
        };
        let is_quoted = std::mem::take(&mut self.is_quoted);
        let has_braces = std::mem::take(&mut self.has_braces);
        match self.target.take() {
            Some(true) => return self.documents.push(word),
            Some(false) => return,
            None => {}
        }
        if self.words.is_empty() && !is_quoted {
            const BEFORE_COMMANDS: &[&str] = &[
                "!", "{", "}", "do", "done", "elif", "else", "esac", "fi", "function", "if", "in", "then", "time",
                "until", "while",
            ];
            if BEFORE_COMMANDS.contains(&word.as_str()) {
                return;
            }
            if let Some((name, value)) = assigned(&word) {
                seer.variables.insert(name.to_string(), value.to_string());
                // Many variables name a program: PAGER, GIT_SSH_COMMAND, PROMPT_COMMAND, BASH_ENV.
                return seer.script(value, self.depth + 1);
            }
        }
        match has_braces {
            true => braces(&word, &mut self.words, 64),
            false => self.words.push(word),
        }
    }

    fn end_command(&mut self, seer: &mut Seer) {
        self.end_word(seer);
        self.target = None;
        let words = std::mem::take(&mut self.words);
        if let ["for" | "select", name, values @ ..] = words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            for value in values {
                seer.script(value, self.depth + 1);
                seer.variables.insert((*name).to_string(), (*value).to_string());
            }
        }
        seer.command(words, self.depth);
    }

    /// The here-documents that begin on this line.
    fn bodies(&mut self, seer: &mut Seer) {
        for mark in std::mem::take(&mut self.documents) {
            let rest = self.rest();
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                length += line.len();
                if line.trim_end_matches('\n').trim_start_matches('\t') == mark {
                    break;
                }
            }
            let body = &rest[..length];
            // Substitutions in it run whoever reads it. The end mark's quotes are gone, so it counts as unquoted.
            seer.expanded(body, self.depth);
            seer.fodder.push(body.to_string());
            self.at += length;
        }
    }
}

impl Seer {
    /// A text with its expansions replaced by what they could be; every substitution in it is read. Inside quotes
    /// backslashes are kept but before what they escape.
    fn expanded(&mut self, text: &str, depth: usize) -> String {
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

    /// What the expansion at the beginning of a text could be, and how long it is there.
    fn value(&mut self, text: &str, depth: usize) -> (String, usize) {
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
            return (self.parameter(&inner[..length], depth), (length + 3).min(text.len()));
        }
        let name = after
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        if name == 0 {
            // `$@`, `$*`, `$!`: nothing, most of the time. Before anything else a dollar is text.
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

    /// `${name}`, `${name:-text}`: the variable, and else the text, which may be what is run.
    fn parameter(&mut self, inner: &str, depth: usize) -> String {
        let inner = inner.trim_start_matches(['#', '!']);
        let length = inner
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let (name, rest) = inner.split_at(length);
        let text = match depth < super::DEEPEST {
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

    /// Reads a substitution's script, and guesses what it prints: what `echo` and `printf` are given.
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

/// `NAME=value` and `NAME+=value`.
pub(super) fn assigned(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next()?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}

/// How far it is to the closing character, over quotes and nested pairs; the whole text where there is none.
fn closing(text: &str, close: char, open: char) -> usize {
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

/// `$'…'`: octal, hexadecimal and the letters.
fn ansi_c(text: &str) -> String {
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

/// `a{b,c}` as its words, and `{b..c}` as its first; at most `most` of them. Other braces are text.
fn braces(word: &str, words: &mut Vec<String>, most: usize) {
    const TEXT: [char; 2] = ['\u{1}', '\u{2}'];
    let mut pending = vec![word.to_string()];
    let mut made = 0;
    while let Some(mut word) = pending.pop() {
        // The innermost pair.
        let open = word.rfind('{');
        let pair = open.and_then(|open| Some((open, open + word[open..].find('}')?)));
        let Some((open, close)) = pair.filter(|_| made + pending.len() < most) else {
            made += 1;
            // A last `{` without its end hides no pair but those to its right, which are done.
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
