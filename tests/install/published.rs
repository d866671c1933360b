//! Whole files that `install` writes, by the types and schemas that the clients' makers or others publish.
//!
//! `tests/setup-programs.sh` fetches those. Each check also refuses a file with another key, or its "fits" proves nothing.

use std::path::{Path, PathBuf};

use super::{hook, mcp, read, works};
use crate::common::{Place, checkout, finish, skipped};

/// The directory of npm's packages, if what is needed is there.
fn packages(needed: &[&str]) -> Option<PathBuf> {
    let named = std::env::var_os("STOCKADE_TEST_NPM").map(PathBuf::from);
    let directory = std::path::absolute(named.unwrap_or_else(|| checkout().join("target/test-npm"))).unwrap();
    for file in needed {
        if !directory.join(file).exists() {
            skipped(&format!("`{file}` isn't installed: tests/setup-programs.sh"));
            return None;
        }
    }
    Some(directory)
}

/// A TypeScript type in a module of a published package.
struct Published {
    /// The module's path without `.d.ts`, below the directory of formats.
    module: &'static str,
    /// The type of a whole file, where `t` is the module.
    whole: &'static str,
}

const SCHEMA_STORE: Published = Published {
    module: "@schemastore/claude-code-settings/index",
    whole: "t.ClaudeCodeSettings",
};
const SETTINGS_OF_CLAUDE: Published = Published {
    module: "@anthropic-ai/claude-agent-sdk/sdk",
    whole: "t.Settings",
};
const SERVERS_OF_CLAUDE: Published = Published {
    module: "@anthropic-ai/claude-agent-sdk/sdk",
    whole: "{ mcpServers: Record<string, t.McpStdioServerConfig> }",
};
const SERVERS_OF_COPILOT: Published = Published {
    module: "@github/copilot-sdk/dist/types",
    whole: "{ mcpServers: Record<string, t.MCPServerConfig> }",
};

const COMPILER: &str = "node_modules/typescript/bin/tsc";

impl Published {
    /// The compiler's complaints about a file's text; `None` where the package isn't installed.
    fn complaints(&self, text: &str) -> Option<String> {
        let directory = packages(&[COMPILER, &format!("formats/{}.d.ts", self.module)])?;
        let place = Place::new();
        let (module, whole) = (directory.join("formats").join(self.module), self.whole);
        place.file(
            "found.ts",
            format!("import type * as t from {module:?};\nexport const found: {whole} = {text};\n"),
        );
        // The module may import packages that aren't here.
        let options = ["--noEmit", "--strict", "--skipLibCheck", "found.ts"];
        let done = finish(place.command("node").arg(directory.join(COMPILER)).args(options), b"");
        Some(done.stdout() + &done.stderr())
    }

    /// The text fits; with a key renamed it doesn't.
    fn takes(&self, text: &str, key: &str) {
        let Some(complaints) = self.complaints(text) else {
            return;
        };
        assert_eq!(complaints, "", "{text}");
        let complaints = self.complaints(&renamed(text, key)).unwrap();
        assert!(complaints.contains("may only specify known properties"), "{complaints}");
    }
}

fn renamed(text: &str, key: &str) -> String {
    let other = text.replace(&format!("\"{key}\":"), &format!("\"{key}x\":"));
    assert_ne!(other, text);
    other
}

/// The files that a client's servers are wrapped in, with these names.
fn wrapped(client: &str, named: &str) -> Vec<String> {
    let files = mcp::FILES
        .iter()
        .filter(|(words, name, _)| words.split(' ').next() == Some(client) && Path::new(name).ends_with(named));
    let written = files.map(|(words, name, text)| {
        let place = Place::new();
        place.file(name, text);
        works(&place, &format!("mcp install --for {words} --yes"));
        read(&place, name)
    });
    let written: Vec<_> = written.collect();
    assert!(!written.is_empty(), "{client}");
    written
}

#[test]
fn hooks_of_claude_code_are_of_the_types_that_are_published() {
    let (_, user, project) = hook::FILES.iter().find(|(agent, ..)| *agent == "claude-code").unwrap();
    let before = "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Read\"]}\n}\n";
    for (name, flag, before) in [(user, "", ""), (project, " --project", before)] {
        let place = Place::new();
        place.file(name, before);
        works(&place, &format!("hook install --for claude-code{flag} --yes"));
        let text = read(&place, name);
        SCHEMA_STORE.takes(&text, "PostToolUse");
        SETTINGS_OF_CLAUDE.takes(&text, "timeout");
    }
}

#[test]
fn servers_of_a_claude_code_project_are_of_the_type_that_is_published() {
    for text in wrapped("claude-code", ".mcp.json") {
        SERVERS_OF_CLAUDE.takes(&text, "args");
    }
}

#[test]
fn servers_of_copilot_are_of_the_type_that_is_published() {
    for text in wrapped("copilot", "mcp-config.json") {
        SERVERS_OF_COPILOT.takes(&text, "args");
    }
}

/// What VS Code's editor says about a file, by its schema for `servers` or `hooks`; `None` where the schemas aren't installed.
fn faults_in_vscode(schema: &str, text: &str) -> Option<String> {
    let sources = "formats/@codingame/monaco-vscode-api/vscode/src/vs/workbench";
    let directory = packages(&["node_modules/ajv/package.json", sources])?;
    let place = Place::new();
    let file = place.file("found.json", text);
    let mut command = place.command("node");
    command.arg(checkout().join("tests/install/vscode.mjs"));
    command.args([directory.join("node_modules"), directory.join(sources)]);
    let done = finish(command.arg(schema).arg(file), b"");
    Some(done.stdout() + &done.stderr())
}

#[test]
fn servers_of_vscode_fit_the_schema_of_its_editor() {
    for text in wrapped("vscode", "mcp.json") {
        let Some(faults) = faults_in_vscode("servers", &text) else {
            return;
        };
        assert_eq!(faults, "", "{text}");
        let faults = faults_in_vscode("servers", &renamed(&text, "args")).unwrap();
        assert!(faults.contains("additionalProperties"), "{faults}");
    }
}

#[test]
fn hooks_of_copilot_fit_the_schema_that_vscode_has_for_them() {
    let (_, user, project) = hook::FILES.iter().find(|(agent, ..)| *agent == "copilot").unwrap();
    for (name, flag) in [(user, ""), (project, " --project")] {
        let place = Place::new();
        works(&place, &format!("hook install --for copilot{flag} --yes"));
        let text = read(&place, name);
        let Some(faults) = faults_in_vscode("hooks", &text) else {
            return;
        };
        assert_eq!(faults, "", "{text}");
        let faults = faults_in_vscode("hooks", &renamed(&text, "bash")).unwrap();
        assert!(faults.contains("/hooks/preToolUse/0"), "{faults}");
    }
}
