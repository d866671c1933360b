//! Network by host name.

#[path = "../common/mod.rs"]
mod common;

#[path = "../network/mod.rs"]
mod network;
