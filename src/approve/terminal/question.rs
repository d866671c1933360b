//! The question: six lines that tell who wants what, and what exactly would be granted.
//!
//! What comes from the program is quoted, so that nothing in it moves the terminal or begins a line. What tells who and
//! what is shortened to the width; what would be granted never is: where it doesn't fit on the screen, nobody is asked.

use super::fit::{columns, rows, shortened};
use super::offer::{Offer, Word};
use super::unanswered::Unanswered;
use crate::approve::{EscalationRequest, Requested};
use crate::profile::visible;
use crate::quote::{command_line, quoted};
use crate::report::Kind;

/// The target can tell its terminal any size. A question of more columns in all isn't asked, whatever the size: on a
/// screen of 80 columns and 24 rows its beginning would be gone.
const MOST_COLUMNS: usize = 1500;

/// Narrower isn't believed, and wider isn't used.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// The lines above the prompt, with their line ends.
pub fn question(request: &EscalationRequest, size: (usize, usize)) -> Result<String, Unanswered> {
    let width = size.0.clamp(*WIDTHS.start(), *WIDTHS.end());
    let lines = lines(request, width);
    let height: usize = lines.iter().map(|line| rows(line, width)).sum();
    let length: usize = lines.iter().map(|line| columns(line)).sum();
    // One row for the prompt, one for the line before the question.
    if height + 2 > size.1 || length > MOST_COLUMNS {
        return Err(Unanswered::TooLong);
    }
    Ok(lines.join("\n") + "\n")
}

/// What is asked for at the end.
pub fn prompt(offer: &Offer, seconds: u64) -> String {
    let mut words = Vec::new();
    for word in &offer.words {
        match word {
            Word::No => words.extend(["no [reason]", "no all"]),
            Word::Details => {}
            word => words.push(word.text()),
        }
    }
    if !offer.words.iter().any(|word| !matches!(word, Word::No | Word::Details)) {
        words.extend(offer.name);
    }
    format!("{} or details ({seconds} s)? ", words.join(", "))
}

/// What would be granted, never shortened.
pub fn granted(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let flags: Vec<String> = grants.iter().map(|flag| command_line(flag)).collect();
            flags.join(" ")
        }
        Requested::Profile(name) => format!("all of the profile {}", quoted(name.as_ref())),
    }
}

fn lines(request: &EscalationRequest, width: usize) -> Vec<String> {
    let evidence = &request.evidence;
    let why = visible(&evidence.why);
    let mut lines = vec![who(request, width)];
    match (&evidence.warning, &request.wider) {
        (Some(_), Some(_)) => {
            let why = shortened(&format!(" ({why})"), width / 2);
            lines.push(format!("{}{why}", what(request, width - columns(&why))));
        }
        _ => {
            lines.push(what(request, width));
            lines.push(shortened(&format!("  refused: {why}"), width));
        }
    }
    lines.extend(
        evidence
            .warning
            .iter()
            .map(|warning| format!("  careful: {}", visible(warning))),
    );
    let verb = if request.live {
        "would grant"
    } else {
        "would start it once more with"
    };
    lines.push(format!("  {verb}: {}", granted(&request.requested)));
    lines.extend(
        request
            .wider
            .iter()
            .filter(|_| request.live)
            .map(|wider| format!("  wider grants: {}", granted(wider))),
    );
    lines
}

/// `stockade: /usr/bin/python3 (pid 4711, agent coder) wants to read`.
fn who(request: &EscalationRequest, width: usize) -> String {
    const LEAST: usize = 16;
    let evidence = &request.evidence;
    let agent = match &evidence.agent {
        Some(agent) => format!(", agent {}", shortened(&quoted(agent.as_ref()), LEAST)),
        None => String::new(),
    };
    let wants = if request.live { "wants" } else { "wanted" };
    let rest = format!(" (pid {}{agent}) {wants} to {}", evidence.pid, verb(evidence.access));
    let start = "stockade: ";
    let room = width.saturating_sub(start.len() + columns(&rest)).max(LEAST);
    format!("{start}{}{rest}", shortened(&quoted(evidence.program.as_ref()), room))
}

/// As asked → as resolved.
fn what(request: &EscalationRequest, width: usize) -> String {
    const ARROW: &str = " → ";
    let evidence = &request.evidence;
    let target = quoted(evidence.target.as_ref());
    let room = width.saturating_sub(2);
    if evidence.asked.is_empty() || evidence.asked == evidence.target {
        return format!("  {}", shortened(&target, room));
    }
    let asked = quoted(evidence.asked.as_ref());
    let room = room.saturating_sub(columns(ARROW));
    // Where both are long each has half; otherwise the short one leaves its room to the other.
    let asked = shortened(&asked, (room / 2).max(room.saturating_sub(columns(&target))));
    let target = shortened(&target, room.saturating_sub(columns(&asked)));
    format!("  {asked}{ARROW}{target}")
}

/// What it wants to do.
pub fn verb(access: Kind) -> &'static str {
    match access {
        Kind::Read => "read",
        Kind::Write => "write to",
        Kind::Create => "create",
        Kind::Delete => "delete",
        Kind::Metadata => "change the attributes of",
        Kind::Execute => "start",
        Kind::Connect => "connect to",
        Kind::Listen => "listen on",
        Kind::Socket => "use the socket",
        Kind::Resolve => "look up",
        Kind::Signal => "send a signal to",
        Kind::Spawn => "make the process",
        Kind::Syscall => "use the system call",
    }
}
