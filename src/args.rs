//! The words of the command line, and nothing of what they do.

mod batch;
mod serve;

use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

pub use batch::Batch;
pub use serve::Serve;

use super::REFUSED;
use super::ask::Ask;
use super::help;
use super::hook_flags::HookTask;
use super::install::{McpInstall, McpStatus, McpUninstall};
use super::message::Failure;
use super::moment;
use super::values::{parse_agent, parse_last, parse_network, parse_port};
use stockade::ServedTo;
use stockade::{NetworkChoice, Shortfall, Trace};
use stockade_infer::Language;
use stockade_policy::policy::{Capabilities, Mode};
use stockade_policy::profile::{parse_count, parse_duration, parse_size};
use stockade_policy::real_path::Walked;
use stockade_report::approve::Unit;
use stockade_store::Level;

/// The parts of `run --help`.
const PLACE: &str = "Profile and place";
const GRANTS: &str = "Grants: what the run may do";
const LIMITS: &str = "Limits";
const QUESTIONS: &str = "Questions";
const RECORDS: &str = "Report and audit trail";
const ENFORCEMENT: &str = "Enforcement";

/// Runs untrusted programs inside named permission profiles that the Linux kernel enforces
#[derive(Debug, Parser)]
#[command(name = "stockade", version, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Task {
    /// Run a command inside a permission profile
    Run(Box<Run>),
    /// Run a script with the least that its source needs, or with the profile chosen for it
    Exec(Box<Run>),
    /// Run many jobs, each in a sandbox of its own: JSON lines in, JSON lines out
    ///
    /// Exit code 0: every job has an answer, 1: some have none.
    Batch(Box<Batch>),
    /// Run a command, observe it, and print the least profile that allows what it did
    ///
    /// The exit code is the command's own.
    Learn(Learn),
    /// Run a shell, for agents that can be given a shell, inside a permission profile
    ///
    /// Takes what `bash` takes: `-c LINE`, a script, `-s`, `-i`. The profile or agent is that of `[shell]` in your `config.toml`,
    /// else `workspace`.
    Shell(ConfinedShell),
    /// Show the questions of runs, and answer them
    Approvals(Approvals),
    /// List, show, check, test and compare profiles
    #[command(subcommand)]
    Profile(Profile),
    /// Read a script and print what `exec` would run it under
    Infer(Infer),
    /// List the scripts that `exec` remembers, and choose their profiles
    #[command(subcommand)]
    Script(ScriptTask),
    /// List and remove permanent grants
    #[command(subcommand)]
    Grant(Grant),
    /// Decide about a tool call of an agent before it is made
    ///
    /// Exit code 0: allowed, 1: denied, 3: a person has to confirm it.
    Check(Box<Check>),
    /// List the rules for tool calls, add to them and remove them
    #[command(subcommand)]
    Rules(Rules),
    /// Review a project's configuration, and trust it until it changes
    Trust(Trust),
    /// Model Context Protocol: confine servers, serve clients
    #[command(subcommand)]
    Mcp(McpTask),
    /// Judge and confine the tool calls of a coding agent, as its hook
    #[command(subcommand)]
    Hook(HookTask),
    /// Explain a run: how it ended, what was refused, and what would allow it
    Explain(Explain),
    /// Show and verify the audit trail
    #[command(subcommand)]
    Audit(Audit),
    /// Show what this machine can enforce
    Doctor(Doctor),
    /// Show the configuration that counts here, and where each line comes from
    #[command(subcommand)]
    Config(Config),
    /// List and remove the private caches of package managers
    #[command(subcommand)]
    Cache(Cache),
    /// Print a completion script for bash, zsh or fish
    Completions {
        /// bash, zsh or fish
        #[arg(value_name = "SHELL", value_parser = parse_shell)]
        shell: Shell,
    },
    /// Print this list, the help of a task, or a page of the documentation
    Help {
        /// Task or page
        #[arg(value_name = "TOPIC")]
        topic: String,
    },
    /// Write the manual pages
    #[command(hide = true)]
    ManPages {
        /// Directory to write to
        directory: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum McpTask {
    /// Run an MCP server inside a permission profile; its client notices nothing but refusals
    Wrap(Box<McpWrap>),
    /// List the servers that ran under `mcp wrap`
    List {
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Show which servers of MCP clients Stockade confines; exit code 1 if one runs unconfined
    Status(McpStatus),
    /// List a server's tools, and accept them as they were listed last; exit code 1 if one isn't accepted
    Tools(McpTools),
    /// Put `stockade mcp wrap` before the servers of an MCP client
    Install(McpInstall),
    /// Take `stockade mcp wrap` out of the settings of an MCP client
    Uninstall(McpUninstall),
    /// Serve an MCP client on standard input and output: tools that run commands and scripts inside profiles
    Serve(Serve),
}

#[derive(Debug, Args)]
#[command(mut_arg("profile", |argument| argument.help(PROFILE_OF_SERVER)))]
#[command(mut_arg("dry_run", |argument| argument.hide(true)))]
pub struct McpWrap {
    /// Name of the server: for `[mcp.servers.NAME]` of `config.toml`, questions and its list of tools [default: from the command]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub run: Run,
}

const PROFILE_OF_SERVER: &str =
    "Profile, by name or file [default: the server's of `config.toml`, else the agent's, else mcp-standard]";

#[derive(Debug, Args)]
pub struct McpTools {
    /// Server, by its name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Accept the tools as they were listed last
    #[arg(long, conflicts_with = "json")]
    pub accept: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Args)]
pub struct Run {
    /// Profile, by name or file [default: the agent's, else that of `[run]` in `config.toml`, else minimal]
    #[arg(long, value_name = "NAME|FILE", help_heading = PLACE)]
    pub profile: Option<String>,
    /// Hash that the profile has to have: that of the one that the caller has judged
    #[arg(long, value_name = "HASH", help_heading = PLACE, hide = true)]
    pub profile_digest: Option<String>,
    /// The command's words are another party's than the user's, whose runs write here: no program or script is given for being
    /// named by its path, or for what the search path finds here
    #[arg(long, value_name = "PATH", help_heading = PLACE, hide = true)]
    pub foreign_tree: Vec<PathBuf>,
    /// Real path that the root has to have: that of the one that the caller has read something for
    #[arg(long, value_name = "PATH", help_heading = PLACE, hide = true)]
    pub real_root: Option<PathBuf>,
    /// Keep the run from changing a file, whatever grants that: the caller reads it before another run
    #[arg(long, value_name = "PATH", help_heading = PLACE, hide = true)]
    pub guard: Vec<PathBuf>,
    /// Root of the run: `./` in profiles, and where the command starts [default: current directory]
    #[arg(long, value_name = "DIR", help_heading = PLACE)]
    pub root: Option<PathBuf>,
    /// Agent that the run acts for: worker, judge, planner, leader, mcp, or one of `config.toml`
    ///
    /// Applies the profile, capabilities, mode and scope that are configured for it. Questions name the agent; grants and the
    /// audit trail keep it.
    #[arg(long, value_name = "NAME", value_parser = parse_agent, help_heading = PLACE)]
    pub agent: Option<String>,
    /// Tool of `config.toml` that the run is: applies its profile, its commands and its capabilities
    #[arg(long, value_name = "NAME", help_heading = PLACE, hide_short_help = true)]
    pub tool: Option<String>,
    /// Allow reading a file or a tree
    #[arg(long, value_name = "PATH", help_heading = GRANTS)]
    pub read: Vec<PathBuf>,
    /// Allow reading, writing, creating and deleting in a tree
    #[arg(long, value_name = "PATH", help_heading = GRANTS)]
    pub write: Vec<PathBuf>,
    /// Allow writing a file that is guarded, or those of a directory, such as `.vscode/settings.json`
    ///
    /// Editors, agents and debuggers obey such files by themselves, so no other flag opens them. Never for secrets, nor for what
    /// git obeys in a `.git`.
    #[arg(long, value_name = "PATH", help_heading = GRANTS)]
    pub write_guarded: Vec<PathBuf>,
    /// Allow starting the programs of a tree
    #[arg(long, value_name = "PATH", help_heading = GRANTS)]
    pub exec: Vec<PathBuf>,
    /// Pass a variable of the caller, or set one
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = GRANTS)]
    pub env: Vec<OsString>,
    /// Close matching paths, whatever grants them: `**/…`, `./…`, `~/…` or absolute
    #[arg(long, value_name = "GLOB", help_heading = GRANTS)]
    pub deny: Vec<String>,
    /// Allow connecting to a host: `api.example.com`, `*.example.com`, `10.0.0.0/8:5432`; without a port 80 and 443
    #[arg(long, value_name = "PATTERN", help_heading = GRANTS)]
    pub host: Vec<String>,
    /// Allow listening on a loopback port; 0 allows one that the kernel chooses
    #[arg(long, value_name = "PORT", value_parser = parse_port, help_heading = GRANTS)]
    pub listen: Vec<u16>,
    /// Override the profile's network: `none` or `all`
    #[arg(long, value_name = "none|all", value_parser = parse_network, help_heading = GRANTS)]
    pub net: Option<NetworkChoice>,
    /// Allow connecting to the language models of `models.toml`, and pass the variables that hold their keys
    #[arg(long, help_heading = GRANTS)]
    pub llm: bool,
    /// Allow connecting to a unix socket, or to the sockets of a directory; powerful ones have to be named one by one
    #[arg(long, value_name = "PATH", help_heading = GRANTS)]
    pub socket: Vec<PathBuf>,
    /// Narrow the profile to these capabilities: READ, WRITE, DELETE, EXECUTE, SPAWN, LLM, NET, or NONE
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = GRANTS,
        hide_short_help = true
    )]
    pub cap: Vec<Capabilities>,
    /// How file changes are treated: manual (each is asked), accept-edits (granted ones are free), bypass (the agent's scope
    /// doesn't apply)
    #[arg(long, value_name = "MODE", help_heading = GRANTS, hide_short_help = true)]
    pub mode: Option<Mode>,
    /// End the run after this time (exit code 124): 500ms, 30s, 5m, 2h
    #[arg(long, alias = "timeout", value_name = "TIME", value_parser = parse_duration, help_heading = LIMITS)]
    pub time_limit: Option<Duration>,
    /// Processor time of all processes together
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = LIMITS, hide_short_help = true)]
    pub cpu_limit: Option<Duration>,
    /// Memory of all processes together: 256M, 2G
    #[arg(long, value_name = "SIZE", value_parser = limited_size, help_heading = LIMITS)]
    pub memory_limit: Option<u64>,
    /// Number of processes and threads at once
    #[arg(long, value_name = "COUNT", value_parser = parse_count, help_heading = LIMITS, hide_short_help = true)]
    pub process_limit: Option<u64>,
    /// Number of open files of each process
    #[arg(long, value_name = "COUNT", value_parser = parse_count, help_heading = LIMITS, hide_short_help = true)]
    pub open_files_limit: Option<u64>,
    /// Size of each file that the run writes
    #[arg(long, value_name = "SIZE", value_parser = limited_size, help_heading = LIMITS, hide_short_help = true)]
    pub file_size_limit: Option<u64>,
    /// Growth of the trees that the run may write
    #[arg(long, value_name = "SIZE", value_parser = limited_size, help_heading = LIMITS, hide_short_help = true)]
    pub disk_limit: Option<u64>,
    /// Bytes of output and error together; pipes both through Stockade
    #[arg(long, value_name = "SIZE", value_parser = limited_size, help_heading = LIMITS, hide_short_help = true)]
    pub output_limit: Option<u64>,
    /// Where to ask for refused access, while the program waits: auto, terminal, socket, command=TEXT, fd:N, never
    ///
    /// `socket` asks at `stockade approvals`; `command=TEXT` asks the program that `sh` starts with this text; `fd:N` asks the
    /// caller, over a unix socket; `auto` asks at the terminal if there is one, else at `stockade approvals`.
    #[arg(long, value_name = "WHERE", default_value = "auto", help_heading = QUESTIONS)]
    pub ask: Ask,
    /// How long a question stays open [default: 60s; 20s at `stockade approvals`]
    ///
    /// The run's time limit doesn't include this time. `stockade approvals` has less, since the clients of servers wait only a
    /// short time for an answer.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = QUESTIONS, hide_short_help = true)]
    pub ask_timeout: Option<Duration>,
    /// Ask the program of `--ask fd:N` about each access: it limits its questions to people itself
    ///
    /// No answer counts for another access then, and there is no limit on the number of questions.
    #[arg(long, help_heading = QUESTIONS, hide = true)]
    pub ask_each: bool,
    /// Ask for single grants, or for the lowest profile that allows the access
    #[arg(long, value_name = "grants|profile", value_parser = parse_unit, default_value = "grants", help_heading = QUESTIONS, hide_short_help = true)]
    pub escalate: Unit,
    /// Write the report of the run as JSON
    #[arg(long, value_name = "FILE|fd:N", help_heading = RECORDS)]
    pub report: Option<OsString>,
    /// Print Stockade's own messages to this descriptor, in place of standard error
    #[arg(long, value_name = "fd:N", value_parser = parse_descriptor, help_heading = RECORDS, hide_short_help = true)]
    pub messages: Option<i32>,
    /// Print what the run would be granted, and from where; start nothing
    #[arg(long, help_heading = RECORDS)]
    pub dry_run: bool,
    /// Say nothing but refusals, questions and failures
    #[arg(short, long, help_heading = RECORDS, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say what Stockade does, stage by stage, and how long each takes
    #[arg(short, long, help_heading = RECORDS)]
    pub verbose: bool,
    /// Keep no record of the script
    #[arg(long, help_heading = RECORDS, hide_short_help = true)]
    pub forget: bool,
    /// Write each refusal, question, answer and grant as a line of JSON, while the run lives
    ///
    /// As `schemas/events.schema.json` says: the rows of the audit trail, and each refusal with the flag that would allow it.
    #[arg(long, value_name = "fd:N", help_heading = RECORDS, hide_short_help = true)]
    pub events: Option<String>,
    /// What the audit trail records [default: denials; all with `--agent`]
    ///
    /// Nothing (off); runs, refusals, questions and grants (denials); or also each allowed access to a file or host (all).
    #[arg(long, value_name = "off|denials|all", value_parser = parse_level, help_heading = RECORDS)]
    pub audit: Option<Level>,
    /// Who judges opens that only read: the kernel alone wherever it can, at native speed (auto), or the supervisor (exact)
    ///
    /// Refusals are reported, and asked about, with both.
    #[arg(long, value_name = "auto|exact", value_parser = parse_trace, default_value = "auto", help_heading = ENFORCEMENT)]
    pub trace: Trace,
    /// What becomes of the run when somebody else makes a secret where it reads by itself: it is told, or ended
    #[arg(long, value_name = "tell|end", value_enum, default_value = "tell", help_heading = ENFORCEMENT, hide_short_help = true)]
    pub late_secrets: LateSecrets,
    /// DNS server that looks granted names up, in place of the machine's
    #[arg(long, value_name = "IP[:PORT]", value_parser = parse_resolver, help_heading = ENFORCEMENT, hide_short_help = true)]
    pub resolver: Option<SocketAddr>,
    /// Run even if this can't be enforced here: supervisor, network, signals
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = ENFORCEMENT, hide_short_help = true)]
    pub accept_shortfall: Vec<Shortfall>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// The script that it runs, where `exec` runs it
    #[arg(skip)]
    pub script: Option<Script>,
    /// A flag of these that stands among the command's words, which no `--` set apart
    #[arg(skip)]
    pub stray_flag: Option<String>,
}

