//! The first line of a script, read as the kernel reads it (`load_script` in `fs/binfmt_script.c`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// How much of a file the kernel looks at (`BINPRM_BUF_SIZE`).
pub(crate) const HEAD_BYTES: usize = 256;

/// The interpreter that a `#!` line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shebang {
    /// As written; the kernel takes it relative to the working directory.
    pub interpreter: OsString,
    /// All that follows, as one argument.
    pub argument: Option<OsString>,
}

impl Shebang {
    /// Reads the first bytes of a file. `None`: the kernel would answer `ENOEXEC`.
    pub(crate) fn parse(head: &[u8]) -> Option<Shebang> {
        let line = head.strip_prefix(b"#!")?;
        let ended = line.contains(&b'\n') || head.len() < HEAD_BYTES;
        let line = trim_start_blanks(line.split(|&byte| byte == b'\n').next()?);
        let name_end = line.iter().position(|&byte| is_blank(byte) || byte == 0);
        if name_end.is_none() && !ended {
            // The name may go on behind the bytes that were read.
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
}

/// The kernel knows two blanks; a carriage return isn't one, which is why scripts with Windows line endings fail.
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
    fn what_the_kernel_refuses_is_refused() {
        assert_eq!(parsed(b"#!\n"), None);
        assert_eq!(parsed(b"#!   \n/bin/sh"), None);
        assert_eq!(parsed(b"echo hello\n"), None);
        let long = [b"#!/".as_slice(), &[b'a'; 300]].concat();
        assert_eq!(parsed(&long[..HEAD_BYTES]), None);
    }
}
