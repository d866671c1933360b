//! Reading JavaScript and TypeScript.
//!
//! An abstract interpreter over oxc's syntax tree: it runs the script with values of which only part may be known, takes
//! both ways where a condition isn't, and notes each act at the API that does it. `nesting` refuses what the parser would
//! recurse too deep for; `parse` finds the kind of source; `reader` holds the state; `statement`, `expression`,
//! `binding`, `function` and `class` follow the language; `call`, `member` and `module` know where it leaves the script;
//! `fold` computes what pure functions give. What the APIs do stands in `table/javascript.toml`.

mod api;
mod array;
mod binding;
mod call;
mod class;
mod endpoint;
mod expression;
mod fold;
mod function;
mod handed;
mod listing;
mod member;
mod module;
mod nesting;
mod operator;
mod parse;
mod program;
mod reader;
mod statement;
mod string;

#[cfg(test)]
mod tests;

use oxc_allocator::Allocator;
use oxc_semantic::SemanticBuilder;

use super::finding::{Act, Finding, Opaque};
use super::language::Language;
use super::setting::Setting;
use reader::Reader;

/// The acts of a script.
pub fn read(source: &str, language: Language, setting: &Setting) -> Vec<Finding> {
    let name = language.name();
    let opaque = |why: Opaque, at| vec![Finding::new(Act::Opaque(why), name, at)];
    if nesting::is_too_deep(source) {
        return opaque(Opaque::TooMuch("nested too deep"), 0..0);
    }
    let allocator = Allocator::default();
    let program = match parse::program(&allocator, source, language, setting) {
        Ok(program) => program,
        Err(error) => return opaque(Opaque::Unparsed(error.message), error.at..error.at),
    };
    let semantic = SemanticBuilder::new().with_build_nodes(false).build(program).semantic;
    Reader::new(semantic.scoping(), language, setting).run(program)
}
