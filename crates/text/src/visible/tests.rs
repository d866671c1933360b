//! The output to a terminal, and the terminal's rendering.

use proptest::prelude::*;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::*;

/// Every Unicode character.
fn all() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

/// Texts of odd characters, and others.
fn odd_text() -> impl Strategy<Value = String> {
    let one = prop_oneof![4 => prop::sample::select(odd::ODD), 1 => any::<char>()];
    prop::collection::vec(one, 0..300).prop_map(String::from_iter)
}

#[test]
fn nothing_blank_but_the_space_is_shown_as_it_is() {
    for c in all().filter(|c| *c != ' ') {
        let is_blank = c.is_whitespace() || c.is_control() || is_invisible(c);
        assert!(!(is_blank && is_visible(c)), "{c:?}");
    }
    for blank in [
        "\u{a0}", "\u{2800}", "\u{2003}", "\u{3000}", "\u{1680}", "\u{fffc}", "\u{115f}",
    ] {
        assert!(visible(blank).starts_with("\\u{"), "{blank:?}");
    }
}

#[test]
fn nothing_that_combines_or_turns_is_shown_as_it_is() {
    assert_eq!(
        visible("a\u{1b}[2Jb\u{202e}c\u{200b}"),
        "a\\u{1b}[2Jb\\u{202e}c\\u{200b}"
    );
    assert_eq!(visible("e\u{301}"), "e\\u{301}");
    assert_eq!(visible("שלום"), "\\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd}");
    assert_eq!(visible("ع"), "\\u{639}");
    for odd in [
        "\u{1f1e6}",
        "\u{1f3fd}",
        "\u{fe0f}",
        "\u{1161}",
        "\u{11a8}",
        "\u{ff9e}",
        "\u{e0041}",
        "\u{e000}",
        "\u{378}",
    ] {
        assert!(visible(odd).starts_with("\\u{"), "{odd:?}");
    }
}

#[test]
fn names_in_most_scripts_stay_readable() {
    for name in [
        "plain, even ünïcödé",
        "/данные/отчёт.csv",
        "/Έγγραφα/λόγος",
        "/文書/日本語（最終）.txt",
        "/문서/보고서",
        "naïve–draft №5 €20 ½ ©.md",
        "→ ✓ 🚀",
    ] {
        assert_eq!(visible(name), name);
    }
}

#[test]
fn blanks_that_pad_are_spelled_out() {
    assert_eq!(visible("a b"), "a b");
    assert_eq!(visible("a   b"), "a \\u{20}\\u{20}b");
    assert_eq!(visible(" a "), "\\u{20}a\\u{20}");
    assert_eq!(visible("  "), "\\u{20}\\u{20}");
}

#[test]
fn every_shown_character_takes_the_columns_that_are_counted_for_it() {
    for c in all().filter(|c| is_visible(*c)) {
        let (narrow, wide) = (c.width().unwrap(), c.width_cjk().unwrap());
        assert!(
            narrow <= wide && fit::columns(c.encode_utf8(&mut [0; 4])) == wide,
            "{c:?}"
        );
    }
}

proptest! {
    #[test]
    fn what_is_shown_holds_permitted_characters_alone_and_no_padding(text in odd_text()) {
        let shown = visible(&text);
        prop_assert!(shown.chars().all(is_visible));
        prop_assert!(!shown.contains("  ") && !shown.starts_with(' ') && !shown.ends_with(' '));
        prop_assert_eq!(visible(&shown), shown.as_ref());
        prop_assert!(visible_but_for_blanks(&text).chars().all(is_visible));
    }

    /// Checked on whole texts, as terminals with clusters count: no character changes the width of another.
    #[test]
    fn what_is_shown_takes_as_many_columns_as_its_characters(text in odd_text()) {
        let shown = visible(&text);
        prop_assert_eq!(fit::columns(&shown), shown.width_cjk());
        let narrow: usize = shown.chars().filter_map(UnicodeWidthChar::width).sum();
        prop_assert_eq!(narrow, shown.width());
    }

    #[test]
    fn a_broken_line_fits_and_loses_nothing(text in odd_text(), most in 20_usize..=200) {
        let line = format!("  target: {}", visible(&text));
        let broken = fit::broken(&line, most);
        for row in broken.lines() {
            prop_assert!(fit::columns(row) <= most, "{row:?}");
        }
        prop_assert_eq!(broken.replace(&format!("\n{}", fit::GOES_ON), ""), line);
    }
}

#[test]
fn json_is_the_same_to_a_program_and_moves_no_terminal() {
    let text = "a\u{9b}2J\u{202e}é日\u{e0041}\u{7f}\n\"\\";
    let json = serde_json::to_string(text).unwrap();
    let shown = crate::visible::visible_json(&json);
    assert_eq!(shown, r#""a\u009b2J\u202eé日\udb40\udc41\u007f\n\"\\""#);
    assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
}
