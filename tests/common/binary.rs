//! The program under test and the tests' files: located at run time, so that one user can build the tests
//! and another can run them elsewhere.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The path of the program under test: `STOCKADE_BIN`, or the one that cargo built for the tests.
#[derive(Clone, Copy)]
pub struct Stockade;

/// The program under test.
pub const STOCKADE: Stockade = Stockade;

static PATH: LazyLock<String> = LazyLock::new(|| match std::env::var("STOCKADE_BIN") {
    Ok(path) => std::fs::canonicalize(&path)
        .unwrap_or_else(|error| panic!("STOCKADE_BIN is `{path}`: {error}"))
        .into_os_string()
        .into_string()
        .expect("the path is text"),
    Err(_) => env!("CARGO_BIN_EXE_stockade").into(),
});

impl Stockade {
    pub fn path(self) -> &'static str {
        &PATH
    }
}

impl AsRef<OsStr> for Stockade {
    fn as_ref(&self) -> &OsStr {
        self.path().as_ref()
    }
}

impl From<Stockade> for OsString {
    fn from(stockade: Stockade) -> OsString {
        stockade.path().into()
    }
}

impl fmt::Display for Stockade {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.path())
    }
}

/// The checkout, or the copy of it that the tests run in.
pub fn checkout() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}
