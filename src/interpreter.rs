//! Selects the interpreter of a script: from its first line, else from its name and its text.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::message::Failure;
use stockade_policy::command::shebang::Shebang;

/// The shell's exit code for a missing program.
const NOT_FOUND: u8 = 127;

/// A command, and the resources that its interpreter needs beside its own installation.
#[derive(Debug, Default)]
pub struct Command {
    /// The command.
    pub words: Vec<OsString>,
    /// Trees and files that the interpreter reads.
    pub read: Vec<PathBuf>,
    /// Trees of programs that it starts.
    pub exec: Vec<PathBuf>,
    /// Variables, with their values.
    pub env: Vec<OsString>,
}

/// Where interpreters are looked up.
#[derive(Debug)]
pub struct Search {
    /// The run's root. An earlier run may have written what is below it.
    pub root: PathBuf,
    /// Trees of programs that the caller names.
    pub trusted: Vec<PathBuf>,
}

impl Search {
    /// Finds a program in the caller's search path; the error holds a program that was skipped because it lies below the root.
    fn find(&self, program: &str) -> Result<PathBuf, Option<PathBuf>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut passed_over = None;
        for place in std::env::split_paths(&path).filter(|place| place.is_absolute()) {
            let file = place.join(program);
            if !file.is_file() {
                continue;
            }
            if !self.is_the_runs(&file) {
                return Ok(file);
            }
            passed_over.get_or_insert(file);
        }
        Err(passed_over)
    }

    /// Whether an earlier run may have created a program, or the link that leads to it.
    fn is_the_runs(&self, program: &Path) -> bool {
        /// Directories of the system, for a root that contains them.
        const SYSTEM: [&str; 4] = ["/usr", "/bin", "/sbin", "/nix/store"];
        let directory = program.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
        let names = [
            Some(program.to_path_buf()),
            directory,
            std::fs::canonicalize(program).ok(),
        ];
        let is_known = |name: &Path| {
            let system = SYSTEM.map(Path::new).into_iter().filter(|tree| *tree != self.root);
            let mut trusted = self.trusted.iter().map(PathBuf::as_path).chain(system);
            trusted.any(|tree| name.starts_with(tree))
        };
        let mut names = names.iter().flatten();
        names.any(|name| name.starts_with(&self.root) && !is_known(name))
    }

    /// Like `find`, for a program without an alternative.
    fn need(&self, program: &str, script: &Path) -> Result<PathBuf, Failure> {
        self.find(program).map_err(|passed_over| {
            let failure = Failure::text(
                NOT_FOUND,
                format!("can't find `{program}` for `{}` on `PATH`", script.display()),
            );
            match passed_over {
                Some(file) => failure.hint(below_the_root(&file)),
                None => failure,
            }
        })
    }
}

fn below_the_root(program: &Path) -> String {
    let directory = program.parent().unwrap_or(program);
    format!(
        "`{}` lies in the root, where an earlier run may have written it; if you trust it, add `--exec {}`",
        program.display(),
        directory.display()
    )
}

/// The command that runs a script.
///
/// # Errors
/// Nothing names the interpreter, or no suitable one is installed.
pub fn command(script: &Path, text: &str, arguments: &[OsString], search: &Search) -> Result<Command, Failure> {
    let mut words = chosen(script, text, arguments, search)?;
    keep_in_place(&mut words, script);
    // A tsx that the script's first line names by its path isn't the user's.
    let is_found = |word: &OsString| search.find("tsx").is_ok_and(|found| found == *word);
    let loaded = words
        .first()
        .filter(|word| is_found(word))
        .and_then(|_| loaded(&words, script, search));
    Ok(loaded.unwrap_or(Command {
        words,
        ..Command::default()
    }))
}

/// Node resolves links before it opens a script. It gets the real path, of the file that is there now.
fn keep_in_place(words: &mut Vec<OsString>, script: &Path) {
    let place = words
        .iter()
        .position(|word| word == script.as_os_str())
        .unwrap_or_default();
    let interpreter = place
        .checked_sub(1)
        .and_then(|before| Path::new(&words[before]).file_name());
    if interpreter == Some("node".as_ref()) {
        words.insert(place, "--preserve-symlinks-main".into());
    }
}

