//! Constant folding for both languages: concatenates, slices and decodes texts, splits paths.

use data_encoding::{BASE64_NOPAD, HEXLOWER_PERMISSIVE};

use super::text::Text;
use super::value::Value;

/// Concatenates each alternative of the first with each of the second. `shown` converts a value to text.
pub fn concatenate(one: &Value, other: &Value, shown: fn(&Value) -> Text) -> Value {
    let texts = |value: &Value| value.alternatives().iter().map(shown).collect::<Vec<Text>>();
    let (ones, mut others) = (texts(one), texts(other));
    if ones.len() * others.len() > Value::MAX_ALTERNATIVES {
        others = vec![Text::unknown()];
    }
    let each = ones
        .iter()
        .flat_map(|one| others.iter().map(|other| Value::Text(one.then(other))));
    Value::either(each)
}

/// Joins texts with a separator.
pub fn join(parts: &[Value], separator: &Text, shown: fn(&Value) -> Text) -> Value {
    let separator = Value::Text(separator.clone());
    let mut whole = Value::from("");
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            whole = concatenate(&whole, &separator, shown);
        }
        whole = concatenate(&whole, part, shown);
    }
    whole
}

/// Repeats a text.
pub fn repeated(text: &Text, times: i64) -> Value {
    let times = usize::try_from(times).unwrap_or(0);
    match text.exact() {
        Some(text) if text.len().saturating_mul(times) <= 4096 => text.repeat(times).as_str().into(),
        _ => Value::Text(Text::unknown()),
    }
}

/// Slice of a list or text: lower and upper bound, which count from the end if negative, and step.
pub type Bounds = [Option<i64>; 3];

/// Returns the elements of a slice.
pub fn part<T: Clone>(all: &[T], [lower, upper, step]: Bounds) -> Vec<T> {
    let length = all.len() as i64;
    let place = |at: i64| (if at < 0 { at.saturating_add(length) } else { at }).clamp(0, length) as usize;
    let step = step.unwrap_or(1);
    let every = usize::try_from(step.unsigned_abs()).unwrap_or(1).max(1);
    if step >= 0 {
        let (from, to) = (place(lower.unwrap_or(0)), place(upper.unwrap_or(length)));
        let within = all.get(from..to).unwrap_or_default();
        return within.iter().step_by(every).cloned().collect();
    }
    let from = lower.map_or(all.len(), |at| (place(at) + 1).min(all.len()));
    let to = upper.map_or(0, |at| (place(at) + 1).min(all.len()));
    let within = all.get(to..from).unwrap_or_default();
    within.iter().rev().step_by(every).cloned().collect()
}

/// Returns the characters of a slice of a text.
pub fn letters(text: &str, bounds: Bounds) -> Value {
    let all: Vec<char> = text.chars().collect();
    part(&all, bounds).into_iter().collect::<String>().as_str().into()
}

/// Decodes a text from this encoding, as the languages' libraries read it: whitespace is skipped, and base64 has either
/// alphabet and optional padding.
pub fn decoded(text: &str, encoding: &str) -> Option<Value> {
    let plain = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let of_alphabet = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let bytes = match encoding {
        "base64" | "base64url" => {
            let digits: Vec<u8> = plain.filter(|byte| *byte != b'=').map(of_alphabet).collect();
            BASE64_NOPAD.decode(&digits)
        }
        "hex" => HEXLOWER_PERMISSIVE.decode(&plain.collect::<Vec<u8>>()),
        _ => return Some(text.into()),
    };
    String::from_utf8(bytes.ok()?).ok().map(|text| text.as_str().into())
}

/// Returns the last component of a path.
pub fn file_name(path: &Text) -> Text {
    match path.suffix().trim_end_matches('/').rsplit_once('/') {
        Some((_, name)) => name.into(),
        None => path
            .exact()
            .map_or(Text::unknown(), |path| path.trim_end_matches('/').into()),
    }
}

/// Returns the extension of a path, with its dot.
pub fn extension(path: &Text) -> Text {
    let known = path.suffix();
    let name = known.rsplit('/').next().unwrap_or_default();
    let is_whole = path.exact().is_some() || known.contains('/');
    match name.rfind('.') {
        Some(at) if at > 0 || !is_whole => name[at..].into(),
        _ if is_whole => "".into(),
        _ => Text::unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_from_either_end_and_backwards() {
        assert_eq!(letters("path.txt", [Some(-4), None, None]), ".txt".into());
        assert_eq!(letters("abcd", [Some(1), Some(3), None]), "bc".into());
        assert_eq!(letters("abcd", [Some(3), Some(1), None]), "".into());
        assert_eq!(part(&[1, 2, 3, 4], [None, None, Some(-1)]), [4, 3, 2, 1]);
        assert_eq!(part(&[1, 2, 3, 4], [None, None, Some(i64::MIN)]), [4]);
    }

    #[test]
    fn a_text_keeps_its_known_start_where_its_end_could_be_many() {
        let many = Value::either((0..Value::MAX_ALTERNATIVES as i64).map(Value::Number));
        let both = "data/".into();
        let either = Value::from("x").or(&"y".into());
        let text = concatenate(&concatenate(&both, &either, Value::text), &many, Value::text);
        let starts: Vec<String> = text.alternatives().iter().map(|value| value.text().shown()).collect();
        assert_eq!(starts, ["data/x…", "data/y…"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_not_known() {
        assert_eq!(decoded("2f746d70", "hex"), Some("/tmp".into()));
        assert_eq!(decoded("L3RtcA==", "base64"), Some("/tmp".into()));
        assert_eq!(decoded("L2V0Yy9o\nb3N0cw", "base64"), Some("/etc/hosts".into()));
        assert_eq!(decoded("w7_Dvw", "base64url"), decoded("w7/Dvw==", "base64"));
        assert_eq!(decoded("w7_Dvw", "base64"), Some("ÿÿ".into()));
        assert_eq!(decoded("a.b", "base64"), None);
        assert_eq!(decoded("ff", "hex"), None);
        assert_eq!(decoded("2f7", "hex"), None);
    }

    #[test]
    fn a_path_has_a_name_and_an_ending() {
        let partly = Text::from("data/").then(&Text::unknown()).then(&".csv".into());
        assert_eq!(extension(&partly).exact(), Some(".csv"));
        assert_eq!(file_name(&partly).exact(), None);
        assert_eq!(file_name(&"a/b.tar/".into()).exact(), Some("b.tar"));
        assert_eq!(extension(&"a/.profile".into()).exact(), Some(""));
    }
}
