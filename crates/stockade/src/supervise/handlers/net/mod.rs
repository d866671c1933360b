//! Sockets.

pub mod acl;
pub mod address;
pub mod internet;
pub mod sockets;
pub mod stand_in;
