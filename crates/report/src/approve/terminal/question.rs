//! The question: six lines with the program, the access, and the exact grant.
//!
//! Texts from the program are quoted, so that nothing in them moves the cursor. No row on the screen begins with one:
//! each line begins with a word of Stockade's, and a continuation row begins with [`fit::GOES_ON`]. The lines on
//! program and access are shortened; the grant never is: if it doesn't fit on the screen, the question
//! isn't asked.

use super::unanswered::Unanswered;
use crate::approve::grammar::AnswerChoices;
use crate::approve::{EscalationRequest, Requested};
use crate::policy::Kind;
use crate::profile::visible;
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit::{self, columns, shortened};
use stockade_text::visible::style::{Ink, Style};

/// The target can set its terminal to any size. A question of more columns in all isn't asked, whatever the size: on a
/// screen of 80 columns and 24 rows its beginning would be gone.
const MAX_COLUMNS: usize = 1500;

/// Columns of a line on program or access. A narrower terminal shows it in more rows, its names unchanged.
const LINE: usize = 80;

/// The fewest columns of a shortened text.
const MIN: usize = 16;

/// The row before the question, and the one that says that a line was no answer.
const OTHER_ROWS: usize = 2;

/// On a narrower terminal a question has too many rows. Of a wider one no more is used: if the target has set a larger
/// size than the real one, the terminal would break the lines where the target wants it.
const WIDTHS: std::ops::RangeInclusive<usize> = 20..=80;

/// The columns of a row; `None` if they are too few.
pub fn width(size: (usize, usize)) -> Option<usize> {
    (size.0 >= *WIDTHS.start()).then(|| size.0.min(*WIDTHS.end()))
}

/// The lines above the prompt, with their line ends; the prompt has to fit below.
pub fn question(
    request: &EscalationRequest,
    prompt: &str,
    size: (usize, usize),
    ink: Ink,
) -> Result<String, Unanswered> {
    let width = width(size).ok_or(Unanswered::TooLong)?;
    let lines = lines(request);
    let length: usize = lines.iter().map(|(_, line)| columns(line)).sum();
    let lines = lines.iter().map(|(style, line)| (*style, fit::broken(line, width)));
    let lines: Vec<(Option<Style>, String)> = lines.collect();
    let height: usize = lines.iter().map(|(_, line)| line.lines().count()).sum();
    if height + prompt.lines().count() + OTHER_ROWS > size.1 || length > MAX_COLUMNS {
        return Err(Unanswered::TooLong);
    }
    let shown = lines.into_iter().map(|(style, line)| match style {
        Some(style) => ink.styled(style, &line) + "\n",
        None => line + "\n",
    });
    Ok(shown.collect())
}

/// The offered answers and the time left, in rows that fit.
pub fn prompt(offer: &AnswerChoices, seconds: u64, width: usize) -> String {
    let mut words = offer.shown();
    if let Some(last) = words.last_mut() {
        *last += &format!(" ({seconds} s)? ");
    }
    fit::listed(&words, width)
}

/// The grant, never shortened.
pub fn granted(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let flags: Vec<String> = grants.iter().map(|flag| command_line(flag)).collect();
            flags.join(" ")
        }
        Requested::Profile(name) => format!("all of the profile {}", quoted(name.as_ref())),
    }
}

fn lines(request: &EscalationRequest) -> Vec<(Option<Style>, String)> {
    const REFUSED: &str = "  refused: ";
    let evidence = &request.evidence;
    let why = visible(&evidence.why);
    let asked = |line| (Some(Style::Asked), line);
    let mut lines = vec![(None, who(request))];
    match (&evidence.warning, &request.wider) {
        (Some(_), Some(_)) => {
            let why = shortened(&format!(" ({why})"), LINE / 2);
            lines.push(asked(format!("{}{why}", what(request, LINE - columns(&why)))));
        }
        _ => {
            lines.push(asked(what(request, LINE)));
            lines.push((None, format!("{REFUSED}{}", shortened(&why, LINE - REFUSED.len()))));
        }
    }
    let careful = |warning| (Some(Style::Careful), format!("  careful: {}", visible(warning)));
    lines.extend(evidence.warning.as_ref().map(|warning| careful(warning)));
    let verb = if request.live {
        "would grant"
    } else {
        "would start it once more with"
    };
    lines.push((None, format!("  {verb}: {}", granted(&request.requested))));
    let wider = request.wider.iter().filter(|_| request.live);
    lines.extend(wider.map(|wider| (None, format!("  wider grants: {}", granted(wider)))));
    lines
}

/// `stockade: /usr/bin/python3 (pid 4711, agent coder) wants to read`.
fn who(request: &EscalationRequest) -> String {
    let evidence = &request.evidence;
    let agent = match &evidence.agent {
        Some(agent) => format!(", agent {}", shortened(&quoted(agent.as_ref()), MIN)),
        None => String::new(),
    };
    let wants = if request.live { "wants" } else { "wanted" };
    let rest = format!(" (pid {}{agent}) {wants} to {}", evidence.pid, verb(evidence.access));
    let start = "stockade: ";
    let room = LINE.saturating_sub(start.len() + columns(&rest)).max(MIN);
    format!("{start}{}{rest}", shortened(&quoted(evidence.program.as_ref()), room))
}

/// `stockade: refused to read ` and `/etc/hosts: not today`.
pub fn refused(request: &EscalationRequest, reason: Option<&str>) -> (String, String) {
    let evidence = &request.evidence;
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", visible(reason)));
    let name = format!("{}{reason}", quoted(evidence.target.as_ref()));
    (format!("stockade: refused to {} ", verb(evidence.access)), name)
}

/// The target as named → as resolved.
fn what(request: &EscalationRequest, most: usize) -> String {
    const TARGET: &str = "  target: ";
    const ARROW: &str = " → ";
    let evidence = &request.evidence;
    let target = quoted(evidence.target.as_ref());
    let room = most.saturating_sub(TARGET.len()).max(MIN);
    if evidence.asked.is_empty() || evidence.asked == evidence.target {
        return format!("{TARGET}{}", shortened(&target, room));
    }
    let asked = quoted(evidence.asked.as_ref());
    let room = room.saturating_sub(columns(ARROW));
    // If both are long, each has half; otherwise the short one leaves its space to the other.
    let asked = shortened(&asked, (room / 2).max(room.saturating_sub(columns(&target))));
    let target = shortened(&target, room.saturating_sub(columns(&asked)));
    format!("{TARGET}{asked}{ARROW}{target}")
}

/// The verb for an access.
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
        Kind::Variable => "see the variable",
        Kind::Syscall => "use the system call",
    }
}
