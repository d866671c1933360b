//! Name resolution: the machine's answers, and the answers that the run gets.

mod answer;
mod cache;
mod chain;
mod exchange;
pub mod files;
mod frame;
mod lookup;
mod machine;
mod outcome;
mod serve;
mod source;
mod synthetic;
#[cfg(test)]
mod tests;

pub use answer::{Family, Reply};
pub use lookup::Resolver;
pub use machine::Machine;
pub use outcome::{Found, NoAddress};
pub use serve::{QueryLimits, serve};
pub use source::NameSource;
pub use synthetic::{NAMESERVER, Synthetic};
