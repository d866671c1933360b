//! The files that a program needs besides its own: collected from the markers around every path that leads to it.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::fence::Fence;
use super::program::{Head, Program};
use super::{Belongs, InstallationAccess, LeftOut, Request, is_below_base};
use super::{java, link, manager, node, prefix, pyenv, python, rust};
use crate::real_path::{Walked, Walker};

/// The reason given for a program that belongs to no installation.
const THE_FILE_ALONE: &str = "the command itself";

/// Directories below a home with programs of many origins, each added separately: the one of the XDG base directory
/// specification, and the older one of shells' start-up files.
pub(super) const HOMES_BINS: [&str; 2] = [".local/bin", "bin"];

/// The author of the choice of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChosenBy {
    /// The user, by words that the search path finds.
    User,
    /// A `#!` line that no run can have written.
    Line,
    /// A `#!` line that a run may have written.
    RunsLine,
}

/// The parts found so far.
pub(super) struct Installation<'a> {
    pub request: &'a Request<'a>,
    pub belongs: Vec<Belongs>,
    pub variables: Vec<(OsString, OsString)>,
    /// Trees where the profile's grants apply instead.
    pub written: Vec<PathBuf>,
    /// The real paths of the request's written trees: most commands never need them.
    runs_trees: Option<Vec<PathBuf>>,
    /// What the user named and a link that a run may have made leads to.
    pub left_out: Option<LeftOut>,
    /// Directories that the user's own command line or search path led to.
    trusted: Vec<PathBuf>,
    /// Caches lookups: many of the paths share the directories above them.
    pub walker: Walker,
    /// Created only when a path outside the base is met: most commands never pay for it.
    fence: Option<Fence>,
}

