//! A job's standard input: a pipe that is filled while the job runs.

use std::io::{self, PipeReader, Write};
use std::thread;

/// What an empty pipe takes without waiting for its reader, on every kernel and under every limit of the user's pipes
/// (pipe(7), "Pipe capacity").
const AT_ONCE: usize = 4096;

/// The reading end of a pipe that gives this text and then its end. A longer text is written by a thread, which ends once
/// the text is read, or no process holds the reading end any more.
pub fn feed(text: &str) -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    if text.len() <= AT_ONCE {
        writer.write_all(text.as_bytes())?;
        return Ok(reader);
    }
    let text = text.to_owned();
    thread::Builder::new().stack_size(64 << 10).spawn(move || {
        // A program need not read its input.
        let _ = writer.write_all(text.as_bytes());
    })?;
    Ok(reader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_text_arrives_whole_and_ends() {
        for length in [0, 5, AT_ONCE, AT_ONCE + 1, 1 << 20] {
            let text = "x".repeat(length);
            let mut read = String::new();
            feed(&text).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read.len(), length);
        }
    }
}
