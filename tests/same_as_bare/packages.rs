//! Package managers, with what they install lying in the directory.

use super::twins::{Twins, installed};
use crate::common::skipped;

#[test]
fn npm_installs_a_local_package_and_runs_its_scripts() {
    if !installed(&["node", "npm"]) {
        return;
    }
    let dependency = r#"{"name": "dependency", "version": "1.2.3", "main": "index.js", "bin": {"tool": "tool.js"}}"#;
    let project = r#"{"name": "project", "version": "1.0.0", "private": true,
        "scripts": {"build": "tool >built.txt", "test": "node -e \"console.log(require('dependency'))\""}}"#;
    let quiet = "export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
        export npm_config_offline=true npm_config_loglevel=error";
    let twins = Twins::new()
        .file("dependency/package.json", dependency)
        .file("dependency/index.js", "module.exports = 'from the dependency';\n")
        .file(
            "dependency/tool.js",
            "#!/usr/bin/env node\nconsole.log('from its tool');\n",
        )
        .file("project/package.json", project);
    twins.same(&format!("{quiet}; cd dependency; npm pack --silent"));
    let said = twins.same(&format!(
        "{quiet}; cd project; npm install --silent ../dependency/dependency-1.2.3.tgz; npm run --silent build
        npm test --silent; npm ls; node_modules/.bin/tool; rm -r node_modules; npm ci --silent; cat built.txt"
    ));
    assert!(said.contains("from the dependency"), "{said}");
}

const WHEEL: &str = r#"python3 - <<'END'
import zipfile
with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as wheel:
    def add(name, text):
        wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    add("tiny/__init__.py", "def main():\n    print('tiny from', __name__)\n")
    add("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    add("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    add("tiny-1.0.dist-info/entry_points.txt", "[console_scripts]\ntiny = tiny:main\n")
    add("tiny-1.0.dist-info/RECORD", "")
END
"#;
const PIP: &str = "pip install --quiet --no-index --no-cache-dir --disable-pip-version-check --no-warn-script-location";

/// Compiled modules and records hold times and the directory's name.
fn twins() -> Twins {
    Twins::new().loosely(&["*.pyc", "*/RECORD"]).prepared(WHEEL)
}

/// One after the other: making the environment is most of the work.
#[test]
fn pip_installs_a_wheel_and_a_source_archive_into_a_new_environment() {
    let archive = "mkdir -p src/small-2.0/small; cd src
        echo 'from setuptools import setup; setup(name=\"small\", version=\"2.0\", packages=[\"small\"])' \\
            >small-2.0/setup.py
        echo 'print(\"small\")' >small-2.0/small/__init__.py; tar --mtime @0 -czf ../small-2.0.tar.gz small-2.0";
    if !installed(&["python3", "tar"]) || !has_module("ensurepip") {
        return;
    }
    let twins = twins().prepared(archive).loosely(&["*.egg-info/*"]);
    twins.same(&format!(
        "python3 -m venv venv; venv/bin/{PIP} ./tiny-1.0-py3-none-any.whl; venv/bin/tiny
        venv/bin/python -c 'import tiny; tiny.main()'; venv/bin/pip list --format freeze | grep tiny
        venv/bin/pip uninstall -q -y tiny; test ! -e venv/bin/tiny"
    ));
    twins.any_stderr().same(&format!(
        "venv/bin/{PIP} --target out ./tiny-1.0-py3-none-any.whl
        PYTHONPATH=out python3 -c 'import tiny; tiny.main()'
        venv/bin/{PIP} --no-build-isolation ./small-2.0.tar.gz; venv/bin/python -c 'import small'"
    ));
}

fn has_module(name: &str) -> bool {
    let probe = format!("import {name}");
    let is_there = std::process::Command::new("/usr/bin/python3")
        .args(["-c", &probe])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_there {
        skipped(&format!("Python's {name} isn't installed"));
    }
    is_there
}
