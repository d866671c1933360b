//! The profile to propose for a server: from a table of well-known servers, each row with its reason.
//!
//! A proposal is shown before it is written. It never grants more than the server's line names, and no whole home.

use std::path::Path;

use crate::clients::Scope;
use crate::servers::Program;

/// The profile of a server that isn't in the table.
const USUAL: &str = "mcp-standard";

/// What a server would run under, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The profile.
    pub profile: &'static str,
    /// Grants beside it.
    pub grants: Vec<String>,
    /// The reason.
    pub why: String,
}

/// What a well-known server needs beside its profile.
enum Needs {
    /// Nothing.
    Nothing,
    /// The directories that its line names.
    Directories,
    /// The directory of the file that this variable names: it is written under another name, and renamed.
    FileOf(&'static str),
    /// The file behind this option, and those that SQLite keeps beside it.
    Database(&'static str),
    /// The directory behind this option.
    Repository(&'static str),
    /// These hosts.
    Hosts(&'static [&'static str]),
    /// The host of the URL that its line names.
    HostOfUrl(&'static [&'static str]),
    /// Every host.
    EveryHost,
}

/// A server: its package, the command of it or its module, the profile, what it needs, and why.
type Row = (&'static [&'static str], &'static str, Needs, &'static str);

const KNOWN: &[Row] = &[
    (
        &["@modelcontextprotocol/server-filesystem", "mcp-server-filesystem"],
        "filesystem",
        Needs::Directories,
        "works on the directories that its line names",
    ),
    (
        &["@modelcontextprotocol/server-memory", "mcp-server-memory"],
        "minimal",
        Needs::FileOf("MEMORY_FILE_PATH"),
        "keeps what it is told in one file, and writes it anew beside it",
    ),
    (
        &[
            "@modelcontextprotocol/server-sequential-thinking",
            "mcp-server-sequential-thinking",
        ],
        "minimal",
        Needs::Nothing,
        "computes only",
    ),
    (
        &["@modelcontextprotocol/server-everything", "mcp-server-everything"],
        "minimal",
        Needs::Nothing,
        "shows the protocol, and needs no file and no host",
    ),
    (&["mcp-server-time"], "minimal", Needs::Nothing, "computes only"),
    (
        &["mcp-server-fetch"],
        "minimal",
        Needs::EveryHost,
        "fetches pages of any host, and needs no file",
    ),
    (
        &["mcp-server-git"],
        "workspace",
        Needs::Repository("--repository"),
        "reads and changes the repository that its line names",
    ),
    (
        &["mcp-server-sqlite"],
        "minimal",
        Needs::Database("--db-path"),
        "works on one database",
    ),
    (
        &[
            "@modelcontextprotocol/server-github",
            "mcp-server-github",
            "github-mcp-server",
        ],
        "minimal",
        Needs::Hosts(&["api.github.com", "*.githubusercontent.com"]),
        "calls GitHub, and needs no file",
    ),
    (
        &[
            "@modelcontextprotocol/server-brave-search",
            "@brave/brave-search-mcp-server",
        ],
        "minimal",
        Needs::Hosts(&["api.search.brave.com"]),
        "calls one search engine",
    ),
    (
        &["@modelcontextprotocol/server-slack", "mcp-server-slack"],
        "minimal",
        Needs::Hosts(&["slack.com", "*.slack.com"]),
        "calls Slack, and needs no file",
    ),
    (
        &["@modelcontextprotocol/server-postgres", "mcp-server-postgres"],
        "minimal",
        Needs::HostOfUrl(&["postgres", "postgresql"]),
        "connects to the database that its line names",
    ),
    (
        &[
            "@playwright/mcp",
            "@modelcontextprotocol/server-puppeteer",
            "chrome-devtools-mcp",
        ],
        USUAL,
        Needs::Nothing,
        "starts a browser, which has to be told to do without a sandbox of its own",
    ),
];

/// Programs that fetch a package and start it, with the word that says so where the program does other things too.
const RUNNERS: &[(&str, Option<&str>)] = &[
    ("npx", None),
    ("bunx", None),
    ("uvx", None),
    ("npm", Some("exec")),
    ("pnpm", Some("dlx")),
    ("yarn", Some("dlx")),
    ("bun", Some("x")),
    ("uv", Some("tool")),
    ("pipx", Some("run")),
];

/// Programs whose servers run in a container that another process starts.
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];

/// Where the machine keeps them: a file of a project may have their names too.
const OF_MACHINE: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin", "/snap/bin"];

/// Whether the program only asks an engine to start the server elsewhere, where nothing of a profile holds.
pub fn starts_elsewhere(program: &Program) -> bool {
    let path = Path::new(&program.command);
    let directory = path.parent().unwrap_or(Path::new(""));
    let is_of_machine =
        program.command == program.file_name() || OF_MACHINE.iter().any(|of| directory == Path::new(of));
    is_of_machine && CONTAINERS.contains(&program.file_name())
}

