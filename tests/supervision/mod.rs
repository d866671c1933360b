//! The supervisor's promises (DESIGN.md, 3.1): what a program meets whose calls are done on its behalf. Nearly every
//! test runs the same code twice, bare and under `workspace`, and compares.
#![cfg(target_arch = "x86_64")]

pub mod both;
mod crowds;
mod descriptors;
mod ends;
mod execution;
mod faults;
mod fifos;
mod given_back;
mod lean_calls;
mod locks;
mod modes;
mod own_entries;
mod powers;
mod process_list;
mod signals;
mod standard_streams;
mod terminals;
mod unreadable;
