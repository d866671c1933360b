//! Variables of a server's entry that would steer Stockade itself, which the client starts with them.

use stockade_install::{Program, Scope};
use stockade_policy::profile::is_unsecure_variable;
use stockade_text::visible::visible;

/// Where Stockade finds its configuration, its state and programs.
const NAMES: &[&str] = &["PATH", "HOME"];

/// Of these all count, also those that come to be read later.
const FAMILIES: &[&str] = &["XDG_", "STOCKADE_", "LD_"];

/// Places of installations, which come along with a run. People set them for their own servers; a project's file may not.
const PLACES: &[&str] = &[
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "CONDA_ROOT",
    "DENO_INSTALL",
    "FNM_DIR",
    "GOROOT",
    "JAVA_HOME",
    "MAMBA_ROOT_PREFIX",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PIPX_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Why a server can't be wrapped: variables of its entry, or of a file that it names, would reach Stockade.
pub fn of(program: &Program, scope: Scope) -> Option<String> {
    if program.has_variable_file {
        return Some("its entry has an `envFile`, whose variables may choose another configuration of Stockade".into());
    }
    let mut names = program.variables.iter().map(|variable| variable.name.as_str());
    let name = names.find(|name| steers(name, scope))?;
    let name = visible(name);
    Some(format!(
        "its entry has the variable `{name}`, which would choose another Stockade or what that allows"
    ))
}

fn steers(name: &str, scope: Scope) -> bool {
    // Clients join a name and its value by `=`, so the name may have the value of another one.
    let name = name.split('=').next().unwrap_or(name);
    NAMES.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || is_unsecure_variable(name)
        || (scope == Scope::Project && PLACES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_stockade_reads_itself_steer_it() {
        let both = [Scope::User, Scope::Project];
        for name in [
            "PATH",
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_RUNTIME_DIR",
            "TMPDIR",
            "LD_PRELOAD",
            "GLIBC_TUNABLES",
            "RES_OPTIONS",
            "STOCKADE_ANY",
            "PATH=/srv/p/bin:",
        ] {
            assert!(both.iter().all(|scope| steers(name, *scope)), "{name}");
        }
        for name in ["LOG_LEVEL", "API_KEY", "PYTHONPATH", "MY_PATH", "NODE_ENV"] {
            assert!(!both.iter().any(|scope| steers(name, *scope)), "{name}");
        }
        assert!(steers("VIRTUAL_ENV", Scope::Project) && !steers("JAVA_HOME", Scope::User));
    }
}
