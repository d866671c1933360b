//! Moving a secret, or what contains it, doesn't make it readable; nothing is moved into or out of a closed place.

use super::cases::{WRITING, attempts, works};
use crate::common::Probe;

const TREE: &[(&str, &str)] = &[
    (".env", "SECRET"),
    ("secrets/token", "SECRET"),
    ("a/secrets/token", "SECRET"),
    ("a/b/.env", "SECRET"),
    ("other/file", "plain"),
    ("plain", "plain"),
];

const REFUSED: &str = "EACCES|EPERM|EXDEV|ENOENT";

fn refused(forms: &[&str]) {
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            TREE,
            &[
                "os.rename('@DIR/plain', '@DIR/q'); os.rename('@DIR/other', '@DIR/o'); read('@DIR/o/file')",
                "renameat2('@DIR/plain', '@DIR/other', 2); read('@DIR/other')",
            ],
        );
        attempts(probe, TREE, forms).refused(profile, REFUSED);
    }
}

// promise: secrets.6
#[test]
fn a_secret_is_not_renamed() {
    refused(&[
        "os.rename('@DIR/.env', '@DIR/x'); read('@DIR/x')",
        "call(82, '@DIR/.env', '@DIR/x') # rename",
        "call(264, AT_FDCWD, '@DIR/.env', AT_FDCWD, '@DIR/x') # renameat",
        "d = os.open('@DIR', os.O_PATH); call(264, d, '.env', d, 'x') # renameat",
        "renameat2('@DIR/.env', '@DIR/x', 0)",
        "renameat2('@DIR/.env', '@DIR/x', 1) # NOREPLACE",
        "renameat2('@DIR/.env', '@DIR/plain', 2); read('@DIR/plain') # EXCHANGE",
        "renameat2('@DIR/plain', '@DIR/.env', 2); read('@DIR/plain') # EXCHANGE, the other way round",
        "os.rename('@DIR/secrets/token', '@DIR/token'); read('@DIR/token')",
        "os.rename('@DIR/.env', '@DIR/.envelope')",
        "os.rename('@DIR/.env', '@DIR/secrets/x')",
        "os.chdir('@DIR'); os.rename('./other/../.env', 'x')",
        "os.symlink('@DIR', '@DIR/other/l'); os.rename('@DIR/other/l/.env', '@DIR/x'); read('@DIR/x')",
        "? d = os.open('@DIR', os.O_PATH); os.rename('/proc/self/fd/%d/.env' % d, '@DIR/x')",
        "? os.rename('/proc/self/root@DIR/.env', '@DIR/x')",
    ]);
}

#[test]
fn a_directory_is_not_renamed_to_a_name_that_is_open() {
    refused(&[
        "os.rename('@DIR/secrets', '@DIR/public'); read('@DIR/public/token')",
        "call(82, '@DIR/secrets', '@DIR/public') # rename",
        "renameat2('@DIR/secrets', '@DIR/other', 2); read('@DIR/other/token') # EXCHANGE",
        "renameat2('@DIR/other', '@DIR/secrets', 2); read('@DIR/other/token') # EXCHANGE, the other way round",
        "os.rename('@DIR/a/secrets', '@DIR/a/open'); read('@DIR/a/open/token')",
        "os.rename('@DIR/a/secrets', '@DIR/SECRET'); read('@DIR/SECRET/token')",
        "d = os.open('@DIR/secrets', os.O_PATH); os.rename('@DIR/secrets', '@DIR/x'); os.open('token', 0, dir_fd=d)",
        "os.chdir('@DIR/secrets'); os.rename('../secrets', '../x'); read('token')",
        "os.mkdir('@DIR/empty'); os.rename('@DIR/secrets', '@DIR/empty')",
        "os.rename('@DIR/secrets/', '@DIR/public/')",
    ]);
}

