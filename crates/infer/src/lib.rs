//! Reading code: what a script does, and the least profile under which it can do that.
//!
//! A reader for each language (`python`, `javascript` for JavaScript and TypeScript, `shell`) walks a parsed script, keeps
//! track of what names stand for and of constants, and says which acts it found. The first two are interpreters that know
//! only part of every value; they share `reading` (findings, the budget of work, ways through the code), `scopes`,
//! `arguments` and `constant`. `table` knows what the APIs do; it is data. `nested_code` reads what is embedded: programs
//! that are started, shell lines, code in other languages. `judged` maps an act to its `need`, and
//! `profile_fit` all needs to a profile, and says how sure that is.
//!
//! Nothing here opens a file, starts a program or asks the network. What is inferred is a guess about an untrusted text:
//! it chooses the profile that is tried, and what the profile doesn't grant is refused all the same.

mod arguments;
mod base64;
mod confidence;
mod constant;
mod evidence;
mod finding;
mod host;
mod javascript;
mod judged;
mod language;
mod need;
mod nested_code;
mod profile_fit;
mod python;
mod reading;
mod scopes;
mod setting;
mod shell;
mod sql;
mod table;
mod text;
mod value;
mod whereabouts;

#[cfg(test)]
mod tests;

pub use evidence::{Effect, Evidence};
pub use language::Language;
pub use profile_fit::{Inference, LeastGrants};
pub use setting::Setting;

pub use need::{Files, Hosts, Need};

use finding::Finding;

/// Bytes of a script that are read; a longer one can't be judged.
pub const LONGEST: usize = 1 << 20;

/// What a script needs.
///
/// The parsers recurse: call it where a crash on hostile text costs nothing but the answer, as `stockade infer` does,
/// which reads in a confined process of its own.
pub fn infer(source: &str, language: Language, setting: &Setting) -> Inference {
    if source.len() > LONGEST {
        return Inference::unreadable(language, "longer than 1 MiB");
    }
    let found = nested_code::unfold(read(source, language, setting), setting);
    profile_fit::fit(found, source, language, setting)
}

/// What one text does, in its own words: programs that it starts aren't looked into yet.
fn read(source: &str, language: Language, setting: &Setting) -> Vec<Finding> {
    match language {
        Language::Python => python::read(source, setting),
        Language::JavaScript | Language::TypeScript => javascript::read(source, language, setting),
        Language::Shell => shell::read(source, setting),
    }
}
