//! Questions as texts for a person. Everything from a request is quoted or escaped here, and no line begins with it.

use std::time::Instant;

use crate::approve::socket::Question;
use crate::approve::{EscalationRequest, Evidence, Requested};
use crate::profile::visible;
use crate::quote::{command_line, quoted};
use crate::visible::fit;
use crate::visible::visible_but_for_blanks;

/// Columns of a text that must fit one line.
const LINE: usize = 120;

/// What is wanted, on one line: `read /etc/hosts`.
pub fn wanted(request: &EscalationRequest) -> String {
    let evidence = &request.evidence;
    format!("{} {}", kind(evidence), short(&quoted(evidence.target.as_ref())))
}

/// The run that a question belongs to, on one line.
pub fn run(request: &EscalationRequest) -> String {
    let agent = request.evidence.agent.as_deref();
    let agent = agent.map_or_else(String::new, |agent| {
        format!(", agent {}", short(&quoted(agent.as_ref())))
    });
    format!(
        "run {}: {} ({}{agent})",
        short(&quoted(request.run.as_ref())),
        short(&command_line(&request.evidence.command)),
        short(&quoted(request.current_profile.as_ref())),
    )
}

/// Seconds until nobody waits any more.
pub fn seconds_left(question: &Question) -> u64 {
    let left = question.deadline.saturating_duration_since(Instant::now());
    left.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

/// What has to be known for an answer: what would be granted is never cut.
pub fn question(question: &Question) -> Vec<String> {
    let request = &question.request;
    let evidence = &request.evidence;
    let mut lines = vec![
        format!(
            "program: {} (pid {}) wants to {}",
            quoted(evidence.program.as_ref()),
            evidence.pid,
            asked(evidence)
        ),
        format!("refused: {}", visible(&evidence.why)),
        format!("would be granted: {}", requested(&request.requested)),
    ];
    if let Some(wider) = &request.wider {
        lines.push(format!("wider: {}", requested(wider)));
    }
    if let Some(warning) = &evidence.warning {
        lines.push(format!("warning: {}", visible(warning)));
    }
    lines.push(format!(
        "answers: {}; {} s left",
        answers(request),
        seconds_left(question)
    ));
    lines
}

/// The rest.
pub fn details(question: &Question) -> Vec<String> {
    let request = &question.request;
    let evidence = &request.evidence;
    let mut lines = vec![
        format!(
            "run: {}, profile {}",
            quoted(request.run.as_ref()),
            quoted(request.current_profile.as_ref())
        ),
        format!("command: {}", command_line(&evidence.command)),
        format!("root: {}", quoted(evidence.root.as_ref())),
        format!("reason: {}", visible(&request.reason)),
        format!(
            "call: {}, {} ms after the start",
            visible(&evidence.syscall),
            evidence.at_ms
        ),
    ];
    let named = [("agent", &evidence.agent), ("capability", &request.capability_id)];
    for (name, text) in named {
        lines.extend(text.as_deref().map(|text| format!("{name}: {}", quoted(text.as_ref()))));
    }
    lines.push(match request.live {
        true => "the program waits for the answer".to_string(),
        false => "the program has ended; a yes starts it once more".to_string(),
    });
    lines
}

/// What may be answered.
fn answers(request: &EscalationRequest) -> String {
    let mut words: Vec<&str> = request.lifetimes.iter().map(|lifetime| lifetime.word()).collect();
    words.extend(request.wider.is_some().then_some("wider"));
    words.push("no");
    words.join(", ")
}

/// As the command line names it.
pub fn requested(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let grants: Vec<String> = grants.iter().map(|words| command_line(words)).collect();
            grants.join(" ")
        }
        Requested::Profile(name) => format!("all of the profile {}", quoted(name.as_ref())),
    }
}

/// `read /etc/hosts`, and as it was asked for where that was another name.
fn asked(evidence: &Evidence) -> String {
    let target = quoted(evidence.target.as_ref());
    match evidence.asked.as_str() {
        "" => format!("{} {target}", kind(evidence)),
        same if same == evidence.target => format!("{} {target}", kind(evidence)),
        asked => format!("{} {target} (asked for as {})", kind(evidence), quoted(asked.as_ref())),
    }
}

/// The kind of access as its JSON form names it.
fn kind(evidence: &Evidence) -> String {
    let name = serde_json::to_value(evidence.access).ok();
    let name = name.as_ref().and_then(serde_json::Value::as_str);
    name.unwrap_or("do something to").to_string()
}

/// Escaped, and short enough for a line.
pub fn short(text: &str) -> String {
    fit::shortened(&visible_but_for_blanks(text), LINE)
}