// promise: secrets.9
#[test]
fn moving_what_contains_it_opens_nothing() {
    refused(&[
        "os.rename('@DIR/a', '@DIR/z'); read('@DIR/z/secrets/token')",
        "os.rename('@DIR/a', '@DIR/z'); read('@DIR/z/b/.env')",
        "os.rename('@DIR/a/b', '@DIR/b'); read('@DIR/b/.env')",
        "renameat2('@DIR/a', '@DIR/other', 2); read('@DIR/other/b/.env')",
        "renameat2('@DIR/a', '@DIR/other', 2); read('@DIR/other/secrets/token')",
        "d = os.open('@DIR/a/b', os.O_PATH); os.rename('@DIR/a', '@DIR/z'); os.open('.env', 0, dir_fd=d)",
        "os.chdir('@DIR/a/b'); os.rename('@DIR/a', '@DIR/z'); read('.env')",
        "os.chdir('@DIR/a/b'); os.rename('@DIR/a', '@DIR/other/z'); read('/proc/self/cwd/.env')",
        "p = os.open('@DIR/a/b/.env', os.O_PATH); os.rename('@DIR/a', '@DIR/z'); read('/proc/self/fd/%d' % p)",
        "os.rename('@DIR', '@DIR.moved'); read('@DIR.moved/.env')",
        "os.rename('@DIR', '@DIR.moved'); read('@DIR.moved/a/secrets/token')",
        "os.mkdir('@DIR/secrets2'); os.rename('@DIR/a', '@DIR/secrets2/a'); read('@DIR/secrets2/a/b/.env')",
    ]);
}

// promise: secrets.6
#[test]
fn nothing_is_renamed_to_a_secret_name() {
    refused(&[
        "os.rename('@DIR/plain', '@DIR/.env')",
        "os.rename('@DIR/plain', '@DIR/.env.new')",
        "os.rename('@DIR/plain', '@DIR/x.pem')",
        "os.rename('@DIR/plain', '@DIR/secrets/x')",
        "os.rename('@DIR/plain', '@DIR/secrets/token')",
        "renameat2('@DIR/plain', '@DIR/y.key', 1)",
        "renameat2('@DIR/plain', '@DIR/y.key', 4) # WHITEOUT",
        "os.rename('@DIR/other', '@DIR/secrets/dir')",
        "os.rename('@DIR/other', '@DIR/a/other.pem')",
        "os.replace('@DIR/plain', '@DIR/a/b/.env')",
    ]);
}

/// `--deny` with a place: the place is what its directories are called, so those keep their names.
#[test]
fn a_denied_place_keeps_the_names_above_it() {
    let tree: &[(&str, &str)] = &[];
    for profile in WRITING {
        let mut probe = Probe::new()
            .flags(["--deny", "./p*/private/**", "--deny", "**/vault/*.txt"])
            .works("read('plain')")
            .file("plain", "plain");
        let forms = [
            "read('@D/private/doc')",
            "os.rename('@D', '@D'.replace('/p', '/x')); read('@D'.replace('/p', '/x') + '/private/doc')",
            "renameat2('@D', '@ROOT/beside', 2); read('@ROOT/beside/private/doc')",
            "renameat2('@ROOT/beside', '@D', 2); read('@ROOT/beside/private/doc')",
            "os.rename('@D/private', '@D/open'); read('@D/open/doc')",
            "os.rename('@D/private', '@ROOT/open'); read('@ROOT/open/doc')",
            "os.rename('@D/vault', '@D/open'); read('@D/open/a.txt')",
            "os.rename('@D/vault/a.txt', '@D/a'); read('@D/a')",
            "os.rename('@D/deep/vault', '@D/deep/v'); read('@D/deep/v/a.txt')",
            "os.mkdir('@D/vault/sub'); os.rename('@D/vault', '@D/vault2'); read('@D/vault2/a.txt')",
        ];
        for (index, form) in forms.iter().enumerate() {
            for file in ["private/doc", "vault/a.txt", "deep/vault/a.txt"] {
                probe = probe.file(&format!("p{index}/{file}"), "SECRET");
            }
            probe = probe.attempt(&form.replace("@D", &format!("@ROOT/p{index}")));
            probe = probe.file("beside/x", "plain");
        }
        attempts(probe, tree, &[]).refused(profile, REFUSED);
    }
}
