//! Finds the end of a quoted or bracketed part of a text. Never recurses.

/// The length of the text before the end of a construct whose opening is already consumed: `)` of `$(`, `}` of `${`, `"`.
pub(super) fn closing(text: &str, end: char) -> Option<usize> {
    let mut open = vec![end];
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let top = *open.last()?;
        let is_quoted = top == '"';
        match letter {
            '\\' => {
                letters.next();
            }
            _ if letter == top => {
                open.pop();
                if open.is_empty() {
                    return Some(at);
                }
            }
            '\'' if !is_quoted => {
                letters.by_ref().find(|(_, letter)| *letter == '\'')?;
            }
            '"' => open.push('"'),
            '`' => open.push('`'),
            '$' => match letters.peek() {
                Some((_, '(')) => {
                    letters.next();
                    open.push(')');
                }
                Some((_, '{')) => {
                    letters.next();
                    open.push('}');
                }
                _ => {}
            },
            '(' if !is_quoted => open.push(')'),
            '{' if top == '}' => open.push('}'),
            _ => {}
        }
    }
    None
}

/// Expands `a{b,c}d` and `{1..3}` in an unexpanded word; returns the word itself if it has no braces to expand.
pub(super) fn braces(word: &str) -> Vec<String> {
    /// Maximum number of words from one; a brace that would exceed it stays unexpanded.
    const MAX: usize = 64;
    let mut done = Vec::new();
    let mut open = vec![word.to_string()];
    while let Some(word) = open.pop() {
        match one_brace(&word) {
            Some(mut further) if open.len() + done.len() + further.len() <= MAX => {
                further.reverse();
                open.append(&mut further);
            }
            _ => done.push(word),
        }
    }
    done
}

fn one_brace(word: &str) -> Option<Vec<String>> {
    let mut letters = word.char_indices();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '\'' | '"' | '`' => {
                let length = closing(&word[at + 1..], letter)?;
                return prefixed(word, at + length + 2);
            }
            '(' if before == '$' => {
                let length = closing(&word[at + 1..], ')')?;
                return prefixed(word, at + length + 2);
            }
            '{' if before == '$' => {
                let length = closing(&word[at + 1..], '}')?;
                return prefixed(word, at + length + 2);
            }
            '{' => {
                let length = closing(&word[at + 1..], '}')?;
                let inner = &word[at + 1..at + 1 + length];
                let (head, tail) = (&word[..at], &word[at + length + 2..]);
                let members = members(inner)?;
                return Some(members.iter().map(|member| format!("{head}{member}{tail}")).collect());
            }
            _ => {}
        }
        before = letter;
    }
    None
}

/// Expands the first brace from `at` on; the text before it is kept as it is.
fn prefixed(word: &str, at: usize) -> Option<Vec<String>> {
    /// Maximum length of a word, which bounds the number of quotes before a brace.
    const MAX_LENGTH: usize = 2048;
    if word.len() > MAX_LENGTH {
        return None;
    }
    let (head, tail) = word.split_at_checked(at)?;
    Some(one_brace(tail)?.iter().map(|tail| format!("{head}{tail}")).collect())
}

fn members(inner: &str) -> Option<Vec<String>> {
    if let Some((first, last)) = inner.split_once("..") {
        let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
        let range: Vec<String> = (first..=last).take(65).map(|number| number.to_string()).collect();
        return (2..=64).contains(&range.len()).then_some(range);
    }
    let (mut members, mut depth) = (vec![String::new()], 0usize);
    for letter in inner.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(String::new());
                continue;
            }
            _ => {}
        }
        members.last_mut()?.push(letter);
    }
    (members.len() > 1).then_some(members)
}
