//! Commands inside commands: what wrappers start, shells read, interpreters are told and options name.

use super::Seer;

/// They start what stands somewhere in their arguments. Where it begins isn't worked out: it may begin at every word.
const WRAPPERS: &[&str] = &[
    "env",
    "timeout",
    "nice",
    "nohup",
    "xargs",
    "sudo",
    "doas",
    "exec",
    "command",
    "builtin",
    "time",
    "setsid",
    "stdbuf",
    "ionice",
    "chrt",
    "taskset",
    "numactl",
    "choom",
    "strace",
    "ltrace",
    "watch",
    "parallel",
    "flock",
    "unshare",
    "nsenter",
    "chroot",
    "runuser",
    "su",
    "sg",
    "setpriv",
    "capsh",
    "prlimit",
    "cpulimit",
    "systemd-run",
    "pkexec",
    "run0",
    "busybox",
    "toybox",
    "coproc",
    "entr",
    "start-stop-daemon",
    "dbus-run-session",
    "xvfb-run",
    "faketime",
    "firejail",
    "bwrap",
    "proot",
    "fakeroot",
    "gdb",
    "lldb",
    "valgrind",
    "perf",
    "chronic",
    "ts",
    "unbuffer",
    "expect",
    "tmux",
    "screen",
    "ssh",
    "script",
    "npx",
    "bunx",
    "pnpx",
    "dlx",
    "uvx",
    "pipx",
    "rustup",
    "watchexec",
    "nodemon",
    "concurrently",
    "cross-env",
    "dotenv",
    "direnv",
    "nix",
    "nix-shell",
    "guix",
    "mise",
    "asdf",
    "volta",
    "rbenv",
    "pyenv",
    "bundle",
    "torsocks",
    "proxychains",
    "catchsegv",
    "ld.so",
    "-",
    "noglob",
    "nocorrect",
    "repeat",
    "enable",
    "hash",
    "stockade",
    "hyperfine",
];

/// They start others where such a word stands among their arguments.
const STARTERS: &[(&str, &[&str])] = &[
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    (
        "git",
        &[
            "run",
            "foreach",
            "-x",
            "--exec",
            "-c",
            "--upload-pack",
            "--receive-pack",
            "-O",
            "--tree-filter",
        ],
    ),
    ("docker", &["run", "exec"]),
    ("podman", &["run", "exec"]),
    ("kubectl", &["exec", "run", "--"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("conda", &["run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["run", "x"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    (
        "tar",
        &[
            "-I",
            "-F",
            "--use-compress-program",
            "--to-command",
            "--checkpoint-action",
            "--info-script",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    ("man", &["-P", "--pager", "-H"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("make", &["--eval"]),
];

/// They read scripts of the shell from their arguments or their input.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "yash",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "rbash",
    "eval",
    "source",
    ".",
    "trap",
    "alias",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "at",
    "batch",
    "crontab",
    "bind",
    "complete",
    "fc",
    "let",
    "mapfile",
    "readarray",
];

/// They are told what to do in a language of their own, in which strings may be commands.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "vim",
    "vi",
    "nvim",
    "view",
    "ex",
    "ed",
    "emacs",
    "less",
    "more",
    "tclsh",
    "expect",
    "osascript",
    "R",
    "Rscript",
    "julia",
    "sqlite3",
    "psql",
    "mysql",
    "gdb",
    "git",
    "nc",
    "ncat",
    "socat",
    "make",
    "jq",
    "ssh",
    "scp",
    "sftp",
    "rlwrap",
    "m4",
    "gcc",
];

impl Seer {
    /// Keeps a command and all that it could start.
    pub(super) fn command(&mut self, words: Vec<String>, depth: usize) {
        let Some(first) = words.first() else {
            return;
        };
        let size = words.iter().map(String::len).sum();
        if !self.has_room(size, depth) {
            return;
        }
        let name = first.rsplit('/').next().unwrap_or(first).to_string();
        let is = |names: &[&str]| {
            names.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
                || names.contains(&name.as_str())
        };
        let (wraps, is_shell, is_interpreter) = (is(WRAPPERS), is(SHELLS), is(INTERPRETERS));
        // A name out of nowhere may be any of these.
        let is_unknown = name.is_empty() || name.contains(['*', '?', '[']) && !matches!(name.as_str(), "[" | "[[");
        self.reads_commands |= is_shell || wraps || is_interpreter || is_unknown;
        self.push(words.clone());
        if wraps || is_unknown {
            self.suffixes(&words[1..], depth);
        }
        if wraps || is_shell || is_unknown {
            words[1..].iter().for_each(|word| self.text(word, depth));
        }
        if is_shell {
            self.text(&words[1..].join(" "), depth);
        }
        if is_interpreter {
            words[1..].iter().for_each(|word| self.literals(word, depth));
        }
        self.started(&name, &words, depth);
        self.named_by_options(&words, depth);
    }

    /// Every word may be where a wrapped command begins.
    fn suffixes(&mut self, words: &[String], depth: usize) {
        for at in 0..words.len().min(64) {
            // Wrappers in wrappers are suffixes too, so only the shells and options among them are looked into.
            let name = words[at].rsplit('/').next().unwrap_or_default();
            match WRAPPERS.contains(&name) {
                true => self.push(words[at..].to_vec()),
                false => self.command(words[at..].to_vec(), depth + 1),
            }
        }
        self.is_exhausted |= words.len() > 64;
    }

    /// An argument as a script, where it can be more than a word.
    fn text(&mut self, word: &str, depth: usize) {
        if !word.is_empty() {
            self.script(word, depth + 1);
        }
    }

    /// Strings inside a text of another language: each may be a script, and several in a row the words of a command. So may
    /// be what follows `!` in an editor and `e` in sed.
    fn literals(&mut self, text: &str, depth: usize) {
        let mut literals = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['\'', '"', '`']) {
            let quote = &rest[open..=open];
            let inner = &rest[open + 1..];
            let end = inner.find(quote).unwrap_or(inner.len());
            literals.push(inner[..end].to_string());
            rest = inner.get(end + 1..).unwrap_or_default();
        }
        for at in 0..literals.len().min(64) {
            self.text(&literals[at], depth);
            self.command(literals[at..].to_vec(), depth + 1);
        }
        for (at, _) in text
            .char_indices()
            .filter(|(_, c)| matches!(c, '!' | 'e' | 'x'))
            .take(64)
        {
            self.text(&text[at + 1..], depth);
        }
    }

    /// `find -exec`, `git bisect run`.
    fn started(&mut self, name: &str, words: &[String], depth: usize) {
        let Some((_, marks)) = STARTERS.iter().find(|(starter, _)| *starter == name) else {
            return;
        };
        let first = words.iter().position(|word| marks.contains(&word.as_str()));
        if let Some(first) = first {
            self.suffixes(&words[first + 1..], depth);
            words[first + 1..].iter().for_each(|word| self.text(word, depth));
        }
    }

    /// Values of options name programs more often than anybody can list: `core.pager=…`, `--pre=…`, `-oProxyCommand=…`.
    fn named_by_options(&mut self, words: &[String], depth: usize) {
        for word in &words[1..] {
            if let Some((_, value)) = word.split_once('=') {
                self.text(value.trim_start_matches('!'), depth);
                if let Some((_, value)) = value.rsplit_once('=') {
                    self.text(value, depth);
                }
            }
        }
    }
}
