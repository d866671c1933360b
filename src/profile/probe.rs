//! The probe that `stockade profile test` runs in the sandbox: makes one attempt and returns the result as an exit code.
//!
//! It is Stockade's own program, since every run may read and execute its own command, whatever the profile.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use stockade_policy::profile::{Attempt, Deed};

/// Exit code: the attempt succeeded.
pub const DONE: u8 = 0;
/// Exit code: the system refused it. Few programs use this code, so a started program's exit isn't taken for it.
pub const REFUSED: u8 = 113;

/// The arguments for one attempt: the act, its target, and a value.
pub fn words(attempt: &Attempt, target: &OsStr, value: &str) -> [OsString; 5] {
    [
        "profile".into(),
        "probe".into(),
        attempt.word().into(),
        target.to_os_string(),
        value.into(),
    ]
}

/// Makes the attempt; prints the system's answer on standard output.
pub fn probe(word: &str, target: &OsStr, value: &OsStr, out: &mut dyn io::Write) -> u8 {
    match act(word, target, value) {
        Ok(()) => DONE,
        Err(error) => {
            let _ = write!(out, "{error}");
            REFUSED
        }
    }
}

fn act(word: &str, target: &OsStr, value: &OsStr) -> io::Result<()> {
    match word {
        _ if word == Deed::Read.word() => read(target),
        _ if word == Deed::Write.word() => OpenOptions::new().append(true).open(target).map(drop),
        _ if word == Deed::Create.word() => File::create_new(target).map(drop),
        _ if word == Deed::Delete.word() => fs::remove_file(target),
        _ if word == Deed::Execute.word() => Err(Command::new(target).stdout(Stdio::null()).exec()),
        _ if word == Deed::Socket.word() => UnixStream::connect(target).map(drop),
        "connect" => TcpStream::connect_timeout(&address(target)?, Duration::from_secs(5)).map(drop),
        "listen" => TcpListener::bind(address(target)?).map(drop),
        "env" => variable(target, value),
        _ => Err(io::Error::other("no such attempt")),
    }
}

/// A directory is read by listing it.
fn read(target: &OsStr) -> io::Result<()> {
    if fs::metadata(target)?.is_dir() {
        return fs::read_dir(target).map(drop);
    }
    File::open(target).map(drop)
}

fn address(target: &OsStr) -> io::Result<SocketAddr> {
    let text = target.to_string_lossy();
    text.parse().map_err(|_| io::Error::other("no address"))
}

fn variable(name: &OsStr, value: &OsStr) -> io::Result<()> {
    match std::env::var_os(name) {
        Some(found) if found == value => Ok(()),
        Some(_) => Err(io::Error::other("it has another value")),
        None => Err(io::Error::other("it isn't set")),
    }
}
