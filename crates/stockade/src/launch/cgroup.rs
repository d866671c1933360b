//! A control group of the run's own, in which the kernel counts the whole tree: memory and processes if version 2 is
//! delegated (Documentation/admin-guide/cgroup-v2.rst, "Delegation"), processes alone if the caller's own version 1
//! group of `pids` is writable (Documentation/admin-guide/cgroup-v1/pids.rst).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::LaunchError;
use crate::plan::Grouped;
use crate::profile::Limits;

/// The mount point of cgroup v2 alone; hybrid machines have no controllers there.
const MOUNT: &str = "/sys/fs/cgroup";

/// The prefix of each run's group name.
const PREFIX: &str = "stockade-";

/// The parent of all runs' groups, if those couldn't be removed from the caller's own group: writing to the top of a
/// hierarchy takes a Linux capability, and the launcher drops its capabilities. It is never removed.
const SHARED: &str = "stockade";

/// A group in which runs get their own groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Its directory.
    pub path: PathBuf,
    /// The resources that the kernel counts in its children.
    pub counts: Grouped,
}

/// The nearest group, from the caller's own upwards, in which a child with memory and process limits can be made, or a
/// child of the caller's own with a limit of processes. `None` if nothing is delegated.
pub fn find() -> Option<Parent> {
    let mount = Path::new(MOUNT);
    let membership = || fs::read_to_string("/proc/self/cgroup").ok();
    // Reading the membership costs the kernel more than these checks.
    if mount.join("cgroup.controllers").exists() {
        return find_below(mount, &membership()?);
    }
    let pids = mount.join("pids");
    if !pids.join(TASKS).exists() {
        return None;
    }
    find_pids(&pids, &membership()?)
}

fn find_below(mount: &Path, membership: &str) -> Option<Parent> {
    let own = membership.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let own = mount.join(own);
    let mut groups = own.ancestors().take_while(|group| group.starts_with(mount));
    let path = groups.find(|group| is_delegated(group))?.to_path_buf();
    let counts = Grouped::All;
    Some(Parent { path, counts })
}

/// The caller's own group in the hierarchy of `pids`. Limits above it apply to its children too.
fn find_pids(mount: &Path, membership: &str) -> Option<Parent> {
    let own = membership.lines().find_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let is_pids = controllers.split(',').any(|one| one == "pids");
        is_pids.then(|| group.trim_start_matches('/'))
    })?;
    let path = mount.join(own);
    // A nested run may see the file and not be able to open it.
    let opens = || fs::OpenOptions::new().write(true).open(path.join(TASKS)).is_ok();
    if !is_writable(&path) || !opens() {
        return None;
    }
    let path = match is_writable_without_capabilities(&path) {
        true => path,
        false => path.join(SHARED),
    };
    let counts = Grouped::Processes;
    Some(Parent { path, counts })
}

fn is_writable_without_capabilities(path: &Path) -> bool {
    const OWNERS: u32 = 0o200;
    let is_own = |found: fs::Metadata| found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & OWNERS != 0;
    fs::metadata(path).is_ok_and(is_own)
}

/// The file by which a thread alone enters a version 1 group. A single-threaded process moves as a whole, and the
/// kernel stops no other process for that.
const TASKS: &str = "tasks";

fn is_writable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}

/// Whether children of the group have the controllers, and the user may make children and move processes.
fn is_delegated(group: &Path) -> bool {
    let Ok(controllers) = fs::read_to_string(group.join("cgroup.subtree_control")) else {
        return false;
    };
    let has = |name| controllers.split_whitespace().any(|one| one == name);
    has("memory") && has("pids") && is_writable(group) && is_writable(&group.join("cgroup.procs"))
}

/// The group of one run; dropping it removes the group, empty by then.
pub struct ControlGroup {
    path: PathBuf,
    counts: Grouped,
}

