//! What programs rely on beside getting through: errors, options, ends of streams, crowds, servers of their own.

mod connecting;
mod crowds;
mod patterns;
mod resolving;
mod serving;
mod streams;
