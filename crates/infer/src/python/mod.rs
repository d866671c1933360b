//! The Python reader: an abstract interpreter over partially known values.
//!
//! `depth` rejects text that nests too deep to be parsed. The reader then runs the script: `statement` and `branch` take
//! every path through it, `expression`, `operator` and `fold` compute partially known values, `call`, `function` and
//! `class` follow the script's own definitions, `api` looks up everything else in the table.
//!
//! A step budget bounds the work, whatever the script; exceeding it is reported as `TooMuch`. Nothing here may panic,
//! whatever the script.

mod api;
mod assign;
mod attribute;
mod branch;
mod call;
mod class;
mod code;
mod command_line;
mod depth;
mod environment;
mod expression;
mod fold;
mod function;
mod import;
mod iterate;
mod listing;
mod operator;
mod own;
mod reader;
mod referenced;
mod special;
mod statement;

#[cfg(test)]
mod tests;

use ruff_text_size::Ranged;

use super::evidence::{Effect, Lines};
use super::finding::{Act, Finding, Opaque};
use super::setting::Setting;

/// Reads a script and returns its findings.
pub fn read(source: &str, setting: &Setting) -> Vec<Finding> {
    if let Some(why) = depth::too_deep(source) {
        return vec![Finding::new(Act::Opaque(Opaque::TooMuch(why)), "python", 0..0)];
    }
    match ruff_python_parser::parse_module(source) {
        Ok(parsed) => reader::Reader::new(setting).run(parsed.suite()),
        Err(error) => {
            let at = error.range().start().to_usize();
            let place = Lines::of(source).evidence(Effect::Dynamic, String::new(), &(at..at));
            let why = format!("{}:{} {}", place.line, place.column, error.error);
            vec![Finding::new(Act::Opaque(Opaque::Unparsed(why)), "python", at..at)]
        }
    }
}