impl ControlGroup {
    /// Makes the group and sets its limits.
    pub fn make(parent: &Parent, limits: &Limits) -> Result<ControlGroup, LaunchError> {
        let path = make_directory(&parent.path).map_err(|(path, error)| LaunchError::ControlGroup(path, error))?;
        let failed = |error| LaunchError::ControlGroup(path.clone(), error);
        let group = ControlGroup {
            path: path.clone(),
            counts: parent.counts,
        };
        group.set_limits(limits).map_err(failed)?;
        Ok(group)
    }

    fn set_limits(&self, limits: &Limits) -> io::Result<()> {
        if let Some(bytes) = limits.memory.filter(|_| self.counts.memory()) {
            fs::write(self.path.join("memory.max"), bytes.to_string())?;
            // Swapped memory is used memory. Machines without swap accounting have no such file.
            let _ = fs::write(self.path.join("memory.swap.max"), "0");
            // The kernel kills the tree as a whole, not one process of it.
            fs::write(self.path.join("memory.oom.group"), "1")?;
        }
        if let Some(count) = limits.processes {
            fs::write(self.path.join("pids.max"), count.to_string())?;
        }
        Ok(())
    }

    /// The resources that the kernel counts in it.
    pub fn counts(&self) -> Grouped {
        self.counts
    }

    /// Opens the file by which the target enters.
    pub fn door(&self) -> io::Result<fs::File> {
        let name = match self.counts {
            Grouped::Processes => TASKS,
            Grouped::Nothing | Grouped::All => "cgroup.procs",
        };
        fs::OpenOptions::new().write(true).open(self.path.join(name))
    }

    /// Whether the kernel killed the tree for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        self.has_counted("memory.events", "oom_kill ")
    }

    /// Whether the kernel refused to create a process or thread.
    pub fn ran_out_of_processes(&self) -> bool {
        self.has_counted("pids.events", "max ")
    }

    fn has_counted(&self, file: &str, event: &str) -> bool {
        fs::read_to_string(self.path.join(file))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.strip_prefix(event))
            .any(|count| count.trim() != "0")
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
        if let Some(parent) = self.path.parent() {
            remove_forgotten(parent);
        }
    }
}

/// Makes the directory of one run. A killed launcher with the same process id may have left one of the same name.
fn make_directory(parent: &Path) -> Result<PathBuf, (PathBuf, io::Error)> {
    if parent.file_name().is_some_and(|name| name == SHARED)
        && let Err(error) = fs::create_dir(parent)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err((parent.to_path_buf(), error));
    }
    loop {
        let path = parent.join(format!("{PREFIX}{}-{}", std::process::id(), serial()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err((path, error)),
        }
    }
}

/// Removes the empty groups of launchers that are gone, and never one that a launcher is about to enter.
fn remove_forgotten(parent: &Path) {
    let is_gone = |name: &str| {
        let launcher = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
        launcher.is_some_and(|(id, _)| id.parse::<u32>().is_ok() && !Path::new("/proc").join(id).exists())
    };
    let groups = fs::read_dir(parent).into_iter().flatten().flatten();
    for group in groups.filter(|group| group.file_name().to_str().is_some_and(is_gone)) {
        let is_old = |since: SystemTime| since.elapsed().is_ok_and(|age| age > Duration::from_secs(60));
        if group.metadata().and_then(|found| found.modified()).is_ok_and(is_old) {
            let _ = fs::remove_dir(group.path());
        }
    }
}

fn serial() -> u64 {
    SERIAL.fetch_add(1, Ordering::Relaxed)
}

