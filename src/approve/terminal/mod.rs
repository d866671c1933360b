//! The approver at the terminal: six lines on `/dev/tty`, a word and Enter.
//!
//! The program shares this terminal. It may have typed ahead (a terminal answers queries, letters included), left half an
//! escape sequence, hidden the text, taken the foreground. So every process of the run is stopped before anything is
//! asked; what was typed before is thrown away, what was left is undone, keys are no signals while the question is open,
//! and afterwards everything is as it was. In raw mode nothing is asked. Standard streams are never touched.

mod details;
mod device;
mod held;
mod line;
mod mode;
mod offer;
mod question;
mod screen;
mod unanswered;

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::unistd::getpgrp;

use super::{Answer, Approver, Choice, EscalationRequest, Extent, Manner, PAUSE_AFTER_ONE_GONE, Patience, person};
use crate::mutex::lock;
use crate::quote::quoted;
use crate::visible::{fit, visible};
use device::Device;
use held::Held;
use line::Line;
use offer::{Offer, Said};
use screen::Screen;
pub use unanswered::NoTerminal;
use unanswered::Unanswered;

/// How often a line that means nothing is asked for again.
const TRIES: u32 = 3;

/// The last line is for the person alone: nobody waits for it to be shown.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// Asks on the controlling terminal.
///
/// Whoever asks has stopped every process of the run before, lets it go on afterwards, and has blocked SIGTTOU and
/// SIGTTIN at least in the thread that calls.
pub struct Terminal {
    device: Device,
    /// Whether a process group is one of the run's, all of it.
    owns: Box<dyn Fn(i32) -> bool + Send + Sync>,
    screen: Screen,
    /// The key that erases, as it was before the run could change it.
    erase: u8,
    /// Columns before the run, which can tell the terminal any number. In a question of too many, the terminal would
    /// break rows where the run wants it.
    columns: usize,
    /// One question at a time, and when the last one ended that a person hadn't answered.
    asking: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal")
            .field("screen", &self.screen)
            .finish_non_exhaustive()
    }
}

impl Terminal {
    /// The controlling terminal, if a person can be asked there now. Opened before the run starts, which could keep it
    /// from being opened.
    ///
    /// `owns` says whether a process group consists of the run's processes alone: from such a one, and from no other,
    /// the foreground is taken while a question is open. It is asked on the thread that calls [`Approver::ask`].
    ///
    /// # Errors
    ///
    /// Where there is none, where Stockade is in its background, and where it is in raw mode.
    pub fn open(owns: Box<dyn Fn(i32) -> bool + Send + Sync>) -> Result<Terminal, NoTerminal> {
        let device = Device::open().map_err(NoTerminal::None)?;
        let before = device.mode().map_err(NoTerminal::None)?;
        if device.foreground().map_err(NoTerminal::None)? != getpgrp().as_raw() {
            return Err(NoTerminal::Background);
        }
        if !mode::makes_lines(&before) {
            return Err(NoTerminal::Raw);
        }
        Ok(Terminal {
            columns: device.size().0,
            device,
            owns,
            screen: Screen::of(std::env::var("TERM").ok().as_deref()),
            erase: mode::erase_key(&before),
            asking: Mutex::new(None),
        })
    }

    fn answer(
        &self,
        request: &EscalationRequest,
        patience: &Patience,
        unanswered: Option<Instant>,
    ) -> Result<Answer, Unanswered> {
        let offer = Offer::of(request);
        let (columns, rows) = self.device.size();
        let size = (columns.min(self.columns), rows);
        let prompt = question::prompt(&offer, seconds(patience));
        let question = question::question(request, &prompt, size)?;
        let width = question::width(size).ok_or(Unanswered::TooLong)?;
        let held = Held::take(&self.device, self.erase, &*self.owns)?;
        held.quieten(&self.screen.undo(), patience)?;
        let details = || details::details(request, &offer, width) + &question;
        let pause = unanswered.map_or(Duration::ZERO, |ended| {
            PAUSE_AFTER_ONE_GONE.saturating_sub(ended.elapsed())
        });
        let asked = self.converse(&held, &question, details, &offer, patience, pause);
        let closing = match &asked {
            Ok(answer) => Some(fit::broken(&closing_line(request, answer), width)),
            // The program may have written anything below the question.
            Err(Unanswered::WentOn) => Unanswered::WentOn.ending().map(|ending| self.screen.wiped() + ending),
            Err(unanswered) => unanswered.ending().map(|ending| format!("\n{ending}")),
        };
        if let Some(closing) = closing {
            let _ = self.device.write(&(closing + "\n"), &Patience::of(AFTERWARDS));
        }
        drop(held);
        asked
    }

