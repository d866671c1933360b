//! `stockade help TOPIC`: the pages of `docs/`, rendered for a terminal.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use super::REFUSED;
use super::help::TOPICS;
use super::layers::unprinted;
use super::message::Failure;
use stockade_sys::terminal;
use stockade_text::visible::fit;
use stockade_text::visible::style::{Ink, Style};

/// The widest lines, in columns, and those where standard output is no terminal.
const MAX_WIDTH: usize = 100;

/// Prints a page: through `$PAGER` if standard output is a terminal.
///
/// # Errors
/// There is no such page; it can't be printed.
pub fn page(topic: &str, out: &mut dyn Write) -> Result<u8, Failure> {
    let Some((_, page)) = TOPICS.iter().find(|(name, _)| *name == topic) else {
        let names: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
        let text = format!("there is no page `{topic}`");
        return Err(Failure::text(REFUSED, text).hint(format!("the pages are {}", names.join(", "))));
    };
    let is_terminal = io::stdout().is_terminal();
    let size = terminal::size(io::stdout().as_fd()).ok().filter(|_| is_terminal);
    let columns = size.map_or(MAX_WIDTH, |(columns, _)| usize::from(columns).clamp(40, MAX_WIDTH));
    let text = rendered(page, columns, is_terminal.then(Ink::here));
    match std::env::var_os("PAGER").filter(|pager| is_terminal && !pager.is_empty()) {
        Some(pager) if paged(&pager, &text).is_ok() => Ok(0),
        _ => out.write_all(text.as_bytes()).map(|()| 0).map_err(unprinted),
    }
}

/// Shows a text in the pager that the caller chose, as `git` and `man` do. One that ends early has shown enough.
fn paged(pager: &std::ffi::OsStr, text: &str) -> io::Result<()> {
    let mut command = Command::new("/bin/sh");
    let mut started = command.arg("-c").arg(pager).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = started.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    match started.wait()?.code() {
        Some(126 | 127) => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(()),
    }
}

/// The page without its marks: paragraphs and lists fill the columns, a row of a table becomes a list of its cells.
fn rendered(page: &str, columns: usize, ink: Option<Ink>) -> String {
    let mut rendered = Rendered {
        text: String::new(),
        paragraph: String::new(),
        heads: Vec::new(),
        columns,
    };
    let (mut is_code, mut is_comment) = (false, false);
    for line in page.lines() {
        is_comment |= line.trim_start().starts_with("<!--");
        if is_comment {
            is_comment = !line.trim_end().ends_with("-->");
            continue;
        }
        let begins = ["* ", "1. ", "2. ", "3. ", "4. ", "5. "]
            .iter()
            .any(|mark| line.trim_start().starts_with(mark));
        if line.starts_with("```") {
            rendered.end();
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") && rendered.paragraph.is_empty() {
            rendered.end();
            rendered.add(&format!("{}{line}", if is_code { "    " } else { "" }));
        } else if let Some(heading) = line.strip_prefix('#') {
            rendered.end();
            let heading = plain(heading.trim_start_matches('#').trim());
            rendered.add(&ink.map_or(heading.clone(), |ink| ink.styled(Style::Asked, &heading)));
        } else if line.starts_with('|') {
            rendered.end();
            rendered.row(line);
        } else if line.trim().is_empty() {
            rendered.end();
            rendered.heads.clear();
            rendered.add("");
        } else {
            if begins {
                rendered.end();
            }
            let separator = if rendered.paragraph.is_empty() { "" } else { " " };
            let text = if rendered.paragraph.is_empty() {
                line
            } else {
                line.trim_start()
            };
            rendered.paragraph += &format!("{separator}{}", text.trim_end());
        }
    }
    rendered.end();
    rendered.text
}

struct Rendered {
    text: String,
    /// Lines that are still to be filled.
    paragraph: String,
    /// The heads of the table.
    heads: Vec<String>,
    columns: usize,
}

