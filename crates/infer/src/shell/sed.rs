//! sed(1): its program files, and the acts of its programs.

use super::program::arguments;
use crate::finding::{Act, Opaque};
use crate::text::Text;
use stockade_shell::sed::{Effect, sed};

/// Returns the acts of sed's programs; its table row covers the files that it edits.
pub(super) fn acts(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("sed", words);
    // With `--sandbox`, sed itself refuses these commands.
    if arguments.has(&["--sandbox"]) {
        return Vec::new();
    }
    let files = arguments.values(&["-f", "--file"]);
    let mut acts: Vec<Act> = files.map(|file| Act::Opaque(Opaque::OtherFile(file.shown()))).collect();
    let expressions: Vec<&Text> = arguments.values(&["-e", "--expression"]).collect();
    let programs = match (&expressions[..], acts.is_empty()) {
        ([], true) => arguments.operands.first().into_iter().collect(),
        _ => expressions,
    };
    for program in programs {
        match program.is_unknown() {
            true => acts.push(Act::Opaque(Opaque::BuiltCode)),
            false => acts.extend(sed(&program.marked()).effects.into_iter().map(act)),
        }
    }
    acts
}

fn act(effect: Effect) -> Act {
    match effect {
        Effect::Writes(file) => Act::Write(Text::of_marked(&file)),
        Effect::Reads(file) => Act::Read(Text::of_marked(&file)),
        Effect::Runs(line) => Act::Shell(Text::of_marked(&line)),
        Effect::RunsText => Act::Opaque(Opaque::BuiltCode),
    }
}
