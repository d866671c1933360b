//! The approver at the terminal: six lines on `/dev/tty`, a word and Enter. After the answer, one of the lines remains.
//!
//! The program shares this terminal. It may have typed ahead (a terminal answers queries, letters included), left half an
//! escape sequence, hidden the text or taken the foreground. So every process of the run is stopped before a question;
//! earlier input is discarded, the screen's state is reset, keys send no signals while the question is open,
//! and afterwards everything is restored. In raw mode nothing is asked. Standard streams are never touched.

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

use super::grammar::{AnswerChoices, LineMeaning, UNCLEAR};
use super::{
    Answer, Approver, Choice, Deadline, EscalationRequest, Extent, Lifetime, Manner, NO_MORE, PAUSE_AFTER_ONE_GONE,
    person,
};
use crate::mutex::lock;
use device::Device;
use held::HeldTerminal;
use line::InputLine;
use page::Page;
use screen::Screen;
use stockade_text::quote::quoted;
use stockade_text::visible::fit;
use stockade_text::visible::style::{Ink, Style};
pub use unanswered::NoTerminal;
use unanswered::Unanswered;

/// The fewest columns of a name in the closing line.
const MIN_NAME: usize = 24;

/// The closing line is for the person alone: the run goes on without waiting for its display.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// Asks on the controlling terminal.
///
/// The caller has stopped every process of the run before, resumes it afterwards, and has blocked SIGTTOU and
/// SIGTTIN at least in the calling thread.
pub struct Terminal {
    device: Device,
    /// Whether a process group belongs entirely to the run.
    owns: Box<dyn Fn(i32) -> bool + Send + Sync>,
    screen: Screen,
    ink: Ink,
    /// The erase key, as it was before the run could change it.
    erase: u8,
    /// Columns before the run, which can set the terminal to any size. With more, the terminal would
    /// break rows where the run wants it.
    columns: usize,
    /// One question at a time; the value is the end of the last one that a person hadn't answered.
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
    /// The controlling terminal, if a person can be asked there now. Opened before the run starts, which could
    /// prevent that.
    ///
    /// `owns` says whether a process group consists of the run's processes alone: only from such a group is the
    /// foreground taken while a question is open. It is called on the thread that calls [`Approver::ask`].
    ///
    /// # Errors
    ///
    /// There is no terminal, Stockade is in its background, or it is in raw mode.
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
        deadline: &Deadline,
        unanswered: Option<Instant>,
    ) -> Result<Answer, Unanswered> {
        let offer = AnswerChoices::of(request);
        let (columns, rows) = self.device.size();
        let size = (columns.min(self.columns), rows);
        let width = question::width(size).ok_or(Unanswered::TooLong)?;
        let prompt = || question::prompt(&offer, seconds(deadline), width);
        let question = question::question(request, &prompt(), size, self.ink)?;
        let held = HeldTerminal::take(&self.device, self.erase, &*self.owns)?;
        held.quieten(&self.screen.undo(), deadline)?;
        let pause = unanswered.map_or(Duration::ZERO, |ended| {
            PAUSE_AFTER_ONE_GONE.saturating_sub(ended.elapsed())
        });
        let mut asking = TerminalQuestion {
            held: &held,
            page: Page::new(self.screen, width),
            question: &question,
            prompt: &prompt,
            details: &|| details::details(request, &offer, width),
            unclear: fit::broken(UNCLEAR, width) + "\n",
        };
        let said = self.converse(&mut asking, &offer, deadline, pause);
        let taken_away = asking.page.taken_away();
        let closing = match &said {
            Ok(said) => Some(taken_away + &self.closing_line(request, said, width)),
            // The program may have written anything below the question.
            Err(Unanswered::WentOn) => Unanswered::WentOn.ending().map(|ending| self.screen.wiped() + ending),
            Err(unanswered) => unanswered.ending().map(|ending| taken_away + ending),
        };
        if let Some(closing) = closing {
            let _ = self.device.write(&(closing + "\n"), &Deadline::of(AFTERWARDS));
        }
        let group = held.foreground();
        drop(held);
        if said == Ok(TypedReply::Interrupt) {
            deadline.interrupt();
            // As the key does when nothing is asked.
            let _ = killpg(Pid::from_raw(group), Signal::SIGINT);
        }
        if said == Ok(TypedReply::Suspend) {
            deadline.suspend();
        }
        said.map(TypedReply::answer)
    }

    /// Asks until an answer is clear.
    fn converse(
        &self,
        asking: &mut TerminalQuestion<'_>,
        offer: &AnswerChoices,
        deadline: &Deadline,
        pause: Duration,
    ) -> Result<TypedReply, Unanswered> {
        self.device.write(self.screen.fresh(), deadline)?;
        if !pause.is_zero() {
            self.device.write(asking.page.adds(asking.question), deadline)?;
            std::thread::sleep(pause.min(deadline.left().unwrap_or_default()));
            asking.held.quieten("", deadline)?;
            self.device.write(&asking.page.taken_away(), deadline)?;
        }
        let mut before = String::new();
        loop {
            let shown = before + asking.question + &(asking.prompt)();
            self.device.write(asking.page.adds(&shown), deadline)?;
            let typed = read_while_held(&self.device, deadline)?;
            let line = InputLine::of(&typed);
            if !typed.ends_with(b"\n") {
                self.device.write("\n", deadline)?;
            }
            asking.page.adds_typed(&typed);
            let said = match line {
                InputLine::Interrupt => return Ok(TypedReply::Interrupt),
                InputLine::Suspend => return Ok(TypedReply::Suspend),
                InputLine::Broken => return Ok(TypedReply::Answer(Choice::No { all: false }, None)),
                InputLine::Unclear => LineMeaning::Unclear,
                InputLine::Text(text) => offer.meaning(&text),
            };
            before = match said {
                LineMeaning::Answer(choice, reason) => return Ok(TypedReply::Answer(choice, reason)),
                LineMeaning::Details => (asking.details)(),
                LineMeaning::Unclear => asking.unclear.clone(),
            };
            // Discards the rest of an apparent line, and input typed ahead.
            let taken_away = asking.page.taken_away();
            asking.held.quieten(&taken_away, deadline)?;
        }
    }

    /// The closing line that remains on the screen; its names are shortened first.
    fn closing_line(&self, request: &EscalationRequest, said: &TypedReply, width: usize) -> String {
        let is_yes = matches!(said, TypedReply::Answer(Choice::Yes { .. }, _));
        let style = if is_yes { Style::Granted } else { Style::Refused };
        let (words, name) = match said {
            TypedReply::Answer(Choice::Yes { lifetime, extent }, _) => {
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
            TypedReply::Answer(Choice::No { all: true }, _) => {
                let words = "stockade: refused, and nothing more is asked in this run";
                (words.to_string(), String::new())
            }
            TypedReply::Answer(_, reason) => question::refused(request, reason.as_deref()),
            TypedReply::Interrupt => question::refused(request, Some("Ctrl-C")),
            TypedReply::Suspend => ("stockade: stopped; the question comes again".to_string(), String::new()),
        };
        let room = width.saturating_sub(fit::columns(&words)).max(MIN_NAME);
        let mut line = fit::broken(&(words + &fit::shortened(&name, room)), width);
        if request.ends_by_no() && matches!(said, TypedReply::Answer(Choice::No { all: false }, _)) {
            line += &format!("\nstockade: {NO_MORE}");
        }
        self.ink.styled(style, &line)
    }
}

