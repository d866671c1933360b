//! The options of each interpreter, from its manual page. See [`Interpreter`] for the fields.

use super::interpreter::{Interpreter, Operand};

/// The style of getopt: single letters that cluster, `--` and long options.
const PLAIN: Interpreter = Interpreter {
    names: &[],
    clusters: true,
    plus: false,
    valued: "",
    next: "",
    attached: "",
    ends: "",
    script: "",
    long_valued: &[],
    long_ends: &[],
    long_script: &[],
    subcommands: &[],
    operand: Operand::Script,
    node_modules: false,
};

/// Every option is a word of its own, with one dash or two.
const WORDS: Interpreter = Interpreter {
    clusters: false,
    ..PLAIN
};

pub(super) static INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy"],
        valued: "WXQ",
        ends: "cmVh",
        long_valued: &["--check-hash-based-pycs"],
        long_ends: &["--version", "--help"],
        ..PLAIN
    },
    Interpreter {
        names: &["bash", "sh", "dash", "zsh", "ksh", "mksh", "rbash"],
        plus: true,
        next: "oO",
        ends: "cs",
        long_valued: &["--rcfile", "--init-file", "--emulate"],
        long_ends: &["--version", "--help"],
        ..PLAIN
    },
    Interpreter {
        names: &["fish"],
        valued: "Cdof",
        ends: "cvh",
        long_valued: &[
            "--init-command",
            "--debug",
            "--debug-output",
            "--features",
            "--profile",
            "--profile-startup",
        ],
        long_ends: &["--command", "--version", "--help"],
        ..PLAIN
    },
    Interpreter {
        names: &["node", "nodejs", "tsx", "ts-node", "ts-node-esm"],
        long_valued: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "-C",
            "--conditions",
            "--env-file",
            "--env-file-if-exists",
            "--input-type",
            "--icu-data-dir",
            "--openssl-config",
            "--title",
            "--redirect-warnings",
            "--disable-warning",
            "--diagnostic-dir",
            "--trace-event-categories",
            "--test-name-pattern",
            "--test-reporter",
            "--test-reporter-destination",
            "--watch-path",
            "--tsconfig",
            "-P",
            "--project",
            "-O",
            "--compiler-options",
            "--compiler",
            "-I",
            "--ignore",
            "--cwd",
        ],
        long_ends: &[
            "-e",
            "--eval",
            "-p",
            "--print",
            "-pe",
            "--run",
            "-v",
            "--version",
            "-h",
            "--help",
        ],
        subcommands: &["inspect", "watch"],
        node_modules: true,
        ..WORDS
    },
    Interpreter {
        names: &["deno"],
        long_valued: &[
            "-c",
            "--config",
            "--import-map",
            "-L",
            "--log-level",
            "--cert",
            "--location",
            "--seed",
            "--ext",
        ],
        long_ends: &["eval", "task", "repl", "--version", "--help"],
        subcommands: &["run", "test", "bench", "check", "serve"],
        node_modules: true,
        ..WORDS
    },
    Interpreter {
        names: &["bun"],
        long_valued: &[
            "-r",
            "--preload",
            "--require",
            "--import",
            "--cwd",
            "-c",
            "--config",
            "-d",
            "--define",
            "-l",
            "--loader",
            "--port",
            "--conditions",
            "--tsconfig-override",
        ],
        long_ends: &["-e", "--eval", "-p", "--print", "--version", "--help"],
        subcommands: &["run", "test"],
        node_modules: true,
        ..WORDS
    },
    Interpreter {
        names: &["perl"],
        valued: "I",
        attached: "FMmiCxdDV",
        ends: "eEvh",
        ..PLAIN
    },
    Interpreter {
        names: &["ruby", "jruby", "truffleruby"],
        valued: "IrCE",
        attached: "FiKTWx",
        ends: "eh",
        long_valued: &["--encoding", "--external-encoding", "--internal-encoding"],
        long_ends: &["--version", "--help"],
        ..PLAIN
    },
    Interpreter {
        names: &["php", "php-cgi"],
        valued: "cdztS",
        script: "fF",
        ends: "rBRaihmv",
        long_valued: &["--php-ini", "--define", "--zend-extension", "--docroot", "--server"],
        long_ends: &["--run", "--process-code", "--interactive", "--version", "--help"],
        long_script: &["--file", "--process-file"],
        ..PLAIN
    },
    Interpreter {
        names: &["lua", "luajit", "texlua"],
        valued: "elj",
        ..PLAIN
    },
    Interpreter {
        names: &["Rscript"],
        long_ends: &["-e", "--version", "--help"],
        ..WORDS
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        valued: "vF",
        script: "f",
        long_valued: &["--assign", "--field-separator"],
        long_script: &["--file"],
        operand: Operand::Other,
        ..PLAIN
    },
    Interpreter {
        names: &["java"],
        long_valued: &[
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--enable-native-access",
            "--add-exports",
            "--add-opens",
            "--add-reads",
            "--limit-modules",
            "--patch-module",
            "--source",
            "-d",
            "--describe-module",
        ],
        long_ends: &["-m", "--module", "-version", "--version", "--help"],
        long_script: &["-jar"],
        operand: Operand::JavaSource,
        ..WORDS
    },
];
