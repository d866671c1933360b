//! Scripts of `sed` and `awk` that only change text: they start nothing, and read and write no further file.

/// Addresses, and the commands `p d q Q n N D P h H g G x l = s y`, joined by `;` and newlines. `e`, `w`, `W`, `r`, `R`,
/// `F`, `i`, `a`, `c` and the flags `e` and `w` of `s` aren't among them.
pub(super) fn is_safe_sed(script: &str) -> bool {
    let mut reader = Sed { rest: script };
    reader.script().is_some()
}

struct Sed<'s> {
    rest: &'s str,
}

impl Sed<'_> {
    fn script(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            self.skip(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
            if self.rest.is_empty() {
                return (open == 0).then_some(());
            }
            self.addresses()?;
            match self.next()? {
                '{' => open += 1,
                '}' => {
                    open = open.checked_sub(1)?;
                    self.end()?;
                }
                'p' | 'd' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' => self.end()?,
                'q' | 'Q' | 'l' => {
                    self.skip(|c| c.is_ascii_digit());
                    self.end()?;
                }
                command @ ('s' | 'y') => {
                    self.substitution()?;
                    if command == 's' {
                        self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
                    }
                    self.end()?;
                }
                _ => return None,
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, may: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(may);
    }

    /// What may stand behind a command.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        let ends = self.rest.is_empty() || self.rest.starts_with([';', '\n', '}']);
        ends.then_some(())
    }

    fn addresses(&mut self) -> Option<()> {
        self.address()?;
        if self.rest.starts_with(',') {
            self.next();
            self.skip(|c| matches!(c, ' ' | '+' | '~'));
            self.address()?;
        }
        self.skip(|c| matches!(c, ' ' | '!'));
        Some(())
    }

    fn address(&mut self) -> Option<()> {
        if self.rest.starts_with('/') {
            self.next();
            self.until('/')?;
            self.skip(|c| matches!(c, 'I' | 'M'));
        } else {
            self.skip(|c| c.is_ascii_digit() || matches!(c, '$' | '~'));
        }
        Some(())
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.next()?;
        // Letters, and what means something inside brackets, would need sed's own reader.
        if !delimiter.is_ascii_punctuation() || matches!(delimiter, '\\' | '[' | ']' | ';' | '{' | '}') {
            return None;
        }
        self.until(delimiter)?;
        self.until(delimiter)
    }

    /// To behind the next delimiter that isn't escaped. One inside brackets ends it for GNU and not for others, so
    /// then it isn't safe.
    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut in_brackets = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == delimiter => return (!in_brackets).then_some(()),
                '\n' => return None,
                '[' => in_brackets = true,
                ']' => in_brackets = false,
                _ => {}
            }
        }
    }
}

/// No pipe, no file, no call by name: told by the characters that these take, wherever they stand.
pub(super) fn is_safe_awk(program: &str) -> bool {
    let calls = [
        "system",
        "getline",
        "close",
        "fflush",
        "ARGV",
        "ARGC",
        "PROCINFO",
        "extension",
        "load",
    ];
    let without_or = program.replace("||", "").replace(">=", "");
    !without_or.contains(['|', '>', '@', '<', '`']) && !calls.iter().any(|call| program.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_change_text_are_safe() {
        for script in [
            "1,20p",
            "$p",
            "5q",
            "/a/,/b/p",
            "s/a/b/",
            "s/a/b/g",
            "s|/x|/y|gp",
            "/x/d",
            "1d;$d",
            "10,+5p",
            "/a/!d",
            "s/a/\\/b/2",
            "y/abc/def/",
            "/x/{p;q}",
            "s/[0-9]*/n/",
            "1~2p",
            "",
            "/^$/d",
            "s/ e /w/",
        ] {
            assert!(is_safe_sed(script), "{script}");
        }
        for script in [
            "e",
            "1e",
            "1e rm x",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/w x",
            "w x",
            "1w /etc/x",
            "r /etc/passwd",
            "R x",
            "W x",
            "p;w x",
            "p\ne id",
            "{e\n}",
            "s/a/b/;e id",
            "a text",
            "i text",
            "c text",
            "F",
            "b",
            "t",
            ":a",
            "s/a/b",
            "s,a,b,we",
            "s/[/]/b/e",
            "y/a/b/e",
            "1!e",
            "v",
            "s/a/b\n/e",
            "}",
            "{p",
            "sxaxbxe",
            "s/a/b/\u{a0}",
            "z",
            "/a/I,/b/e",
        ] {
            assert!(!is_safe_sed(script), "{script}");
        }
    }

    #[test]
    fn awk_programs_that_only_print_are_safe() {
        for program in [
            "{print $1}",
            "NR==1",
            "/a/ || /b/ {n++} END{print n}",
            "$3 >= 5",
            "BEGIN{FS=\",\"} {printf \"%s\\n\", $2}",
        ] {
            assert!(is_safe_awk(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"x\"}",
            "{print | \"sh\"}",
            "\"id\" | getline",
            "BEGIN{getline < \"/etc/passwd\"}",
            "@load \"x\"",
            "{print >> $1}",
            "BEGIN{f=\"system\"; @f(\"id\")}",
            "{print |& \"x\"}",
            "a|||b",
            "{print >>= x}",
        ] {
            assert!(!is_safe_awk(program), "{program}");
        }
    }
}
