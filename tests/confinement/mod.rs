//! Each denial of ring 1, seen from inside a confined process, after the same probe was proved to work unconfined.

mod caches;
mod capabilities;
mod execution;
mod flags;
mod inheritance;
mod keepers;
mod marked_reads;
mod metadata;
mod namespaces;
mod older;
mod orphans;
mod outsiders;
mod processes;
mod reading;
mod secrets;
mod signal_races;
mod signals;
mod sockets;
mod system_calls;
mod terminals;
mod traps;
mod wide_profiles;
mod writing;
