//! A run inside a run only narrows: effective is what both allow. Each test first shows that the probe works in the outer
//! run alone, or its refusal inside would prove nothing.
#![cfg(target_arch = "x86_64")]

mod crowds;
mod inner;
mod narrowing;
mod processes;
mod rubbish;
mod telling;
