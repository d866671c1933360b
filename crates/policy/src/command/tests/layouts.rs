//! Layouts of the other tools.

use super::python::pyenv;
use super::*;

#[test]
fn version_managers_are_told_by_their_places() {
    let machine = Machine::new();
    pyenv(&machine);
    machine.program("home/.asdf/installs/erlang/27.0/lib/erts/bin/erl", ELF);
    fs::create_dir_all(machine.path("home/.asdf/plugins")).expect("a directory");
    machine.program(
        "home/.asdf/shims/erl",
        "#!/usr/bin/env bash\n# asdf-plugin: erlang 27.0\n",
    );
    machine
        .program("home/.local/bin/mise", ELF)
        .link("home/.local/share/mise/shims/erl", "@/home/.local/bin/mise");
    fs::create_dir_all(machine.path("home/.local/share/mise/installs")).expect("a directory");
    machine
        .program("home/.volta/bin/volta-shim", ELF)
        .link("home/.volta/bin/node", "volta-shim")
        .file("home/.volta/tools/x", "");
    let asdf = |parts: &[&str]| {
        parts
            .iter()
            .map(|part| format!("x home/.asdf/{part}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        machine.grants(&["@/home/.pyenv/versions/3.12.9/bin/python3"]),
        ["x home/.pyenv/versions/3.12.9"]
    );
    assert_eq!(
        machine.grants(&["@/home/.asdf/installs/erlang/27.0/lib/erts/bin/erl"]),
        asdf(&["installs/erlang/27.0"])
    );
    assert_eq!(
        machine.grants(&["@/home/.asdf/shims/erl"]),
        asdf(&["shims", "plugins", "installs"])
    );
    assert_eq!(
        machine.grants(&["@/home/.local/share/mise/shims/erl"]),
        [
            "x home/.local/share/mise/shims",
            "x home/.local/share/mise/installs",
            "x home/.local/bin/mise",
        ]
    );
    assert_eq!(
        machine.grants(&["@/home/.volta/bin/node"]),
        ["x home/.volta/bin", "x home/.volta/tools"]
    );
}

#[test]
fn prefixes_are_told_by_their_markers() {
    let machine = Machine::new();
    for (program, marker) in [
        ("home/.nvm/versions/node/v20/bin/node", "include/node/node.h"),
        (
            "home/fnm/node-versions/v20/installation/bin/node",
            "lib/node_modules/npm/x",
        ),
        ("home/miniconda3/envs/e/bin/tool", "conda-meta/history"),
        ("home/sdk/go/bin/go", "src/runtime/x.go"),
        ("home/jdk/bin/java", "lib/modules"),
        ("home/ruby/bin/ruby", "lib/ruby/x"),
        ("home/perl/bin/perl", "bin/perlbug"),
        ("home/php/bin/php", "include/php/x"),
    ] {
        let prefix = program.rsplit_once("/bin/").expect("a prefix").0;
        machine
            .program(program, ELF)
            .file(format!("{prefix}/{marker}"), "")
            .file(format!("{prefix}/release"), "");
        machine.file(format!("{prefix}/pkg/tool/x"), "");
        assert_eq!(machine.grants(&[&format!("@/{program}")]), [format!("x {prefix}")]);
    }
}

#[test]
fn node_packages_bring_their_neighbours() {
    let machine = Machine::new();
    let cli = "home/work/root/node_modules/a/node_modules/b/cli.js";
    machine
        .program(cli, "#!/usr/bin/env node\n")
        .program("home/bin/node", ELF);
    machine.link("home/work/root/node_modules/.bin/b", "../a/node_modules/b/cli.js");
    let modules = "x home/work/root/node_modules".to_owned();
    assert_eq!(machine.grants(&["node_modules/.bin/b"])[0], modules);
    assert!(machine.grants(&["node", "node_modules/.bin/b"]).contains(&modules));
    assert_eq!(machine.entrypoints(&["node", "node_modules/.bin/b"]), [cli]);
    machine
        .program("home/.npm-global/lib/node_modules/t/cli.js", ELF)
        .link("home/.npm-global/bin/t", "../lib/node_modules/t/cli.js");
    assert_eq!(
        machine.grants(&["@/home/.npm-global/bin/t"]),
        ["x home/.npm-global/lib/node_modules"]
    );
}

#[test]
fn a_script_that_the_user_names_brings_its_packages_from_anywhere() {
    let machine = Machine::new();
    let cli = "srv/tools/node_modules/server/dist/index.js";
    machine
        .file(cli, "")
        .file("srv/tools/node_modules/sdk/index.js", "")
        .program("home/bin/node", ELF);
    let modules = "x srv/tools/node_modules".to_owned();
    let typed = machine.grants(&["node", machine.path(cli).to_str().unwrap()]);
    assert!(typed.contains(&modules), "{typed:?}");
    // A link in the root may be an earlier run's.
    machine.link("home/work/root/index.js", &format!("../../../{cli}"));
    let linked = machine.grants(&["node", "index.js"]);
    assert!(!linked.contains(&modules), "{linked:?}");
}

#[test]
fn rustup_proxies_bring_toolchains_but_no_credentials() {
    let machine = Machine::new();
    machine
        .program("home/.cargo/bin/rustup", ELF)
        .link("home/.cargo/bin/cargo", "rustup")
        .program("home/.cargo/bin/rg", ELF);
    machine
        .file("home/.rustup/toolchains/stable/x", "")
        .file("home/.cargo/registry/x", "")
        .file("home/.cargo/config.toml", "");
    machine.file("home/.cargo/credentials.toml", "token");
    fs::hard_link(
        machine.path("home/.cargo/bin/rustup"),
        machine.path("home/.cargo/bin/rustc"),
    )
    .expect("a hard link");
    let expected = [
        "x home/.cargo/bin",
        "x home/.rustup",
        "r home/.cargo/registry",
        "r home/.cargo/config.toml",
    ];
    assert_eq!(machine.grants(&["@/home/.cargo/bin/cargo"]), expected);
    assert_eq!(machine.grants(&["@/home/.cargo/bin/rustc"]), expected);
    assert_eq!(machine.find(&["@/home/.cargo/bin/cargo"]).variables.len(), 2);
    assert_eq!(machine.grants(&["@/home/.cargo/bin/rg"]), ["x home/.cargo/bin/rg"]);
}

#[test]
fn a_variable_that_names_a_wide_directory_grants_nothing() {
    let mut machine = Machine::new();
    machine.program("home/.cargo/bin/rustup", ELF);
    fs::create_dir_all(machine.path("home/toolchains")).expect("a directory");
    machine.variables = vec![("RUSTUP_HOME", machine.path("home").into()), ("CARGO_HOME", "/".into())];
    assert_eq!(machine.grants(&["@/home/.cargo/bin/rustup"]), ["x home/.cargo/bin"]);
}
