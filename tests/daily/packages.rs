//! Packages that ship files for editors and agents, installed more than once.

use super::running::prepare;
use super::twins::Twins;
use crate::common::Place;
use crate::programs::support::{missing, prepared};
use crate::same_as_bare::twins::installed;

const QUIET: &str =
    "export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_offline=true
export npm_config_loglevel=error npm_config_cache=$PWD/../cache npm_config_logs_max=0
";

/// A package with what editors, agents and debuggers look for.
const PACKAGE: &str =
    "mkdir -p ../packed ../cache ../made/$1/.vscode ../made/$1/.claude ../made/$1/.idea ../made/$1/.github/hooks
cd ../made/$1; printf '{ \"name\": \"%s\", \"version\": \"%s\", \"main\": \"index.js\" }' $1 $2 >package.json
echo \"module.exports = '$1 $2'\" >index.js; echo '{}' >.vscode/settings.json; echo '{}' >.vscode/tasks.json
echo '{}' >.claude/settings.json; echo x >.claude/x; echo '{}' >.mcp.json; echo x >.idea/workspace.xml
echo '{}' >.github/hooks/x.json; echo x >.gdbinit; npm pack --silent --pack-destination ../../packed; cd ../../root";

fn project() -> Place {
    let template = Place::new();
    let made: String = [("shipped", "1.0.0"), ("shipped", "2.0.0"), ("other", "1.0.0")]
        .map(|(name, version)| PACKAGE.replace("$1", name).replace("$2", version) + "\n")
        .concat();
    let settings = r#"{ "name": "daily", "version": "1.0.0", "private": true }"#;
    template.file("package.json", settings);
    prepare(
        &template,
        &format!(
            "{QUIET}set -e\n{made}git init -q -b main .; echo node_modules >.gitignore
npm install --silent ../packed/shipped-1.0.0.tgz ../packed/other-1.0.0.tgz; rm -rf node_modules; git add -A; git commit -q -m project"
        ),
    );
    template
}

#[test]
fn packages_with_files_for_editors_and_agents_are_installed_again_and_again() {
    if !installed(&["node", "npm"]) {
        return;
    }
    let twins = Twins::of(&project());
    let said = twins.same(&format!("{QUIET}npm ci --silent; find node_modules -type f | sort"));
    assert!(said.contains("node_modules/shipped/.claude/settings.json"), "{said}");
    twins.same(&format!("{QUIET}npm ci --silent; node -p \"require('shipped')\""));
    twins.same(&format!(
        "{QUIET}npm install --silent ../packed/shipped-2.0.0.tgz; node -p \"require('shipped')\"; git diff --stat"
    ));
    twins.same(&format!(
        "{QUIET}npm uninstall --silent other; ls node_modules; git status --short"
    ));
    twins.same("rm -rf node_modules; git status --short");
}

#[test]
fn packages_that_the_user_installed_are_installed_again() {
    if !installed(&["node", "npm"]) {
        return;
    }
    let twins = Twins::of(&project()).prepared(&format!("{QUIET}npm ci --silent"));
    twins.same(&format!("{QUIET}npm ci --silent; find node_modules -type f | sort"));
    twins.same("cp -a node_modules kept; mv kept build; rm -rf node_modules build");
}

#[test]
fn ten_big_packages_are_installed_twice() {
    if !installed(&["node", "npm"]) {
        return;
    }
    let ten = prepared("STOCKADE_TEST_NPM", "test-npm").join("daily/ten");
    if !ten.join("package-lock.json").exists() {
        missing("ten big packages");
        return;
    }
    let template = Place::new();
    let from = ten.display();
    prepare(
        &template,
        &format!(
            "cp {from}/package.json {from}/package-lock.json .; cp -r {from}/cache ../cache; git init -q -b main ."
        ),
    );
    let twins = Twins::of(&template);
    for _ in 0..2 {
        twins.same(&format!(
            "{QUIET}npm ci --silent --ignore-scripts; ls node_modules; node_modules/.bin/prettier --version"
        ));
    }
}

#[test]
fn python_packages_with_files_for_editors_are_installed_again() {
    if !installed(&["python3"]) {
        return;
    }
    let wheel = r#"python3 - <<'END'
import zipfile
for version in "1.0", "2.0":
    with zipfile.ZipFile(f"../tiny-{version}-py3-none-any.whl", "w") as wheel:
        def add(name, text):
            wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
        add("tiny/__init__.py", f"version = '{version}'\n")
        for name in ".vscode/settings.json", ".claude/settings.json", ".mcp.json", ".idea/x":
            add("tiny/" + name, "{}\n")
        add(f"tiny-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
        add(f"tiny-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        add(f"tiny-{version}.dist-info/RECORD", "")
END
python3 -m venv --without-pip .venv; git init -q -b main ."#;
    let template = Place::new();
    prepare(&template, wheel);
    let twins = Twins::of(&template).loosely(&["*/RECORD", "*.pyc"]);
    let site = "site=$(echo .venv/lib/python3*/site-packages)\n";
    // What an installer does: unpacks beside and renames, and deletes the old one.
    for version in ["1.0", "2.0", "2.0"] {
        twins.same(&format!(
            "{site}rm -rf $site/tiny $site/tiny-*; python3 -m zipfile -e ../tiny-{version}-py3-none-any.whl $site/.new
mv $site/.new/* $site; rmdir $site/.new; .venv/bin/python -c 'import tiny; print(tiny.version)'"
        ));
    }
}
