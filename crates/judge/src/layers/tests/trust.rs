//! Guarantees of trusting and remembering, with real files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use super::super::{ConfigurationError, Layers, Trust, TrustError, Written, remember, revoke, trust, trusted};
use crate::Remember;

/// A project, a state directory, and the user's configuration.
struct Here {
    top: TempDir,
    root: PathBuf,
    state: PathBuf,
}

impl Here {
    fn new() -> Here {
        let top = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(top.path()).unwrap();
        let (root, state) = (real.join("root"), real.join("state/stockade"));
        fs::create_dir_all(root.join(".stockade")).unwrap();
        Here { top, root, state }
    }

    fn file(&self) -> PathBuf {
        self.root.join(".stockade/config.toml")
    }

    fn says(&self, text: &str) {
        fs::write(self.file(), format!("version = 1\n{text}")).unwrap();
    }

    fn load(&self) -> Layers {
        let user = self.top.path().join("config");
        Layers::load(Some(&user), Some(&self.state), &self.root).unwrap_or_else(|error| panic!("{error}"))
    }

    fn trust_it(&self) {
        trust(Some(&self.state), self.load().project().unwrap()).unwrap();
    }

    fn state_of_trust(&self) -> Trust {
        self.load().project().unwrap().trust
    }

    fn remember(&self, rules: &[Remember]) -> Result<Written, TrustError> {
        remember(&self.root, Some(&self.state), rules)
    }

    fn error(&self) -> String {
        let error = Layers::load(None, Some(&self.state), &self.root).unwrap_err();
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default()).replace(self.root.to_str().unwrap(), "@ROOT")
    }
}

fn shell(command: &str) -> Remember {
    Remember {
        tool: "bash".into(),
        command: Some(command.into()),
        skill_name: None,
    }
}

const ALLOW: &str = "[[permissions.allow]]\ntool = 'bash'\ncommand = 'git push'\n";

#[test]
fn what_a_project_allows_counts_only_while_its_very_content_is_trusted() {
    let here = Here::new();
    here.says(ALLOW);
    assert_eq!(here.state_of_trust(), Trust::Untrusted);
    assert!(here.load().permissions().allow.is_empty());
    assert!(here.load().remarks()[0].contains("isn't trusted"));

    here.trust_it();
    assert_eq!(here.state_of_trust(), Trust::Trusted);
    assert_eq!(here.load().permissions().allow.len(), 1);
    assert!(here.load().remarks().is_empty());

    // One byte, even in a comment.
    here.says(&format!("{ALLOW}#"));
    assert_eq!(here.state_of_trust(), Trust::Changed);
    assert!(here.load().permissions().allow.is_empty());
    assert!(here.load().remarks()[0].contains("has changed"));

    here.says(ALLOW);
    assert!(revoke(Some(&here.state), &here.root).unwrap());
    assert!(!revoke(Some(&here.state), &here.root).unwrap());
    assert_eq!(here.state_of_trust(), Trust::Untrusted);
}

#[test]
fn the_same_content_elsewhere_is_not_trusted() {
    let here = Here::new();
    here.says(ALLOW);
    here.trust_it();
    let other = here.root.with_file_name("other");
    fs::create_dir_all(other.join(".stockade")).unwrap();
    fs::copy(here.file(), other.join(".stockade/config.toml")).unwrap();
    let layers = Layers::load(None, Some(&here.state), &other).unwrap();
    assert_eq!(layers.project().unwrap().trust, Trust::Untrusted);
    // A link in the place of the root's real path was made since that was found.
    let link = here.root.with_file_name("link");
    symlink(&here.root, &link).unwrap();
    let moved = Layers::load(None, Some(&here.state), &link);
    assert!(matches!(moved, Err(ConfigurationError::Unreadable { .. })), "{moved:?}");
}

