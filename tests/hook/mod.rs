//! `stockade hook`: the agents' published events, old and new, with the expected answers; what isn't understood blocks; a
//! rewritten line is confined, and what it was refused is told.

mod blocking;
mod confined;
mod denied;
mod events;
mod guarded;
mod place;
