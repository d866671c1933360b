//! Variables that decide which code a program loads or starts: the one table of them.
//!
//! Left out are those that only choose among tools of a kind (`CC`, `SHELL`, `JAVA_HOME`), and flags of compilers.

/// What becomes of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The dynamic loader or the C library obeys it in every program: it never passes into a run.
    Libc,
    /// It names code, or a file that does; `/dev/null` names none.
    Code,
    /// It is a command line.
    Line,
}

/// Variables of some programs.
#[derive(Debug)]
pub struct CodeVariables {
    /// The effect of each.
    pub effect: Effect,
    /// The programs that obey them: all if this is empty, others than are told from a text where it is `-`.
    pub programs: &'static str,
    /// Their names. One that ends with `*` stands for all that begin so.
    pub names: &'static str,
}

const fn row(effect: Effect, programs: &'static str, names: &'static str) -> CodeVariables {
    CodeVariables {
        effect,
        programs,
        names,
    }
}

/// All of them, from the manuals of the programs.
pub const CODE_VARIABLES: &[CodeVariables] = &[
    // glibc removes these for set-user-ID programs (`sysdeps/generic/unsecvars.h`).
    row(
        Effect::Libc,
        "-",
        "LD_* GCONV_PATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LOCALDOMAIN LOCPATH MALLOC_TRACE NIS_PATH NLSPATH \
         RESOLV_HOST_CONF RES_OPTIONS TMPDIR TZDIR",
    ),
    row(Effect::Code, "", "LD_PRELOAD LD_AUDIT"),
    // Libraries that many programs use load modules.
    row(
        Effect::Code,
        "",
        "OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_ENGINES OPENSSL_MODULES SASL_PATH SASL_CONF_PATH KRB5_CONFIG \
         GIO_EXTRA_MODULES GIO_MODULE_DIR GTK_MODULES GTK3_MODULES GTK_PATH GTK_EXE_PREFIX GTK_IM_MODULE_FILE \
         GDK_PIXBUF_MODULE_FILE GDK_PIXBUF_MODULEDIR GI_TYPELIB_PATH QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH \
         QML_IMPORT_PATH QML2_IMPORT_PATH GST_PLUGIN_PATH GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH \
         GST_PLUGIN_SYSTEM_PATH_1_0 GST_PLUGIN_SCANNER GST_PLUGIN_SCANNER_1_0 ALSA_CONFIG_PATH ALSA_CONFIG_DIR \
         ALSA_PLUGIN_DIR LADSPA_PATH LV2_PATH LIBGL_DRIVERS_PATH GBM_BACKENDS_PATH LIBVA_DRIVERS_PATH VDPAU_DRIVER_PATH \
         VK_ICD_FILENAMES VK_DRIVER_FILES VK_ADD_DRIVER_FILES VK_LAYER_PATH VK_ADD_LAYER_PATH VK_IMPLICIT_LAYER_PATH \
         VK_ADD_IMPLICIT_LAYER_PATH __EGL_VENDOR_LIBRARY_FILENAMES __EGL_VENDOR_LIBRARY_DIRS OCL_ICD_VENDORS \
         OCL_ICD_FILENAMES MAGICK_CONFIGURE_PATH MAGICK_CODER_MODULE_PATH MAGICK_FILTER_MODULE_PATH",
    ),
    // Shells.
    row(Effect::Code, "bash", "BASH_ENV"),
    row(Effect::Code, "sh dash ksh ash", "ENV"),
    row(Effect::Code, "zsh", "ZDOTDIR"),
    row(
        Effect::Code,
        "-",
        "BASH_FUNC_* BASH_LOADABLES_PATH SHELLOPTS PS4 PROMPT_COMMAND",
    ),
    // git(1), git-config(1).
    row(
        Effect::Code,
        "git",
        "GIT_EXEC_PATH GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_KEY_* \
         GIT_CONFIG_VALUE_* GIT_TEMPLATE_DIR",
    ),
    row(
        Effect::Line,
        "git",
        "GIT_PAGER PAGER GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR \
         GIT_PROXY_COMMAND VISUAL EDITOR",
    ),
    // Interpreters.
    row(
        Effect::Code,
        "python python3",
        "PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONPLATLIBDIR",
    ),
    row(
        Effect::Code,
        "-",
        "PYTHONBREAKPOINT PYTHONPYCACHEPREFIX PYTHONEXECUTABLE PYTEST_ADDOPTS PYTEST_PLUGINS IPYTHONDIR",
    ),
    row(Effect::Code, "perl", "PERL5OPT PERL5LIB PERLLIB PERL5DB"),
    row(Effect::Code, "ruby", "RUBYOPT RUBYLIB"),
    row(Effect::Code, "-", "GEM_HOME GEM_PATH BUNDLE_GEMFILE RUBYGEMS_GEMDEPS"),
    row(
        Effect::Code,
        "-",
        "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS ELECTRON_RUN_AS_NODE TS_NODE_PROJECT",
    ),
    row(
        Effect::Code,
        "-",
        "npm_config_script_shell npm_config_node_options npm_config_git npm_config_userconfig npm_config_globalconfig \
         NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_NODE_OPTIONS NPM_CONFIG_GIT NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG \
         YARN_RC_FILENAME",
    ),
    row(
        Effect::Code,
        "-",
        "CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS SBT_OPTS",
    ),
    row(
        Effect::Code,
        "-",
        "DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE CORECLR_* COR_PROFILER* COR_ENABLE_PROFILING",
    ),
    row(
        Effect::Code,
        "-",
        "LUA_INIT* LUA_PATH* LUA_CPATH* PHPRC PHP_INI_SCAN_DIR R_PROFILE* R_ENVIRON* R_LIBS* R_DEFAULT_PACKAGES JULIA_LOAD_PATH \
         JULIA_DEPOT_PATH GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH EMACSLOADPATH ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS \
         ELIXIR_ERL_OPTIONS VIMINIT GVIMINIT EXINIT VIMRUNTIME",
    ),
    // Builds and what else starts programs.
    row(
        Effect::Code,
        "-",
        "MAKEFLAGS GNUMAKEFLAGS MAKEFILES GCC_EXEC_PREFIX COMPILER_PATH RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER \
         CARGO_BUILD_RUSTC* CARGO_TARGET_* GOFLAGS GOENV RIPGREP_CONFIG_PATH BAT_CONFIG_PATH FZF_DEFAULT_OPTS* \
         FZF_DEFAULT_COMMAND LESSKEY* PSQLRC HGRCPATH WGETRC GH_CONFIG_DIR DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE \
         TF_CLI_CONFIG_FILE ANSIBLE_CONFIG ANSIBLE_LIBRARY ANSIBLE_ROLES_PATH ANSIBLE_COLLECTIONS_PATH SSH_SK_PROVIDER",
    ),
    row(Effect::Line, "man", "MANPAGER PAGER"),
    row(Effect::Line, "less", "LESSOPEN LESSCLOSE EDITOR VISUAL"),
    row(Effect::Line, "systemctl journalctl", "SYSTEMD_PAGER PAGER"),
    row(Effect::Line, "tar", "TAR_OPTIONS"),
    row(Effect::Line, "rsync", "RSYNC_RSH RSYNC_CONNECT_PROG"),
    row(
        Effect::Line,
        "-",
        "SYSTEMD_EDITOR SUDO_ASKPASS BROWSER BAT_PAGER DELTA_PAGER GH_PAGER GH_EDITOR GH_BROWSER PSQL_PAGER PSQL_EDITOR \
         HGEDITOR SVN_EDITOR SVN_SSH CVS_RSH KUBE_EDITOR",
    ),
];

