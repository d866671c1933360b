//! Static analysis: infers a script's effects and the least profile that allows them.
//!
//! A reader for each language (`python`, `javascript` for JavaScript and TypeScript, `shell`) walks the parsed script,
//! tracks names and constants, and returns the acts that it finds. The first two are abstract interpreters over partially
//! known values; they share `reading` (findings, the step budget, control flow), `scopes`, `arguments` and `constant`.
//! `table` is data: the effects of APIs. `nested_code` reads embedded code: started programs, shell lines, code in other
//! languages. `judged` maps an act to its `need`; `profile_fit` maps all needs to a profile with a confidence.
//!
//! Nothing here opens a file, starts a program or uses the network. The inference is a guess about an untrusted text:
//! it chooses the profile that is tried, and the sandbox still refuses everything that the profile doesn't grant.

mod arguments;
mod assessed;
mod confidence;
mod constant;
mod evidence;
mod finding;
mod host;
mod javascript;
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
pub use profile_fit::{Inference, LeastGrants, LeftOut};
pub use setting::Setting;

pub use need::{Files, Hosts, Need};

use finding::Finding;

/// Maximum size of a script in bytes; a longer one is unreadable.
pub const MAX_LENGTH: usize = 1 << 20;

/// Infers the needs of a script.
///
/// The parsers recurse: call this where a crash on hostile text loses only the answer. `stockade infer` calls it in a
/// separate confined process.
pub fn infer(source: &str, language: Language, setting: &Setting) -> Inference {
    if source.len() > MAX_LENGTH {
        return Inference::unreadable(language, "longer than 1 MiB");
    }
    let found = nested_code::unfold(read(source, language, setting), setting);
    profile_fit::fit(found, source, language, setting)
}

/// Reads one text on its own; programs that it starts aren't analysed yet.
fn read(source: &str, language: Language, setting: &Setting) -> Vec<Finding> {
    match language {
        Language::Python => python::read(source, setting),
        Language::JavaScript | Language::TypeScript => javascript::read(source, language, setting),
        Language::Shell => shell::read(source, setting),
    }
}