/// The proposal for a program.
pub fn propose(program: &Program, scope: Scope, home: &Path) -> Proposal {
    let known = KNOWN
        .iter()
        .find_map(|row| package_at(program, row.0).map(|at| (row, at)));
    let Some((&(_, profile, ref needs, why), at)) = known else {
        return Proposal {
            profile: USUAL,
            grants: Vec::new(),
            why: "isn't one that Stockade knows: reads all but secrets, writes to /tmp, reaches every host".into(),
        };
    };
    let rest = program.words().split_off(at + 1);
    let found = Grants { scope, home }.of(needs, &rest, program);
    match found {
        None => Proposal {
            profile: USUAL,
            grants: Vec::new(),
            why: format!("{why}, which can't be told from its line"),
        },
        // It has to reach the registry, whose host only its own configuration says.
        Some(grants) if is_fetched(program) => Proposal {
            profile: USUAL,
            grants: grants
                .into_iter()
                .filter(|(flag, _)| *flag == "--write")
                .flat_map(words)
                .collect(),
            why: match profile {
                USUAL => why.to_string(),
                _ => format!("{why}; once it is installed, `{profile}` is enough"),
            },
        },
        Some(grants) => Proposal {
            profile,
            grants: grants.into_iter().flat_map(words).collect(),
            why: why.to_string(),
        },
    }
}

fn words((flag, value): (&str, String)) -> [String; 2] {
    [flag.to_string(), value]
}

fn is_fetched(program: &Program) -> bool {
    let name = program.file_name();
    let is_runner = |(runner, task): &(&str, Option<&str>)| {
        *runner == name && task.is_none_or(|task| program.args.iter().any(|word| word == task))
    };
    RUNNERS.iter().any(is_runner)
}

/// The word of a line that names one of these packages: the package itself, its command, a path in it, or its module.
fn package_at(program: &Program, names: &[&str]) -> Option<usize> {
    let words = program.words();
    words.iter().enumerate().position(|(at, word)| {
        let is_module = at > 0 && words[at - 1] == "-m";
        names.iter().any(|name| match is_module {
            true => name.replace('-', "_") == *word,
            false => is_package(word, name),
        })
    })
}

fn is_package(word: &str, name: &str) -> bool {
    let without_version = match word.get(1..).and_then(|rest| rest.find(['@', '='])) {
        Some(at) => &word[..=at],
        None => word,
    };
    if without_version == name {
        return true;
    }
    word.starts_with('/') && {
        let in_package = word
            .split_once("/node_modules/")
            .is_some_and(|(_, rest)| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')));
        in_package || word.rsplit('/').next() == Some(name)
    }
}

/// What of a line may become a grant.
struct Grants<'p> {
    scope: Scope,
    home: &'p Path,
}

type Grant = (&'static str, String);

impl Grants<'_> {
    /// The grants for a need; `None` if the line doesn't say what they would be.
    fn of(&self, needs: &Needs, rest: &[&str], program: &Program) -> Option<Vec<Grant>> {
        match needs {
            Needs::Nothing => Some(Vec::new()),
            Needs::EveryHost => Some(vec![("--net", "all".into())]),
            Needs::Hosts(hosts) => Some(hosts.iter().map(|host| ("--host", host.to_string())).collect()),
            Needs::HostOfUrl(schemes) => rest.iter().find_map(|word| host_of(word, schemes)),
            Needs::Directories => {
                let directories = rest.iter().filter(|word| !word.starts_with('-'));
                let directories: Option<Vec<Grant>> = directories.map(|word| self.write(word)).collect();
                let mut directories = directories.filter(|directories| !directories.is_empty())?;
                // A client may start it in a home, which is no root by itself.
                let first = Some(&directories[0].1).filter(|first| first.starts_with('/')).cloned();
                directories.extend(first.map(|first| ("--root", first)));
                Some(directories)
            }
            Needs::FileOf(variable) => match program.variable(variable) {
                Some(file) => {
                    let directory = Path::new(file).parent().and_then(Path::to_str).unwrap_or_default();
                    // In a home, which is never granted, only a version that writes in place keeps anything.
                    Some(vec![self.write(directory).or_else(|| self.write(file))?])
                }
                None => Some(Vec::new()),
            },
            Needs::Database(option) => {
                let (_, file) = self.write(option_of(rest, option)?)?;
                let beside = ["", "-journal", "-wal", "-shm"];
                Some(beside.iter().map(|end| ("--write", format!("{file}{end}"))).collect())
            }
            Needs::Repository(option) => {
                let (_, directory) = self.write(option_of(rest, option)?)?;
                Some(vec![("--root", directory)])
            }
        }
    }

    /// A path that may be written: not `/`, a home or what is above it. In a project's file, which others share, none that
    /// this home is in.
    fn write(&self, word: &str) -> Option<Grant> {
        let path = match word.strip_prefix("~/") {
            Some(below) if self.scope == Scope::User => self.home.join(below).to_str()?.to_string(),
            Some(_) => return None,
            None => word.to_string(),
        };
        let is_steady = !Path::new(&path).components().any(|part| part.as_os_str() == "..");
        let is_narrow = path != "~" && !path.is_empty() && !self.home.starts_with(real(&path));
        (is_steady && is_narrow).then_some(("--write", path))
    }
}

