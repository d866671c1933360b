//! What the caller says: its registers, its memory, its entries of `/proc`. Nothing is decided here.

pub mod caller;
pub mod errno;
pub mod fds;
pub mod procfs;
pub mod registers;
pub mod threads;
