//! Directories that are too wide to be an installation, whatever markers they contain.
//!
//! Markers are only files, and anybody who may write to a directory can create one. So a marker never grants a
//! directory of the system's layout, a home or the data directories of homes, or the run's root or anything above it.

use std::path::{Path, PathBuf};

use super::Variable;
use crate::real_path::Walker;

/// Directories of the file system's layout, each with many unrelated contents (hier(7)).
const WIDE: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/data",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/run/user",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
    "/var/lib",
    "/var/run",
    "/var/tmp",
    "/workspace",
    "/workspaces",
];

/// Directories below a home that contain many programs' files.
const WIDE_BELOW_HOME: &[&str] = &[
    ".cache",
    ".config",
    ".local",
    ".local/bin",
    ".local/lib",
    ".local/share",
    ".local/state",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
];

/// Directories below a home where version managers and package systems keep installations.
const PLACES_BELOW_HOME: &[&str] = &[
    ".pyenv",
    ".nvm",
    ".asdf",
    ".fnm",
    ".volta",
    ".rustup",
    ".cargo",
    ".rbenv",
    ".nodenv",
    ".goenv",
    ".jenv",
    ".sdkman",
    ".bun",
    ".deno",
    ".conda",
    ".n",
    ".phpenv",
    ".plenv",
    ".perlbrew",
    ".rye",
    ".proto",
    "go",
    "n",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    ".local/share/uv",
    ".local/share/mise",
    ".local/share/rtx",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".local/pipx",
    ".local/share/pipx",
];

/// The machine's directories for installations.
const PLACES: &[&str] = &["/opt", "/snap", "/nix/store", "/home/linuxbrew/.linuxbrew"];

