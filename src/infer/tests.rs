//! Whole texts, and the answers for them.

use super::*;

#[test]
fn a_script_that_is_too_long_is_not_read() {
    let long = " ".repeat(LONGEST + 1);
    let answer = infer(&long, Language::Python, &Setting::default());
    assert_eq!((&*answer.profile, answer.confidence), ("trusted", 0.0));
}
