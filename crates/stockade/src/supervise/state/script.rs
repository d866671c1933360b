//! The script that a run is for, as it was when it was read.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::mutex::lock;
use crate::supervise::call::caller::Alleged;

/// A script as it was read. Its interpreter opens it by its path, where somebody may have put another one by then.
#[derive(Debug)]
pub struct Script {
    path: PathBuf,
    text: Arc<[u8]>,
    to_whom: ServedTo,
    opens: Mutex<Opens>,
}

/// How often a script was served, and to which process.
#[derive(Debug, Default)]
struct Opens {
    process: Option<i32>,
    count: u32,
}

/// How often the first process that opens a script, its interpreter, gets the text as it was read. Others get the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedTo {
    /// As often as the interpreter opens it before running it. Afterwards it gets the file: scripts hold locks on it.
    First(u32),
    /// Always.
    All,
}

impl Script {
    /// A script at its real path, by which its interpreter will open it.
    pub fn new(path: PathBuf, text: Arc<[u8]>, to_whom: ServedTo) -> Script {
        Script {
            path,
            text,
            to_whom,
            opens: Mutex::default(),
        }
    }

    pub fn serve(&self, process: i32, path: &Alleged) -> Option<&[u8]> {
        if self.path.as_os_str().as_bytes() != path.bytes() {
            return None;
        }
        let mut opens = lock(&self.opens);
        let is_due = *opens.process.get_or_insert(process) == process
            && match self.to_whom {
                ServedTo::First(most) => opens.count < most,
                ServedTo::All => true,
            };
        opens.count = opens.count.saturating_add(u32::from(is_due));
        is_due.then_some(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn script(to_whom: ServedTo) -> Script {
        Script::new("/w/a.py".into(), b"text".as_slice().into(), to_whom)
    }

    fn path(text: &str) -> Alleged {
        Alleged::new(CString::new(text).unwrap())
    }

    #[test]
    fn the_interpreter_gets_the_text_as_often_as_it_opens_the_script_before_it_runs() {
        let script = script(ServedTo::First(2));
        assert_eq!(script.serve(7, &path("/w/a.py")), Some(&b"text"[..]));
        assert!(script.serve(7, &path("/w/a.py")).is_some());
        assert!(script.serve(7, &path("/w/a.py")).is_none());
    }

    #[test]
    fn other_processes_get_the_file() {
        let script = script(ServedTo::All);
        for _ in 0..3 {
            assert!(script.serve(7, &path("/w/a.py")).is_some());
            assert!(script.serve(8, &path("/w/a.py")).is_none());
        }
    }

    #[test]
    fn another_path_is_no_open_of_the_script_and_makes_no_process_its_interpreter() {
        let script = script(ServedTo::First(1));
        for other in ["/w/b.py", "/w/./a.py", "a.py", "/w/a.py/"] {
            assert!(script.serve(8, &path(other)).is_none(), "{other}");
        }
        assert!(script.serve(7, &path("/w/a.py")).is_some());
    }
}
