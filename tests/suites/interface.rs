//! What people, programs and files say to Stockade, and what it says to them.

#[path = "../common/mod.rs"]
mod common;

#[path = "../audit.rs"]
mod audit;
#[path = "../bad_input/mod.rs"]
mod bad_input;
#[path = "../batch.rs"]
mod batch;
#[path = "../batch_engines.rs"]
mod batch_engines;
#[path = "../check.rs"]
mod check;
#[path = "../command_line.rs"]
mod command_line;
#[path = "../configuration/mod.rs"]
mod configuration;
#[path = "../doctor.rs"]
mod doctor;
#[path = "../documentation.rs"]
mod documentation;
#[path = "../explained.rs"]
mod explained;
#[path = "../hints.rs"]
mod hints;
#[path = "../hook/mod.rs"]
mod hook;
#[path = "../install/mod.rs"]
mod install;
#[path = "../judge/mod.rs"]
mod judge;
#[path = "../library.rs"]
mod library;
#[path = "../log.rs"]
mod log;
#[path = "../page.rs"]
mod page;
#[path = "../profiles/mod.rs"]
mod profiles;
#[path = "../report.rs"]
mod report;
#[path = "../schema.rs"]
mod schema;
#[path = "../shell.rs"]
mod shell;
#[path = "../structure.rs"]
mod structure;
