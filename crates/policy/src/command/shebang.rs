//! Parses the first line of a script as the kernel does (`load_script` in `fs/binfmt_script.c`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// The number of bytes that the kernel examines (`BINPRM_BUF_SIZE`).
pub const HEAD_BYTES: usize = 256;

/// The interpreter named by a `#!` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shebang {
    /// As written; the kernel takes it relative to the working directory.
    pub interpreter: OsString,
    /// The rest of the line, as one argument.
    pub argument: Option<OsString>,
}

impl Shebang {
    /// Parses the first bytes of a file. `None` if the kernel would return `ENOEXEC`.
    pub fn parse(head: &[u8]) -> Option<Shebang> {
        let line = head.strip_prefix(b"#!")?;
        let ended = line.contains(&b'\n') || head.len() < HEAD_BYTES;
        let line = trim_start_blanks(line.split(|&byte| byte == b'\n').next()?);
        let name_end = line.iter().position(|&byte| is_blank(byte) || byte == 0);
        if name_end.is_none() && !ended {
            // The name may continue after the bytes that were read.
            return None;
        }
        let (name, rest) = line.split_at(name_end.unwrap_or(line.len()));
        if name.is_empty() {
            return None;
        }
        let argument = if rest.first() == Some(&0) {
            &[]
        } else {
            trim_start_blanks(rest)
        };
        let argument = argument.split(|&byte| byte == 0).next().unwrap_or_default();
        let argument = trim_end_blanks(argument);
        Some(Shebang {
            interpreter: OsString::from_vec(name.to_vec()),
            argument: (!argument.is_empty()).then(|| OsString::from_vec(argument.to_vec())),
        })
    }

    /// Parses the line of a text for an interpreter. Here a carriage return ends the line as well.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Shebang> {
        let line = text.lines().next()?.as_bytes();
        Shebang::parse(&line[..line.len().min(HEAD_BYTES)])
    }

    /// The program that reads the script. `None` if `env` sets variables, takes options or would expand its argument.
    #[must_use]
    pub fn reader(&self) -> Option<ScriptReader<'_>> {
        let interpreter = self.interpreter.to_str()?;
        let argument = match &self.argument {
            Some(argument) => argument.to_str()?,
            None => "",
        };
        if Path::new(interpreter).file_name()? != "env" {
            return Some(ScriptReader {
                program: interpreter,
                words: Some(argument).filter(|word| !word.is_empty()).into_iter().collect(),
                is_found_by_env: false,
            });
        }
        let (text, is_split) = match argument.strip_prefix("-S") {
            Some(text) => (text, true),
            None => (argument, false),
        };
        let is_plain = !text.contains(['"', '\'', '\\', '$', '#']) && (is_split || !text.contains([' ', '\t']));
        let mut words = text.split_whitespace();
        let program = words
            .next()
            .filter(|word| is_plain && !word.starts_with('-') && !word.contains(['/', '=']))?;
        Some(ScriptReader {
            program,
            words: words.collect(),
            is_found_by_env: true,
        })
    }
}

/// The program that a `#!` line starts, looking through `env` (env(1)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptReader<'s> {
    /// Its path, or the name that `env` looks up.
    pub program: &'s str,
    /// The words between it and the script's name.
    pub words: Vec<&'s str>,
    /// Whether it is looked up in `PATH`.
    pub is_found_by_env: bool,
}

/// The kernel recognises two blanks; a carriage return isn't one, which is why scripts with Windows line endings fail.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim_end_blanks(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|&byte| !is_blank(byte))
        .map_or(0, |last| last + 1);
    &bytes[..end]
}

fn trim_start_blanks(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|&byte| !is_blank(byte)).unwrap_or(bytes.len());
    &bytes[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &[u8]) -> Option<(String, Option<String>)> {
        let shebang = Shebang::parse(head)?;
        let text = |name: OsString| name.into_string().expect("test names are UTF-8");
        Some((text(shebang.interpreter), shebang.argument.map(text)))
    }

    fn words(interpreter: &str, argument: &str) -> Option<(String, Option<String>)> {
        Some((
            interpreter.to_owned(),
            (!argument.is_empty()).then(|| argument.to_owned()),
        ))
    }

    #[test]
    fn the_line_is_split_as_the_kernel_splits_it() {
        assert_eq!(parsed(b"#!/bin/sh\necho"), words("/bin/sh", ""));
        assert_eq!(parsed(b"#! \t/bin/sh -e -u \t\n"), words("/bin/sh", "-e -u"));
        assert_eq!(parsed(b"#!/bin/sh"), words("/bin/sh", ""));
        assert_eq!(parsed(b"#!bin/sh\0hidden\n"), words("bin/sh", ""));
        assert_eq!(parsed(b"#!/bin/sh\r\n"), words("/bin/sh\r", ""));
    }

    #[test]
    fn env_is_looked_through_where_it_only_finds_a_program() {
        let reader = |line: &str| {
            let shebang = Shebang::of_text(line)?;
            let reader = shebang.reader()?;
            Some((
                reader.program.to_owned(),
                reader.words.join("|"),
                reader.is_found_by_env,
            ))
        };
        let found = |program: &str, words: &str| Some((program.to_owned(), words.to_owned(), true));
        assert_eq!(reader("#!/usr/bin/env python3\r\nx"), found("python3", ""));
        assert_eq!(reader("#!/bin/env -S python3 -u -B\n"), found("python3", "-u|-B"));
        assert_eq!(reader("#!/bin/env -Snode --a=b"), found("node", "--a=b"));
        let named = Some(("/bin/bash".to_owned(), "-e -u".to_owned(), false));
        assert_eq!(reader("#!/bin/bash -e -u\n"), named);
        for line in [
            "#!/usr/bin/env",
            "#!/usr/bin/env python3 -u",
            "#!/usr/bin/env -i python3",
            "#!/usr/bin/env -S -i python3",
            "#!/usr/bin/env -S A=b python3",
            "#!/usr/bin/env -S ${X}",
            "#!/usr/bin/env ./python3",
            "python3",
        ] {
            assert_eq!(reader(line), None, "{line}");
        }
    }

    #[test]
    fn what_the_kernel_refuses_is_refused() {
        assert_eq!(parsed(b"#!\n"), None);
        assert_eq!(parsed(b"#!   \n/bin/sh"), None);
        assert_eq!(parsed(b"echo hello\n"), None);
        let long = [b"#!/".as_slice(), &[b'a'; 300]].concat();
        assert_eq!(parsed(&long[..HEAD_BYTES]), None);
    }
}
