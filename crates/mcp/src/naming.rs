//! The name of a server of which only the command is known.

use std::ffi::OsString;
use std::path::Path;

/// Programs that run what their first word names.
const RUNNERS: [&str; 12] = [
    "npx", "bunx", "uvx", "pipx", "pnpx", "node", "bun", "deno", "python", "python3", "uv", "docker",
];

/// Words of such programs that are no name.
const TASKS: [&str; 6] = ["run", "dlx", "exec", "x", "tool", "-m"];

/// Names that every package has a script or a directory by.
const COMMON: [&str; 12] = [
    "index", "main", "__main__", "server", "cli", "app", "dist", "build", "src", "lib", "bin", "out",
];

/// A name for a command: that of the package or script behind a runner, else the program's.
pub fn name_of(command: &[OsString]) -> String {
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((program, rest)) = words.split_first() else {
        return "server".to_owned();
    };
    let program = base(program);
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_runner = RUNNERS.contains(&program.as_str()) || RUNNERS.contains(&plain);
    let is_name = |word: &&String| !word.starts_with('-') && !TASKS.contains(&word.as_str());
    let named = rest
        .iter()
        .find(is_name)
        .filter(|_| is_runner)
        .map(|word| package(word));
    named.filter(|name| !name.is_empty()).unwrap_or(program)
}

/// The name of a script or package; for a script with a common name, that of the directory that its package is in.
fn package(word: &str) -> String {
    let components = Path::new(word).ancestors().map(|path| base(&path.to_string_lossy()));
    let mut named = components.filter(|name| !name.is_empty() && !["/", ".", ".."].contains(&name.as_str()));
    named
        .find(|name| !COMMON.contains(&name.as_str()))
        .unwrap_or_else(|| base(word))
}

/// The last component, without a version, or the ending of a script.
fn base(word: &str) -> String {
    let name = Path::new(word)
        .file_name()
        .map_or(word.into(), |name| name.to_string_lossy());
    let end = name
        .char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '@' | '='))
        .map_or(name.len(), |(at, _)| at);
    let name = &name[..end];
    let endings = [".py", ".js", ".mjs", ".cjs", ".ts"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
    bare.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_after_its_package_script_or_program() {
        for (line, name) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem@1.2 /srv",
                "server-filesystem",
            ),
            ("uvx mcp-server-git==1.0 --repository .", "mcp-server-git"),
            ("python3.11 -m mcp_server_time", "mcp_server_time"),
            ("node /opt/x/index.js", "x"),
            ("node node_modules/@scope/files-server/dist/index.js", "files-server"),
            ("node ./dist/index.js", "index"),
            ("/usr/bin/my-server --flag", "my-server"),
            ("uv run server.py", "server"),
            ("npx", "npx"),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(name_of(&words), name, "{line}");
        }
    }
}