impl<'a> Installation<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Installation<'a> {
        Installation {
            request,
            belongs: Vec::new(),
            variables: Vec::new(),
            written: Vec::new(),
            runs_trees: None,
            left_out: None,
            trusted: Vec::new(),
            walker: Walker::default(),
            fence: None,
        }
    }

    /// Adds a program's file and the files that it needs. Returns false if a run may have chosen the program, by a first line or a
    /// link, and it is a script outside of all installations: granting it would open any executable file to reading.
    pub(super) fn add_program(&mut self, program: &Program, chosen_by: ChosenBy) -> bool {
        let (path, real) = (&program.path, &program.real);
        java::add_configuration(self, real);
        // Links in the base that lead through other directories back into it (`/etc/alternatives`) have no relevant
        // markers: programs look around the path they were started by, and around their file.
        if is_below_base(real) && is_plainly_below_base(path) {
            rust::add_packaged_proxy(self, path, real);
            return true;
        }
        let walked = self.walker.walk(path);
        // A link that leads elsewhere by now was changed by another run.
        let is_led_out = walked.real != *real || self.is_led_out(&walked);
        if chosen_by == ChosenBy::User {
            self.trust_named(path);
        }
        let hops = link::hops(path, &mut self.walker);
        for hop in &hops {
            self.add_hop(hop, real);
        }
        // What is in the root is the runs' own.
        let is_others = !is_below_base(real) && !self.is_in_runs_root(real);
        let is_script = matches!(program.head, Head::Script(_)) && is_others;
        let is_chosen = is_script
            && (chosen_by == ChosenBy::RunsLine || is_led_out)
            && !self.covers(real, InstallationAccess::Execute);
        if is_led_out && chosen_by == ChosenBy::User && self.left_out.is_none() {
            let place = is_chosen
                .then(|| real.clone())
                .or_else(|| self.environment_led_to(path));
            let path = path.clone();
            self.left_out = place.map(|place| LeftOut { path, place });
        }
        if is_chosen {
            return false;
        }
        self.add_file(real, THE_FILE_ALONE);
        true
    }

    /// The program of an environment of Python whose directory a link that a run may have made leads to. Alone it would be another
    /// Python.
    fn environment_led_to(&mut self, path: &Path) -> Option<PathBuf> {
        let way = self.walker.walk(path.parent()?);
        let program = way.real.join(path.file_name()?);
        let is_environment = prefix_of(&program)?.join("pyvenv.cfg").exists();
        (is_environment && self.is_led_out(&way) && !self.covers(&program, InstallationAccess::Execute))
            .then_some(program)
    }

    /// Whether runs may have made what lies at a path, since it lies in the root. In a home that is the root, they needn't.
    fn is_in_runs_root(&mut self, path: &Path) -> bool {
        let root = self.request.root;
        path.starts_with(root) && self.runs_trees().iter().any(|tree| tree == root)
    }

    /// Whether the user's own command line led to a directory.
    pub(super) fn trusts(&mut self, path: &Path) -> bool {
        let real = self.walker.canonical(path);
        real.is_some_and(|real| self.trusted.iter().any(|trusted| real.starts_with(trusted)))
    }

    /// Trusts the directories around a path that the user, or a file that the user trusts, named.
    pub(super) fn trust(&mut self, hop: &Path) {
        let packages = hop
            .ancestors()
            .filter(|above| above.file_name() == Some(OsStr::new("node_modules")))
            .last();
        let around = prefix_of(hop).into_iter().chain(packages).chain([hop]);
        let found: Vec<PathBuf> = around.filter_map(|path| self.walker.canonical(path)).collect();
        // Not all of a home for a program in its `bin`.
        let fence = self.fence();
        let narrow: Vec<PathBuf> = found.into_iter().filter(|real| fence.admits(real)).collect();
        self.trusted.extend(narrow);
    }

    fn fence(&mut self) -> &mut Fence {
        let (request, walker) = (self.request, &mut self.walker);
        self.fence
            .get_or_insert_with(|| Fence::new(request.root, request.home, request.variable, walker))
    }

    /// Trusts the directories around a path that the user named, and those around the links on its way, up to one in the root,
    /// which an earlier run may have made. So it may have one that leads out of another tree where runs write.
    pub(super) fn trust_named(&mut self, path: &Path) {
        let mut named = path.to_owned();
        for _ in 0..link::MAX_LINKS {
            let (Some(directory), Some(name)) = (named.parent(), named.file_name()) else {
                return;
            };
            let way = self.walker.walk(directory);
            let hop = way.real.join(name);
            if self.is_led_out(&way) || self.is_in_runs_root(&hop) {
                return;
            }
            self.trust(&hop);
            let Ok(target) = std::fs::read_link(&hop) else { return };
            named = way.real.join(target);
            let there = self.walker.walk(&named).real;
            let mut trees = self.runs_trees().iter();
            if trees.any(|tree| hop.starts_with(tree) && !there.starts_with(tree)) {
                return;
            }
        }
    }

    /// Whether a link on the way leads out of a tree where runs may have made it.
    pub(super) fn is_led_out(&mut self, walked: &Walked) -> bool {
        walked
            .leads_out_of(self.runs_trees().iter().map(PathBuf::as_path))
            .is_some()
    }

    /// Whether a run may have made what lies at a path, or a link on the way to it.
    pub(super) fn may_be_a_runs(&mut self, path: &Path) -> bool {
        let walked = self.walker.walk(path);
        let trees = self.runs_trees();
        let mut names = walked.links.iter().map(PathBuf::as_path).chain([&walked.real, path]);
        names.any(|name| trees.iter().any(|tree| name.starts_with(tree)))
    }

    fn runs_trees(&mut self) -> &[PathBuf] {
        let (written, walker) = (self.request.written, &mut self.walker);
        let ask = || written.iter().map(|tree| walker.walk(tree).real).collect();
        self.runs_trees.get_or_insert_with(ask)
    }

    /// Whether a file is the user's own in a directory for programs of the home. Those are guarded in every profile.
    pub(super) fn is_in_homes_bin(&mut self, real: &Path) -> bool {
        let Some(home) = self.request.home else { return false };
        let mut bins = HOMES_BINS.iter().map(|below| self.walker.canonical(&home.join(below)));
        bins.any(|bin| bin.is_some() && bin.as_deref() == real.parent())
    }

    /// Revokes the trust in all paths named so far.
    pub(super) fn distrust(&mut self) {
        self.trusted.clear();
    }

    /// Adds the packages that a script run by Node, which the user named, can load.
    pub(super) fn add_node_script(&mut self, path: &Path, real: &Path) {
        // By a link, an earlier run may have chosen the place.
        if self.walker.canonical(path).is_some_and(|canonical| canonical == path) && !self.is_in_runs_root(path) {
            self.trust(path);
        }
        node::add_packages(self, path);
        node::add_packages(self, real);
    }

    /// The first layout that explains a path is used; a virtual environment also adds the Python that it was made from.
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

    /// The layouts identified by their own markers, for which it doesn't matter who named the path.
    pub(super) fn add_unpacked(&mut self, hop: &Path) -> bool {
        is_below_base(hop) || manager::add_store(self, hop) || manager::add_version(self, hop) || prefix::add(self, hop)
    }

    /// Grants a tree or a file. Returns false if it doesn't exist or is too wide; the caller must find another way.
    pub(super) fn add(&mut self, path: &Path, access: InstallationAccess, reason: &'static str) -> bool {
        match self.resolved(path) {
            Some(real) => self.add_real(real, access, reason, false),
            None => false,
        }
    }

    /// The real path of what is there; `None` where a link leads out of a tree in which a run may have made it.
    pub(super) fn resolved(&mut self, path: &Path) -> Option<PathBuf> {
        let walked = path.is_absolute().then(|| self.walker.walk(path))?;
        let is_open = walked.exists && (is_below_base(&walked.real) || !self.is_led_out(&walked));
        is_open.then_some(walked.real)
    }

    /// Grants one file by the kernel's path, wherever it lies.
    pub(super) fn add_file(&mut self, path: &Path, reason: &'static str) -> bool {
        // A link here was made meanwhile, perhaps by another run.
        match self.walker.canonical(path) {
            Some(real) if real == path => self.add_real(real, InstallationAccess::Execute, reason, true),
            _ => false,
        }
    }

    fn add_real(&mut self, real: PathBuf, access: InstallationAccess, reason: &'static str, is_file: bool) -> bool {
        if is_below_base(&real) || self.covers(&real, access) || self.is_written(&real) {
            return true;
        }
        self.fence();
        self.runs_trees();
        let (Some(fence), Some(trees)) = (&mut self.fence, &self.runs_trees) else {
            return false;
        };
        if !fence.admits(&real) || !(is_file || fence.expects(&real, &self.trusted, trees, &mut self.walker)) {
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

    /// Sets a variable that tells the program where its installation is; the first value of a name stays.
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

    /// Whether a directory is in a tree where the profile's grants apply instead.
    pub(super) fn is_written(&self, real: &Path) -> bool {
        self.written.iter().any(|written| real.starts_with(written))
    }

    /// Whether the installation already grants this.
    pub(super) fn covers(&self, real: &Path, access: InstallationAccess) -> bool {
        self.belongs
            .iter()
            .any(|part| real.starts_with(&part.path) && access <= part.access)
    }
}

/// Whether a path as written stays in the base, as far as its text tells.
fn is_plainly_below_base(path: &Path) -> bool {
    is_below_base(path) && !path.components().any(|part| part == Component::ParentDir)
}

/// The installation prefix of a program in its `bin`.
pub(super) fn prefix_of(program: &Path) -> Option<&Path> {
    let directory = program.parent()?;
    matches!(directory.file_name()?.to_str(), Some("bin" | "sbin")).then(|| directory.parent())?
}
