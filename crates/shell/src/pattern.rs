//! Shell patterns.

/// Whether a pattern of `*`, `?` and other characters, which stand for themselves, matches a whole text.
#[must_use]
pub fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((behind, from)) = star else {
                    return false;
                };
                star = Some((behind, from + 1));
                (at, read) = (behind + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}
