//! Reading Python: an interpreter that knows only part of every value.
//!
//! `depth` refuses what nests too deep to be parsed. The reader then runs the script: `statement` and `branch` take
//! every way through it, `expression`, `operator` and `fold` compute what is known of values, `call`, `function` and
//! `class` follow what the script defines, `api` asks the table what everything else does.
//!
//! Work is bounded by a budget of steps, not by the script: what is beyond it is said to be too much. Nothing here may
//! panic, whatever the script is.

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

/// What a script does.
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
