//! The output of the answer `details`: the whole evidence.

use std::fmt::Write;

use super::question::{granted, verb};
use crate::approve::grammar::{AnswerChoices, Word};
use crate::approve::{EscalationRequest, Lifetime};
use crate::profile::visible;
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit::{broken, shortened};

/// The limit for each text from the program: a command line may fill hundreds of screens.
const MAX_COLUMNS: usize = 600;

/// All evidence, one line each, followed by the meanings of the answers. No row begins with a text from the program.
pub fn details(request: &EscalationRequest, offer: &AnswerChoices, width: usize) -> String {
    let evidence = &request.evidence;
    let mut text = String::new();
    let mut say = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name}: {}", shortened(value, MAX_COLUMNS));
    };
    say("access", verb(evidence.access));
    say("target", &quoted(evidence.target.as_ref()));
    if !evidence.asked.is_empty() {
        say("asked as", &quoted(evidence.asked.as_ref()));
    }
    say("system call", &visible(&evidence.syscall));
    say("program", &quoted(evidence.program.as_ref()));
    say("process", &evidence.pid.to_string());
    say("command", &command_line(&evidence.command));
    say("root", &quoted(evidence.root.as_ref()));
    say("profile", &quoted(request.current_profile.as_ref()));
    if let Some(agent) = &evidence.agent {
        say("agent", &quoted(agent.as_ref()));
    }
    if let Some(script) = &request.capability_id {
        say("script or tool", &quoted(script.as_ref()));
    }
    say("refused", &visible(&evidence.why));
    say("reason", &visible(&request.reason));
    if let Some(warning) = &evidence.warning {
        say("careful", &visible(warning));
    }
    say("run", &quoted(request.run.as_ref()));
    say("request", &quoted(request.id.as_ref()));
    let (seconds, tenths) = (evidence.at_ms / 1000, evidence.at_ms % 1000 / 100);
    say("after", &format!("{seconds}.{tenths} s"));
    text.push_str(&meanings(request, offer));
    text.lines().map(|line| broken(line, width) + "\n").collect()
}

/// The grant of each answer; not shortened.
fn meanings(request: &EscalationRequest, offer: &AnswerChoices) -> String {
    let mut text = String::new();
    for word in &offer.words {
        let meaning = match word {
            Word::Yes if !request.live => "the program is started once more with it",
            Word::Yes if offer.usual() == Some(Lifetime::Session) => "until this run ends",
            Word::Yes | Word::Once => "for this access alone",
            Word::Always => "for later runs too, until it is revoked",
            Word::Wider if offer.has_wider_always() => {
                "`wider grants`, until this run ends; `wider always` for later runs too"
            }
            Word::Wider => "what `wider grants` says, until this run ends",
            Word::No => "refused; what stands behind it is passed on; `no all` refuses the rest",
            Word::Details => continue,
        };
        let _ = writeln!(text, "  {} = {meaning}", word.text());
    }
    if let Some(name) = offer.name {
        let _ = writeln!(
            text,
            "  {name} = all of the profile `{name}`, nearly no limit; the name in full"
        );
    }
    let _ = writeln!(text, "  would grant: {}", granted(&request.requested));
    text
}
