//! Network by host name.

#[path = "../common/mod.rs"]
mod common;

#[path = "../network/main.rs"]
mod network;
