//! Calls on files, directories and terminals.

pub mod access;
pub mod attributes;
pub mod entries;
pub mod execute;
pub mod fifo;
pub mod memory;
pub mod metadata;
pub mod open;
pub mod process_list;
pub mod synthetic;
pub mod terminals;
pub mod truncate;
