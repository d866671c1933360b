//! The question that belongs to a confirm, its texts bounded: they come from a model.

use super::{Answer, Danger, Remember};

/// Bytes of a question's message that are kept.
const LONGEST_MESSAGE: usize = 4096;

impl Answer {
    /// The question that belongs to a confirm.
    pub(crate) fn asking(self, title: &str, message: String, danger: Danger, remember: Vec<Remember>) -> Answer {
        Answer {
            title: Some(title.to_string()),
            message: Some(cut(&message, LONGEST_MESSAGE)),
            danger: Some(danger),
            remember,
            ..self
        }
    }
}

/// What a sentence quotes of a text.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    match text.len() > longest {
        true => format!("{}…", &text[..text.floor_char_boundary(longest)]),
        false => text.to_string(),
    }
}