/// Variables of the caller that name such a directory.
const PLACE_VARIABLES: &[&str] = &[
    "PYENV_ROOT",
    "NVM_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "MISE_DATA_DIR",
    "SDKMAN_DIR",
    "BUN_INSTALL",
    "DENO_INSTALL",
    "CONDA_ROOT",
    "MAMBA_ROOT_PREFIX",
    "GOROOT",
    "JAVA_HOME",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "PIPX_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Refuses directories that are too wide, and those that only a file in the run's root leads to.
pub(super) struct Fence {
    /// The kernel's path of the run's root, unless it holds the home.
    root: Option<PathBuf>,
    /// The directories for installations, as given.
    places: Vec<PathBuf>,
    /// The kernel's paths of them, resolved when the given ones don't match.
    real_places: Option<Vec<PathBuf>>,
    /// Homes and the run's root, as given and by the kernel's paths.
    kept: Vec<PathBuf>,
    wide: Vec<PathBuf>,
}

impl Fence {
    pub(super) fn new(root: &Path, home: Option<&Path>, variable: Variable<'_>, walker: &mut Walker) -> Fence {
        let named = PLACE_VARIABLES
            .iter()
            .filter_map(|name| variable(name))
            .map(PathBuf::from);
        let below_home = home
            .into_iter()
            .flat_map(|home| PLACES_BELOW_HOME.iter().map(|place| home.join(place)));
        let of_machine = PLACES.iter().map(PathBuf::from);
        let places = named.chain(below_home).chain(of_machine);
        // Relative directories are meaningless here, as are relative homes.
        let places = places.filter(|place| place.is_absolute()).collect();
        let homes: Vec<PathBuf> = home
            .into_iter()
            .flat_map(|home| as_given_and_real(home, walker))
            .collect();
        let wide = homes
            .iter()
            .flat_map(|home| WIDE_BELOW_HOME.iter().map(|below| home.join(below)))
            .collect();
        let real_root = walker.canonical(root).unwrap_or_else(|| root.to_owned());
        let is_home = homes.iter().any(|home| home.starts_with(&real_root));
        Fence {
            root: (!is_home).then_some(real_root),
            places,
            real_places: None,
            kept: as_given_and_real(root, walker).chain(homes).collect(),
            wide,
        }
    }

    /// Whether an installation may be here. A file that an earlier run wrote into the root (a link, a `#!` line, a
    /// marker) must not open other directories of the user to the next run: outside the root an installation has to be
    /// in a directory for installations, or where the user's own command line led (`trusted`). `written`: where runs may have
    /// made links.
    pub(super) fn expects(
        &mut self,
        real: &Path,
        trusted: &[PathBuf],
        written: &[PathBuf],
        walker: &mut Walker,
    ) -> bool {
        // Debian's configuration of Java.
        let is_java = real.starts_with("/etc") && real.to_string_lossy().starts_with("/etc/java");
        let is_in = |place: &PathBuf| real.starts_with(place);
        let is_expected = self.places.iter().chain(trusted).chain(&self.root).any(is_in);
        is_java || is_expected || self.is_in_real_place(real, written, walker)
    }

    /// Where `VIRTUAL_ENV` names `.venv` of the root, a run may have put a link there.
    fn is_in_real_place(&mut self, real: &Path, written: &[PathBuf], walker: &mut Walker) -> bool {
        let places = &self.places;
        let mut resolve = |place: &PathBuf| {
            let walked = walker.walk(place);
            let is_led_out = walked.leads_out_of(written.iter().map(PathBuf::as_path)).is_some();
            (walked.exists && !is_led_out).then_some(walked.real)
        };
        let ask = || places.iter().filter_map(&mut resolve).collect();
        let mut places = self.real_places.get_or_insert_with(ask).iter();
        places.any(|place| real.starts_with(place))
    }

    /// Whether a directory may be granted as a whole. `real` must be the kernel's path.
    pub(super) fn admits(&self, real: &Path) -> bool {
        let is_other_home = real.parent() == Some(Path::new("/home"));
        !is_other_home
            && !WIDE.iter().any(|wide| real == Path::new(wide))
            && !self.kept.iter().any(|kept| kept.starts_with(real))
            && !self.wide.iter().any(|wide| wide.starts_with(real))
    }
}

fn as_given_and_real(path: &Path, walker: &mut Walker) -> impl Iterator<Item = PathBuf> + use<> {
    // Relative homes (`HOME=.`) are meaningless here.
    let given = path.is_absolute().then(|| path.to_owned());
    given.into_iter().chain(walker.canonical(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_directories_are_refused() {
        let fence = Fence::new(
            Path::new("/home/ann/work/project"),
            Some(Path::new("/home/ann")),
            &|_| None,
            &mut Walker::default(),
        );
        for wide in [
            "/",
            "/home",
            "/root",
            "/opt",
            "/etc",
            "/var",
            "/tmp",
            "/usr",
            "/home/ann",
            "/home/bob",
            "/home/ann/.local",
            "/home/ann/.local/share",
            "/home/ann/work",
            "/home/ann/work/project",
            "/home/ann/.config",
        ] {
            assert!(!fence.admits(Path::new(wide)), "{wide}");
        }
        for narrow in [
            "/home/ann/work/project/.venv",
            "/home/ann/.pyenv/versions/3.12.1",
            "/opt/tool",
            "/home/ann/.local/share/uv/tools/x",
            "/home/ann/work2",
            "/nix/store",
        ] {
            assert!(fence.admits(Path::new(narrow)), "{narrow}");
        }
    }

    proptest! {
        #[test]
        fn nothing_above_a_home_or_the_root_is_ever_admitted(
            home in "(/[a-z.]{1,4}){0,4}", root in "(/[a-z.]{1,4}){0,5}", up in 0_usize..6,
        ) {
            let (home, root) = (Path::new("/").join(home.trim_start_matches('/')), Path::new("/").join(root.trim_start_matches('/')));
            let fence = Fence::new(&root, Some(&home), &|_| None, &mut Walker::default());
            for start in [&home, &root] {
                if let Some(above) = start.ancestors().nth(up) {
                    prop_assert!(!fence.admits(above), "{}", above.display());
                }
            }
        }
    }
}
