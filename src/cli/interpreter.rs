//! Which interpreter a script is for: what its first line names, else what its name and its text say.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::exec::words;
use super::message::Failure;

/// As a shell has it: no such program.
const NOT_FOUND: u8 = 127;

/// The command that runs a script.
///
/// # Errors
/// Nothing says which interpreter it is for, or none of them is here.
pub fn command(script: &Path, text: &str, arguments: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let file = script.as_os_str();
    if text.starts_with("#!") {
        return Ok(named(script, text, arguments));
    }
    let extension = script.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_here = |program: &&str| found(program, script).is_some();
    match extension {
        "py" | "pyw" => Ok(words(["python3".as_ref(), file], arguments)),
        "sh" => Ok(words(["sh".as_ref(), file], arguments)),
        "bash" => Ok(words(["bash".as_ref(), file], arguments)),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            let candidates = runtimes(extension, text);
            let chosen = candidates
                .iter()
                .copied()
                .find(|program| is_here(program))
                .ok_or_else(|| {
                    Failure::text(NOT_FOUND, format!("no interpreter for `{}` is here", script.display()))
                        .hint(format!("it would be {}", candidates.join(" or ")))
                })?;
            let program = found(chosen, script).unwrap_or_else(|| chosen.into());
            Ok(match chosen {
                // The profile decides what it may do: Deno's own permissions would only ask a second time.
                "deno" => words(
                    [program.as_os_str(), "run".as_ref(), "--allow-all".as_ref(), file],
                    arguments,
                ),
                "bun" => words([program.as_os_str(), "run".as_ref(), file], arguments),
                _ => words([program.as_os_str(), file], arguments),
            })
        }
        _ => Err(Failure::text(
            NOT_FOUND,
            format!("nothing says which interpreter `{}` is for", script.display()),
        )
        .hint("begin it with `#!/usr/bin/env python3`, or use `stockade run -- INTERPRETER SCRIPT`")),
    }
}

/// As its first line says: the kernel takes it from there where the script may be executed, and otherwise we do.
fn named(script: &Path, text: &str, arguments: &[OsString]) -> Vec<OsString> {
    let file = script.as_os_str();
    let is_executable = script
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
    if is_executable {
        return words([file], arguments);
    }
    let line = text.trim_start_matches("#!").lines().next().unwrap_or_default().trim();
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    match argument.trim() {
        "" => words([interpreter.as_ref(), file], arguments),
        argument => words([interpreter.as_ref(), argument.as_ref(), file], arguments),
    }
}

/// The run-times that a script of this kind is for, the likeliest first.
fn runtimes(extension: &str, text: &str) -> Vec<&'static str> {
    let is_typed = matches!(extension, "ts" | "mts" | "cts" | "tsx" | "jsx");
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&[
        "Deno.",
        "from \"jsr:",
        "from 'jsr:",
        "from \"https://",
        "from 'https://",
    ]) {
        vec!["deno"]
    } else if says(&["Bun.", "from \"bun", "from 'bun"]) {
        vec!["bun"]
    } else if is_typed {
        vec!["tsx", "bun", "deno"]
    } else {
        vec!["node", "bun", "deno"]
    }
}

/// A program of the caller's search path, or of the packages that are installed beside the script.
fn found(program: &str, script: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|place| place.is_absolute())
        .collect();
    let beside = script.ancestors().skip(1).map(|above| above.join("node_modules/.bin"));
    named
        .into_iter()
        .chain(beside)
        .map(|place| place.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(file: &str, text: &str) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join(file);
        std::fs::write(&script, text).unwrap();
        let words = command(&script, text, &["a b".into()]).unwrap();
        let shown = |word: &OsString| {
            word.to_string_lossy()
                .replace(&*directory.path().to_string_lossy(), "D")
        };
        words.iter().map(shown).collect()
    }

    #[test]
    fn the_first_line_or_the_name_says_which_interpreter() {
        assert_eq!(words_of("a.py", "x"), ["python3", "D/a.py", "a b"]);
        assert_eq!(words_of("a.sh", "x"), ["sh", "D/a.sh", "a b"]);
        assert_eq!(
            words_of("a.py", "#!/usr/bin/env bash\n"),
            ["/usr/bin/env", "bash", "D/a.py", "a b"]
        );
        assert_eq!(words_of("a", "#!/bin/sh -eu\nx"), ["/bin/sh", "-eu", "D/a", "a b"]);
        assert!(command(Path::new("/x/a"), "x", &[]).is_err());
    }

    #[test]
    fn what_a_text_uses_says_which_run_time() {
        assert_eq!(runtimes("ts", "Deno.readTextFile()"), ["deno"]);
        assert_eq!(runtimes("ts", "await Bun.file()"), ["bun"]);
        assert_eq!(runtimes("ts", "x")[0], "tsx");
        assert_eq!(runtimes("js", "x")[0], "node");
    }
}
