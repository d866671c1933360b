//! A table of commands: each runs bare and confined, from equal copies of one repository, and what both leave is compared.

use std::fmt::Write;

use super::twins::{Twins, repository};
use crate::common::Place;

/// A command of everyday.
pub struct Row {
    /// What it is, for the one who reads the failure.
    name: &'static str,
    /// A script that runs unconfined in both copies before.
    before: &'static str,
    command: &'static str,
    ends: Ends,
}

/// How a command ends in a run.
enum Ends {
    /// With the exit code, the output and the repository that it has bare.
    AsBare,
    /// With a line of Stockade's that contains this, and the repository as it was before.
    Refused(&'static str),
    /// Either way: which one is for the policy to say, but nothing between.
    Whole(&'static [&'static str]),
}

/// A row for a command that ends as bare.
pub const fn as_bare(name: &'static str, before: &'static str, command: &'static str) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::AsBare,
    }
}

/// A row for a command that is refused with a line that contains a text.
pub const fn refused(name: &'static str, before: &'static str, command: &'static str, text: &'static str) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::Refused(text),
    }
}

/// A row for a command that ends as bare, or else is refused with lines that contain texts.
pub const fn whole(
    name: &'static str,
    before: &'static str,
    command: &'static str,
    texts: &'static [&'static str],
) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::Whole(texts),
    }
}

/// Every row does what it promises. Tells all that don't.
pub fn hold(rows: &[Row]) {
    let template = repository();
    let mut faults = String::new();
    let mut failed = 0;
    for row in rows {
        if let Err(fault) = row.try_on(&template) {
            failed += 1;
            let _ = write!(faults, "\n== {}: `{}`\n{fault}", row.name, row.command);
        }
    }
    assert!(failed == 0, "{failed} of {} rows fail:{faults}", rows.len());
}

impl Row {
    fn try_on(&self, template: &Place) -> Result<(), String> {
        let twins = Twins::of(template).prepared(self.before);
        let tried = twins.run(self.command);
        match self.ends {
            Ends::AsBare => tried.succeeds_bare().and_then(|()| tried.is_as_bare()),
            Ends::Refused(text) => tried.is_refused(&[text]),
            Ends::Whole(texts) => tried.is_whole(texts),
        }
    }
}
