//! Programs whose words have a grammar of their own.

use super::arguments::Arguments;
use super::program::{arguments, by_row};
use super::{awk, git, started, transfer};
use crate::finding::{Act, Opaque};
use crate::language::Language;
use crate::sql;
use crate::text::Text;
use stockade_shell::without_version;

/// Returns the acts of such a program; `None` for all others.
pub(super) fn acts(name: &str, words: &[Text]) -> Option<Vec<Act>> {
    Some(match name {
        "find" => find(words),
        "env" => env(words),
        "printenv" => match words {
            [] => vec![Act::Variable(Text::unknown())],
            names => names.iter().cloned().map(Act::Variable).collect(),
        },
        "mktemp" => mktemp(words),
        "xargs" => xargs(words),
        "dd" => dd(words),
        "tar" => tar(words),
        "git" => git::acts(words),
        "flock" => flock(words),
        "test" | "[" => test(words),
        "curl" | "wget" | "ssh" | "scp" | "sftp" | "rsync" | "nc" | "ncat" | "psql" | "mysql" | "redis-cli" => {
            transfer::acts(name, words)
        }
        "sqlite3" => sqlite(words),
        "awk" | "gawk" | "mawk" | "nawk" => awk::acts(words),
        "perl" | "ruby" | "php" => unknown_interpreter(name, words),
        _ => match interpreted(name)? {
            Language::Shell => shell(words),
            language => interpreter(name, language, words),
        },
    })
}

/// The language that a program of this name interprets, if it is one that is analysed.
pub(super) fn interpreted(name: &str) -> Option<Language> {
    Some(match without_version(name) {
        "python" | "pypy" => Language::Python,
        "node" => Language::JavaScript,
        "bun" | "deno" | "tsx" => Language::TypeScript,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" => Language::Shell,
        _ => return None,
    })
}

fn reads(paths: impl IntoIterator<Item = Text>) -> Vec<Act> {
    paths.into_iter().map(Act::Read).collect()
}

/// find(1): paths, then an expression.
fn find(words: &[Text]) -> Vec<Act> {
    let begins_expression = |word: &&Text| matches!(word.prefix().chars().next(), Some('-' | '(' | '!'));
    let options = words
        .iter()
        .take_while(|word| matches!(word.exact(), Some("-H" | "-L" | "-P")))
        .count();
    let words = &words[options..];
    let count = words.iter().take_while(|word| !begins_expression(word)).count();
    let (paths, expression) = words.split_at(count);
    let paths = if paths.is_empty() {
        vec![Text::from(".")]
    } else {
        paths.to_vec()
    };
    let found: Vec<Text> = paths
        .iter()
        .map(|path| path.then(&"/".into()).then(&Text::unknown()))
        .collect();
    let mut acts = reads(paths.clone());
    let mut rest = expression;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        match word.exact() {
            Some("-delete") => acts.extend(paths.iter().cloned().map(Act::Write)),
            Some("-newer" | "-samefile" | "-anewer" | "-cnewer") => acts.extend(behind.first().cloned().map(Act::Read)),
            Some("-fprint" | "-fls" | "-fprint0" | "-fprintf") => acts.extend(behind.first().cloned().map(Act::Write)),
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let end = behind
                    .iter()
                    .position(|word| matches!(word.exact(), Some(";" | "+")))
                    .unwrap_or(behind.len());
                for file in &found {
                    let command = behind[..end].iter().map(|word| match word.exact() {
                        Some("{}") => file.clone(),
                        _ => word.clone(),
                    });
                    acts.push(Act::Start(command.collect()));
                }
                rest = &behind[end..];
            }
            _ => {}
        }
    }
    acts
}

/// env(1).
fn env(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("env", words);
    let count = arguments
        .operands
        .iter()
        .take_while(|word| word.prefix().contains('='))
        .count();
    let command = match &arguments.operands[count..] {
        [] => return vec![Act::Variable(Text::unknown())],
        command => command,
    };
    let set = arguments.operands[..count].iter().filter_map(|word| {
        let (name, _) = word.prefix().split_once('=')?;
        Some((name, word.without_prefix(name.len() + 1)))
    });
    let mut acts: Vec<Act> = set
        .flat_map(|(name, value)| started::by_variable(&command[0], name, &value))
        .collect();
    acts.push(Act::Start(command.to_vec()));
    acts
}

