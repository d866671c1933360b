//! Which object a call means: pinned with a descriptor of the supervisor's own.

pub mod identity;
pub mod pinned;
pub mod process_lists;
pub mod resolve;
pub mod subject;
