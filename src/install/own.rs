//! This program, as settings of other programs name it.
//!
//! Settings name it by its whole path: which program a bare name starts is up to the `PATH` of the one that starts it, where
//! directories of a project may come first.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::REFUSED;
use crate::message::Failure;
use stockade_install::Places;

/// The program's name.
const NAME: &str = "stockade";

/// Directories for programs of the machine. A link in one of them stays where an upgrade moves the program that it leads to.
const OF_MACHINE: &[&str] = &[
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
    "/home/linuxbrew/.linuxbrew/bin",
];

/// The same below a home.
const OF_HOME: &[&str] = &[".cargo/bin", ".local/bin", ".nix-profile/bin", "bin"];

/// The executable that runs.
#[derive(Debug)]
pub struct Own {
    /// The path that settings get.
    path: String,
    /// Its path without links.
    real: PathBuf,
    /// Whether the bare name starts it, by this process's `PATH`.
    is_found: bool,
}

impl Own {
    /// Finds it.
    ///
    /// # Errors
    /// Settings couldn't name it: it has another name, or its path isn't text.
    pub fn here(places: &Places) -> Result<Own, Failure> {
        let real = env::current_exe().and_then(fs::canonicalize);
        let real = real.map_err(|error| Failure::new(REFUSED, &error))?;
        let search_path = env::var_os("PATH").unwrap_or_default();
        let found: Vec<PathBuf> = env::split_paths(&search_path)
            .map(|directory| directory.join(NAME))
            .filter(|path| path.is_file())
            .collect();
        let is_own = |path: &Path| path.is_absolute() && leads_to(path, &real);
        let steady = found.iter().find(|path| is_own(path) && is_steady(path, &places.home));
        // A link that the project may change isn't taken for a program by another name.
        let called = env::args_os().next().map(PathBuf::from);
        let mut called = called.iter().chain(&found).filter(|path| is_own(path));
        // Neither a home nor `/` is a project.
        let is_in_project = |path: &Path| path.starts_with(&places.root) && !places.home.starts_with(&places.root);
        let called = called.find(|path| is_named(path) && !is_in_project(path));
        let path = steady.or(Some(&real).filter(|path| is_named(path))).or(called);
        let Some(path) = path.and_then(|path| path.to_str()) else {
            let message = "this program's path has another name than `stockade`, or isn't text";
            return Err(Failure::text(REFUSED, message).hint(
                "settings name it by its path: call it through a link named `stockade`, outside of the project",
            ));
        };
        Ok(Own {
            path: path.to_string(),
            is_found: found.first().is_some_and(|path| is_own(path)),
            real,
        })
    }

    /// Its whole path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a command starts this very program: by a whole path that leads to it, or by the bare name where that finds it.
    /// What a relative path means is up to the one that starts it, so it never counts.
    pub fn is(&self, command: &str) -> bool {
        match command == NAME {
            true => self.is_found,
            false => Path::new(command).is_absolute() && leads_to(Path::new(command), &self.real),
        }
    }
}

fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME)
}

fn leads_to(path: &Path, real: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| path == real)
}

/// Whether a path stays the program's: not one in an environment or a project.
fn is_steady(path: &Path, home: &Path) -> bool {
    let of_machine = OF_MACHINE.iter().map(PathBuf::from);
    let mut directories = of_machine.chain(OF_HOME.iter().map(|below| home.join(below)));
    directories.any(|directory| path.parent() == Some(&directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_this_very_program_counts() {
        let top = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(top.path()).unwrap();
        let path = |name: &str| top.join(name).to_str().unwrap().to_string();
        fs::create_dir(top.join("other")).unwrap();
        for name in ["stockade", "other/stockade"] {
            fs::write(top.join(name), "").unwrap();
        }
        symlink(top.join("stockade"), top.join("link")).unwrap();
        let own = |is_found| Own {
            path: path("stockade"),
            real: top.join("stockade"),
            is_found,
        };
        for command in [path("stockade"), path("link"), path("other/../stockade")] {
            assert!(own(false).is(&command), "{command}");
        }
        let others = [path("other/stockade"), path("none/stockade")];
        let relative = ["./stockade", "bin/stockade", "../stockade", "", "Stockade"].map(String::from);
        for command in others.iter().chain(&relative) {
            assert!(!own(true).is(command), "{command}");
        }
        assert!(own(true).is("stockade"));
        assert!(!own(false).is("stockade"));
    }

    #[test]
    fn a_link_in_an_environment_isnt_steady() {
        let home = Path::new("/home/ada");
        for (path, expected) in [
            ("/usr/bin/stockade", true),
            ("/home/ada/.cargo/bin/stockade", true),
            ("/home/ada/work/.venv/bin/stockade", false),
            ("/home/ada/work/node_modules/.bin/stockade", false),
            ("/home/eve/.cargo/bin/stockade", false),
        ] {
            assert_eq!(is_steady(Path::new(path), home), expected, "{path}");
        }
    }
}