/// mktemp(1): in /tmp, or in the directory of its template.
fn mktemp(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("mktemp", words);
    let directory = arguments.values(&["-p", "--tmpdir"]).next().cloned();
    let is_temporary = arguments.has(&["-t", "--tmpdir"]) || arguments.operands.is_empty();
    vec![Act::Write(match (directory, arguments.operands.first()) {
        (Some(directory), _) => directory,
        (None, Some(template)) if !is_temporary => template.clone(),
        _ => "/tmp".into(),
    })]
}

/// xargs(1); its standard input, where known, is already appended to its words.
fn xargs(words: &[Text]) -> Vec<Act> {
    let (arguments, mut acts) = by_row("xargs", words);
    let replaced = arguments
        .values(&["-I", "--replace"])
        .next()
        .and_then(Text::exact)
        .map(str::to_string);
    let Some((command, fed)) = (match &replaced {
        // The words from standard input follow the command's own words.
        Some(_) => arguments
            .operands
            .split_last()
            .map(|(fed, command)| (command.to_vec(), fed.clone())),
        None => Some((arguments.operands.clone(), Text::unknown())),
    }) else {
        return acts;
    };
    let command: Vec<Text> = command
        .iter()
        .map(|word| match (&replaced, word.exact()) {
            (Some(mark), Some(word)) if !mark.is_empty() && word.contains(mark.as_str()) => {
                let mut parts = word.split(mark.as_str()).map(Text::from);
                let first = parts.next().unwrap_or_else(Text::unknown);
                parts.fold(first, |text, part| text.then(&fed).then(&part))
            }
            _ => word.clone(),
        })
        .collect();
    if !command.is_empty() {
        acts.push(Act::Start(command));
    }
    acts
}

/// dd(1).
fn dd(words: &[Text]) -> Vec<Act> {
    let operand = |word: &Text| match word.prefix().split_once('=') {
        Some(("if", _)) => Some(Act::Read(word.without_prefix(3))),
        Some(("of", _)) => Some(Act::Write(word.without_prefix(3))),
        _ => None,
    };
    words.iter().filter_map(operand).collect()
}

/// tar(1): the first word may be option letters without a dash.
fn tar(words: &[Text]) -> Vec<Act> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(letters) = first.exact()
        && !letters.starts_with('-')
    {
        *first = format!("-{letters}").into();
    }
    let (arguments, mut acts) = by_row("tar", &words);
    let archive: Vec<Text> = arguments.values(&["-f", "--file"]).cloned().collect();
    let from = arguments.values(&["-C", "--directory"]).next().cloned();
    let at = from.clone().unwrap_or_else(|| ".".into());
    if arguments.has(&["-I", "--use-compress-program", "--to-command"]) {
        acts.push(Act::Opaque(Opaque::UnknownProgram("tar -I".into())));
    }
    if arguments.has(&["-x", "--extract", "--get"]) {
        acts.extend(reads(archive));
        if !arguments.has(&["-O", "--to-stdout"]) {
            acts.push(Act::Write(at));
        }
    } else if arguments.has(&["-t", "--list", "-d", "--diff", "--compare"]) {
        acts.extend(reads(archive));
    } else {
        acts.extend(archive.into_iter().map(Act::Write));
        acts.extend(reads(arguments.operands.iter().map(|path| {
            from.as_ref().map_or_else(|| path.clone(), |from| from.joined(path))
        })));
    }
    acts
}

/// flock(1): a file, then a command.
fn flock(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("flock", words);
    match &arguments.operands[..] {
        [] => Vec::new(),
        [number] if number.exact().is_some_and(|number| number.parse::<u32>().is_ok()) => Vec::new(),
        [file, command @ ..] => match command {
            [] => vec![Act::Write(file.clone())],
            [option, line] if option.exact() == Some("-c") => vec![Act::Write(file.clone()), Act::Shell(line.clone())],
            _ => vec![Act::Write(file.clone()), Act::Start(command.to_vec())],
        },
    }
}

/// test(1), as a program.
fn test(words: &[Text]) -> Vec<Act> {
    let files = words.windows(2).filter(|pair| pair[0].exact().is_some_and(tests_file));
    files.map(|pair| Act::Read(pair[1].clone())).collect()
}

/// Whether an operator of test(1) examines the file after it.
pub(super) fn tests_file(operator: &str) -> bool {
    let letter = operator.strip_prefix('-').filter(|letter| letter.len() == 1);
    letter.is_some_and(|letter| "abcdefghkprsuwxGLNOS".contains(letter))
}

