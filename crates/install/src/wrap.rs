//! Rewrites a server's line to start under `stockade mcp wrap`, and back.

use std::ops::Range;

use crate::document::{Format, Node, parse};
use crate::edit::{self, Edit};
use crate::servers::{Program, Server, Start, servers};

/// The file name of the program that wraps.
const STOCKADE: &str = "stockade";

/// The task that wraps a server.
const TASK: [&str; 2] = ["mcp", "wrap"];

/// Flags of `mcp wrap` without a value.
const SWITCHES: &[&str] = &["--llm", "--ask-each"];

/// Whether a program called `stockade` starts this one. Whether that is Stockade its path says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapped {
    /// None does.
    No,
    /// By `stockade mcp wrap`; the command stands at this place of the arguments.
    At(usize),
    /// In another way, `stockade run` say.
    Otherwise,
}

/// How a program is started.
pub fn wrapped(program: &Program) -> Wrapped {
    if program.file_name() != STOCKADE {
        return Wrapped::No;
    }
    let is_wrap = program.args.iter().map(String::as_str).take(TASK.len()).eq(TASK);
    match is_wrap.then(|| command_at(&program.args)).flatten() {
        Some(at) => Wrapped::At(at),
        None => Wrapped::Otherwise,
    }
}

/// The flags of a line of `mcp wrap`.
pub fn wrap_flags(program: &Program) -> Option<&[String]> {
    match wrapped(program) {
        Wrapped::At(at) => program.args.get(TASK.len()..at - 1),
        Wrapped::No | Wrapped::Otherwise => None,
    }
}

/// The place of the command behind the flags and `--`.
fn command_at(args: &[String]) -> Option<usize> {
    let mut at = TASK.len();
    loop {
        let word = args.get(at)?;
        at += match word.as_str() {
            "--" => return (at + 1 < args.len()).then_some(at + 1),
            word if !word.starts_with("--") => return None,
            word => width(word),
        };
    }
}

/// The count of words of a flag with its value.
fn width(flag: &str) -> usize {
    match flag.contains('=') || SWITCHES.contains(&flag) {
        true => 1,
        false => 2,
    }
}

/// What becomes of a line of `mcp wrap`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amendment {
    /// Its profile, where that changes.
    pub profile: Option<String>,
    /// Flags behind those that it has.
    pub flags: Vec<String>,
}

impl Amendment {
    /// The arguments of the line with it; `None` where it isn't such a line, or stays as it is.
    pub fn of(&self, program: &Program) -> Option<Vec<String>> {
        let mut args = program.args.clone();
        // From the end, so that the places hold.
        for (place, words) in self.splices(wrap_flags(program)?).into_iter().rev() {
            args.splice(place, words);
        }
        (args != program.args).then_some(args)
    }

    /// The arguments that change, in their order, and those in their place.
    fn splices(&self, flags: &[String]) -> Vec<(Range<usize>, Vec<String>)> {
        let end = TASK.len() + flags.len();
        let profile = self.profile.as_ref().map(|profile| profile_words(flags, profile));
        let added = (!self.flags.is_empty()).then(|| (end..end, self.flags.clone()));
        profile.into_iter().chain(added).collect()
    }
}

/// The arguments that name the profile, and those in their place.
fn profile_words(flags: &[String], profile: &str) -> (Range<usize>, Vec<String>) {
    let mut at = 0;
    while let Some(word) = flags.get(at) {
        let place = TASK.len() + at;
        if word == "--profile" {
            return (place + 1..place + 2, vec![profile.to_string()]);
        }
        if word.starts_with("--profile=") {
            return (place..place + 1, vec![format!("--profile={profile}")]);
        }
        at += width(word);
    }
    (
        TASK.len()..TASK.len(),
        vec!["--profile".to_string(), profile.to_string()],
    )
}

/// The text in which these lines of `mcp wrap` are amended, and stay as they are otherwise.
///
/// # Errors
/// The result wouldn't say what was meant: a defect, so nothing is to be written.
pub fn amend(
    text: &str,
    format: Format,
    tables: &[&[&str]],
    amended: &[(&Server, Amendment)],
) -> Result<String, String> {
    let old = found(text, format, tables)?;
    let mut edits = Vec::new();
    let mut expected = Vec::new();
    for (server, amendment) in amended {
        if let Some(program) = same(&old, server)
            && let (Some(flags), Some(args)) = (wrap_flags(program), amendment.of(program))
            && let Some(elements) = program.args_member().and_then(|args| args.value.elements())
        {
            for (place, words) in amendment.splices(flags) {
                let mut literals = words
                    .iter()
                    .map(|word| edit::literal(word, format))
                    .collect::<Vec<_>>()
                    .join(", ");
                let mut span = elements[place.start].span.clone();
                if place.is_empty() {
                    span.end = span.start;
                    literals += ", ";
                }
                edits.push(Edit { span, text: literals });
            }
            expected.push((server, args));
        }
    }
    let new = edit::applied(text, edits);
    let found = found(&new, format, tables)?;
    for (server, args) in expected {
        if same(&found, server).is_none_or(|program| program.args != args) {
            return Err(format!("the line of `{}` can't be changed", server.name));
        }
    }
    Ok(new)
}

