//! Programs that carry data over the network.

use super::arguments::Arguments;
use crate::finding::Act;
use crate::text::Text;

/// What one does.
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
    const READS: &[&str] = &[
        "-T",
        "--upload-file",
        "-K",
        "--config",
        "--cacert",
        "--cert",
        "-E",
        "--key",
        "-b",
        "--cookie",
        "--netrc-file",
    ];
    const WRITES: &[&str] = &[
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--output-dir",
    ];
    const OTHER: &[&str] = &[
        "-H",
        "--header",
        "-X",
        "--request",
        "-u",
        "--user",
        "-A",
        "--user-agent",
        "-e",
        "--referer",
        "-m",
        "--max-time",
        "-w",
        "--write-out",
        "-x",
        "--proxy",
        "-r",
        "--range",
        "--url",
        "--connect-timeout",
        "--retry",
        "--retry-delay",
        "--retry-max-time",
        "--limit-rate",
        "--max-redirs",
        "--resolve",
        "--data-raw",
        "--form-string",
        "-C",
        "--unix-socket",
        "--max-filesize",
        "--ciphers",
        "-y",
        "-Y",
        "--speed-limit",
        "--speed-time",
        "--oauth2-bearer",
        "-z",
        "--interface",
    ];
    let arguments = Arguments::of(words, &[DATA, READS, WRITES, OTHER].concat(), false);
    let mut acts: Vec<Act> = arguments
        .operands
        .iter()
        .chain(arguments.values(&["--url"]))
        .cloned()
        .map(Act::Connect)
        .collect();
    acts.extend(arguments.values(&["-x", "--proxy"]).cloned().map(Act::Connect));
    acts.extend(
        arguments
            .values(READS)
            .filter(|value| !value.prefix().contains('='))
            .cloned()
            .map(Act::Read),
    );
    acts.extend(arguments.values(WRITES).cloned().map(Act::Write));
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
    const OTHER: &[&str] = &[
        "-t",
        "--tries",
        "-T",
        "--timeout",
        "-U",
        "--user-agent",
        "--header",
        "--method",
        "--body-data",
        "--post-data",
        "-e",
        "-Q",
        "-w",
        "--wait",
        "-l",
        "--level",
        "-A",
        "-R",
        "--user",
        "--password",
        "-D",
        "--waitretry",
    ];
    const READS: &[&str] = &[
        "-i",
        "--input-file",
        "--post-file",
        "--body-file",
        "--load-cookies",
        "--ca-certificate",
    ];
    const WRITES: &[&str] = &[
        "-O",
        "--output-document",
        "-o",
        "--output-file",
        "-a",
        "-P",
        "--directory-prefix",
        "--save-cookies",
    ];
    let arguments = Arguments::of(words, &[OTHER, READS, WRITES].concat(), false);
    let mut acts: Vec<Act> = arguments.operands.iter().cloned().map(Act::Connect).collect();
    acts.extend(arguments.values(READS).cloned().map(Act::Read));
    acts.extend(arguments.values(WRITES).cloned().map(Act::Write));
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

/// ssh(1): it reads keys and settings of the user's.
fn remote_shell(words: &[Text]) -> Vec<Act> {
    let arguments = Arguments::of(
        words,
        &["-p", "-i", "-o", "-l", "-L", "-R", "-D", "-F", "-J", "-b", "-P", "-E"],
        true,
    );
    let mut acts: Vec<Act> = arguments.values(&["-i", "-F", "-b"]).cloned().map(Act::Read).collect();
    acts.push(Act::Read("~/.ssh".into()));
    acts.extend(arguments.operands.first().map(without_user).map(Act::Connect));
    acts
}

/// scp(1), rsync(1): `host:path` on either side.
fn copy(words: &[Text]) -> Vec<Act> {
    let valued = [
        "-P",
        "-i",
        "-o",
        "-F",
        "-e",
        "--rsh",
        "--exclude",
        "--include",
        "--exclude-from",
        "--files-from",
        "--bwlimit",
        "--log-file",
        "-f",
        "--port",
        "--timeout",
        "--max-size",
    ];
    let arguments = Arguments::of(words, &valued, false);
    let mut acts: Vec<Act> = arguments
        .values(&["-i", "-F", "--exclude-from", "--files-from"])
        .cloned()
        .map(Act::Read)
        .collect();
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
    let arguments = Arguments::of(words, &["-w", "-p", "-s", "-q", "-i", "-X", "-x"], false);
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
    const HOSTS: &[&str] = &["-h", "--host"];
    let valued = [
        "-h",
        "--host",
        "-p",
        "--port",
        "-P",
        "-U",
        "-u",
        "--user",
        "--username",
        "-d",
        "--dbname",
        "-c",
        "--command",
        "-f",
        "--file",
        "-e",
        "--execute",
        "-o",
        "--output",
        "-n",
        "-a",
        "-D",
        "--database",
    ];
    let arguments = Arguments::of(words, &valued, false);
    let mut acts: Vec<Act> = arguments.values(&["-f", "--file"]).cloned().map(Act::Read).collect();
    acts.extend(arguments.values(&["-o", "--output"]).cloned().map(Act::Write));
    let url = arguments
        .operands
        .iter()
        .chain(arguments.values(&["-d", "--dbname"]))
        .find(|word| word.prefix().contains("://"));
    let host = url.or_else(|| arguments.values(HOSTS).next()).cloned();
    acts.push(Act::Connect(host.unwrap_or_else(|| "localhost".into())));
    acts
}

/// `user@host` without the user.
fn without_user(word: &Text) -> Text {
    match word.prefix().find('@') {
        Some(at) => word.without_prefix(at + 1),
        None => word.clone(),
    }
}

/// A connection to a URL, to `user@host:path`, or a read of a local repository.
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