/// A shell with a script, a command line, or neither.
fn shell(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("sh", words);
    if arguments.has(&["-c"]) {
        return arguments
            .operands
            .first()
            .cloned()
            .map(Act::Shell)
            .into_iter()
            .collect();
    }
    match arguments.operands.first() {
        Some(_) if arguments.has(&["-s"]) => Vec::new(),
        Some(script) => file(script),
        None => Vec::new(),
    }
}

/// A script file, whose content decides what it does.
fn file(script: &Text) -> Vec<Act> {
    match script.exact() {
        Some("-" | "/dev/stdin") => Vec::new(),
        Some(super::FETCHED) => vec![Act::Opaque(Opaque::RemoteCode)],
        Some(path) if path.starts_with("/dev/fd/") => vec![Act::Opaque(Opaque::BuiltCode)],
        _ => vec![
            Act::Read(script.clone()),
            Act::Opaque(Opaque::OtherFile(script.shown())),
        ],
    }
}

fn sqlite(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("sqlite3", words);
    let is_flag = |word: &str| arguments.options.iter().any(|(option, _)| option == word);
    let Some(database) = arguments.operands.first() else {
        return Vec::new();
    };
    if database.exact() == Some(":memory:") {
        return Vec::new();
    }
    let only_reads = words.iter().any(|word| word.exact() == Some("-readonly")) || is_flag("-readonly");
    let first = arguments
        .operands
        .get(1)
        .and_then(Text::exact)
        .unwrap_or_default()
        .trim_start()
        .to_ascii_lowercase();
    let mut acts = match only_reads || first.starts_with("select") || first.starts_with('.') {
        true => reads([database.clone()]),
        false => vec![Act::Read(database.clone()), Act::Write(database.clone())],
    };
    let files = arguments.operands.iter().skip(1).flat_map(sql::files);
    acts.extend(files.map(Act::Write));
    acts
}

/// python3, node and similar interpreters: code, a module, or a script file.
fn interpreter(name: &str, language: Language, words: &[Text]) -> Vec<Act> {
    let (row, code): (&str, &[&str]) = match language {
        Language::Python => ("python", &["-c", "-m"]),
        _ => ("node", &["-e", "--eval", "-p", "--print"]),
    };
    let words = match words.first().and_then(Text::exact) {
        Some("run" | "eval" | "-pe") if name != "node" => &words[1..],
        _ => words,
    };
    // The words after code or a module belong to it.
    let end = words.iter().position(|word| code.contains(&word.prefix()));
    let head = end.map_or(words, |at| &words[..(at + 2).min(words.len())]);
    let arguments = arguments(row, head);
    let code: Vec<&str> = code.iter().copied().filter(|option| *option != "-m").collect();
    if let Some(code) = arguments.values(&code).next() {
        return vec![Act::Code(language, code.clone())];
    }
    if let Some(module) = arguments.values(&["-m"]).next() {
        let behind = end.and_then(|at| words.get(at + 2..)).unwrap_or_default();
        return python_module(module, behind);
    }
    match arguments.operands.first() {
        Some(script) => file(script),
        None => Vec::new(),
    }
}

/// Python modules that are run by name (docs.python.org/3/library/cmdline.html).
fn python_module(module: &Text, words: &[Text]) -> Vec<Act> {
    let operands = Arguments::of(
        words,
        &["--indent", "-s", "-n", "-d", "--directory", "-b", "--bind"],
        false,
    )
    .operands;
    match module.exact() {
        Some("json.tool") => match &operands[..] {
            [from, to, ..] => vec![Act::Read(from.clone()), Act::Write(to.clone())],
            operands => reads(operands.to_vec()),
        },
        Some("http.server") => vec![Act::Listen, Act::Read(".".into())],
        Some("timeit" | "this" | "calendar" | "platform" | "sysconfig" | "site") => Vec::new(),
        Some("tabnanny" | "tokenize" | "ast" | "dis") => reads(operands),
        Some("py_compile" | "compileall" | "venv") => operands.into_iter().map(Act::Write).collect(),
        Some(name) => vec![Act::Opaque(Opaque::UnknownProgram(format!("python -m {name}")))],
        None => vec![Act::Opaque(Opaque::UnknownProgram("python -m …".into()))],
    }
}

fn unknown_interpreter(name: &str, words: &[Text]) -> Vec<Act> {
    let mut acts = vec![Act::Opaque(Opaque::UnknownProgram(name.to_string()))];
    if let Some(script) = words.first().filter(|word| !word.prefix().starts_with('-')) {
        acts.push(Act::Read(script.clone()));
    }
    acts
}
