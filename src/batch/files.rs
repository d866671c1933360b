//! The files that a batch reads its jobs from, and writes its results and messages to. No job may change one.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use stockade::Sandbox;

/// The paths, and what names each.
#[derive(Debug, Default)]
pub struct Files(Vec<(PathBuf, &'static str)>);

impl Files {
    /// Those of a batch: both named files, if they are files, and what its standard streams are redirected to.
    ///
    /// # Errors
    /// One of them isn't there.
    pub fn of(jobs: &Path, output: Option<&Path>) -> io::Result<Files> {
        let mut files = Files::default();
        if let Some(output) = output {
            files.add(output, "--output")?;
        }
        if jobs != "-" {
            files.add(jobs, "the file of jobs")?;
        }
        for (number, name) in [(0, "standard input"), (1, "standard output"), (2, "standard error")] {
            files.0.extend(behind(number).map(|path| (path, name)));
        }
        Ok(files)
    }

    /// The sandbox, in which none of them is changed.
    pub fn guarded_in(&self, sandbox: Sandbox) -> Sandbox {
        let each = self.0.iter();
        each.fold(sandbox, |sandbox, (path, name)| sandbox.guard(path, name))
    }

    /// Adds the file, and the name that a person knows it by: a run that replaces a link on the way has replaced the file.
    fn add(&mut self, path: &Path, name: &'static str) -> io::Result<()> {
        let real = fs::canonicalize(path)?;
        let named = std::path::absolute(path)?;
        if named != real {
            self.0.push((named, name));
        }
        self.0.push((real, name));
        Ok(())
    }
}

/// The path of the regular file behind a descriptor. A file without a name here, as a shell makes it for `<<`, has none.
fn behind(number: i32) -> Option<PathBuf> {
    let link = PathBuf::from(format!("/proc/self/fd/{number}"));
    let open = fs::metadata(&link).ok().filter(fs::Metadata::is_file)?;
    let path = fs::read_link(&link).ok()?;
    let named = fs::symlink_metadata(&path).ok()?;
    ((open.dev(), open.ino()) == (named.dev(), named.ino())).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_file_is_known_by_its_own_name_and_by_that_of_a_link() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/jobs"), "").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let mut files = Files::default();
        files.add(&root.join("link/jobs"), "jobs").unwrap();
        let paths: Vec<_> = files.0.into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, [root.join("link/jobs"), root.join("real/jobs")]);
    }

    #[test]
    fn behind_a_descriptor_is_a_regular_file_that_has_a_name() {
        let place = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(place.path()).unwrap().join("results");
        let file = fs::File::create(&path).unwrap();
        assert_eq!(behind(file.as_raw_fd()), Some(path.clone()));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        assert_eq!(behind(file.as_raw_fd()), None);
        let (reading, _writing) = io::pipe().unwrap();
        assert_eq!(behind(reading.as_raw_fd()), None);
    }
}
