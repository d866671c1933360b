//! Attacks, one test a trick or promise: each reaches its goal unconfined and must fail in a run.
#![cfg(target_arch = "x86_64")]

mod appearing;
mod cases;
mod devices;
mod failures;
mod guarded;
mod launching;
mod links;
mod marks;
mod metadata;
mod moves;
mod off_switch;
mod planting;
mod pointers;
mod proc_entries;
mod processes;
mod race;
mod races;
mod reading;
mod shared_memory;
mod side_doors;
mod side_reading;
mod stale_names;
mod terminals;
mod unix_sockets;
mod writing;
