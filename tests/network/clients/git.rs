//! Git over HTTP, with its own server side.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};

use crate::common::{Place, python};
use crate::network::built::installed;
use crate::network::net::{Net, outcome};
use crate::network::servers::{Http, address};

/// `git http-backend` behind a Python server, with a repository that has one commit.
struct Backend {
    address: SocketAddr,
    child: Child,
    place: Place,
}

impl Backend {
    fn new() -> Backend {
        let place = Place::new();
        let made = place
            .command("sh")
            .args(["-c", MAKE])
            .envs([("GIT_AUTHOR_NAME", "Ann"), ("GIT_AUTHOR_EMAIL", "ann@example.org")])
            .envs([
                ("GIT_COMMITTER_NAME", "Ann"),
                ("GIT_COMMITTER_EMAIL", "ann@example.org"),
            ])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let ip: IpAddr = address();
        let mut child = place
            .command(python())
            .args(["-I", "-c", include_str!("programs/git_server.py"), &ip.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = SocketAddr::new(ip, line.trim().parse().expect("the server says its port"));
        Backend { address, child, place }
    }

    fn git(&self, words: &[&str]) -> String {
        let ended = Command::new("git")
            .arg("-C")
            .arg(self.place.path("shop.git"))
            .args(words)
            .output()
            .unwrap();
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const MAKE: &str = "set -e; git init -q -b main work; cd work; echo one >file; seq 20000 >large; git add -A
    git commit -q -m first; cd ..; git clone -q --bare work shop.git; git -C shop.git config http.receivepack true";

#[test]
fn git_clones_fetches_and_pushes_over_http() {
    if !installed(&["git"]) {
        return;
    }
    let backend = Backend::new();
    let mut net = Net::new();
    net.grant("git.shop.test", backend.address);
    let url = format!("http://git.shop.test:{}/shop.git", backend.address.port());
    let script = format!(
        "set -e; git clone -q {url} copy; cd copy; cat file; wc -l <large; git fetch -q; echo two >>file
         git -c user.name=Ann -c user.email=a@example.org commit -q -a -m second
         git push -q origin HEAD:refs/heads/pushed; git ls-remote -q origin | wc -l"
    );
    outcome(net.run("workspace").command(["bash", "-c", &script])).prints("one\n20000\n3\n");
    assert_eq!(backend.git(&["show", "pushed:file"]), "one\ntwo\n");
}

#[test]
fn git_says_that_it_cannot_resolve_what_is_not_granted() {
    if !installed(&["git"]) {
        return;
    }
    let other = Http::new();
    let mut net = Net::new();
    net.host("git.shop.test:8080");
    net.names.lead("other.shop.test", other.address.ip());
    let url = format!("http://other.shop.test:{}/x.git", other.port());
    let ran = outcome(net.run("workspace").command(["git", "clone", "-q", &url, "copy"]));
    assert_eq!(ran.finished.status.code(), Some(128), "{}", ran.told());
    assert!(
        ran.stderr().contains("Could not resolve host: other.shop.test"),
        "{}",
        ran.told()
    );
    ran.was_refused("resolve", "other.shop.test", &["--host", "other.shop.test"]);
    net.names.were_never_asked("other");
    assert!(other.requests().is_empty());
}
