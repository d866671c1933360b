//! Network by host name: programs reach the granted hosts, under made-up names that a resolver of the tests leads to
//! servers on loopback addresses, and nothing else by no trick.
//!
//! What loopback addresses can't be reached without is granted with each name: an address of its own. A test whose
//! program isn't installed says so and passes, unless `STOCKADE_TEST_ALL=1` is set; `tests/setup-programs.sh` installs
//! what they need. Ports 80 and 443 can be served by root alone, mostly.
#![cfg(target_arch = "x86_64")]

mod asking;
mod begun;
mod behaviour;
mod built;
mod clients;
mod escape;
mod faults;
mod net;
#[expect(dead_code, reason = "each test program uses another part")]
#[path = "../escalation/person.rs"]
mod person;
mod servers;
