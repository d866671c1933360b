//! Calls on processes and other objects of the kernel.

pub mod calls;
pub mod events;
pub mod groups;
pub mod limits;
pub mod nest;
pub mod signals;
pub mod system_v;