/// One question at the terminal.
struct TerminalQuestion<'a> {
    held: &'a HeldTerminal<'a>,
    page: Page,
    question: &'a str,
    prompt: &'a dyn Fn() -> String,
    details: &'a dyn Fn() -> String,
    unclear: String,
}

/// The person's reply.
#[derive(Debug, PartialEq, Eq)]
enum TypedReply {
    Answer(Choice, Option<String>),
    /// Ctrl-C: the run is to end as it would have at any other time.
    Interrupt,
    /// Ctrl-Z: as at any other time the shell gets its terminal back. The question is asked again later.
    Suspend,
}

impl TypedReply {
    fn answer(self) -> Answer {
        let (choice, reason) = match self {
            TypedReply::Answer(choice, reason) => (choice, reason),
            TypedReply::Interrupt => (Choice::No { all: false }, Some("Ctrl-C".into())),
            TypedReply::Suspend => return Answer::silence("Ctrl-Z"),
        };
        Answer {
            choice,
            by: person::at("the terminal"),
            reason,
        }
    }
}

/// The remaining seconds, rounded up.
fn seconds(deadline: &Deadline) -> u64 {
    deadline.left().unwrap_or_default().as_secs_f64().ceil() as u64
}

/// Reads a line, valid only if no process of the run has run meanwhile. That is checked after the line: input typed for a
/// question that the run has drawn is no answer to Stockade's.
fn read_while_held(device: &Device, deadline: &Deadline) -> Result<Vec<u8>, Unanswered> {
    let line = device.read_line(deadline)?;
    if deadline.is_broken() {
        return Err(Unanswered::WentOn);
    }
    Ok(line)
}

impl Approver for Terminal {
    fn may_open_guarded(&self) -> bool {
        true
    }

    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        let mut last = lock(&self.asking);
        let answered = self.answer(request, deadline, last.take());
        answered.unwrap_or_else(|unanswered| {
            *last = Some(Instant::now());
            Answer::silence(unanswered.to_string())
        })
    }

    fn manner(&self) -> Manner {
        Manner::InPlace
    }
}
