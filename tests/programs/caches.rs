//! Package managers and runners fetch once, from a registry of the test's own, in a home that they can't write.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use super::support::{find, installed, missing, prepared, text_of};
use crate::common::{STOCKADE, python};

/// Makes `leaf` as a package of npm and as a wheel, each with a program, in the directory that is served.
const PACKAGES: &str = r#"
import base64, hashlib, io, json, os, sys, tarfile, zipfile
url = sys.argv[1]
package = {"name": "leaf", "version": "1.0.0", "bin": {"leaf": "leaf.js"}}
with tarfile.open('leaf-1.0.0.tgz', 'w:gz') as archive:
    for name, text in [('package.json', json.dumps(package)), ('leaf.js', '#!/usr/bin/env node\nconsole.log("fetched")\n')]:
        entry = tarfile.TarInfo('package/' + name)
        entry.size, entry.mode = len(text), 0o755
        archive.addfile(entry, io.BytesIO(text.encode()))
digest = hashlib.sha512(open('leaf-1.0.0.tgz', 'rb').read()).digest()
package['dist'] = {"tarball": url + '/leaf-1.0.0.tgz', "integrity": 'sha512-' + base64.b64encode(digest).decode()}
with open('leaf', 'w') as file:
    json.dump({"name": "leaf", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": package}}, file)
os.makedirs('simple/leaf')
with zipfile.ZipFile('simple/leaf/leaf-1.0.0-py3-none-any.whl', 'w') as wheel:
    about = 'leaf-1.0.0.dist-info/'
    wheel.writestr('leaf.py', 'def main():\n    print("fetched")\n')
    wheel.writestr(about + 'METADATA', 'Metadata-Version: 2.1\nName: leaf\nVersion: 1.0.0\n')
    wheel.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    wheel.writestr(about + 'entry_points.txt', '[console_scripts]\nleaf = leaf:main\n')
    wheel.writestr(about + 'RECORD', ''.join(name + ',,\n' for name in wheel.namelist() + [about + 'RECORD']))
"#;

/// Serves the directory that it is started in, and says on which port. pip keeps what it is told that it may.
const SERVER: &str = "
import http.server
class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header('Cache-Control', 'max-age=600')
        super().end_headers()
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
";

/// A registry, and a caller whose home and root no test may write by accident.
struct Place {
    directory: TempDir,
    registry: Child,
    address: String,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::Builder::new()
            .prefix("caches-")
            .tempdir_in("/var/tmp")
            .unwrap();
        for name in ["served", "home", "root"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let served = directory.path().join("served");
        let mut registry = Command::new("python3")
            .args(["-c", SERVER])
            .current_dir(&served)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 serves");
        let mut line = String::new();
        BufReader::new(registry.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = format!("127.0.0.1:{}", line.trim());
        let made = Command::new("python3")
            .args(["-c", PACKAGES, &format!("http://{address}")])
            .current_dir(served)
            .status();
        assert!(made.unwrap().success());
        Place {
            directory,
            registry,
            address,
        }
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    fn confined(&self, flags: &[&str], command: &[&str]) -> Output {
        let url = format!("http://{}", self.address);
        let variables = [
            ("npm_config_registry", url.clone()),
            // What comes without TLS is kept only from a trusted host.
            ("PIP_TRUSTED_HOST", self.address.clone()),
            ("PIP_INDEX_URL", format!("{url}/simple")),
            ("UV_DEFAULT_INDEX", format!("{url}/simple")),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1".into()),
            ("UV_PYTHON", python().into()),
        ];
        let mut run = Command::new("timeout");
        run.args(["200", STOCKADE.path(), "run", "--ask", "never"]).args(flags);
        for (name, value) in variables {
            run.arg("--env").arg(format!("{name}={value}"));
        }
        run.arg("--").args(command).current_dir(self.root());
        let home = self.directory.path().join("home");
        run.env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", home);
        run.stdin(Stdio::null())
            .output()
            .expect("`timeout` of coreutils starts")
    }

    /// Asserts that it ends well and says so, also when there's nothing to fetch from any more.
    fn fetches_once(&mut self, flags: &[&str], command: &[&str]) {
        let first = self.confined(flags, command);
        assert!(first.status.success(), "{command:?}: {}", text_of(&first));
        self.registry.kill().unwrap();
        self.registry.wait().unwrap();
        let offline = ["--env", "npm_config_offline=true", "--env", "UV_OFFLINE=1"];
        let again = self.confined(&[flags, &offline].concat(), command);
        assert!(again.status.success(), "{command:?} once more: {}", text_of(&again));
        for said in [first, again] {
            assert!(text_of(&said).contains("fetched"), "{}", text_of(&said));
        }
        let home = fs::read_dir(self.directory.path().join("home")).unwrap();
        let kept: Vec<OsString> = home.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(
            kept,
            [OsString::from(".local")],
            "Stockade's state alone is in the home"
        );
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.registry.kill();
        let _ = self.registry.wait();
    }
}

const MCP: [&str; 2] = ["--profile", "mcp-standard"];

#[test]
fn npx_fetches_a_program_once_under_mcp_standard() {
    if installed(&["npx", "node", "python3"]) {
        Place::new().fetches_once(&MCP, &["npx", "-y", "leaf"]);
    }
}

#[test]
fn uvx_fetches_a_program_once_under_mcp_standard() {
    let prepared = prepared("STOCKADE_TEST_UV", "test-uv").join("bin/uvx");
    let Some(uvx) = Some(prepared).filter(|path| path.exists()).or_else(|| find("uvx")) else {
        return missing("uvx");
    };
    Place::new().fetches_once(&MCP, &[&*uvx.to_string_lossy(), "leaf"]);
}

#[test]
fn npm_ci_fetches_once_under_workspace() {
    if !installed(&["npm", "node", "python3"]) {
        return;
    }
    let mut place = Place::new();
    let package = r#"{ "name": "app", "version": "1.0.0", "dependencies": { "leaf": "1.0.0" } }"#;
    fs::write(place.root().join("package.json"), package).unwrap();
    let flags = ["--profile", "workspace", "--host", &place.address.clone()];
    let locked = place.confined(&flags, &["npm", "install", "--package-lock-only"]);
    assert!(locked.status.success(), "{}", text_of(&locked));
    let install = [
        "sh",
        "-c",
        "rm -rf node_modules; npm ci --no-audit && node_modules/.bin/leaf",
    ];
    place.fetches_once(&flags, &install);
}

#[test]
fn pip_downloads_once_under_workspace() {
    let can_make = |python: &Path| Command::new(python).args(["-c", "import ensurepip, venv"]).output();
    if !can_make(Path::new("python3")).is_ok_and(|output| output.status.success()) {
        return missing("ensurepip");
    }
    let place = Place::new();
    let flags = ["--profile", "workspace", "--host", &place.address];
    let made = place.confined(&flags, &["python3", "-m", "venv", "environment"]);
    assert!(made.status.success(), "{}", text_of(&made));
    let install = ["environment/bin/pip", "install", "--force-reinstall", "leaf"];
    let first = place.confined(&flags, &install);
    assert!(
        first.status.success() && text_of(&first).contains("Downloading "),
        "{}",
        text_of(&first)
    );
    let again = place.confined(&flags, &install);
    assert!(
        again.status.success() && text_of(&again).contains("Using cached "),
        "{}",
        text_of(&again)
    );
}
