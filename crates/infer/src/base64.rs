//! Base64 (RFC 4648), as the languages' libraries read it: either alphabet, optional padding, whitespace skipped.

/// Decodes a text; `None` if a character is in neither alphabet.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0_u32, Vec::new());
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xfff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_alphabet_is_read_with_or_without_padding() {
        assert_eq!(base64("L2V0Yy9ob3N0cw==").as_deref(), Some(&b"/etc/hosts"[..]));
        assert_eq!(base64("L2V0Yy9o\nb3N0cw").as_deref(), Some(&b"/etc/hosts"[..]));
        assert_eq!(
            (base64("-_8"), base64("+/8")),
            (Some(vec![0xfb, 0xff]), Some(vec![0xfb, 0xff]))
        );
        assert_eq!(base64("a.b"), None);
    }
}