/// A server to wrap, with its flags of `mcp wrap`.
#[derive(Debug)]
pub struct Wrap<'s> {
    /// The server.
    pub server: &'s Server,
    /// Its flags.
    pub flags: Vec<String>,
}

/// The words before the server's own.
fn words(flags: &[String]) -> Vec<String> {
    let task = TASK.map(String::from).into_iter();
    task.chain(flags.iter().cloned()).chain(["--".into()]).collect()
}

/// The text in which `stockade` starts these servers.
///
/// # Errors
/// The result wouldn't say what was meant, or couldn't be taken back: a defect, so nothing is to be written.
pub fn wrap(
    text: &str,
    format: Format,
    tables: &[&[&str]],
    wraps: &[Wrap<'_>],
    stockade: &str,
) -> Result<String, String> {
    let edits = wraps.iter().flat_map(|wrap| match &wrap.server.start {
        Start::Program(program) => wrapping(text, format, program, &words(&wrap.flags), stockade),
        Start::Url | Start::Unknown(_) => Vec::new(),
    });
    let new = edit::applied(text, edits.collect());
    let found = found(&new, format, tables)?;
    for wrap in wraps {
        let Start::Program(old) = &wrap.server.start else {
            continue;
        };
        let expected: Vec<String> = std::iter::once(stockade.to_string())
            .chain(words(&wrap.flags))
            .chain(old.words().into_iter().map(String::from))
            .collect();
        match same(&found, wrap.server) {
            Some(program) if program.words() == expected => {}
            _ => return Err(format!("the line of `{}` can't be rewritten", wrap.server.name)),
        }
    }
    let is_new = |server: &&Server| wraps.iter().any(|wrap| is_same(wrap.server, server));
    let back: Vec<&Server> = found.iter().filter(is_new).collect();
    match unwrap(&new, format, tables, &back) {
        Ok(back) if back == text => Ok(new),
        _ => Err("the change couldn't be taken back".to_string()),
    }
}

fn wrapping(text: &str, format: Format, program: &Program, words: &[String], stockade: &str) -> Vec<Edit> {
    let command = program.command_member();
    let command_text = text[command.value.span.clone()].to_string();
    let literals = words
        .iter()
        .map(|word| edit::literal(word, format))
        .chain([command_text]);
    let literals: Vec<String> = literals.collect();
    let name = Edit {
        span: command.value.span.clone(),
        text: edit::literal(stockade, format),
    };
    let args = match program.args_member() {
        Some(args) => edit::prepended(text, &args.value, &literals),
        None => new_args(text, format, program, &literals.join(", ")),
    };
    vec![name, args]
}

/// A member for the arguments of a command without any.
fn new_args(text: &str, format: Format, program: &Program, list: &str) -> Edit {
    let command = program.command_member();
    if is_block(text, format, &program.table) {
        let start = edit::line_start(text, command.key_span.start);
        // Blanks, or the keys before a dotted one.
        let before = &text[start..command.key_span.start];
        return Edit::insert(start, format!("{before}args = [{list}]{}", edit::newline(text)));
    }
    let lead = match edit::own_indent(text, command.key_span.start) {
        Some(indent) => format!(",{}{indent}", edit::newline(text)),
        None => ", ".to_string(),
    };
    let key = match format {
        Format::Json => "\"args\": ",
        Format::Toml => "args = ",
    };
    Edit::insert(command.value.span.end, format!("{lead}{key}[{list}]"))
}

/// Whether each member of a table has a line of its own, without a comma.
fn is_block(text: &str, format: Format, table: &Node) -> bool {
    format == Format::Toml && !text[table.span.clone()].starts_with('{')
}

/// The text in which these servers start as before.
///
/// # Errors
/// The result wouldn't say what was meant: a defect, so nothing is to be written.
pub fn unwrap(text: &str, format: Format, tables: &[&[&str]], wrapped: &[&Server]) -> Result<String, String> {
    let mut edits = Vec::new();
    let mut expected: Vec<(&Server, &[String])> = Vec::new();
    for server in wrapped {
        if let Start::Program(program) = &server.start
            && let Wrapped::At(at) = self::wrapped(program)
        {
            edits.extend(unwrapping(text, format, program, at));
            expected.push((server, &program.args[at..]));
        }
    }
    let new = edit::applied(text, edits);
    let found = found(&new, format, tables)?;
    for (server, words) in expected {
        if same(&found, server).is_none_or(|program| program.words() != words) {
            return Err(format!("the line of `{}` can't be taken back", server.name));
        }
    }
    Ok(new)
}

fn unwrapping(text: &str, format: Format, program: &Program, at: usize) -> Vec<Edit> {
    let (Some(args), Some(args_at)) = (program.args_member(), program.args_at) else {
        return Vec::new();
    };
    let Some(literal) = args.value.elements().and_then(|elements| elements.get(at)) else {
        return Vec::new();
    };
    let command = Edit {
        span: program.command_member().value.span.clone(),
        text: text[literal.span.clone()].to_string(),
    };
    let mut edits = match edit::stripped(text, &args.value, at + 1) {
        Some(edit) => vec![edit],
        None if is_block(text, format, &program.table) => {
            let end = args.value.span.end;
            let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
            vec![Edit::remove(edit::line_start(text, args.key_span.start)..end)]
        }
        None => edit::removed(text, &program.table, args_at),
    };
    edits.push(command);
    edits
}

fn found(text: &str, format: Format, tables: &[&[&str]]) -> Result<Vec<Server>, String> {
    let root = parse(text, format).map_err(|fault| fault.to_string())?;
    servers(&root, tables, text).map_err(|fault| fault.to_string())
}

fn is_same(one: &Server, other: &Server) -> bool {
    one.name == other.name && one.project == other.project
}

fn same<'s>(found: &'s [Server], server: &Server) -> Option<&'s Program> {
    let found = found.iter().find(|other| is_same(server, other))?;
    match &found.start {
        Start::Program(program) => Some(program),
        Start::Url | Start::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &[&[&str]] = &[&["s"]];

    fn wrapped_text(text: &str, format: Format) -> String {
        let servers = found(text, format, TABLES).unwrap();
        let flags = vec!["--profile".to_string(), "p".to_string()];
        let wraps: Vec<Wrap<'_>> = servers
            .iter()
            .map(|server| Wrap {
                server,
                flags: flags.clone(),
            })
            .collect();
        // It verifies the way back itself.
        wrap(text, format, TABLES, &wraps, "/bin/stockade").unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn json_keeps_everything_else() {
        insta::assert_snapshot!(wrapped_text(r#"{
  // the servers
  "s": {
    "plain": { "command": "npx", "args": ["-y", "x"], "env": {"A": "b"} },
    "lines": {
      "type": "stdio",
      "command": "n\u0070x", // with an escape
      "args": [
        // the package
        "-y",
        "x" /* why */,
      ],
    },
    "none": {"command":"x"},
    "none-lines": {
      "command": "x" // c
    },
    "empty": {"args": [], "command": "x"},
    "blank": {"command": "x", "args": [ /* nothing */ ]},
    "old": {"command": {"path": "x", "args": ["y"], "env": null}, "settings": {}}
  }
}"#, Format::Json), @r#"
        {
          // the servers
          "s": {
            "plain": { "command": "/bin/stockade", "args": ["mcp", "wrap", "--profile", "p", "--", "npx", "-y", "x"], "env": {"A": "b"} },
            "lines": {
              "type": "stdio",
              "command": "/bin/stockade", // with an escape
              "args": [
                // the package
                "mcp", "wrap", "--profile", "p", "--", "n\u0070x",
                "-y",
                "x" /* why */,
              ],
            },
            "none": {"command":"/bin/stockade", "args": ["mcp", "wrap", "--profile", "p", "--", "x"]},
            "none-lines": {
              "command": "/bin/stockade",
              "args": ["mcp", "wrap", "--profile", "p", "--", "x"] // c
            },
            "empty": {"args": ["mcp", "wrap", "--profile", "p", "--", "x" ], "command": "/bin/stockade"},
            "blank": {"command": "/bin/stockade", "args": ["mcp", "wrap", "--profile", "p", "--", "x"  /* nothing */ ]},
            "old": {"command": {"path": "/bin/stockade", "args": ["mcp", "wrap", "--profile", "p", "--", "x", "y"], "env": null}, "settings": {}}
          }
        }
        "#);
    }

    #[test]
    fn toml_keeps_everything_else() {
        insta::assert_snapshot!(wrapped_text(r#"# mine
[s.plain]
command = 'npx' # the runner
args = ["-y", 'x'] # c
env = { A = "b" }

  [s.none]
  command = """x""" # c
  [s.none.env]
  B = "c"

[s.lines]
args = [
  # first
  "a", # second
]
command = "x"

[s]
inline = { command = "x" }
inline-args = { command = "x", args = [] }
dotted.command = "x"
"#, Format::Toml), @r#"
        # mine
        [s.plain]
        command = "/bin/stockade" # the runner
        args = ["mcp", "wrap", "--profile", "p", "--", 'npx', "-y", 'x'] # c
        env = { A = "b" }

          [s.none]
          args = ["mcp", "wrap", "--profile", "p", "--", """x"""]
          command = "/bin/stockade" # c
          [s.none.env]
          B = "c"

        [s.lines]
        args = [
          # first
          "mcp", "wrap", "--profile", "p", "--", "x",
          "a", # second
        ]
        command = "/bin/stockade"

        [s]
        inline = { command = "/bin/stockade", args = ["mcp", "wrap", "--profile", "p", "--", "x"] }
        inline-args = { command = "/bin/stockade", args = ["mcp", "wrap", "--profile", "p", "--", "x" ] }
        dotted.args = ["mcp", "wrap", "--profile", "p", "--", "x"]
        dotted.command = "/bin/stockade"
        "#);
    }

    #[test]
    fn another_profile_takes_the_place_of_the_lines_own() {
        let text = r#"{"s": {
  "a": {"command": "/bin/stockade", "args": ["mcp", "wrap", /* b */ "--name", "--profile", "--profile", "p", "--write", "/d", "--", "x"]},
  "b": {"command": "/bin/stockade", "args": ["mcp", "wrap", "--profile=p", "--", "x", "--profile", "p"]},
  "c": {"command": "/bin/stockade", "args": ["mcp", "wrap", "--", "x"]},
  "d": {"command": "/bin/stockade", "args": ["run", "--profile", "p", "x"]}
}}"#;
        let servers = found(text, Format::Json, TABLES).unwrap();
        let amendment = |profile: Option<&str>, flags: &[&str]| Amendment {
            profile: profile.map(String::from),
            flags: flags.iter().map(ToString::to_string).collect(),
        };
        let of_all = |amendment: Amendment| -> Vec<(&Server, Amendment)> {
            servers.iter().map(|server| (server, amendment.clone())).collect()
        };
        let all = of_all(amendment(None, &["--env", "A"]));
        let with_flags = amend(text, Format::Json, TABLES, &all).unwrap();
        for expected in [
            r#""/d", "--env", "A", "--", "x"]"#,
            r#""wrap", "--env", "A", "--", "x"]"#,
        ] {
            assert!(with_flags.contains(expected), "{with_flags}");
        }
        let both = amend(
            text,
            Format::Json,
            TABLES,
            &of_all(amendment(Some("q"), &["--env", "A"])),
        )
        .unwrap();
        assert!(
            both.contains(r#""wrap", "--profile", "q", "--env", "A", "--", "x"]"#),
            "{both}"
        );
        let all = of_all(amendment(Some("q"), &[]));
        insta::assert_snapshot!(amend(text, Format::Json, TABLES, &all).unwrap(), @r#"
        {"s": {
          "a": {"command": "/bin/stockade", "args": ["mcp", "wrap", /* b */ "--name", "--profile", "--profile", "q", "--write", "/d", "--", "x"]},
          "b": {"command": "/bin/stockade", "args": ["mcp", "wrap", "--profile=q", "--", "x", "--profile", "p"]},
          "c": {"command": "/bin/stockade", "args": ["mcp", "wrap", "--profile", "q", "--", "x"]},
          "d": {"command": "/bin/stockade", "args": ["run", "--profile", "p", "x"]}
        }}
        "#);
    }

    #[test]
    fn line_ends_stay() {
        let text = "{\r\n\t\"s\": {\r\n\t\t\"a\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}\r\n";
        let new = wrapped_text(text, Format::Json);
        assert_eq!(new.matches("\r\n").count(), new.matches('\n').count());
    }

    #[test]
    fn only_what_wrap_started_is_taken_back() {
        let at = |args: &[&str]| command_at(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            at(&["mcp", "wrap", "--profile", "--", "--llm", "--a=b", "--", "npx"]),
            Some(7)
        );
        for none in [
            &["mcp", "wrap", "--"][..],
            &["mcp", "wrap", "npx"],
            &["mcp", "wrap", "--profile"],
        ] {
            assert_eq!(at(none), None, "{none:?}");
        }
    }
}
