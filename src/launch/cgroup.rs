//! A control group (v2) of the run's own, where somebody delegated one: memory and processes counted by the
//! kernel, whole tree included (Documentation/admin-guide/cgroup-v2.rst, "Delegation").

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::LaunchError;
use crate::profile::Limits;

/// Where cgroup v2 is mounted on its own; hybrid machines have no controllers in theirs.
const MOUNT: &str = "/sys/fs/cgroup";

/// The nearest group, from the caller's own upwards, in which a child with memory and process limits can be
/// made. `None` where nothing is delegated.
pub fn find() -> Option<PathBuf> {
    let mount = Path::new(MOUNT);
    // Hybrid machines don't have it, and writing the membership out costs the kernel more than this look.
    if !mount.join("cgroup.controllers").exists() {
        return None;
    }
    find_below(mount, &fs::read_to_string("/proc/self/cgroup").ok()?)
}

fn find_below(mount: &Path, membership: &str) -> Option<PathBuf> {
    let own = membership.lines().find_map(|line| line.strip_prefix("0::/"))?;
    mount
        .join(own)
        .ancestors()
        .take_while(|group| group.starts_with(mount))
        .find(|group| is_delegated(group))
        .map(Path::to_path_buf)
}

/// Children of a delegated group have the controllers, and the user may make children and move processes.
fn is_delegated(group: &Path) -> bool {
    let Ok(controllers) = fs::read_to_string(group.join("cgroup.subtree_control")) else {
        return false;
    };
    let has = |name| controllers.split_whitespace().any(|one| one == name);
    let writable = |path: &Path| nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok();
    has("memory") && has("pids") && writable(group) && writable(&group.join("cgroup.procs"))
}

/// A group of one run; dropping it removes the (by then empty) group.
pub struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// Makes the group and sets its limits.
    pub fn make(parent: &Path, limits: &Limits) -> Result<ControlGroup, LaunchError> {
        let path = parent.join(format!("stockade-{}-{}", std::process::id(), serial()));
        let failed = |error| LaunchError::ControlGroup(path.clone(), error);
        fs::create_dir(&path).map_err(failed)?;
        let group = ControlGroup { path: path.clone() };
        group.set_limits(limits).map_err(failed)?;
        Ok(group)
    }

    fn set_limits(&self, limits: &Limits) -> io::Result<()> {
        if let Some(bytes) = limits.memory {
            fs::write(self.path.join("memory.max"), bytes.to_string())?;
            // Swapped memory is used memory. Machines without swap accounting have no such file.
            let _ = fs::write(self.path.join("memory.swap.max"), "0");
            // The tree ends as a whole, not one process of it.
            fs::write(self.path.join("memory.oom.group"), "1")?;
        }
        if let Some(count) = limits.processes {
            fs::write(self.path.join("pids.max"), count.to_string())?;
        }
        Ok(())
    }

    /// `cgroup.procs`, opened for the target to enter.
    pub fn door(&self) -> io::Result<fs::File> {
        fs::OpenOptions::new().write(true).open(self.path.join("cgroup.procs"))
    }

    /// Whether the kernel ended the tree for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        self.counts("memory.events", "oom_kill ")
    }

    /// Whether the kernel refused to make a process or thread.
    pub fn ran_out_of_processes(&self) -> bool {
        self.counts("pids.events", "max ")
    }

    fn counts(&self, file: &str, event: &str) -> bool {
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
    }
}

fn serial() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(found, Some(app));
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
        let made = ControlGroup::make(mount.path(), &limits).unwrap();
        let read = |name: &str| fs::read_to_string(made.path.join(name)).unwrap();
        assert_eq!(read("memory.max"), "1048576");
        assert_eq!(read("pids.max"), "7");
        assert!(!made.ran_out_of_memory());
        fs::write(made.path.join("memory.events"), "oom 1\noom_kill 1\n").unwrap();
        assert!(made.ran_out_of_memory());
    }
}
