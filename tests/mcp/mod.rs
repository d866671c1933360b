//! `stockade mcp wrap`: a server, its client, and what comes between.

mod asking;
mod client;
mod events;
mod framing;
mod refusals;
mod servers;
mod tools;