/// The path with its links resolved, as far as it is there.
fn real(path: &str) -> std::path::PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

/// The value of an option: `--option VALUE` or `--option=VALUE`.
fn option_of<'w>(words: &[&'w str], option: &str) -> Option<&'w str> {
    words
        .iter()
        .enumerate()
        .find_map(|(at, word)| match word.strip_prefix(option)? {
            "" => words.get(at + 1).copied(),
            value => value.strip_prefix('='),
        })
}

/// The host and port of a URL with one of these schemes.
fn host_of(word: &str, schemes: &[&str]) -> Option<Vec<Grant>> {
    let (scheme, rest) = word.split_once("://")?;
    let authority = rest
        .split(['/', '?', '#'])
        .next()
        .filter(|_| schemes.contains(&scheme))?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if !host.chars().all(is_host) {
        return None;
    }
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let pattern = if has_port {
        host.to_string()
    } else {
        format!("{host}:5432")
    };
    Some(vec![("--host", pattern)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::servers::{Start, servers};

    fn proposed(entry: &str, scope: Scope) -> String {
        let text = format!("{{\"s\": {{\"x\": {entry}}}}}");
        let root = parse(&text, Format::Json).unwrap();
        let found = servers(&root, &[&["s"]], &text).unwrap();
        let Start::Program(program) = &found[0].start else {
            panic!("{found:?}");
        };
        let proposal = propose(program, scope, Path::new("/home/ada"));
        std::iter::once(proposal.profile.to_string())
            .chain(proposal.grants)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn line(words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        format!("{{\"command\": {:?}, \"args\": {:?}}}", words[0], &words[1..])
    }

    #[test]
    fn only_an_engine_of_the_machine_starts_a_server_elsewhere() {
        let elsewhere = |command: &str| {
            let text = format!("{{\"s\": {{\"x\": {{\"command\": {command:?}}}}}}}");
            let root = parse(&text, Format::Json).unwrap();
            let found = servers(&root, &[&["s"]], &text).unwrap();
            matches!(&found[0].start, Start::Program(program) if starts_elsewhere(program))
        };
        for command in ["docker", "/usr/bin/podman", "/usr/local/bin/docker"] {
            assert!(elsewhere(command), "{command}");
        }
        for command in ["./docker", "bin/docker", "/srv/p/docker", "/docker", "x"] {
            assert!(!elsewhere(command), "{command}");
        }
    }

    #[test]
    fn a_known_server_gets_what_it_needs() {
        for (words, expected) in [
            (
                "mcp-server-filesystem /srv/a ~/b",
                "filesystem --write /srv/a --write /home/ada/b --root /srv/a",
            ),
            (
                "node /x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js /srv/a",
                "filesystem --write /srv/a --root /srv/a",
            ),
            (
                "npx -y @modelcontextprotocol/server-filesystem@1.2 /srv/a",
                "mcp-standard --write /srv/a",
            ),
            (
                "python3 -m mcp_server_git --repository=/srv/r",
                "workspace --root /srv/r",
            ),
            ("mcp-server-git", "mcp-standard"),
            ("/opt/bin/mcp-server-time", "minimal"),
            ("uvx mcp-server-fetch", "mcp-standard"),
            ("mcp-server-fetch", "minimal --net all"),
            (
                "mcp-server-sqlite --db-path /srv/a.db",
                "minimal --write /srv/a.db --write /srv/a.db-journal --write /srv/a.db-wal --write /srv/a.db-shm",
            ),
            (
                "mcp-server-postgres postgresql://me:pw@db.example.com/x",
                "minimal --host db.example.com:5432",
            ),
            ("mcp-server-postgres postgres://[::1]:99/x", "minimal --host [::1]:99"),
            ("mcp-server-postgres postgres://a,b/x", "mcp-standard"),
            ("npx other", "mcp-standard"),
        ] {
            assert_eq!(proposed(&line(words), Scope::User), expected, "{words}");
        }
        for (file, granted) in [
            ("/srv/m/m.json", "/srv/m"),
            ("~/m/m.json", "/home/ada/m"),
            ("~/m.json", "/home/ada/m.json"),
        ] {
            let memory = format!(r#"{{"command": "mcp-server-memory", "env": {{"MEMORY_FILE_PATH": "{file}"}}}}"#);
            assert_eq!(proposed(&memory, Scope::User), format!("minimal --write {granted}"));
        }
    }

    #[test]
    fn no_proposal_writes_a_whole_home() {
        for directory in [
            "/",
            "/home",
            "/home/ada",
            "/home/ada/",
            "~",
            "/srv/../home/ada",
            "/home/ada/x/..",
        ] {
            for words in [
                "mcp-server-filesystem DIR",
                "npx -y @modelcontextprotocol/server-filesystem DIR",
            ] {
                let words = words.replace("DIR", directory);
                assert_eq!(proposed(&line(&words), Scope::User), "mcp-standard", "{words}");
            }
        }
        let words = "mcp-server-filesystem ~/b";
        assert_eq!(proposed(&line(words), Scope::Project), "mcp-standard");
    }
}
