//! Edits of a text at the places that the tree knows.
//!
//! Each insertion has a removal that gives the text back byte by byte, as long as no other program has laid the file out anew.
//! A list or table that was empty before gets its first child without a blank after the bracket; one that an insertion made
//! begins with a line break. That tells the removal which of them go with their last child.

use std::ops::Range;

use crate::document::{Format, Kind, Node};
use stockade_text::visible::visible_json;

/// A stretch of the text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go.
    pub span: Range<usize>,
    /// The text that comes in their place.
    pub text: String,
}

impl Edit {
    /// Inserts a text.
    pub fn insert(at: usize, text: impl Into<String>) -> Edit {
        Edit {
            span: at..at,
            text: text.into(),
        }
    }

    /// Removes a stretch.
    pub fn remove(span: Range<usize>) -> Edit {
        Edit {
            span,
            text: String::new(),
        }
    }
}

/// The text after edits, which don't overlap.
pub fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut new = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut done = 0;
    for edit in edits {
        new.push_str(&text[done..edit.span.start]);
        new.push_str(&edit.text);
        done = edit.span.end;
    }
    new.push_str(&text[done..]);
    new
}

/// A string as the format writes it. Characters that a terminal doesn't show are escaped.
pub fn literal(value: &str, format: Format) -> String {
    match format {
        Format::Json => visible_json(&serde_json::Value::from(value).to_string()).into_owned(),
        Format::Toml => toml_edit::Value::from(value).to_string(),
    }
}

/// The line break of a file.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The blanks at the beginning of the line of a place.
pub fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indent of a place before which its line has only blanks.
pub fn own_indent(text: &str, at: usize) -> Option<&str> {
    let start = line_start(text, at);
    let before = &text[start..at];
    let is_own = start > 0 && before.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    is_own.then_some(before)
}

/// Where the line of a place begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Literals before the first element of a list.
pub fn prepended(text: &str, list: &Node, literals: &[String]) -> Edit {
    let words = literals.join(", ");
    let Some(first) = list.elements().and_then(<[Node]>::first) else {
        // The blank tells `stripped` that the list was there.
        return Edit::insert(list.span.start + 1, words + " ");
    };
    let separator = match own_indent(text, first.span.start) {
        Some(indent) => format!(",{}{indent}", newline(text)),
        None => ", ".to_string(),
    };
    Edit::insert(first.span.start, words + &separator)
}

/// Takes the first elements of a list out; `None` if the list was made for them.
pub fn stripped(text: &str, list: &Node, count: usize) -> Option<Edit> {
    let elements = list.elements()?;
    let first = elements.first()?.span.start;
    if let Some(next) = elements.get(count) {
        return Some(Edit::remove(first..next.span.start));
    }
    let end = elements.last()?.span.end;
    text[end..].starts_with(' ').then(|| Edit::remove(first..end + 1))
}

/// The span of each child of a list or table; a member's begins with its key.
pub fn children(container: &Node) -> Vec<Range<usize>> {
    match &container.kind {
        Kind::List(elements) => elements.iter().map(|element| element.span.clone()).collect(),
        Kind::Table(members) => members
            .iter()
            .map(|member| member.key_span.start..member.value.span.end)
            .collect(),
        Kind::Text(_) | Kind::Other => Vec::new(),
    }
}

/// Whether an insertion made this list or table along with its first child.
pub fn is_made(container: &Node) -> bool {
    children(container)
        .first()
        .is_some_and(|first| first.start > container.span.start + 1)
}

/// Puts a child behind the last one of a list or table of JSON. `child` writes it for an indent.
pub fn appended(text: &str, container: &Node, child: impl FnOnce(&str) -> String) -> Vec<Edit> {
    let Some(last) = children(container).pop() else {
        let at = container.span.start + 1;
        return vec![Edit::insert(at, child(line_indent(text, at)))];
    };
    let rest = last.end..container.span.end - 1;
    let comma = Trivia::of(text, rest.clone()).comma;
    let after = comma.map_or(last.end, |comma| comma + 1);
    // A comment at the end of the line belongs to what stands before it.
    let remark = comment_on_line(text, after..rest.end);
    let at = remark.as_ref().map_or(after, |(span, _)| span.end);
    let is_line_comment = remark.is_some_and(|(_, is_line)| is_line);
    let (lead, indent) = match own_indent(text, last.start) {
        Some(indent) => (format!("{}{indent}", newline(text)), indent),
        None if is_line_comment => (newline(text).to_string(), line_indent(text, last.start)),
        None => (" ".to_string(), line_indent(text, last.start)),
    };
    let child = child(indent);
    match comma {
        Some(_) => vec![Edit::insert(at, format!("{lead}{child},"))],
        None if at == last.end => vec![Edit::insert(at, format!(",{lead}{child}"))],
        None => vec![Edit::insert(last.end, ","), Edit::insert(at, lead + &child)],
    }
}