impl Rendered {
    fn add(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    /// Ends a paragraph.
    fn end(&mut self) {
        let paragraph = plain(&std::mem::take(&mut self.paragraph));
        if !paragraph.is_empty() {
            let blanks = paragraph.len() - paragraph.trim_start().len();
            let mark = if paragraph.trim_start().starts_with("* ") { 2 } else { 0 };
            self.fill(paragraph.trim_start(), blanks, blanks + mark);
        }
    }

    /// Fills lines with words: the first begins at one column, the others at another.
    fn fill(&mut self, text: &str, first: usize, others: usize) {
        let mut line = " ".repeat(first);
        let mut is_begun = false;
        for word in text.split_whitespace() {
            if is_begun && fit::columns(&line) + 1 + fit::columns(word) > self.columns {
                self.add(&line);
                (line, is_begun) = (" ".repeat(others), false);
            }
            line += if is_begun { " " } else { "" };
            line += word;
            is_begun = true;
        }
        self.add(&line);
    }

    /// A row of a table: its first cell, and below it the others with their heads.
    fn row(&mut self, line: &str) {
        let escaped = line.trim_matches('|').replace("\\|", "\u{0}");
        let cells: Vec<String> = escaped
            .split('|')
            .map(|cell| plain(&cell.trim().replace('\0', "|")))
            .collect();
        if cells
            .iter()
            .all(|cell| cell.chars().all(|c| "-:".contains(c)) && !cell.is_empty())
        {
            return;
        }
        if self.heads.is_empty() {
            self.heads = cells;
            return;
        }
        let heads = std::mem::take(&mut self.heads);
        for (at, cell) in cells
            .iter()
            .enumerate()
            .filter(|(at, cell)| *at == 0 || !cell.is_empty())
        {
            match heads.get(at).filter(|head| at > 0 && !head.is_empty()) {
                Some(head) => self.fill(&format!("{head}: {cell}"), 4, 6),
                None => self.fill(cell, if at == 0 { 2 } else { 4 }, 6),
            }
        }
        self.heads = heads;
    }
}

/// Without marks for bold text, and links as their text. The first character may mark an item of a list.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let link = rest[at..].find("](").and_then(|middle| {
            let end = rest[at + middle..].find(')')?;
            Some((&rest[at + 1..at + middle], at + middle + end + 1))
        });
        match link.filter(|(name, _)| !name.contains('[')) {
            Some((name, end)) => {
                plain += &rest[..at];
                plain += name;
                rest = &rest[end..];
            }
            None => {
                plain += &rest[..=at];
                rest = &rest[at + 1..];
            }
        }
    }
    let text = plain + rest;
    let (mut is_code, is_item) = (false, text.trim_start().starts_with("* "));
    let is_text = |(at, c): &(usize, char)| {
        is_code ^= *c == '`';
        is_code || *c != '*' || *at == 0 && is_item
    };
    let unmarked: String = text
        .trim_start()
        .char_indices()
        .filter(is_text)
        .map(|(_, c)| c)
        .collect();
    " ".repeat(text.len() - text.trim_start().len()) + &unmarked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fills_the_columns_and_has_no_marks() {
        let page = "# Title\n\n<!-- terminal: answers y -->\n\nSome **bold** text with a\n[link](x.md#y), and `a[0]`.\n\n    $ ls  [a](b)\n\n\
                    | word | means |\n|---|---|\n| `a\\|b` | a [thing](t.md) |\n\n* one that is long enough\n  to be broken\n* two\n";
        insta::assert_snapshot!(rendered(page, 24, None), @r"
        Title


        Some bold text with a
        link, and `a[0]`.

            $ ls  [a](b)

          `a|b`
            means: a thing

        * one that is long
          enough to be broken
        * two
        ");
    }

    #[test]
    fn each_page_is_rendered_at_forty_columns_and_has_a_title() {
        for (topic, page) in TOPICS {
            let text = rendered(page, 40, None);
            assert!(!text.starts_with('\n') && text.lines().count() > 10, "{topic}");
            assert!(!text.contains("<!--"), "{topic}");
        }
    }
}
