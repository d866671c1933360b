//! Programs with options whose names don't reveal that they take secrets.

/// The options of a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Client {
    pub name: &'static str,
    /// Option letters with a secret value.
    pub letters: &'static str,
    /// Option letters that may precede them in one word.
    pub before: &'static str,
    /// Whole options, with their dashes, that have a secret value.
    pub options: &'static [&'static str],
    /// Subcommand words after which the next word is secret.
    pub words: &'static [&'static str],
    /// Subcommand words, or the program's name, after which every word that isn't an option is secret.
    pub rest: &'static [&'static str],
    /// The position of a letter's value.
    pub value: Value,
}

/// The position of an option letter's value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// In the same word or the next.
    SameOrNext,
    /// In the same word only: without it, the program prompts.
    Same,
}

/// The program with this name.
pub(super) fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

const fn letters(name: &'static str, letters: &'static str) -> Client {
    Client {
        name,
        letters,
        before: "",
        options: &[],
        words: &[],
        rest: &[],
        value: Value::SameOrNext,
    }
}

/// A bare `-p` prompts; the next word is a database or an archive.
const fn attached(name: &'static str) -> Client {
    Client {
        value: Value::Same,
        ..letters(name, "p")
    }
}

const fn options(name: &'static str, options: &'static [&'static str]) -> Client {
    Client {
        options,
        ..letters(name, "")
    }
}

/// `ngrok authtoken SECRET`.
const fn words(name: &'static str, words: &'static [&'static str]) -> Client {
    Client {
        words,
        ..letters(name, "")
    }
}

/// `fly secrets set NAME=SECRET OTHER=SECRET`.
const fn rest(name: &'static str, rest: &'static [&'static str]) -> Client {
    Client {
        rest,
        ..letters(name, "")
    }
}

const CLIENTS: &[Client] = &[
    Client {
        before: "sSLkfvigINOJG",
        options: &[
            "--user",
            "--proxy-user",
            "--oauth2-bearer",
            "--cookie",
            "--cert",
            "--proxy",
            "--preproxy",
        ],
        ..letters("curl", "uUbxE")
    },
    options("wget", &["--user", "--proxy-user"]),
    attached("mysql"),
    attached("mysqldump"),
    Client {
        words: &["password"],
        ..attached("mysqladmin")
    },
    attached("mysqlimport"),
    attached("mariadb"),
    attached("mariadb-dump"),
    attached("mariadb-admin"),
    attached("7z"),
    attached("7za"),
    attached("7zz"),
    Client {
        before: "h",
        ..attached("rar")
    },
    attached("unrar"),
    letters("sshpass", "p"),
    Client {
        words: &["auth", "AUTH"],
        ..letters("redis-cli", "a")
    },
    Client {
        words: &["auth", "AUTH"],
        ..letters("valkey-cli", "a")
    },
    letters("http", "a"),
    letters("https", "a"),
    letters("xh", "a"),
    letters("lftp", "u"),
    Client {
        before: "xZ",
        ..letters("ldapsearch", "w")
    },
    Client {
        before: "xZ",
        ..letters("ldapmodify", "w")
    },
    Client {
        before: "xZ",
        ..letters("ldapadd", "w")
    },
    letters("smbclient", "U"),
    letters("rpcclient", "U"),
    letters("smbget", "U"),
    letters("mongo", "p"),
    letters("mongosh", "p"),
    letters("mongodump", "p"),
    letters("mongorestore", "p"),
    letters("sqlcmd", "P"),
    letters("bcp", "P"),
    letters("ipmitool", "P"),
    letters("mosquitto_pub", "P"),
    letters("mosquitto_sub", "P"),
    letters("twine", "p"),
    letters("useradd", "p"),
    letters("usermod", "p"),
    letters("zip", "P"),
    letters("unzip", "P"),
    options("openssl", &["-k", "-K"]),
    options("ssh-keygen", &["-N", "-P"]),
    options("snmpwalk", &["-A", "-X", "-c"]),
    options("snmpget", &["-A", "-X", "-c"]),
    letters("cqlsh", "p"),
    letters("snowsql", "p"),
    letters("cadaver", "p"),
    letters("ncftp", "p"),
    letters("ncftpput", "p"),
    letters("rdesktop", "p"),
    letters("rabbitmqadmin", "p"),
    letters("supabase", "p"),
    letters("glab", "t"),
    letters("vercel", "t"),
    letters("influx", "t"),
    letters("codecov", "t"),
    letters("nuget", "k"),
    options("kubectl", &["--from-literal"]),
    options("helm", &["--set-string", "--set"]),
    Client {
        options: &["--body"],
        ..letters("gh", "b")
    },
    options("aws", &["--value", "--secret-string"]),
    options("az", &["--value"]),
    Client {
        rest: &["put", "write"],
        ..words("vault", &["login", "unseal"])
    },
    rest("fly", &["set", "import"]),
    rest("flyctl", &["set", "import"]),
    rest("mc", &["set"]),
    // `htpasswd -b FILE USER SECRET`, `sqlplus USER/SECRET@HOST`.
    rest("htpasswd", &["htpasswd"]),
    rest("sqlplus", &["sqlplus"]),
    rest("sqlldr", &["sqlldr"]),
    rest("expdp", &["expdp"]),
    rest("impdp", &["impdp"]),
    options("pdftotext", &["-upw", "-opw"]),
    options("pdftoppm", &["-upw", "-opw"]),
    options("pdfimages", &["-upw", "-opw"]),
    options("pdfinfo", &["-upw", "-opw"]),
    words("cargo", &["login"]),
    words("wandb", &["login"]),
    words("snyk", &["auth"]),
    words("bw", &["unlock"]),
    words("ngrok", &["authtoken", "add-authtoken"]),
    words("nmcli", &["password", "802-11-wireless-security.psk"]),
    words(
        "rclone",
        &["pass", "password", "token", "client_secret", "secret_access_key", "key"],
    ),
    // `docker login -p SECRET`; elsewhere their `-p` is a port.
    letters("login", "pt"),
    // Started by one of the above, or in front of one: their options differ.
    letters("ssh", ""),
    letters("scp", ""),
    letters("sftp", ""),
    letters("rsync", ""),
    letters("docker", ""),
    letters("podman", ""),
];
