//! The approver at the terminal: six lines on `/dev/tty`, a word and Enter. Once answered, one line of them is left.
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
mod page;
mod question;
mod screen;
mod unanswered;

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp};

use super::grammar::{Offer, Said, UNCLEAR};
use super::{
    Answer, Approver, Choice, EscalationRequest, Extent, Lifetime, Manner, PAUSE_AFTER_ONE_GONE, Patience, person,
};
use crate::mutex::lock;
use device::Device;
use held::Held;
use line::Line;
use page::Page;
use screen::Screen;
use stockade_text::quote::quoted;
use stockade_text::visible::fit;
use stockade_text::visible::style::{Ink, Style};
pub use unanswered::NoTerminal;
use unanswered::Unanswered;

/// Columns of a name in the line that stays.
const LEAST_NAME: usize = 24;

/// The last line is for the person alone: the run goes on without waiting for it to be shown.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// Asks on the controlling terminal.
///
/// The caller has stopped every process of the run before, lets it go on afterwards, and has blocked SIGTTOU and
/// SIGTTIN at least in the thread that calls.
pub struct Terminal {
    device: Device,
    /// Whether a process group is one of the run's, all of it.
    owns: Box<dyn Fn(i32) -> bool + Send + Sync>,
    screen: Screen,
    ink: Ink,
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
            ink: Ink::here(),
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
        let width = question::width(size).ok_or(Unanswered::TooLong)?;
        let prompt = || question::prompt(&offer, seconds(patience), width);
        let question = question::question(request, &prompt(), size, self.ink)?;
        let held = Held::take(&self.device, self.erase, &*self.owns)?;
        held.quieten(&self.screen.undo(), patience)?;
        let pause = unanswered.map_or(Duration::ZERO, |ended| {
            PAUSE_AFTER_ONE_GONE.saturating_sub(ended.elapsed())
        });
        let mut asking = Asking {
            held: &held,
            page: Page::new(self.screen, width),
            question: &question,
            prompt: &prompt,
            details: &|| details::details(request, &offer, width),
            unclear: fit::broken(UNCLEAR, width) + "\n",
        };
        let said = self.converse(&mut asking, &offer, patience, pause);
        let taken_away = asking.page.taken_away();
        let closing = match &said {
            Ok(said) => Some(taken_away + &self.closing_line(request, said, width)),
            // The program may have written anything below the question.
            Err(Unanswered::WentOn) => Unanswered::WentOn.ending().map(|ending| self.screen.wiped() + ending),
            Err(unanswered) => unanswered.ending().map(|ending| taken_away + ending),
        };
        if let Some(closing) = closing {
            let _ = self.device.write(&(closing + "\n"), &Patience::of(AFTERWARDS));
        }
        let group = held.foreground();
        drop(held);
        if said == Ok(Reply::Interrupt) {
            patience.interrupt();
            // As the key does where nothing is asked.
            let _ = killpg(Pid::from_raw(group), Signal::SIGINT);
        }
        said.map(Reply::answer)
    }

    /// Question and answers, until one is clear.
    fn converse(
        &self,
        asking: &mut Asking<'_>,
        offer: &Offer,
        patience: &Patience,
        pause: Duration,
    ) -> Result<Reply, Unanswered> {
        self.device.write(self.screen.fresh(), patience)?;
        if !pause.is_zero() {
            self.device.write(asking.page.adds(asking.question), patience)?;
            std::thread::sleep(pause.min(patience.left().unwrap_or_default()));
            asking.held.quieten("", patience)?;
            self.device.write(&asking.page.taken_away(), patience)?;
        }
        let mut before = String::new();
        loop {
            let shown = before + asking.question + &(asking.prompt)();
            self.device.write(asking.page.adds(&shown), patience)?;
            let typed = read_while_held(&self.device, patience)?;
            let line = Line::of(&typed);
            if !typed.ends_with(b"\n") {
                self.device.write("\n", patience)?;
            }
            asking.page.adds_typed(&typed);
            let said = match line {
                Line::Interrupt => return Ok(Reply::Interrupt),
                Line::Broken => return Ok(Reply::Answer(Choice::No { all: false }, None)),
                Line::Unclear => Said::Unclear,
                Line::Text(text) => offer.meaning(&text),
            };
            before = match said {
                Said::Answer(choice, reason) => return Ok(Reply::Answer(choice, reason)),
                Said::Details => (asking.details)(),
                Said::Unclear => asking.unclear.clone(),
            };
            // The rest of what only looked like a line, and what was typed ahead.
            let taken_away = asking.page.taken_away();
            asking.held.quieten(&taken_away, patience)?;
        }
    }

    /// What stays on the screen: one line, in which names give way to words.
    fn closing_line(&self, request: &EscalationRequest, said: &Reply, width: usize) -> String {
        let is_yes = matches!(said, Reply::Answer(Choice::Yes { .. }, _));
        let style = if is_yes { Style::Granted } else { Style::Refused };
        let (words, name) = match said {
            Reply::Answer(Choice::Yes { lifetime, extent }, _) => {
                let granted = match (extent, &request.wider) {
                    (Extent::Profile(name), _) => format!("all of the profile {}", quoted(name.as_ref())),
                    (Extent::Wider, Some(wider)) => question::granted(wider),
                    _ => question::granted(&request.requested),
                };
                let time = match lifetime {
                    Lifetime::Once => "once",
                    Lifetime::Session => "for this run",
                    Lifetime::Always => "for this and later runs",
                };
                (format!("stockade: granted {time}: "), granted)
            }
            Reply::Answer(Choice::No { all: true }, _) => {
                let words = "stockade: refused, and nothing more is asked in this run";
                (words.to_string(), String::new())
            }
            Reply::Answer(_, reason) => question::refused(request, reason.as_deref()),
            Reply::Interrupt => question::refused(request, Some("Ctrl-C")),
        };
        let room = width.saturating_sub(fit::columns(&words)).max(LEAST_NAME);
        let line = words + &fit::shortened(&name, room);
        self.ink.styled(style, &fit::broken(&line, width))
    }
}

/// One question at the terminal.
struct Asking<'a> {
    held: &'a Held<'a>,
    page: Page,
    question: &'a str,
    prompt: &'a dyn Fn() -> String,
    details: &'a dyn Fn() -> String,
    unclear: String,
}

/// What a person did.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Answer(Choice, Option<String>),
    /// Ctrl-C: the run is to end as it would have at any other time.
    Interrupt,
}

impl Reply {
    fn answer(self) -> Answer {
        let (choice, reason) = match self {
            Reply::Answer(choice, reason) => (choice, reason),
            Reply::Interrupt => (Choice::No { all: false }, Some("Ctrl-C".into())),
        };
        Answer {
            choice,
            by: person::at("the terminal"),
            reason,
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
