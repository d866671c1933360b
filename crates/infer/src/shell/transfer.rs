//! Programs that transfer data over the network.

use super::program::{arguments, by_row};
use crate::finding::Act;
use crate::text::Text;

/// Returns the acts of such a program.
pub(super) fn acts(name: &str, words: &[Text]) -> Vec<Act> {
    match name {
        "curl" => curl(words),
        "wget" => wget(words),
        "ssh" | "sftp" => remote_shell(words),
        "nc" | "ncat" => netcat(words),
        "psql" | "mysql" | "redis-cli" => database(words),
        _ => copy(words),
    }
}

/// curl(1).
fn curl(words: &[Text]) -> Vec<Act> {
    const DATA: &[&str] = &[
        "-d",
        "--data",
        "--data-binary",
        "--data-ascii",
        "--data-urlencode",
        "--json",
        "-F",
        "--form",
    ];
    let (arguments, mut acts) = by_row("curl", words);
    // A cookie itself, not a cookie file.
    acts.retain(|act| !matches!(act, Act::Read(path) if path.prefix().contains('=')));
    acts.extend(arguments.values(&["--url", "-x", "--proxy"]).cloned().map(Act::Connect));
    connections_first(&mut acts);
    for value in arguments.values(DATA) {
        if let Some(at) = value
            .prefix()
            .find('@')
            .filter(|at| *at == 0 || value.prefix()[..*at].ends_with('='))
        {
            acts.push(Act::Read(value.without_prefix(at + 1)));
        }
    }
    if arguments.has(&["-O", "--remote-name", "-J", "--remote-name-all"]) && !arguments.has(&["--output-dir"]) {
        acts.push(Act::Write(".".into()));
    }
    acts
}

/// wget(1): without -O it writes into the current directory.
fn wget(words: &[Text]) -> Vec<Act> {
    let (arguments, mut acts) = by_row("wget", words);
    connections_first(&mut acts);
    if arguments.has(&["-i", "--input-file"]) {
        acts.push(Act::Connect(Text::unknown()));
    }
    let goes_elsewhere = arguments.has(&["-O", "--output-document", "-P", "--directory-prefix", "--spider"])
        || arguments.values(&["-q"]).next().is_some();
    if !goes_elsewhere && !arguments.operands.is_empty() {
        acts.push(Act::Write(".".into()));
    }
    acts
}

fn connections_first(acts: &mut [Act]) {
    acts.sort_by_key(|act| !matches!(act, Act::Connect(_)));
}

/// ssh(1): it reads the user's keys and settings.
fn remote_shell(words: &[Text]) -> Vec<Act> {
    let (arguments, mut acts) = by_row("ssh", words);
    acts.push(Act::Read("~/.ssh".into()));
    acts.extend(arguments.operands.first().map(without_user).map(Act::Connect));
    acts
}

/// scp(1), rsync(1): `host:path` on either side.
fn copy(words: &[Text]) -> Vec<Act> {
    let (arguments, mut acts) = by_row("scp", words);
    let Some((target, from)) = arguments.operands.split_last() else {
        return acts;
    };
    let is_remote = |word: &Text| {
        word.prefix()
            .split_once(':')
            .is_some_and(|(host, _)| !host.contains('/') && !host.is_empty())
    };
    for (word, act) in from
        .iter()
        .map(|word| (word, Act::Read as fn(Text) -> Act))
        .chain([(target, Act::Write as fn(Text) -> Act)])
    {
        match is_remote(word) || word.prefix().starts_with("rsync://") {
            true => acts.extend([Act::Read("~/.ssh".into()), remote(word)]),
            false => acts.push(act(word.clone())),
        }
    }
    acts
}

fn netcat(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("nc", words);
    if arguments.has(&["-l", "--listen"]) {
        return vec![Act::Listen];
    }
    match &arguments.operands[..] {
        [host, port, ..] => vec![Act::Connect(host.then(&":".into()).then(port))],
        [path] if arguments.has(&["-U"]) => vec![Act::Write(path.clone())],
        _ => vec![Act::Connect(Text::unknown())],
    }
}

fn database(words: &[Text]) -> Vec<Act> {
    let (arguments, mut acts) = by_row("psql", words);
    let url = arguments
        .operands
        .iter()
        .chain(arguments.values(&["-d", "--dbname"]))
        .find(|word| word.prefix().contains("://"));
    let host = url.or_else(|| arguments.values(&["-h", "--host"]).next()).cloned();
    acts.push(Act::Connect(host.unwrap_or_else(|| "localhost".into())));
    acts
}

/// Strips the user from `user@host`.
fn without_user(word: &Text) -> Text {
    match word.prefix().find('@') {
        Some(at) => word.without_prefix(at + 1),
        None => word.clone(),
    }
}

/// A connection to a URL or to `user@host:path`, or a read of a local repository.
pub(super) fn remote(from: &Text) -> Act {
    let known = from.prefix();
    if known.contains("://") {
        return Act::Connect(from.clone());
    }
    match known.split_once(':') {
        Some((host, _)) => Act::Connect(host.rsplit('@').next().unwrap_or(host).into()),
        None if from.exact().is_some() => Act::Read(from.clone()),
        None => Act::Connect(Text::unknown()),
    }
}