/// Takes a child of a list or table of JSON, or of an inline table, out. Comments beside it stay.
pub fn removed(text: &str, container: &Node, index: usize) -> Vec<Edit> {
    let spans = children(container);
    let Some(span) = spans.get(index).cloned() else {
        return Vec::new();
    };
    let next = spans.get(index + 1).map_or(container.span.end - 1, |next| next.start);
    let previous = index.checked_sub(1).and_then(|index| spans.get(index));
    let begin = previous.map_or(container.span.start + 1, |previous| previous.end);
    let before = Trivia::of(text, begin..span.start);
    match (Trivia::of(text, span.end..next).comma, before.comma) {
        (Some(comma), _) => vec![Edit::remove(before.end..comma + 1)],
        (None, Some(comma)) if before.end == comma + 1 => vec![Edit::remove(comma..span.end)],
        (None, Some(comma)) => vec![Edit::remove(comma..comma + 1), Edit::remove(before.end..span.end)],
        (None, None) => vec![Edit::remove(before.end..span.end)],
    }
}

/// Blanks, comments and a comma between two values.
struct Trivia {
    /// Where the comma is.
    comma: Option<usize>,
    /// Where the last comma or comment ends.
    end: usize,
}

impl Trivia {
    fn of(text: &str, span: Range<usize>) -> Trivia {
        let mut trivia = Trivia {
            comma: None,
            end: span.start,
        };
        let mut at = span.start;
        while at < span.end {
            if let Some((end, _)) = comment(text, at) {
                trivia.end = end.min(span.end);
                at = trivia.end;
                continue;
            }
            if text.as_bytes()[at] == b',' {
                trivia.comma = Some(at);
                trivia.end = at + 1;
            }
            at += 1;
        }
        trivia
    }
}

/// The end of the comment that begins here, and whether it goes to the end of its line.
fn comment(text: &str, at: usize) -> Option<(usize, bool)> {
    let rest = &text.as_bytes()[at..];
    if rest.starts_with(b"//") {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        return Some((at + end.unwrap_or(rest.len()), true));
    }
    if rest.starts_with(b"/*") {
        let end = rest.windows(2).skip(2).position(|two| two == b"*/");
        return Some((end.map_or(text.len(), |end| at + end + 4), false));
    }
    None
}

