//! Reading shell scripts, and what programs do with their arguments.

use super::finding::Finding;
use super::setting::Setting;
use super::text::Text;

/// What a script does.
pub fn read(_source: &str, _setting: &Setting) -> Vec<Finding> {
    Vec::new()
}

/// What a program does when it is started with these words; the first is its name. Spans are those of `at`.
pub fn command(_words: &[Text], _at: std::ops::Range<usize>) -> Vec<Finding> {
    Vec::new()
}

/// What a line does of which parts may not be known.
pub fn line(_line: &Text, _setting: &Setting) -> Vec<Finding> {
    Vec::new()
}
