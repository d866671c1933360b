//! The table of a page's texts: each stands in it once, as a person sees it.

use std::collections::HashMap;

use stockade_text::visible::visible;

/// Texts by number. Number 0 is the empty one.
#[derive(Debug)]
pub struct Strings {
    shown: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    /// With the empty text alone.
    pub fn new() -> Strings {
        Strings {
            shown: vec![String::new()],
            numbers: HashMap::from([(String::new(), 0)]),
        }
    }

    /// The number of a foreign text, escaped.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.add(text, visible(text).into_owned())
    }

    /// The number of a text whose foreign parts are escaped already.
    pub fn number_of_shown(&mut self, text: String) -> u32 {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        self.add(&text.clone(), text)
    }

    fn add(&mut self, text: &str, shown: String) -> u32 {
        let number = u32::try_from(self.shown.len()).expect("a page has fewer rows than that");
        self.shown.push(shown);
        self.numbers.insert(text.to_string(), number);
        number
    }

    /// The text as it is shown.
    #[cfg(test)]
    pub fn shown(&self, number: u32) -> &str {
        &self.shown[number as usize]
    }

    /// All texts by number.
    pub fn into_shown(self) -> Vec<String> {
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_stands_once_and_escaped() {
        let mut strings = Strings::new();
        assert_eq!(strings.number(""), 0);
        let odd = strings.number("/r/\u{202e}x");
        assert_eq!(strings.number("/r/\u{202e}x"), odd);
        assert_eq!(strings.shown(odd), "/r/\\u{202e}x");
        let two = strings.number_of_shown("a  b".into());
        assert_eq!(strings.into_shown(), ["", "/r/\\u{202e}x", "a  b"]);
        assert_eq!(two, 2);
    }
}
