//! The prompt of a confirm. Its texts come from a model, so their length is limited.

use super::{Answer, Danger, Remember};

/// Maximum bytes of a prompt's message, not counting the note on how many are left out.
const MAX_MESSAGE: usize = 4096;

impl Answer {
    /// The answer with a confirm's prompt. A message that a person can't see in full counts as the highest danger.
    pub(crate) fn asking(self, title: &str, message: String, danger: Danger, remember: Vec<Remember>) -> Answer {
        Answer {
            title: Some(title.to_string()),
            danger: Some(match message.len() > MAX_MESSAGE {
                true => Danger::High,
                false => danger,
            }),
            message: Some(both_ends(message)),
            remember,
            ..self
        }
    }
}

/// The part of a text that a sentence quotes.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_LENGTH: usize = 200;
    cut(text, MAX_LENGTH)
}

/// The head and the tail of a text without its middle: the end is often what matters.
fn both_ends(text: String) -> String {
    if text.len() <= MAX_MESSAGE {
        return text;
    }
    let (head, rest) = text.split_at(text.floor_char_boundary(MAX_MESSAGE / 2));
    let (left_out, tail) = rest.split_at(rest.ceil_char_boundary(rest.len() - MAX_MESSAGE / 2));
    format!("{head}… ({} characters left out) …{tail}", left_out.chars().count())
}

fn cut(text: &str, longest: usize) -> String {
    match text.len() > longest {
        true => format!("{}…", &text[..text.floor_char_boundary(longest)]),
        false => text.to_string(),
    }
}
