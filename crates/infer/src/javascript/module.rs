//! Modules and globals: resolves names.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::reader::Reader;
use crate::finding::{Act, Opaque};
use crate::reading::Reading;
use crate::setting::Setting;
use crate::text::Text;
use crate::value::Value;

/// Node's own modules, which may be named without `node:`.
const NODE: [&str; 46] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "sea",
    "sqlite",
    "stream",
    "string_decoder",
    "sys",
    "test",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
    "bun",
];

impl<'a> Reader<'a, '_> {
    /// The value of a whole module. An unknown module, and one beside the script, is recorded.
    pub fn module(&mut self, name: &str, at: Span) -> Value {
        if name.starts_with("./") || name.starts_with("../") || name.starts_with('/') || name.starts_with("file:") {
            return self.file_module(name, at);
        }
        let is_remote = name.starts_with("https://") || name.starts_with("http://");
        let name = package(name);
        if is_remote && !name.starts_with("@std/") {
            self.note(Act::Connect(name.as_str().into()), "import", at);
            self.opaque(Opaque::RemoteCode, "import", at);
            return Value::Unknown;
        }
        if name == "dotenv/config" {
            self.note(Act::Read(".env".into()), &name, at);
        }
        let bare = name.strip_prefix("node:").unwrap_or(&name);
        let root = bare.split('/').next().unwrap_or_default();
        if NODE.contains(&root) {
            return Value::Api(node_module(bare).into());
        }
        if name.starts_with("data:") {
            self.opaque(Opaque::BuiltCode, "import", at);
            return Value::Unknown;
        }
        if self.table.knows_module(&name) {
            return Value::Api(known_package(&name).into());
        }
        self.opaque(Opaque::UnknownModule(name.clone()), &name, at);
        Value::Unknown
    }

    fn file_module(&mut self, name: &str, at: Span) -> Value {
        let name = name.strip_prefix("file://").unwrap_or(name);
        let below = name.strip_prefix("./").unwrap_or(name);
        let path = Text::from(self.setting.script_path()).directory().joined(&below.into());
        if name.ends_with(".json") {
            self.note(Act::Read(path), "import", at);
            return Value::Unknown;
        }
        self.note(Act::Read(path.directory()), "import", at);
        self.opaque(Opaque::loaded(name, path.shown()), "import", at);
        Value::Unknown
    }

    /// `import(name)`.
    pub fn import_expression(&mut self, it: &'a ImportExpression<'a>) -> Value {
        let name = self.eval(&it.source);
        it.options.as_ref().map(|options| self.eval(options));
        self.import_computed(&name, it.source.span())
    }

    /// A module by a value: each of its alternatives.
    pub fn import_computed(&mut self, name: &Value, at: Span) -> Value {
        name.each(|name| match name.text().exact() {
            Some(name) => self.module(name, at),
            None => {
                self.opaque(Opaque::ComputedImport, "import", at);
                Value::Unknown
            }
        })
    }
}

/// A package's name without registry and version.
fn package(name: &str) -> String {
    if let Some(at) = name.find("deno.land/std") {
        let path = name[at..].split('/').nth(2).unwrap_or_default();
        return format!("@std/{path}");
    }
    let bare = name.strip_prefix("npm:").or_else(|| name.strip_prefix("jsr:"));
    let Some(bare) = bare else {
        return name.to_string();
    };
    let bare = bare.strip_prefix('/').unwrap_or(bare);
    let parts = bare
        .split('/')
        .enumerate()
        .map(|(at, part)| match part.get(1..).and_then(|part| part.find('@')) {
            Some(version) if at < 2 => &part[..version + 1],
            _ => part,
        });
    parts.collect::<Vec<&str>>().join("/")
}

fn node_module(bare: &str) -> String {
    match bare {
        "fs/promises" => "node:fs".into(),
        "path/posix" | "path/win32" => "node:path".into(),
        "timers/promises" => "node:timers".into(),
        "dns/promises" => "node:dns".into(),
        "bun" => "Bun".into(),
        bare => format!("node:{bare}"),
    }
}

/// Packages that export the same as another module.
fn known_package(name: &str) -> String {
    match name {
        name if name.starts_with("@std/path/") => "node:path".into(),
        name if name.starts_with("@std/fs/") => "@std/fs".into(),
        "fs-extra/esm" => "fs-extra".into(),
        "@std/path" => "node:path".into(),
        "graceful-fs" | "@std/fs/promises" => "node:fs".into(),
        "graphql-request" => name.into(),
        "lodash-es" => "lodash".into(),
        name => name.into(),
    }
}

/// The value of a global name.
pub fn global(name: &str, setting: &Setting) -> Value {
    match name {
        "undefined" | "NaN" => Value::Nothing,
        "process" => Value::Api("node:process".into()),
        "Buffer" => Value::Api("node:buffer.Buffer".into()),
        "crypto" => Value::Api("node:crypto".into()),
        "globalThis" | "window" | "global" | "self" => Value::Api("globalThis".into()),
        "Deno" | "Bun" | "mcp" => Value::Api(name.into()),
        "$" => Value::Api("zx.$".into()),
        "__filename" => setting.script_path().as_str().into(),
        "__dirname" => Text::from(setting.script_path()).directory().into(),
        name => Value::Api(format!("global.{name}").into()),
    }
}

/// A field of a module, function or namespace.
pub fn api_member(api: &str, name: &str) -> Value {
    let is_module = !api.contains('.') || api.starts_with('@') && !api[1..].contains('.');
    match (api, name) {
        (_, "default") if is_module => Value::Api(api.into()),
        ("node:fs", "promises") | ("node:dns", "promises") | ("node:timers", "promises") => Value::Api(api.into()),
        ("node:path", "posix" | "win32") => Value::Api(api.into()),
        ("node:path", "sep") => "/".into(),
        ("node:path", "delimiter") => ":".into(),
        ("node:os", "EOL") => "\n".into(),
        ("node:os", "devNull") => "/dev/null".into(),
        ("node:process", "execPath" | "argv0") => "node".into(),
        ("global.module", "require") => Value::Api("global.require".into()),
        ("axios", "axios") | ("openai", "OpenAI") | ("undici", "default") => Value::Api(api.into()),
        ("got", "got") | ("glob", "glob") | ("fastify", "fastify") | ("ws", "WebSocket") => Value::Api(api.into()),
        ("@anthropic-ai/sdk", "Anthropic") | ("playwright", "playwright") => Value::Api(api.into()),
        ("dotenv", "dotenv") | ("better-sqlite3", "Database") | ("ioredis", "Redis") => Value::Api(api.into()),
        ("node:process", "env") | ("Bun", "env") => Value::Api("node:process.env".into()),
        _ => Value::Api(format!("{api}.{name}").into()),
    }
}

/// Whether a name denotes the whole environment.
pub fn is_environment(name: &str) -> bool {
    matches!(name, "node:process.env" | "import.meta.env")
}
