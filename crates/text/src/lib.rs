//! Displays foreign texts safely: `visible` escapes characters that a terminal wouldn't show as they are, `quote` writes
//! words that can be pasted into a shell, `mask` removes secrets, `json` finds where readers of JSON
//! would differ.

pub mod json;
pub mod mask;
pub mod quote;
pub mod visible;
