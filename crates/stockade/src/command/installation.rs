//! What a program needs besides its own file: collected from the markers around every path that it goes by.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::fence::Fence;
use super::{Access, Belongs, Request, is_below_base};
use super::{java, link, manager, node, prefix, pyenv, python, rust};
use crate::real_path::Walker;

/// The reason given for a program that belongs to nothing.
const THE_FILE_ALONE: &str = "the command itself";

/// The parts found so far.
pub(super) struct Installation<'a> {
    pub request: &'a Request<'a>,
    pub belongs: Vec<Belongs>,
    pub variables: Vec<(OsString, OsString)>,
    /// Trees that are left to what the profile grants there.
    pub written: Vec<PathBuf>,
    /// Directories that the user's own words or search path led to.
    trusted: Vec<PathBuf>,
    /// What was looked at: many of the paths share the directories above them.
    pub walker: Walker,
    /// Made only when something outside the base is met: most commands never pay for it.
    fence: Option<Fence>,
}

impl<'a> Installation<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Installation<'a> {
        Installation {
            request,
            belongs: Vec::new(),
            variables: Vec::new(),
            written: Vec::new(),
            trusted: Vec::new(),
            walker: Walker::default(),
            fence: None,
        }
    }

    /// Adds what the program needs that is started as `path` and whose file is `real`. `named_by_file`: a `#!` line
    /// names it, not the user.
    pub(super) fn add_program(&mut self, path: &Path, real: &Path, named_by_file: bool) {
        java::add_configuration(self, real);
        // Links of the base that lead through other places back into it (`/etc/alternatives`) carry no markers that
        // matter: programs look around the path they were started by, and around their file.
        if is_below_base(real) && is_plainly_below_base(path) {
            rust::add_packaged_proxy(self, path, real);
            return;
        }
        let mut trusting = !named_by_file;
        for hop in link::hops(path, &mut self.walker) {
            // A link in the root may have been made by an earlier run, and leads nowhere by itself.
            trusting &= !hop.starts_with(self.request.root);
            if trusting {
                self.trust(&hop);
            }
            self.add_hop(&hop, real);
        }
        self.add_file(real, THE_FILE_ALONE);
    }

    /// Whether the user's own words led to a directory.
    pub(super) fn trusts(&mut self, path: &Path) -> bool {
        let real = self.walker.canonical(path);
        real.is_some_and(|real| self.trusted.iter().any(|trusted| real.starts_with(trusted)))
    }

    /// Trusts the directories around a path that the user, or what the user trusts, named.
    pub(super) fn trust(&mut self, hop: &Path) {
        let packages = hop
            .ancestors()
            .filter(|above| above.file_name() == Some(OsStr::new("node_modules")))
            .last();
        let around = prefix_of(hop).into_iter().chain(packages).chain([hop]);
        self.trusted
            .extend(around.filter_map(|path| self.walker.canonical(path)));
    }

    /// What was named until now leads no further.
    pub(super) fn distrust(&mut self) {
        self.trusted.clear();
    }

    /// Adds the packages that a script run by Node can load.
    pub(super) fn add_node_script(&mut self, path: &Path, real: &Path) {
        node::add_packages(self, path);
        node::add_packages(self, real);
    }

    /// The first layout that explains a path is the one; a virtual environment adds what it was made from.
    pub(super) fn add_hop(&mut self, hop: &Path, real: &Path) -> bool {
        is_below_base(hop)
            || rust::add_proxy(self, hop, real)
            || python::add_environment(self, hop)
            || pyenv::add_shim(self, hop)
            || manager::add_shim(self, hop, real)
            || self.add_unpacked(hop)
            || node::add_packages(self, hop)
            || manager::add_package(self, hop)
    }

    /// The layouts that prove themselves by their own markers, so that it doesn't matter who named the path.
    pub(super) fn add_unpacked(&mut self, hop: &Path) -> bool {
        is_below_base(hop) || manager::add_store(self, hop) || manager::add_version(self, hop) || prefix::add(self, hop)
    }

    /// Grants a tree or a file. False where it doesn't exist or is too wide, and the caller must find another way.
    pub(super) fn add(&mut self, path: &Path, access: Access, reason: &'static str) -> bool {
        match self.walker.canonical(path) {
            Some(real) => self.add_real(real, access, reason, false),
            None => false,
        }
    }

    /// Grants one file by the kernel's name for it, wherever it lies.
    pub(super) fn add_file(&mut self, path: &Path, reason: &'static str) -> bool {
        // A link there was made since, perhaps by another run.
        match self.walker.canonical(path) {
            Some(real) if real == path => self.add_real(real, Access::Execute, reason, true),
            _ => false,
        }
    }

    fn add_real(&mut self, real: PathBuf, access: Access, reason: &'static str, is_file: bool) -> bool {
        if is_below_base(&real) || self.covers(&real, access) || self.is_written(&real) {
            return true;
        }
        let request = self.request;
        let walker = &mut self.walker;
        let fence = self
            .fence
            .get_or_insert_with(|| Fence::new(request.root, request.home, request.variable, walker));
        if !fence.admits(&real) || !(is_file || fence.expects(&real, &self.trusted, walker)) {
            return false;
        }
        self.belongs
            .retain(|part| !(part.path.starts_with(&real) && part.access <= access));
        self.belongs.push(Belongs {
            path: real,
            access,
            reason,
        });
        true
    }

    /// Tells the program where its installation is; the first value of a name stays.
    pub(super) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        if !self.variables.iter().any(|(known, _)| known == name) {
            self.variables.push((name.into(), value.as_ref().to_owned()));
        }
    }

    /// A variable of the caller that holds an absolute path.
    pub(super) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        (self.request.variable)(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// Whether a directory is in a tree that is left to the profile.
    pub(super) fn is_written(&self, real: &Path) -> bool {
        self.written.iter().any(|written| real.starts_with(written))
    }

    /// Whether what was found grants this.
    pub(super) fn covers(&self, real: &Path, access: Access) -> bool {
        self.belongs
            .iter()
            .any(|part| real.starts_with(&part.path) && access <= part.access)
    }
}

/// Whether a path as written stays in the base, as far as text can tell.
fn is_plainly_below_base(path: &Path) -> bool {
    is_below_base(path) && !path.components().any(|part| part == Component::ParentDir)
}

/// The directory that an installation has its `bin` in, for a program in that `bin`.
pub(super) fn prefix_of(program: &Path) -> Option<&Path> {
    let directory = program.parent()?;
    matches!(directory.file_name()?.to_str(), Some("bin" | "sbin")).then(|| directory.parent())?
}
