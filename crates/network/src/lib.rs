//! The resolver and the relay of a run with named hosts.

#[doc(hidden)]
pub mod network;

use stockade_policy::{mutex, policy, profile};
use stockade_report::{fault, report};