#[test]
fn a_list_that_is_damaged_or_not_the_users_alone_trusts_nothing_and_says_so() {
    let here = Here::new();
    here.says(ALLOW);
    here.trust_it();
    let list = here.state.join("trusted.json");
    let whole = fs::read_to_string(&list).unwrap();
    let mode = |mode| fs::set_permissions(&list, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
    for damaged in [
        "",
        "{",
        &whole.replace("\"version\":1", "\"version\":2"),
        &whole.replace("hashes", "hash"),
    ] {
        fs::write(&list, damaged).unwrap();
        assert_eq!(here.state_of_trust(), Trust::Untrusted, "{damaged}");
        assert!(
            here.load().remarks()[0].contains("damaged"),
            "{:?}",
            here.load().remarks()
        );
        // Nor does anybody write over it.
        assert!(matches!(trusted(Some(&here.state)), Err(TrustError::Damaged { .. })));
        assert!(here.remember(&[shell("ls")]).is_err());
    }
    fs::write(&list, &whole).unwrap();
    mode(0o622);
    assert_eq!(here.state_of_trust(), Trust::Untrusted);
    mode(0o600);
    assert_eq!(here.state_of_trust(), Trust::Trusted);
    fs::rename(&list, here.state.join("elsewhere")).unwrap();
    symlink("elsewhere", &list).unwrap();
    assert_eq!(here.state_of_trust(), Trust::Untrusted);
    assert!(here.load().remarks()[0].contains("can't use"));
}

#[test]
fn without_a_state_directory_nothing_is_trusted() {
    let here = Here::new();
    here.says(ALLOW);
    let layers = Layers::load(None, None, &here.root).unwrap();
    assert_eq!(layers.project().unwrap().trust, Trust::Untrusted);
    let stateless = trust(None, layers.project().unwrap());
    assert!(matches!(stateless, Err(TrustError::Stateless)));
}

#[test]
fn a_project_s_file_is_no_link_no_fifo_and_not_large() {
    let here = Here::new();
    fs::write(here.root.join("real.toml"), "version = 1\n").unwrap();
    symlink("../real.toml", here.file()).unwrap();
    insta::assert_snapshot!(here.error(), @"can't read the configuration `@ROOT/.stockade/config.toml`: it is a symbolic link, or no file in a directory");
    fs::remove_file(here.file()).unwrap();
    nix::unistd::mkfifo(&here.file(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    insta::assert_snapshot!(here.error(), @"can't read the configuration `@ROOT/.stockade/config.toml`: it isn't a regular file");
    fs::remove_file(here.file()).unwrap();
    fs::write(here.file(), vec![b'#'; (1 << 20) + 1]).unwrap();
    insta::assert_snapshot!(here.error(), @"can't read the configuration `@ROOT/.stockade/config.toml`: it is larger than 1048576 bytes");
    fs::write(here.file(), b"version = 1\n\xff").unwrap();
    insta::assert_snapshot!(here.error(), @"@ROOT/.stockade/config.toml:2:1: this isn't UTF-8");
    fs::remove_dir_all(here.root.join(".stockade")).unwrap();
    fs::create_dir(here.root.join("real")).unwrap();
    symlink("real", here.root.join(".stockade")).unwrap();
    insta::assert_snapshot!(here.error(), @"can't read the configuration `@ROOT/.stockade`: it is a symbolic link, or no file in a directory");
    assert!(matches!(
        here.remember(&[shell("ls")]),
        Err(TrustError::Configuration(_))
    ));
    assert_eq!(fs::read_dir(here.root.join("real")).unwrap().count(), 0);
}

#[test]
fn what_is_remembered_is_written_once_and_trusted() {
    let here = Here::new();
    fs::remove_dir(here.root.join(".stockade")).unwrap();
    let skill = Remember {
        tool: "skill_load".into(),
        command: None,
        skill_name: Some("repo-review".into()),
    };
    let written = here
        .remember(&[shell("git push"), shell("git push"), skill.clone()])
        .unwrap();
    assert_eq!((written.changed.len(), &written.path), (2, &here.file()));
    assert_eq!(here.state_of_trust(), Trust::Trusted);
    assert!(here.remember(&[skill, shell("git push")]).unwrap().changed.is_empty());
    assert_eq!(here.load().permissions().allow.len(), 2);
    insta::assert_snapshot!(fs::read_to_string(here.file()).unwrap(), @r#"
        # Rules of this project. Stockade adds what is remembered; `stockade trust` has to agree to other changes.
        version = 1

        [[permissions.allow]]
        tool = "bash"
        command = "git push"

        [[permissions.allow]]
        tool = "skill_load"
        skill_name = "repo-review"
        "#);
    // Only the current content is trusted, and no temporary file is left.
    assert_eq!(trusted(Some(&here.state)).unwrap()[0].hashes.len(), 1);
    assert_eq!(fs::read_dir(here.root.join(".stockade")).unwrap().count(), 1);
}

#[test]
fn comments_and_order_of_the_file_stay() {
    let here = Here::new();
    here.says("# Ours.\n[agents.judge]   # seldom\nmode = 'manual'\n\n[[permissions.allow]] # first\ntool = 'bash'\ncommand = 'ls'\n\n[tools.git]\n");
    fs::set_permissions(here.file(), fs::Permissions::from_mode(0o640)).unwrap();
    here.trust_it();
    here.remember(&[shell("cargo test")]).unwrap();
    insta::assert_snapshot!(fs::read_to_string(here.file()).unwrap(), @r#"
        version = 1
        # Ours.
        [agents.judge]   # seldom
        mode = 'manual'

        [[permissions.allow]] # first
        tool = 'bash'
        command = 'ls'

        [[permissions.allow]]
        tool = "bash"
        command = "cargo test"

        [tools.git]
        "#);
    assert_eq!(fs::metadata(here.file()).unwrap().permissions().mode() & 0o777, 0o640);
    // An inline table stays inline.
    here.says("permissions.allow = [{ tool = 'read' }] # all\n");
    here.trust_it();
    here.remember(&[shell("ls")]).unwrap();
    insta::assert_snapshot!(fs::read_to_string(here.file()).unwrap(), @r#"
        version = 1
        permissions.allow = [{ tool = 'read' }, { tool = "bash", command = "ls" }] # all
        "#);
}

#[test]
fn nothing_is_remembered_in_a_file_that_is_not_trusted() {
    let here = Here::new();
    here.says("");
    let before = fs::read(here.file()).unwrap();
    assert!(matches!(
        here.remember(&[shell("ls")]),
        Err(TrustError::Untrusted { .. })
    ));
    here.trust_it();
    here.says(ALLOW);
    assert!(matches!(
        here.remember(&[shell("ls")]),
        Err(TrustError::Untrusted { .. })
    ));
    here.says("");
    assert_eq!(fs::read(here.file()).unwrap(), before);
    // An invalid rule.
    for bad in ["a b c", "rm; ls", "a\u{1b}[2J", ""] {
        assert!(here.remember(&[shell(bad)]).is_err(), "{bad:?}");
    }
    assert_eq!(fs::read(here.file()).unwrap(), before);
    assert_eq!(here.state_of_trust(), Trust::Trusted);
}

#[test]
fn who_remembers_at_the_same_time_loses_nothing() {
    const EACH: usize = 4;
    let here = Here::new();
    std::thread::scope(|scope| {
        for who in 0..4 {
            let here = &here;
            scope.spawn(move || {
                for number in 0..EACH {
                    here.remember(&[shell(&format!("tool{who}-{number}"))]).unwrap();
                    assert_eq!(here.state_of_trust(), Trust::Trusted);
                }
            });
        }
    });
    assert_eq!(here.load().permissions().allow.len(), 4 * EACH);
}
