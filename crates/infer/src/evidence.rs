//! Evidence for an inference: an effect, its target, and the location in the source.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The kind of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads or lists a file or directory.
    Read,
    /// Creates, changes or removes a file or directory.
    Write,
    /// Connects to a host.
    Connect,
    /// Listens on a port.
    Listen,
    /// Reads an environment variable.
    Env,
    /// Starts a program.
    Start,
    /// Does something that the text doesn't determine.
    Dynamic,
}

/// One piece of evidence. Its texts come from the script: escape them before display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The effect.
    pub effect: Effect,
    /// Path, host, variable or command; for `Dynamic`, the reason. `…` is an unknown part.
    pub target: String,
    /// Line of the source, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line from that column on, truncated.
    pub text: String,
}

/// Maps byte offsets to lines and columns.
pub struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(source: &'a str) -> Lines<'a> {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines {
            source,
            starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect(),
        }
    }

    /// Builds the evidence for a byte range of the source.
    pub fn evidence(&self, effect: Effect, target: String, at: &Range<usize>) -> Evidence {
        /// Maximum number of characters kept of a line.
        const MAX_LENGTH: usize = 120;
        let from = self.source.floor_char_boundary(at.start.min(self.source.len()));
        let line = self.starts.partition_point(|start| *start <= from);
        let start = self.starts[line - 1];
        let text = self.source[from..].lines().next().unwrap_or_default();
        Evidence {
            effect,
            target,
            line,
            column: self.source[start..from].chars().take(1 << 20).count() + 1,
            text: text.trim_end().chars().take(MAX_LENGTH).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_says_where_it_stands() {
        let lines = Lines::of("a\nää open(x)\n");
        let evidence = lines.evidence(Effect::Read, "x".into(), &(7..11));
        assert_eq!((evidence.line, evidence.column, &*evidence.text), (2, 4, "open(x)"));
        let beyond = lines.evidence(Effect::Read, "x".into(), &(700..701));
        assert_eq!((beyond.line, &*beyond.text), (3, ""));
    }
}
