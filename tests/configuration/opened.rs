//! What a person opens of the built-in list of secrets, and adds to it.

use std::os::unix::fs::symlink;

use super::{stockade, told};
use crate::common::{Place, STOCKADE, UNDER_WORKSPACE, finish, python};

fn read(place: &Place, file: &str) -> bool {
    let words = ["run", "--ask", "never", "--profile", "trusted", "--", "cat", file];
    stockade(place, &words).status.success()
}

// promise: secrets.16
#[test]
fn a_person_opens_a_secret_by_its_path_and_nothing_else_with_it() {
    let place = Place::new();
    for file in ["~/.aws/config", "~/.aws/credentials", "dev.pem", "other.pem"] {
        place.file(file, "x");
    }
    let all = ["@HOME/.aws/config", "@HOME/.aws/credentials", "dev.pem", "other.pem"];
    let open = |place: &Place| all.map(|file| read(place, &file.replace("@HOME", place.home.to_str().unwrap())));
    assert_eq!(open(&place), [false; 4]);
    let dev = place.path("dev.pem");
    let text = format!(
        "version = 1\n[secrets]\nopen = [\"~/.aws/config\", \"{}\"]\n",
        dev.display()
    );
    place.file("~/.config/stockade/config.toml", text);
    assert_eq!(open(&place), [true, false, true, false]);
    // A run could have put a link there.
    std::fs::remove_file(&dev).unwrap();
    symlink(place.path("~/.aws/credentials"), &dev).unwrap();
    assert_eq!(open(&place), [true, false, false, false]);
}

/// All is open there, so no directory comes to lie there; a file that is written anew does.
#[test]
fn what_a_directory_holds_is_not_opened_by_a_move_to_an_opened_place() {
    let place = Place::new();
    for file in [".env", "prod/server.pem", "fixtures/plain", "above/prod/server.pem"] {
        place.file(file, "x");
    }
    let opened = [".env", "fixtures", "over/prod"].map(|file| place.path(file).display().to_string());
    let text = format!("version = 1\n[secrets]\nopen = {opened:?}\n");
    place.file("~/.config/stockade/config.toml", text);
    let code = "import errno, os\n\
                open('new', 'w').write('y'); os.rename('new', '.env'); print(open('.env').read())\n\
                os.unlink('.env')\n\
                for old, new in ('prod', '.env'), ('prod', 'fixtures/prod'), ('above', 'over'), ('fixtures', 'fixed'):\n  \
                  try: os.rename(old, new); print(new)\n  \
                  except OSError as error: print(errno.errorcode[error.errno])\n";
    let words = [&UNDER_WORKSPACE[..], &[python(), "-c", code]].concat();
    assert_eq!(stockade(&place, &words).stdout(), "y\nEXDEV\nEXDEV\nEXDEV\nEXDEV\n");
}

/// Of a variable that moves a file away only a place that may hold one counts.
#[test]
fn what_a_variable_leads_nowhere_closes_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("test")).unwrap();
    let mut command = place.command(STOCKADE);
    for variable in ["GIT_CONFIG_GLOBAL", "HISTFILE", "PIP_CONFIG_FILE", "LESSHISTFILE"] {
        command.env(variable, "/dev/null");
    }
    command.env("ENV", "test");
    let script = "echo x >/dev/null && cat </dev/null && echo x >test/x && cat test/x";
    command.args(UNDER_WORKSPACE).args(["sh", "-c", script]);
    assert_eq!(finish(&mut command, b"").stdout(), "x\n");
}

#[test]
fn a_person_adds_secrets_in_every_profile() {
    let place = Place::new();
    place.file("state.tfstate", "x");
    assert!(read(&place, "state.tfstate"));
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[secrets]\nclosed = [\"**/*.tfstate\"]\n",
    );
    assert!(!read(&place, "state.tfstate"));
    let printed = stockade(&place, &["profile", "secrets"]).stdout();
    assert!(
        printed.contains("secret   **/*.tfstate  by your configuration"),
        "{printed}"
    );
}

#[test]
fn what_cannot_be_opened_is_an_error_with_its_place() {
    for open in [
        "/",
        "/home",
        "/root",
        "/home/ada/",
        "~/",
        "~",
        "**/.env",
        "~/*",
        "a",
        "~/../x",
    ] {
        let place = Place::new();
        place.file(
            "~/.config/stockade/config.toml",
            format!("version = 1\n[secrets]\nopen = [\"{open}\"]\n"),
        );
        let told = told(&place, &["run", "--", "true"]);
        let expected = "config.toml:3:9: ";
        assert!(
            told.contains(expected) && told.contains("isn't one path that can be opened"),
            "{told}"
        );
    }
}

// promise: secrets.17
#[test]
fn a_project_opens_no_secret() {
    let place = Place::new();
    let key = place.file("~/.aws/credentials", "x");
    let text = format!("version = 1\n[secrets]\nopen = [\"{}\"]\n", key.display());
    let project = place.file(".stockade/config.toml", &text);
    let told_of_opening = told(&place, &["config", "show"]);
    assert!(
        told_of_opening.contains("a project can't open secrets"),
        "{told_of_opening}"
    );
    // Nor can it be trusted; the same words of the user's open it.
    assert_eq!(stockade(&place, &["trust", "--yes"]).status.code(), Some(125));
    let key = key.to_str().unwrap();
    assert!(!read(&place, key));
    std::fs::remove_file(project).unwrap();
    place.file("~/.config/stockade/config.toml", text);
    assert!(read(&place, key));
}

/// A run without an agent doesn't read the project's file, so it would close nothing there.
#[test]
fn a_project_that_would_add_to_the_secrets_is_told() {
    let place = Place::new();
    place.file(
        ".stockade/config.toml",
        "version = 1\n[secrets]\nclosed = [\"**/*.tfstate\"]\n",
    );
    let told = told(&place, &["config", "show"]);
    assert!(told.contains("a project can't add to the secrets"), "{told}");
    assert!(told.contains("[agents.NAME.scope] denied"), "{told}");
}
