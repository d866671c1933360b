//! The reports of this session's runs, the newest of them.

use std::collections::VecDeque;

/// The most reports that are kept, and the most bytes of all together.
const MAX: usize = 100;
const MAX_BYTES: usize = 32 << 20;

/// Reports by their runs, the oldest first.
#[derive(Debug, Default)]
pub struct Reports {
    kept: VecDeque<(String, Vec<u8>)>,
    bytes: usize,
}

impl Reports {
    /// Keeps one; the oldest ones make room.
    pub fn keep(&mut self, run: String, document: Vec<u8>) {
        self.bytes += document.len();
        self.kept.push_back((run, document));
        while self.kept.len() > MAX || self.bytes > MAX_BYTES {
            let oldest = self.kept.pop_front();
            self.bytes -= oldest.map_or(0, |(_, document)| document.len());
        }
    }

    /// The report of a run.
    pub fn of(&self, run: &str) -> Option<&[u8]> {
        let found = self.kept.iter().find(|(kept, _)| kept == run);
        found.map(|(_, document)| document.as_slice())
    }

    /// The runs, the newest first.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().rev().map(|(run, _)| run.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept() {
        let mut reports = Reports::default();
        for number in 0..=MAX {
            reports.keep(number.to_string(), vec![b'x']);
        }
        assert_eq!(reports.of("0"), None);
        assert_eq!(reports.of("1"), Some(&b"x"[..]));
        assert_eq!(reports.runs().next(), Some(MAX.to_string().as_str()));
        reports.keep("large".into(), vec![0; MAX_BYTES]);
        assert_eq!(reports.runs().collect::<Vec<_>>(), ["large"]);
    }
}
