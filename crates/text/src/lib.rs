//! Displays foreign texts safely: `visible` escapes characters that a terminal wouldn't show as they are, `quote` writes
//! words that can be pasted into a shell, `mask` removes secrets.

pub mod mask;
pub mod quote;
pub mod visible;