    /// Question and answers, until one is clear.
    fn converse(
        &self,
        held: &Held<'_>,
        question: &str,
        details: impl Fn() -> String,
        offer: &Offer,
        patience: &Patience,
        pause: Duration,
    ) -> Result<Answer, Unanswered> {
        let mut shown = format!("{}{question}", self.screen.fresh());
        if !pause.is_zero() {
            self.device.write(&shown, patience)?;
            shown = String::new();
            std::thread::sleep(pause.min(patience.left().unwrap_or_default()));
            held.quieten("", patience)?;
        }
        let mut unclear = 0;
        loop {
            self.device
                .write(&(shown + &question::prompt(offer, seconds(patience))), patience)?;
            let line = Line::of(&read_while_held(&self.device, patience)?);
            if line == Line::Broken {
                self.device.write("\n", patience)?;
            }
            match offer.meaning(&line) {
                Said::Answer(choice, reason) => return Ok(answer(choice, reason)),
                Said::Details => shown = details(),
                Said::Unclear if unclear == TRIES => return Ok(answer(Choice::No { all: false }, None)),
                Said::Unclear => {
                    unclear += 1;
                    shown = "that is no answer; a word and Enter:\n".into();
                    // The rest of what only looked like one.
                    held.quieten("", patience)?;
                }
            }
        }
    }
}

/// What is left of the time, begun ones counted.
fn seconds(patience: &Patience) -> u64 {
    patience.left().unwrap_or_default().as_secs_f64().ceil() as u64
}

/// A line that was typed while nothing of the run had gone on. The look comes after the line: what was typed to a question
/// that the run has drawn is no answer to ours.
fn read_while_held(device: &Device, patience: &Patience) -> Result<Vec<u8>, Unanswered> {
    let line = device.read_line(patience)?;
    if patience.is_broken() {
        return Err(Unanswered::WentOn);
    }
    Ok(line)
}

impl Approver for Terminal {
    fn ask(&self, request: &EscalationRequest, patience: &Patience) -> Answer {
        let mut last = lock(&self.asking);
        let answered = self.answer(request, patience, last.take());
        answered.unwrap_or_else(|unanswered| {
            *last = Some(Instant::now());
            Answer::silence(unanswered.to_string())
        })
    }

    fn manner(&self) -> Manner {
        Manner::InPlace
    }
}

fn answer(choice: Choice, reason: Option<String>) -> Answer {
    Answer {
        choice,
        by: person::at("the terminal"),
        reason,
    }
}

/// What stays on the screen.
fn closing_line(request: &EscalationRequest, answer: &Answer) -> String {
    use super::Lifetime;
    let reason = answer
        .reason
        .as_deref()
        .map_or(String::new(), |reason| format!(": {}", visible(reason)));
    match &answer.choice {
        Choice::Yes { lifetime, extent } => {
            let granted = match (extent, &request.wider) {
                (Extent::Profile(name), _) => format!("all of the profile {}", quoted(name.as_ref())),
                (Extent::Wider, Some(wider)) => question::granted(wider),
                _ => question::granted(&request.requested),
            };
            let time = match lifetime {
                Lifetime::Once => "once",
                Lifetime::Session => "for this run",
                Lifetime::Always => "for this run, and to be kept for later ones",
            };
            format!("stockade: granted {time}: {granted}")
        }
        Choice::No { all: true } => "stockade: refused, and nothing more is asked in this run".into(),
        Choice::No { all: false } | Choice::Silence => format!("stockade: refused{reason}"),
    }
}