/// The first comment of a span, if it ends on the line that the span begins on.
fn comment_on_line(text: &str, span: Range<usize>) -> Option<(Range<usize>, bool)> {
    let stretch = &text[span.clone()];
    let start = span.start + (stretch.len() - stretch.trim_start_matches([' ', '\t']).len());
    let (end, is_line) = comment(text, start)?;
    let is_within = end <= span.end && !text[start..end].contains('\n');
    is_within.then_some((start..end, is_line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use proptest::prelude::*;

    fn at<'n>(node: &'n Node, path: &[&str]) -> &'n Node {
        path.iter().fold(node, |node, key| {
            let member = node.members().unwrap().iter().find(|member| member.key == *key);
            &member.unwrap().value
        })
    }

    /// What a child appended to `l` looks like, and that its removal gives the text back.
    fn with_child(text: &str, child: &str) -> String {
        let root = parse(text, Format::Json).unwrap();
        let new = applied(text, appended(text, at(&root, &["l"]), |_| child.to_string()));
        let root = parse(&new, Format::Json).unwrap_or_else(|fault| panic!("{fault}\n{new}"));
        let list = at(&root, &["l"]);
        let back = applied(&new, removed(&new, list, children(list).len() - 1));
        assert_eq!(back, text, "from {new}");
        new
    }

    #[test]
    fn what_is_appended_can_be_removed() {
        for (text, expected) in [
            ("{\"l\": []}", "{\"l\": [7]}"),
            ("{\"l\": [ ]}", "{\"l\": [7 ]}"),
            ("{\"l\": [ /* none */ ]}", "{\"l\": [7 /* none */ ]}"),
            ("{\"l\": [1]}", "{\"l\": [1, 7]}"),
            ("{\"l\": [1,]}", "{\"l\": [1, 7,]}"),
            ("{\"l\": [1 /* a */ ]}", "{\"l\": [1, /* a */ 7 ]}"),
            ("{\"l\": [1 // a\n]}", "{\"l\": [1, // a\n7\n]}"),
            ("{\"l\": [\n  1\n]}", "{\"l\": [\n  1,\n  7\n]}"),
            ("{\"l\": [\n  1,\n]}", "{\"l\": [\n  1,\n  7,\n]}"),
            ("{\"l\": [\n  1 // a,b\n]}", "{\"l\": [\n  1, // a,b\n  7\n]}"),
            (
                "{\"l\": [\n  1, // a\n  // b\n]}",
                "{\"l\": [\n  1, // a\n  7,\n  // b\n]}",
            ),
            ("{\"l\": [\r\n\t1\r\n]}", "{\"l\": [\r\n\t1,\r\n\t7\r\n]}"),
            ("{\"l\": [\n  1\n  // b\n]}", "{\"l\": [\n  1,\n  7\n  // b\n]}"),
        ] {
            assert_eq!(with_child(text, "7"), expected);
        }
    }

    #[test]
    fn a_child_in_the_middle_goes_with_its_comma() {
        for (text, expected) in [
            ("{\"l\": [1, 7, 2]}", "{\"l\": [1, 2]}"),
            (
                "{\"l\": [\n  1, // a\n  7, // b\n  2\n]}",
                "{\"l\": [\n  1, // a // b\n  2\n]}",
            ),
            ("{\"l\": [0, 7 , // c\n 2]}", "{\"l\": [0, // c\n 2]}"),
        ] {
            let root = parse(text, Format::Json).unwrap();
            assert_eq!(applied(text, removed(text, at(&root, &["l"]), 1)), expected);
        }
        let text = "{\"l\": [7, 1]}";
        let root = parse(text, Format::Json).unwrap();
        assert_eq!(applied(text, removed(text, at(&root, &["l"]), 0)), "{\"l\": [ 1]}");
    }

    #[test]
    fn words_before_a_list_can_be_removed() {
        let words = ["\"a\"".to_string(), "\"b\"".to_string()];
        for (text, format, expected) in [
            ("{\"l\": []}", Format::Json, "{\"l\": [\"a\", \"b\" ]}"),
            ("{\"l\": [ ]}", Format::Json, "{\"l\": [\"a\", \"b\"  ]}"),
            ("{\"l\": [\"x\"]}", Format::Json, "{\"l\": [\"a\", \"b\", \"x\"]}"),
            (
                "{\"l\": [ // c\n    \"x\",\n  ]}",
                Format::Json,
                "{\"l\": [ // c\n    \"a\", \"b\",\n    \"x\",\n  ]}",
            ),
            ("l = [ 'x' ] # c", Format::Toml, "l = [ \"a\", \"b\", 'x' ] # c"),
            ("l = []", Format::Toml, "l = [\"a\", \"b\" ]"),
        ] {
            let root = parse(text, format).unwrap();
            let new = applied(text, vec![prepended(text, at(&root, &["l"]), &words)]);
            assert_eq!(new, expected);
            let root = parse(&new, format).unwrap();
            let edit = stripped(&new, at(&root, &["l"]), 2).unwrap();
            assert_eq!(applied(&new, vec![edit]), text);
        }
    }

    #[test]
    fn a_literal_reads_as_the_text_and_shows_every_character() {
        for value in ["npx", "a \"b\" \\ c", "é\u{7f}\u{202e}\n\t", "𝄞'"] {
            for format in [Format::Json, Format::Toml] {
                let literal = literal(value, format);
                let text = match format {
                    Format::Json => format!("{{\"a\": {literal}}}"),
                    Format::Toml => format!("a = {literal}"),
                };
                let root = parse(&text, format).unwrap();
                assert_eq!(at(&root, &["a"]).text(), Some(value), "{text}");
            }
        }
        assert!(!literal("\u{202e}\u{7f}", Format::Json).contains(['\u{202e}', '\u{7f}']));
    }

    /// What may stand between two values.
    fn between() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "",
            " ",
            "\n  ",
            "\r\n\t",
            "/* a, b */",
            "/*\n*/",
            "// c, d\n",
            "/* */ ",
        ]);
        prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_stands_between_values_stays(
            open in between(),
            elements in prop::collection::vec((between(), between()), 0..4),
            has_comma in any::<bool>(),
            close in between(),
        ) {
            let mut list = open;
            let count = elements.len();
            for (at, (before, after)) in elements.into_iter().enumerate() {
                let comma = if at + 1 < count || has_comma { "," } else { "" };
                list += &format!("{before}{at}{after}{comma}");
            }
            with_child(&format!("{{\"l\": [{list}{close}]}}"), "7");
        }

        #[test]
        fn words_come_and_go_before_whatever_a_list_holds(open in between(), first in any::<bool>(), close in between()) {
            let element = if first { "\"x\"" } else { "" };
            let text = format!("{{\"l\": [{open}{element}{close}]}}");
            let root = parse(&text, Format::Json).unwrap();
            let new = applied(&text, vec![prepended(&text, at(&root, &["l"]), &["\"a\"".into(), "\"b\"".into()])]);
            let root = parse(&new, Format::Json).unwrap();
            let edit = stripped(&new, at(&root, &["l"]), 2).unwrap();
            prop_assert_eq!(applied(&new, vec![edit]), text);
        }
    }
}
