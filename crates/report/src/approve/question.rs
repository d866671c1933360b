//! The wire form of a request, written here and parsed by the approver: one line of JSON, bounded.

use super::object::document;
use super::reply::cut;
use super::{EscalationRequest, VERSION};

/// Bytes of a line. A path of 4096 bytes that need escaping takes six times as many, and there are a few of them.
pub(super) const MAX_LENGTH: usize = 256 * 1024;
/// Characters of a path that are kept; the kernel's paths aren't longer.
const PATH: usize = 4096;
/// Characters of a sentence or a name.
const SENTENCE: usize = 1000;
/// Words of a command that are kept, and characters of each.
const WORDS: usize = 64;
const WORD: usize = 400;

/// The request on one line; `None` if the grant doesn't fit: it is never cut.
pub(super) fn line(request: &EscalationRequest) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(&bounded(request)).ok()?;
    line.push(b'\n');
    (line.len() <= MAX_LENGTH).then_some(line)
}

/// Parses a request from another process of the same user.
pub(super) fn read(line: &[u8]) -> Option<EscalationRequest> {
    let request: EscalationRequest = document(line).ok()?;
    (request.version == VERSION).then_some(request)
}

/// Bounds the texts: the program may choose them as long as it likes, but a person has to read them.
fn bounded(request: &EscalationRequest) -> EscalationRequest {
    let mut bounded = request.clone();
    let evidence = &mut bounded.evidence;
    for path in [
        &mut evidence.target,
        &mut evidence.asked,
        &mut evidence.program,
        &mut evidence.root,
    ] {
        *path = cut(path, PATH);
    }
    for sentence in [&mut bounded.reason, &mut evidence.why] {
        *sentence = cut(sentence, PATH + SENTENCE);
    }
    for text in [&mut evidence.warning, &mut evidence.agent, &mut bounded.capability_id] {
        *text = text.as_deref().map(|text| cut(text, SENTENCE));
    }
    let is_cut = evidence.command.len() > WORDS;
    evidence.command.truncate(WORDS);
    for word in &mut evidence.command {
        *word = cut(word, WORD);
    }
    if is_cut {
        evidence.command.push("…".to_string());
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::{Requested, samples::request};

    #[test]
    fn a_request_comes_in_as_it_went_out() {
        let line = line(&request()).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(read(&line), Some(request()));
    }

    #[test]
    fn hostile_texts_are_bounded() {
        let mut request = request();
        let endless = "\u{1b}".repeat(100_000);
        request.evidence.target.clone_from(&endless);
        request.evidence.asked.clone_from(&endless);
        request.evidence.warning = Some(endless.clone());
        request.evidence.command = vec![endless; 1000];
        let line = line(&request).unwrap();
        let read = read(&line).unwrap();
        assert_eq!(read.evidence.target.chars().count(), PATH + 1);
        assert_eq!(read.evidence.command.len(), WORDS + 1);
    }

    #[test]
    fn what_would_be_granted_is_never_cut() {
        let mut request = request();
        request.requested = Requested::Grants(vec![vec!["--read".into(), "x".repeat(MAX_LENGTH)]]);
        assert_eq!(line(&request), None);
    }

    #[test]
    fn another_version_is_not_read() {
        let text = String::from_utf8(line(&request()).unwrap()).unwrap();
        assert_eq!(read(text.replace("\"version\":1", "\"version\":2").as_bytes()), None);
        assert_eq!(read(b"{}"), None);
    }

    #[test]
    fn only_an_object_is_a_request() {
        let r = request();
        let about = (r.version, &r.id, &r.run, &r.capability_id, &r.current_profile);
        let what = (
            &r.requested,
            &r.wider,
            &r.reason,
            &r.evidence,
            &r.lifetimes,
            r.granted_beside,
            r.refused_beside,
            r.live,
            r.timeout_ms,
        );
        let array = joined(&about, &what);
        assert_eq!(
            serde_json::from_str::<EscalationRequest>(&array).unwrap(),
            r,
            "serde reads it"
        );
        assert_eq!(read(array.as_bytes()), None);

        let e = &r.evidence;
        let access = (e.access, &e.target, &e.asked, &e.syscall, e.pid, &e.program);
        let array = joined(&access, &(&e.command, &e.root, &e.agent, &e.why, &e.warning, e.at_ms));
        let text = String::from_utf8(line(&r).unwrap()).unwrap();
        let changed = text.replace(&serde_json::to_string(e).unwrap(), &array);
        assert_ne!(changed, text);
        assert_eq!(read(changed.as_bytes()), None);
    }

    /// Two arrays as one.
    fn joined(first: &impl serde::Serialize, second: &impl serde::Serialize) -> String {
        let [first, second] = [serde_json::to_string(first), serde_json::to_string(second)].map(Result::unwrap);
        format!("{},{}", &first[..first.len() - 1], &second[1..])
    }
}
