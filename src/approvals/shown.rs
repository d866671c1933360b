//! Questions as text for a person. Everything from a request is quoted or escaped here, and no line begins with it.

use std::time::Instant;

use stockade_policy::profile::visible;
use stockade_report::approve::grammar::AnswerChoices;
use stockade_report::approve::socket::WaitingQuestion;
use stockade_report::approve::{Answer, Choice, EscalationRequest, Evidence, Extent, Lifetime, Requested};
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit;
use stockade_text::visible::visible_but_for_blanks;

/// The most columns of a text that must fit on one line.
pub const LINE: usize = 120;

/// The requested access, in at most `columns` columns: `read /etc/hosts`.
pub fn wanted(request: &EscalationRequest, columns: usize) -> String {
    let evidence = &request.evidence;
    let kind = kind(evidence);
    let room = columns.saturating_sub(kind.len() + 1);
    format!("{kind} {}", fit::shortened(&quoted(evidence.target.as_ref()), room))
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

/// Seconds until the question expires.
pub fn seconds_left(question: &WaitingQuestion) -> u64 {
    let left = question.deadline.saturating_duration_since(Instant::now());
    left.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

/// The facts needed for an answer: the access to be granted is never truncated.
pub fn question(question: &WaitingQuestion) -> Vec<String> {
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
    lines
}

/// The possible answers, and the time left.
pub fn answers(question: &WaitingQuestion) -> String {
    let words = AnswerChoices::of(&question.request).shown().join(", ");
    format!("answers: {words}; {} s left", seconds_left(question))
}

/// The remaining details.
pub fn details(question: &WaitingQuestion) -> Vec<String> {
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

/// The request in the command line's terms.
pub fn requested(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let grants: Vec<String> = grants.iter().map(|words| command_line(words)).collect();
            grants.join(" ")
        }
        Requested::Profile(name) => format!("all of the profile {}", quoted(name.as_ref())),
    }
}

/// `read /etc/hosts`, with the requested name where that differs.
fn asked(evidence: &Evidence) -> String {
    let target = quoted(evidence.target.as_ref());
    match evidence.asked.as_str() {
        "" => format!("{} {target}", kind(evidence)),
        same if same == evidence.target => format!("{} {target}", kind(evidence)),
        asked => format!("{} {target} (asked for as {})", kind(evidence), quoted(asked.as_ref())),
    }
}

/// How long a yes lasts.
pub fn time(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Once => "once",
        Lifetime::Session => "for this run",
        Lifetime::Always => "always",
    }
}

/// Whether an answer is the no after which nothing more is asked about its directory or host.
pub fn is_last_there(question: &WaitingQuestion, answer: &Answer) -> bool {
    question.request.ends_by_no() && answer.choice == (Choice::No { all: false })
}

/// An answer in a few words, for the history.
pub fn summary(answer: &Answer) -> String {
    let said = match &answer.choice {
        Choice::Yes { lifetime, extent } => {
            let extent = match extent {
                Extent::Requested => String::new(),
                Extent::Wider => "wider, ".to_string(),
                Extent::Profile(name) => format!("all of `{name}`, "),
            };
            format!("yes, {extent}{}", time(*lifetime))
        }
        Choice::No { all: true } => "no to all of this run".to_string(),
        Choice::No { all: false } => "no".to_string(),
        Choice::Silence => "no answer".to_string(),
    };
    match &answer.reason {
        Some(reason) => format!("{said}: {reason}"),
        None => said,
    }
}

/// The kind of access as its JSON form names it.
fn kind(evidence: &Evidence) -> String {
    let name = serde_json::to_value(evidence.access).ok();
    let name = name.as_ref().and_then(serde_json::Value::as_str);
    name.unwrap_or("do something to").to_string()
}

/// Escaped, and short enough for one line.
pub fn short(text: &str) -> String {
    fit::shortened(&visible_but_for_blanks(text), LINE)
}
