//! How a text that comes from elsewhere is shown: `visible` escapes what a terminal wouldn't show as it is, `quote` writes
//! words that can be pasted into a shell, `mask` takes secrets out.

pub mod mask;
pub mod quote;
pub mod visible;