fn chosen(script: &Path, text: &str, arguments: &[OsString], search: &Search) -> Result<Vec<OsString>, Failure> {
    let file = script.as_os_str();
    if text.starts_with("#!") {
        return named(script, text, arguments, search);
    }
    let extension = script.extension().and_then(OsStr::to_str).unwrap_or_default();
    let by = |program: &str| Ok(words([search.need(program, script)?.as_os_str(), file], arguments));
    match extension {
        "py" | "pyw" => by("python3"),
        "sh" => by("sh"),
        "bash" => by("bash"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            let candidates = runtimes(extension, text);
            let here = |name: &&'static str| Some((*name, search.find(name).ok()?));
            let (chosen, program) = candidates.iter().find_map(here).ok_or_else(|| {
                let passed_over = candidates.iter().find_map(|name| search.find(name).err()?);
                let hint = passed_over.as_deref().map(below_the_root);
                Failure::text(
                    NOT_FOUND,
                    format!("can't find an interpreter for `{}`", script.display()),
                )
                .hint(hint.unwrap_or_else(|| format!("install {} on your `PATH`", candidates.join(" or "))))
            })?;
            Ok(match chosen {
                // The profile confines the script: Deno's own permissions would only ask a second time.
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
            format!("can't tell the interpreter of `{}`", script.display()),
        )
        .hint("begin it with `#!/usr/bin/env python3`, or use `stockade run -- INTERPRETER SCRIPT`")),
    }
}

/// Node with tsx's loader, where tsx was chosen. tsx itself starts Node as another process, talks to it through a
/// pipe in `TMPDIR`, and keeps a cache there: `minimal` has none. It fails on a `package.json` that it may not read.
fn loaded(words: &[OsString], script: &Path, search: &Search) -> Option<Command> {
    let tsx = Path::new(words.first()?);
    if tsx.file_name()? != "tsx" {
        return None;
    }
    let package = std::fs::canonicalize(tsx).ok()?.parent()?.parent()?.to_path_buf();
    // A program that can write a link could otherwise have any directory read as part of this installation.
    let is_installed = package.file_name()? == "tsx" && package.parent()?.file_name()? == "node_modules";
    if !is_installed {
        return None;
    }
    let loader = package.join("dist/loader.mjs");
    let node = loader.is_file().then(|| search.find("node").ok()).flatten()?;
    let mut import = OsString::from("file://");
    import.push(&loader);
    let is_itself = |path: &PathBuf| std::fs::canonicalize(path).is_ok_and(|real| real == *path);
    let installed = |name: &str| Some(package.parent()?.join(name)).filter(is_itself);
    let nearest = |name: &str| {
        let mut above = script.ancestors().skip(1).map(|above| above.join(name));
        above.find(|path| path.is_file()).filter(is_itself)
    };
    let own = [installed("esbuild"), nearest("package.json"), nearest("tsconfig.json")];
    Some(Command {
        words: words_of_node(&node, &import, &words[1..]),
        read: own.into_iter().flatten().chain([package.clone()]).collect(),
        exec: installed("@esbuild").into_iter().collect(),
        env: vec!["TSX_DISABLE_CACHE=1".into()],
    })
}

fn words_of_node(node: &Path, import: &OsStr, rest: &[OsString]) -> Vec<OsString> {
    let flags: [&OsStr; 4] = [
        node.as_os_str(),
        "--preserve-symlinks-main".as_ref(),
        "--import".as_ref(),
        import,
    ];
    words(flags, rest)
}

/// As its first line says. The kernel would do the same, with whatever line is there by then, and `env` with whatever
/// program is found first.
fn named(script: &Path, text: &str, arguments: &[OsString], search: &Search) -> Result<Vec<OsString>, Failure> {
    let file = script.as_os_str();
    let shebang = Shebang::of_text(text).ok_or_else(|| without_whole_path(script))?;
    // A relative path could be a file that anybody put there.
    let interpreter = Path::new(&shebang.interpreter);
    if !interpreter.is_absolute() {
        return Err(without_whole_path(script));
    }
    if search.is_the_runs(interpreter) {
        let told = format!("refusing to use the interpreter of `{}`", script.display());
        return Err(Failure::text(NOT_FOUND, told).hint(below_the_root(interpreter)));
    }
    let reader = shebang.reader().ok_or_else(|| started_by_another(script))?;
    let program = match reader.is_found_by_env {
        true => search.need(reader.program, script)?,
        false => interpreter.into(),
    };
    let has_commands = |name: &OsStr| HAVE_COMMANDS.iter().any(|known| name == *known);
    let takes_words = reader.is_found_by_env || program.file_name().is_some_and(has_commands);
    if !takes_words && reader.words.iter().any(|word| !word.starts_with('-')) {
        return Err(started_by_another(script));
    }
    let words = reader.words.into_iter().map(OsStr::new);
    let own = [program.as_os_str()].into_iter().chain(words).chain([file]);
    Ok(own.map(OsString::from).chain(arguments.iter().cloned()).collect())
}

fn without_whole_path(script: &Path) -> Failure {
    let told = format!(
        "the first line of `{}` doesn't name an interpreter by its absolute path",
        script.display()
    );
    Failure::text(NOT_FOUND, told).hint("`#!/usr/bin/env NAME` finds one by its name")
}

/// Interpreters to which a word before the script is a command of their own. To others it is the file to run.
const HAVE_COMMANDS: [&str; 5] = ["busybox", "toybox", "deno", "bun", "uv"];

/// Refuses: the program of that name, not the script that was read, would run.
fn started_by_another(script: &Path) -> Failure {
    let told = format!(
        "the first line of `{}` starts one program through another, or sets variables",
        script.display()
    );
    Failure::text(NOT_FOUND, told).hint("use `#!/usr/bin/env NAME` or `#!/usr/bin/env -S NAME OPTIONS`")
}

/// The runtimes for a script of this kind, the likeliest first.
fn runtimes(extension: &str, text: &str) -> Vec<&'static str> {
    let is_typed = matches!(extension, "ts" | "mts" | "cts" | "tsx" | "jsx");
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // A name that the script itself defines isn't a runtime's.
    let is_own = |name: &str| {
        ["const ", "let ", "var "]
            .iter()
            .any(|word| text.contains(&format!("{word}{name} ")))
    };
    if !is_own("Deno")
        && says(&[
            "Deno.",
            "from \"jsr:",
            "from 'jsr:",
            "from \"https://",
            "from 'https://",
        ])
    {
        vec!["deno"]
    } else if !is_own("Bun") && says(&["Bun.", "from \"bun", "from 'bun"]) {
        vec!["bun"]
    } else if is_typed {
        vec!["tsx", "bun", "deno"]
    } else {
        vec!["node", "bun", "deno"]
    }
}

