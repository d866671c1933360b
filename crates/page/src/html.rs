//! Writes a page: the template with its style, its script and the data.

use std::io::{self, Write};

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use super::Page;

const TEMPLATE: &str = include_str!("../web/page.html");
const STYLE: &str = include_str!("../web/style.css");
/// In one block, so that its names are no properties of the window.
const SCRIPT: &str = concat!(
    "\"use strict\";{\n",
    include_str!("../web/core.js"),
    include_str!("../web/list.js"),
    include_str!("../web/timeline.js"),
    include_str!("../web/views.js"),
    include_str!("../web/main.js"),
    "}\n"
);

impl Page {
    /// Writes the page.
    ///
    /// # Errors
    /// The output can't be written.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let data = island(&self.json()?);
        let policy = policy();
        // Each mark is looked for in the template alone: what is put in may contain one.
        let mut rest = TEMPLATE;
        for (mark, text) in [
            ("{{policy}}", policy.as_str()),
            ("{{style}}", STYLE),
            ("{{data}}", &data),
            ("{{script}}", SCRIPT),
        ] {
            let (before, after) = rest
                .split_once(mark)
                .expect("the template has every mark, in this order");
            out.write_all(before.as_bytes())?;
            out.write_all(text.as_bytes())?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }
}

/// The content security policy: this script and this style, and nothing else from anywhere.
fn policy() -> String {
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// JSON that can stand in a `script` element: `<` begins neither an end tag nor a comment, and older readers take the two
/// separators for line ends (HTML, "Restrictions for contents of script elements"). All of them stand in strings only.
fn island(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(page: Page) -> String {
        let mut out = Vec::new();
        page.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_text_ends_the_element_that_holds_it() {
        let names = [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "]]>",
            "&lt;",
            "{{script}}",
            "\"'`\\",
        ];
        let mut page = Page::new(names.concat(), 0);
        for name in names {
            page.strings.number_of_shown(name.into());
        }
        page.strings.number_of_shown("\u{2028}\u{2029}".into());
        let html = written(page);
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("<!--").count(), 0);
        let (_, data) = html.split_once("id=\"data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{data}");
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["source"], names.concat());
        assert_eq!(data["strings"][1], names[0]);
    }

    #[test]
    fn the_page_asks_for_nothing_and_is_small() {
        let html = written(Page::new(String::new(), 0));
        for word in [
            "http:",
            "https:",
            "src=",
            "href=",
            "url(",
            "@import",
            "innerHTML",
            "insertAdjacent",
            "eval(",
        ] {
            assert!(!html.contains(word), "{word}");
        }
        assert!(html.len() < 60_000, "{}", html.len());
    }

    #[test]
    fn the_policy_names_the_script_and_the_style_as_they_stand_in_the_page() {
        let html = written(Page::new(String::new(), 0));
        for (open, close, name) in [
            ("<style>", "</style>", "style-src"),
            ("<script>", "</script>", "script-src"),
        ] {
            let (_, rest) = html.split_once(open).unwrap();
            let (text, _) = rest.split_once(close).unwrap();
            let hash = BASE64.encode(&Sha256::digest(text));
            assert!(html.contains(&format!("{name} 'sha256-{hash}'")), "{name}");
        }
    }
}