/// What becomes of a variable's value, if it decides which code a program loads or starts.
pub fn effect_of(name: &str) -> Option<Effect> {
    let is_known = |row: &&CodeVariables| {
        row.names.split(' ').any(|known| match known.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == known,
        })
    };
    CODE_VARIABLES.iter().find(is_known).map(|row| row.effect)
}

/// Whether a variable controls the dynamic loader or libc and is therefore never passed into a run.
pub fn is_unsecure_variable(name: &str) -> bool {
    effect_of(name) == Some(Effect::Libc)
}

/// Whether a variable makes a program load or start other code.
pub fn loads_code(name: &str) -> bool {
    matches!(effect_of(name), Some(Effect::Code | Effect::Line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_known_by_its_name_or_family() {
        for name in [
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_0",
            "OPENSSL_CONF",
            "GIO_EXTRA_MODULES",
            "NODE_OPTIONS",
            "LUA_INIT_5_4",
            "GIT_PAGER",
            "BASH_FUNC_ls%%",
        ] {
            assert!(loads_code(name) && !is_unsecure_variable(name), "{name}");
        }
        for name in ["LD_ANYTHING", "GCONV_PATH", "TMPDIR"] {
            assert!(is_unsecure_variable(name), "{name}");
        }
        for name in ["", "A", "GIT_AUTHOR_NAME", "NODE_ENV", "LANG", "LD"] {
            assert!(!loads_code(name) && !is_unsecure_variable(name), "{name}");
        }
    }

    #[test]
    fn names_stand_apart_by_one_space() {
        for row in CODE_VARIABLES {
            assert!(row.names.split(' ').all(|name| !name.is_empty()), "{}", row.names);
        }
    }
}
