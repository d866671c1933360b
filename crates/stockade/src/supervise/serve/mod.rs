//! Who receives and answers the calls, and on which thread.

pub mod first;
pub mod pool;
pub mod processor;
pub mod unconfined;
pub mod worker;