/// The words of a command.
fn words<const N: usize>(words: [&OsStr; N], rest: &[OsString]) -> Vec<OsString> {
    words
        .iter()
        .map(|word| OsString::from(*word))
        .chain(rest.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(file: &str, text: &str) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join(file);
        std::fs::write(&script, text).unwrap();
        let words = command(&script, text, &["a b".into()], &search(directory.path()))
            .unwrap()
            .words;
        let shown = |(at, word): (usize, &OsString)| match Path::new(word).file_name().filter(|_| at == 0) {
            Some(program) => program.to_string_lossy().into_owned(),
            None => word
                .to_string_lossy()
                .replace(&*directory.path().to_string_lossy(), "D"),
        };
        words.iter().enumerate().map(shown).collect()
    }

    fn search(root: &Path) -> Search {
        Search {
            root: root.join("root"),
            trusted: Vec::new(),
        }
    }

    #[test]
    fn the_first_line_or_the_name_says_which_interpreter() {
        assert_eq!(words_of("a.py", "x"), ["python3", "D/a.py", "a b"]);
        assert_eq!(words_of("a.sh", "x"), ["sh", "D/a.sh", "a b"]);
        assert_eq!(words_of("a.py", "#!/usr/bin/env bash\n"), ["bash", "D/a.py", "a b"]);
        assert_eq!(
            words_of("a.js", "#!/usr/bin/env node\n"),
            ["node", "--preserve-symlinks-main", "D/a.js", "a b"]
        );
        assert_eq!(
            words_of("a", "#!/usr/bin/env -S bash -eu\n"),
            ["bash", "-eu", "D/a", "a b"]
        );
        assert_eq!(words_of("a", "#!/bin/busybox sh\n"), ["busybox", "sh", "D/a", "a b"]);
        assert_eq!(words_of("a", "#!/bin/sh -eu\nx"), ["sh", "-eu", "D/a", "a b"]);
        for text in [
            "x",
            "#!./python3\n",
            "#!/x/root/bin/python3\n",
            "#!/usr/bin/env none-such\n",
            "#!/usr/bin/env ./sh\n",
            "#!/usr/bin/env -S ./sh\n",
            "#!/usr/bin/env -S --chdir=. sh\n",
            "#!/usr/bin/env -S PATH=. sh\n",
            "#!/usr/bin/env -i sh\n",
            "#!/usr/bin/nice ./sh\n",
            "#!/usr/bin/nice sh\n",
            "#!/bin/sh ./sh\n",
        ] {
            assert!(command(Path::new("/x/a"), text, &[], &search(Path::new("/x"))).is_err());
        }
    }

    #[test]
    fn what_a_text_uses_says_which_run_time() {
        assert_eq!(runtimes("ts", "Deno.readTextFile()"), ["deno"]);
        assert_eq!(runtimes("ts", "await Bun.file()"), ["bun"]);
        assert_eq!(runtimes("ts", "x")[0], "tsx");
        assert_eq!(runtimes("ts", "const Deno = fake(); Deno.readTextFile()")[0], "tsx");
        assert_eq!(runtimes("js", "x")[0], "node");
    }

    #[test]
    fn tsx_is_node_with_its_loader_and_what_that_reads() {
        let directory = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(directory.path()).unwrap();
        for file in [
            "node_modules/tsx/dist/loader.mjs",
            "node_modules/tsx/dist/cli.mjs",
            "node_modules/esbuild/x",
            "node_modules/@esbuild/x",
            "src/a.ts",
            "package.json",
            "bin/node",
        ] {
            std::fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            std::fs::write(top.join(file), "").unwrap();
        }
        let tsx = top.join("bin/tsx");
        std::os::unix::fs::symlink("../node_modules/tsx/dist/cli.mjs", &tsx).unwrap();
        let script = top.join("src/a.ts");
        // A first line that names it brings nothing of it.
        let text = format!("#!{}\n", tsx.display());
        let named = command(&script, &text, &[], &search(&top.join("src"))).unwrap();
        assert_eq!(named.words[0], tsx);
        assert!(named.read.is_empty() && named.exec.is_empty(), "{named:?}");
        let words = words([tsx.as_os_str(), script.as_os_str()], &[]);
        let command = loaded(&words, &script, &search(&top));
        // Without Node the command stays as it was.
        let Some(command) = command else {
            assert!(search(&top).find("node").is_err());
            return;
        };
        let packages = top.join("node_modules");
        assert_eq!(
            command.read,
            [packages.join("esbuild"), top.join("package.json"), packages.join("tsx")]
        );
        assert_eq!(command.exec, [packages.join("@esbuild")]);
        let import = format!("file://{}", packages.join("tsx/dist/loader.mjs").display());
        assert_eq!(
            command.words[1..],
            [
                "--preserve-symlinks-main".into(),
                "--import".into(),
                import.into(),
                OsString::from(&script)
            ]
        );
    }
}