/// A script as `exec` read it.
#[derive(Debug, Clone)]
pub struct Script {
    /// The hash of its content and directory.
    pub hash: String,
    /// Its path as the user gave it.
    pub given: PathBuf,
    /// The walk to its real path, where it was read.
    pub way: Walked,
    /// The real path of the root that its text was read for.
    pub root: PathBuf,
    /// What it holds.
    pub content: Arc<[u8]>,
    /// What it may read since its text names that.
    pub reads: Vec<PathBuf>,
    /// What it may write since its text names that, and may be the first to make.
    pub writes: Vec<PathBuf>,
    /// Who is given this content.
    pub to_whom: ServedTo,
}

#[derive(Debug, Args)]
pub struct Infer {
    /// The script; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Language: python, javascript, typescript, shell [default: by the first line or the name]
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    pub lang: Option<Language>,
    /// Root that `./` means, in which the script would run [default: current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Serve as the confined process that parses scripts
    #[arg(long, hide = true)]
    pub reader: bool,
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum ScriptTask {
    /// List the scripts, the most recent first
    List {
        /// Only scripts that run with this profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Show a script's record, and what was approved for it
    Show {
        /// The script's file, or the beginning of its hash
        script: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Choose a script's profile
    Set {
        /// The script's file
        script: PathBuf,
        /// Profile, by name
        #[arg(long, value_name = "NAME")]
        profile: String,
        /// Record that the choice rests on observed runs, not on a review by a person
        #[arg(long)]
        observed: bool,
    },
    /// Remove a script's record, and what was approved for it
    #[command(alias = "forget")]
    Remove {
        /// The script's file, or the beginning of its hash
        script: String,
    },
}

#[derive(Debug, Args)]
pub struct Learn {
    /// Write the profile to this file, and name it after the file [default: standard output; the command's own output then
    /// goes to standard error]
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: Option<PathBuf>,
    /// Profile that the command runs under, by name or file; no question is asked
    #[arg(long, value_name = "NAME|FILE", default_value = "mcp-standard")]
    pub ceiling: String,
    /// Root of the run: `./` in profiles, and where the command starts [default: current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Name of the profile [default: the file's, else `learned`]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Compare what the script's source asks for with what the run used
    #[arg(long)]
    pub compare: bool,
    /// Print everything that was learnt as JSON; the command's own output goes to standard error
    #[arg(long)]
    pub json: bool,
    /// End the run after this time (exit code 124): 500ms, 30s, 5m, 2h
    #[arg(long, alias = "timeout", value_name = "TIME", value_parser = parse_duration)]
    pub time_limit: Option<Duration>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Profile {
    /// List all profiles
    List {
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Show what a profile means
    Show {
        /// Profile, by name or file
        name: String,
        /// Show absolute paths, as for a run from here
        #[arg(long)]
        resolved: bool,
        /// Root that `./` means [default: current directory]
        #[arg(long, value_name = "DIR", requires = "resolved")]
        root: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a profile of your own, from another one, with a comment for each line
    New {
        /// Name of the profile, and of its file in `~/.config/stockade/profiles`
        name: String,
        /// Profile that it extends
        #[arg(long, value_name = "NAME|FILE", default_value = "workspace")]
        from: String,
    },
    /// Print the paths that every profile closes: secrets, and files that are guarded from writing
    Secrets {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a profile for rules that are legal but unwise; exit code 1 if there are any
    Lint {
        /// Profile, by name or file
        name: String,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Ask the policy about the `[tests]` of profiles; exit code 1 if one fails
    Test {
        /// Profiles, by name or file [default: all]
        #[arg(value_name = "NAME|FILE")]
        names: Vec<String>,
        /// Use this root and your home in place of empty ones
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare two profiles: `+` the second allows more, `-` it allows less; exit code 1 if they differ
    Diff {
        /// The first profile, by name or file
        a: String,
        /// The second profile, by name or file
        b: String,
        /// Root that `./` means [default: current directory]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of profiles, for editors
    Schema,
}

#[derive(Debug, Args)]
pub struct ConfinedShell {
    /// Profile, by name or file [default: that of `[shell]` in `config.toml`, else its agent's, else workspace]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Agent that the shell acts for
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    pub agent: Option<String>,
    /// The shell's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Clone, Args)]
pub struct Check {
    /// Agent that makes the call; without one the rules alone decide
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    pub agent: Option<String>,
    /// Check a call of this tool
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub tool: Option<String>,
    /// Check loading this skill by the tool `skill_load`
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub skill: Option<String>,
    /// Check an access to a path or host
    #[arg(long, value_name = "ACTION", value_parser = ["read", "write", "delete", "execute", "connect"])]
    pub action: Option<String>,
    /// Path of `--action`
    #[arg(long, value_name = "PATH", requires = "action", conflicts_with = "host")]
    pub path: Option<PathBuf>,
    /// Host of `--action connect`: `api.example.com`, `10.0.0.1:5432`
    #[arg(long, value_name = "HOST", requires = "action")]
    pub host: Option<String>,
    /// File with more rules, TOML or JSON: one more layer
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Root that `./` means [default: current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Directory that the command starts in, or that the path is relative to [default: the root]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Deny what would need a confirmation
    #[arg(long)]
    pub no_ask: bool,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    /// Read calls from standard input, one JSON object a line, and print a JSON object for each
    #[arg(long, conflicts_with_all = ["tool", "skill", "action", "path", "host", "json", "command"])]
    pub batch: bool,
    /// What the audit trail records: nothing (off), refusals and questions (denials), or every decision (all)
    #[arg(long, value_name = "off|denials|all", value_parser = parse_level, default_value = "all")]
    pub audit: Level,
    /// The tool's command line: one string for a shell, or words
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Audit {
    /// List the newest records, one a line
    List {
        /// Only records of this run
        #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
        run: Option<String>,
        /// Number of records [default: 50]
        #[arg(long, value_name = "COUNT", value_parser = parse_count)]
        limit: Option<u64>,
        /// Only what was refused
        #[arg(long)]
        denied: bool,
        /// Only records since a date (2026-11-22, 2026-11-22T08:30:00Z) or a time ago (30m, 12h)
        #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
        since: Option<u64>,
        /// Stay, and print each new record as it comes; Ctrl-C ends it
        #[arg(short, long)]
        follow: bool,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Show all records of a run
    Show {
        /// The run's id
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        run: String,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Write records as one page of HTML to look at in a browser: timeline, paths, hosts, processes, questions, rules
    ///
    /// Without a run and `--since` the page has all runs. It holds the newest 500,000 records at most.
    Report {
        /// HTML, one file that needs no other; required, the only format
        #[arg(long, required = true)]
        html: bool,
        /// The run's id
        #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "since")]
        run: Option<String>,
        /// Only records since a date (2026-11-22, 2026-11-22T08:30:00Z) or a time ago (30m, 12h)
        #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
        since: Option<u64>,
        /// File to write, never through a link [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Verify the hash chain: report the first altered, removed or moved record; exit code 1 if there is one
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write records as JSON, one a line
    Export {
        /// As Stockade's own JSON (`schemas/audit.schema.json`)
        #[arg(long, required_unless_present = "otel")]
        jsonl: bool,
        /// As log records of OpenTelemetry (OTLP/JSON), which its collectors read from files
        #[arg(long, conflicts_with = "jsonl")]
        otel: bool,
        /// Only records since a date (2026-11-22, 2026-11-22T08:30:00Z) or a time ago (30m, 12h)
        #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
        since: Option<u64>,
    },
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Grant {
    /// List permanent grants
    List {
        /// Include removed grants
        #[arg(long)]
        all: bool,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Remove a grant: it counts no more
    #[command(alias = "revoke")]
    Remove {
        /// Id of the grant, from `stockade grant list`
        id: String,
    },
    /// Print all grants as JSON, one a line
    Export,
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Cache {
    /// List the caches with their sizes, the most recent first
    List {
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Remove caches that are not in use
    #[command(alias = "forget")]
    Remove {
        /// Names or their beginnings, from `stockade cache list`
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<String>,
        /// Remove all caches
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Config {
    /// Show the configuration that counts: built in, yours, the project's
    Show {
        /// Show where each line comes from, and lines that don't count
        #[arg(long)]
        origin: bool,
        /// The project's root [default: current directory]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Print JSON, one line each, with where it comes from and whether it counts
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of `config.toml`
    Schema,
}

#[derive(Debug, Args)]
pub struct Trust {
    /// The project's root [default: current directory]
    #[arg(value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Trust the present content without a question
    #[arg(long, conflicts_with_all = ["diff", "remove", "list"])]
    pub yes: bool,
    /// Trust the content if it has this hash
    #[arg(long, value_name = "HASH", conflicts_with_all = ["diff", "remove", "list"])]
    pub hash: Option<String>,
    /// Show what the content allows beyond what was trusted before; exit code 1 if it isn't trusted
    #[arg(long, conflicts_with_all = ["remove", "list"])]
    pub diff: bool,
    /// Remove the trust
    #[arg(long, alias = "revoke", conflicts_with = "list")]
    pub remove: bool,
    /// List trusted projects
    #[arg(long, conflicts_with = "root")]
    pub list: bool,
    /// Print the list as JSON, one a line
    #[arg(long, requires = "list")]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
#[command(defer = true, disable_help_subcommand = true, subcommand_value_name = "TASK")]
pub enum Rules {
    /// List the rules that count, in the order of evaluation, with their origins
    List {
        /// The project's root [default: current directory]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Add a rule that allows a call to the project's configuration
    Remember(RuleOf),
    /// Remove such a rule
    #[command(alias = "forget")]
    Remove(RuleOf),
}

#[derive(Debug, Args)]
pub struct RuleOf {
    /// The tool
    #[arg(long, value_name = "NAME")]
    pub tool: String,
    /// The skill, for `skill_load`
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// The project's root [default: current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The command line, for `bash`
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Approvals {
    /// Stay when no question is left; on a terminal as a full-screen list
    #[arg(long)]
    pub watch: bool,
    /// Print plain lines, on a terminal too
    #[arg(long)]
    pub plain: bool,
    /// Print a line of JSON for each question and its outcome
    #[arg(long, conflicts_with = "plain")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Report of `stockade run --report` (`-` is standard input), or a run's id [default: the last run of this directory]
    #[arg(value_name = "FILE|RUN")]
    pub what: Option<PathBuf>,
    /// Explain the NTH last run of this directory alone: 1 is the newest, 2 the one before it
    #[arg(long, value_name = "NTH", value_parser = parse_last, default_value = "1", conflicts_with = "what")]
    pub last: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write one page of HTML to look at in a browser
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
    /// File that `--html` writes, never through a link [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "html")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Check {
    /// A check of a caller within this program: without flags but this one.
    pub fn of_level(audit: Level) -> Check {
        Check {
            agent: None,
            tool: None,
            skill: None,
            action: None,
            path: None,
            host: None,
            rules: None,
            root: None,
            cwd: None,
            no_ask: false,
            json: false,
            batch: false,
            audit,
            command: Vec::new(),
        }
    }
}

impl Arguments {
    /// Reads this process's arguments. Help and version are printed and end the process with 0, and so does help where a task
    /// is missing.
    pub fn read() -> Result<Arguments, Failure> {
        let words = help::asked(std::env::args_os().collect());
        let read = match Task::of_right_words(words.iter().skip(1).cloned()) {
            Some(task) => Ok(Arguments { task }),
            None => Arguments::of(&words),
        };
        let mut arguments = read.map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let _ = write!(std::io::stdout(), "{}", error.render());
                std::process::exit(0)
            }
            _ => of_words(&error.to_string(), &words),
        })?;
        if let Task::Run(run) | Task::Exec(run) = &mut arguments.task {
            run.stray_flag = stray_flag(&words, &run.command);
        }
        Ok(arguments)
    }
}

/// A message of clap's as one of ours: its first paragraph, and what it says about the way out as the hint.
fn of_words(text: &str, words: &[OsString]) -> Failure {
    let said = text.strip_prefix("error: ").unwrap_or(text);
    let (message, rest) = said.split_once("\n\n").unwrap_or((said, ""));
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let marked = |mark: &str| rest.lines().find_map(|line| line.trim_start().strip_prefix(mark));
    let help = || match task_of(words) {
        Some(task) => format!("`stockade {task} --help` shows what it takes"),
        None => "`stockade --help` lists the tasks".to_owned(),
    };
    let usage = || {
        marked("Usage: ")
            .map(|usage| format!("`{usage}`"))
            .filter(|_| message.contains("required") || message.starts_with("unexpected argument"))
    };
    // Clap proposes to pass an unknown flag as a value, which hardly one is.
    let tip = marked("tip: ").filter(|tip| !tip.starts_with("to pass "));
    let hint = marked("hint: ").or(tip).map(backticked);
    Failure::text(REFUSED, backticked(&message).replace("subcommand", "task")).hint(match hint {
        Some(hint) => hint.replace("subcommand", "task"),
        None => usage().unwrap_or_else(help),
    })
}

/// The task that the words name, as far as there is one.
fn task_of(words: &[OsString]) -> Option<String> {
    let mut command = Arguments::defined();
    let mut names = Vec::new();
    for word in words.iter().skip(1) {
        let Some(task) = word.to_str().and_then(|word| command.find_subcommand(word)) else {
            break;
        };
        names.push(task.get_name().to_owned());
        command = task.clone();
    }
    (!names.is_empty()).then(|| names.join(" "))
}

/// Literals in backticks, which clap has in single quotes.
fn backticked(text: &str) -> String {
    let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut before = None;
    let mut after = text.chars().skip(1).chain([' ']);
    let marked = text.chars().map(|c| {
        let is_quote = c == '\'' && !(is_inner(before) && is_inner(after.clone().next()));
        (before, _) = (Some(c), after.next());
        if is_quote { '`' } else { c }
    });
    marked.collect()
}

/// The first of a command's words that is a flag of `run`, if no `--` stands before the command, which is the end of all words.
fn stray_flag(words: &[OsString], command: &[OsString]) -> Option<String> {
    let before = words.len().checked_sub(command.len() + 1)?;
    if words[before] == "--" {
        return None;
    }
    let flag = |word: &OsString| Some(word.to_str()?.strip_prefix("--")?.to_string());
    let mut flags = command.iter().skip(1).filter_map(flag).peekable();
    flags.peek()?;
    let known = Run::augment_args(Command::new("run"));
    let is_known = |flag: &String| known.get_arguments().any(|argument| argument.get_long() == Some(flag));
    flags.find(is_known).map(|flag| format!("--{flag}"))
}

impl Arguments {
    /// All tasks. The arguments of each are defined when it is called: all together take longer than reading any line.
    pub fn defined() -> Command {
        Arguments::command().mut_subcommands(|task| match task.get_name() {
            "run" => task.defer(run),
            "exec" => task.defer(exec),
            "batch" => task.defer(batch::batch),
            _ => task,
        })
    }

    /// With the list of tasks in groups, where help is asked for.
    fn of(words: &[OsString]) -> Result<Arguments, clap::Error> {
        let mut command = Arguments::defined().subcommand_value_name("TASK");
        let error = match command.try_get_matches_from_mut(words) {
            Ok(mut matches) => {
                let read = Arguments::from_arg_matches_mut(&mut matches);
                return read.map_err(|error| error.format(&mut command));
            }
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let grouped = help::grouped(Arguments::defined()).try_get_matches_from(words);
                Err(grouped.err().unwrap_or(error))
            }
            _ => Err(error),
        }
    }
}

fn run(command: Command) -> Command {
    Run::augment_args(command).mut_arg("forget", |arg| arg.hide(true))
}

fn exec(command: Command) -> Command {
    let profile = "Profile, by name or file; a name is remembered for this content [default: inferred]";
    Run::augment_args(command)
        .mut_arg("command", |arg| {
            arg.value_name("SCRIPT").help("The script and its arguments")
        })
        .mut_arg("profile", |arg| arg.help(profile))
}

impl Task {
    /// The tasks that are asked for most, each by its own arguments alone: those of all tasks take longer to put together than
    /// to read. Whatever isn't right is left to them, for their message.
    fn of_right_words(mut words: impl Iterator<Item = OsString>) -> Option<Task> {
        let task = words.next()?;
        match task.to_str()? {
            "run" => alone(Run::augment_args, words).map(|run| Task::Run(Box::new(run))),
            "exec" => alone(Run::augment_args, words).map(|run| Task::Exec(Box::new(run))),
            "check" => alone(Check::augment_args, words).map(|check| Task::Check(Box::new(check))),
            "hook" => alone(HookTask::augment_subcommands, words).map(Task::Hook),
            _ => None,
        }
    }
}

impl Run {
    /// The words of `run`, if all are right.
    pub fn of_right_words(mut words: impl Iterator<Item = OsString>) -> Option<Run> {
        words.next().filter(|task| task == "run")?;
        alone(Run::augment_args, words)
    }
}

/// Reads the arguments of one task, if all are right.
fn alone<T: FromArgMatches>(augment: fn(Command) -> Command, words: impl Iterator<Item = OsString>) -> Option<T> {
    let command = augment(Command::new("stockade").no_binary_name(true));
    let mut matches = command.try_get_matches_from(words).ok()?;
    T::from_arg_matches_mut(&mut matches).ok()
}

fn parse_shell(text: &str) -> Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("it is `bash`, `zsh` or `fish`".into()),
    }
}

/// What becomes of a run that could read a secret made meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LateSecrets {
    /// It goes on, and the person is told.
    Tell,
    /// It is ended.
    End,
}

fn parse_trace(text: &str) -> Result<Trace, String> {
    match text {
        "auto" => Ok(Trace::Marked),
        "exact" => Ok(Trace::Exact),
        _ => Err("it is `auto` or `exact`".into()),
    }
}

fn parse_unit(text: &str) -> Result<Unit, String> {
    match text {
        "grants" => Ok(Unit::Grants),
        "profile" => Ok(Unit::Profile),
        _ => Err("it is `grants` or `profile`".into()),
    }
}

fn parse_level(text: &str) -> Result<Level, String> {
    text.parse::<Level>().map_err(|error| error.to_string())
}

/// `fd:3`: a descriptor that the caller opened for Stockade, beside the standard streams.
fn parse_descriptor(text: &str) -> Result<i32, String> {
    let number = text.strip_prefix("fd:").and_then(|number| number.parse().ok());
    number
        .filter(|number| *number > 2)
        .ok_or_else(|| "it is `fd:3`, with `3>messages.txt` for example".into())
}

fn parse_language(text: &str) -> Result<Language, String> {
    Language::named(text).ok_or_else(|| "it is `python`, `javascript`, `typescript` or `shell`".into())
}

fn limited_size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}\n\nhint: {hint}"),
        None => error.to_string(),
    })
}

/// `9.9.9.9`, `9.9.9.9:5353`, `2620:fe::fe`, `[2620:fe::fe]`, `[2620:fe::fe]:5353`.
fn parse_resolver(text: &str) -> Result<SocketAddr, String> {
    const DNS: u16 = 53;
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(text).parse::<IpAddr>();
    let server = address.map_or_else(|_| text.parse(), |address| Ok(SocketAddr::new(address, DNS)));
    match server {
        Ok(server) if server.port() != 0 && !server.ip().is_unspecified() => Ok(server),
        _ => Err("a DNS server's address, as in `9.9.9.9`, `9.9.9.9:5353` or `[2620:fe::fe]:53`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_is_an_address_with_or_without_a_port() {
        for (text, server) in [
            ("9.9.9.9", "9.9.9.9:53"),
            ("9.9.9.9:5353", "9.9.9.9:5353"),
            ("2620:fe::fe", "[2620:fe::fe]:53"),
            ("[2620:fe::fe]", "[2620:fe::fe]:53"),
            ("[2620:fe::fe]:5353", "[2620:fe::fe]:5353"),
        ] {
            assert_eq!(parse_resolver(text), Ok(server.parse().unwrap()), "{text}");
        }
        for text in [
            "",
            "dns.example.com",
            "9.9.9.9:0",
            "9.9.9.9:x",
            "0.0.0.0",
            "[9.9.9.9",
            "9.9.9",
        ] {
            assert!(parse_resolver(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_agent_has_a_name_of_one_line() {
        let longest = "ä".repeat(100);
        for name in ["coder", "my agent 2", &longest] {
            assert_eq!(parse_agent(name).as_deref(), Ok(name));
        }
        let too_long = "a".repeat(101);
        for name in ["", " ", "a\nb", "a\u{1b}[2J", "a\u{9b}2J", "a\u{7f}", &too_long] {
            assert!(parse_agent(name).is_err(), "{name:?}");
        }
        assert!(Arguments::try_parse_from(["stockade", "run", "--agent", "", "--", "true"]).is_err());
    }

    #[test]
    fn a_task_is_read_by_itself_as_among_all() {
        let lines = [
            "run",
            "run --",
            "run -- true",
            "run true -x --profile y",
            "run --profile workspace --read a --read b --env A=b -- sh -c x",
            "run --trace exact --time-limit 2s true",
            "run --trace quick true",
            "run --no-such true",
            "run --help",
            "exec true",
            "exec --profile minimal a.py x",
            "exec --forget a.py",
            "check",
            "check --tool bash -- ls -l",
            "check --json --agent a --cwd b --host c",
            "check --no-such",
            "hook",
            "hook claude-code",
            "hook cursor --event x",
            "hook install --for codex",
            "hook --help",
            "doctor",
            "--help",
        ];
        for line in lines {
            let words = || line.split(' ').map(OsString::from);
            let alone = Task::of_right_words(words()).map(|task| format!("{task:?}"));
            let among_all = Arguments::try_parse_from(std::iter::once("stockade".into()).chain(words()));
            let among_all = among_all.ok().and_then(|arguments| match arguments.task {
                task @ (Task::Run(_) | Task::Exec(_) | Task::Check(_) | Task::Hook(_)) => Some(format!("{task:?}")),
                _ => None,
            });
            assert_eq!(alone, among_all, "{line}");
        }
    }

    #[test]
    fn a_task_is_described_before_its_arguments_are_defined() {
        let about = |command: &Command| (command.get_about().cloned(), command.get_long_about().cloned());
        let first = Arguments::defined();
        let mut whole = first.clone();
        whole.build();
        whole.clone().debug_assert();
        for task in first.get_subcommands() {
            let built = whole.find_subcommand(task.get_name()).unwrap();
            assert_eq!(about(built), about(task), "{}", task.get_name());
            for task in task.get_subcommands() {
                let built = built.find_subcommand(task.get_name()).unwrap();
                assert_eq!(about(built), about(task), "{}", task.get_name());
                assert!(task.get_arguments().next().is_none());
            }
        }
    }

    #[test]
    fn a_flag_of_ours_behind_the_command_is_found() {
        let found = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let run = Run::of_right_words(words.iter().skip(1).cloned()).unwrap();
            stray_flag(&words, &run.command)
        };
        assert_eq!(
            found("stockade run ls --color --profile readonly").as_deref(),
            Some("--profile")
        );
        for line in [
            "stockade run --profile readonly -- ls --profile readonly",
            "stockade run --profile readonly ls -l",
            "stockade run ls --profiles --profile=readonly",
            "stockade run -- ls --profile readonly",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn a_port_is_a_number() {
        assert_eq!((parse_port("0"), parse_port("65535")), (Ok(0), Ok(65535)));
        for text in ["", "-1", "+1", "65536", "http"] {
            assert!(parse_port(text).is_err(), "{text}");
        }
    }
}
