//! The audit trail, or the report of one run, as one page of HTML that needs nothing else: no network, no other file.
//!
//! Names in it were chosen by confined programs. Three things keep them from being more than text, each by itself: they are
//! escaped as for a terminal (`stockade_text`), the document carries them as JSON in which no character can end an
//! element, and the page's script puts them into the page as text alone. A content security policy admits this script
//! and this style, by their hashes, and nothing else.

mod document;
mod html;
mod report;
mod run;
mod strings;
mod trail;
mod words;

pub use document::Page;
pub use report::of_report;
pub use trail::TrailPage;
