//! `stockade audit list --follow`: the newest rows, then each new one, until the reader or Ctrl-C ends it.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::super::message::note;
use super::{Failure, Row, Stop};
use stockade_store::{Choice, Trail};

/// How long a new row may wait, in milliseconds: rows are for people, and each look is a query.
const LOOK_EVERY: u16 = 250;

/// Prints rows for as long as they are read. The trail need not be there yet.
pub fn follow(
    state: &Path,
    mut choice: Choice,
    print: fn(&Row, &mut dyn Write) -> Result<(), Stop>,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let mut trail = None;
    let mut followed = None;
    loop {
        let there = Trail::identity(state);
        if there.is_some() && (trail.is_none() || there != followed) {
            if followed.is_some() {
                note("the audit trail was moved away, and a new one begins");
                choice.after_seq = None;
            }
            trail = Trail::open_existing(state)?;
            followed = there;
        }
        if let Some(trail) = &mut trail {
            let mut newest = choice.after_seq;
            let printed = trail.rows(&choice, |row| {
                newest = Some(row.seq);
                print(&row, out)
            });
            printed.and_then(|()| Ok(out.flush()?))?;
            choice.after_seq = newest;
            // Of the rows that come, all are shown.
            choice.limit = None;
        }
        if is_output_closed() {
            return Ok(0);
        }
    }
}

/// Waits a while, and tells whether the output has no reader any more.
fn is_output_closed() -> bool {
    let output = io::stdout();
    let mut polled = [PollFd::new(output.as_fd(), PollFlags::empty())];
    let found = poll(&mut polled, PollTimeout::from(LOOK_EVERY));
    found.is_ok_and(|count| count > 0)
}
