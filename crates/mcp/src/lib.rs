//! The Model Context Protocol between a client and a server that Stockade confines.
//!
//! [`relay`] carries the lines, and a [`Session`] says what becomes of each: nearly all pass byte for byte. It changes
//! results of calls in which something was refused, leaves out tools that the configuration or a change of theirs rules out,
//! and asks the client's user about what the run asks for. It neither starts the server nor confines it: that is `stockade run`.

mod calls;
mod elicit;
pub mod known;
mod line;
mod listing;
mod message;
mod names;
mod naming;
mod queue;
mod refusal;
pub mod relay;
mod result;
mod roots;
mod rules;
mod session;
mod variables;

pub use listing::{Accepted, shown};
pub use naming::name_of;
pub use rules::{Places, Rules};
pub use session::{Passed, Session, Setup};
pub use variables::{Variables, of_client, set_for_server};