static SERIAL: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn group(top: &Path, name: &str, controllers: &str) -> PathBuf {
        let path = top.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("cgroup.subtree_control"), controllers).unwrap();
        fs::write(path.join("cgroup.procs"), "").unwrap();
        path
    }

    #[test]
    fn the_nearest_delegated_group_is_found() {
        let mount = tempfile::tempdir().unwrap();
        group(mount.path(), "", "cpu memory pids");
        let app = group(mount.path(), "user/app", "memory pids");
        group(mount.path(), "user/app/terminal", "");
        let found = find_below(mount.path(), "0::/user/app/terminal\n");
        let counts = Grouped::All;
        assert_eq!(found, Some(Parent { path: app, counts }));
    }

    #[test]
    fn a_hybrid_machine_has_none() {
        let mount = tempfile::tempdir().unwrap();
        group(mount.path(), "", "");
        assert_eq!(find_below(mount.path(), "4:memory:/x\n0::/\n"), None);
        assert_eq!(find_below(mount.path(), "4:memory:/x\n"), None);
    }

    #[test]
    fn limits_are_written_and_the_kill_is_read() {
        let mount = tempfile::tempdir().unwrap();
        let limits = Limits {
            time: None,
            cpu: None,
            memory: Some(1 << 20),
            processes: Some(7),
            open_files: None,
            file_size: None,
            disk: None,
            output: None,
        };
        let parent = |counts| Parent {
            path: mount.path().into(),
            counts,
        };
        let made = ControlGroup::make(&parent(Grouped::All), &limits).unwrap();
        let read = |name: &str| fs::read_to_string(made.path.join(name)).unwrap();
        assert_eq!(read("memory.max"), "1048576");
        assert_eq!(read("pids.max"), "7");
        assert!(!made.ran_out_of_memory());
        fs::write(made.path.join("memory.events"), "oom 1\noom_kill 1\n").unwrap();
        assert!(made.ran_out_of_memory());
        let made = ControlGroup::make(&parent(Grouped::Processes), &limits).unwrap();
        assert_eq!(fs::read_to_string(made.path.join("pids.max")).unwrap(), "7");
        assert!(!made.path.join("memory.max").exists());
    }

    #[test]
    fn the_callers_own_group_of_version_1_counts_processes() {
        let mount = tempfile::tempdir().unwrap();
        let own = mount.path().join("session/7");
        fs::create_dir_all(&own).unwrap();
        let membership = "9:memory:/elsewhere\n8:pids:/session/7\n0::/\n";
        assert_eq!(
            find_pids(mount.path(), membership),
            None,
            "nothing can be entered there"
        );
        fs::write(own.join(TASKS), "").unwrap();
        let counts = Grouped::Processes;
        assert_eq!(find_pids(mount.path(), membership), Some(Parent { path: own, counts }));
        assert_eq!(find_pids(mount.path(), "8:freezer:/session/7\n"), None);
    }

    /// The top of a hierarchy has mode 0555; root writes to it by a capability that the launcher drops.
    #[test]
    fn a_group_is_made_where_it_can_be_removed_without_capabilities() {
        let limits = Limits {
            processes: Some(7),
            ..Limits::NONE
        };
        let mount = tempfile::tempdir().unwrap();
        let own = mount.path();
        fs::write(own.join(TASKS), "").unwrap();
        fs::set_permissions(own, fs::Permissions::from_mode(0o555)).unwrap();
        let found = find_pids(own, "8:pids:/\n");
        fs::set_permissions(own, fs::Permissions::from_mode(0o755)).unwrap();
        let is_root = nix::unistd::geteuid().is_root();
        assert_eq!(
            found.as_ref().map(|parent| parent.path.clone()),
            is_root.then(|| own.join(SHARED))
        );
        let parent = found.unwrap_or_else(|| Parent {
            path: own.join(SHARED),
            counts: Grouped::Processes,
        });
        let stale = parent
            .path
            .join(format!("{PREFIX}{}-{}", std::process::id(), 1_000_000));
        SERIAL.store(1_000_000, Ordering::Relaxed);
        fs::create_dir_all(stale).unwrap();
        let made = ControlGroup::make(&parent, &limits).unwrap();
        assert!(made.path.starts_with(&parent.path) && made.path.join("pids.max").exists());
    }
}
