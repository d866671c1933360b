//! Imports.

use std::ops::Range;

use ruff_python_ast::{StmtImport, StmtImportFrom};
use ruff_text_size::Ranged;

use super::super::finding::{Act, Opaque};
use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::fold;
use super::reader::Reader;

/// Names without a row that the reader handles itself.
const BY_HAND: &[&str] = &[
    "os.environ",
    "os.getenv",
    "os.getenvb",
    "os.path",
    "importlib.import_module",
    "operator.attrgetter",
    "operator.methodcaller",
    "runpy.run_path",
    "runpy.run_module",
    "marshal.loads",
    "timeit.timeit",
    "timeit.repeat",
    "doctest.testmod",
];

impl<'a> Reader<'a, '_> {
    pub fn import(&mut self, import: &'a StmtImport) {
        for alias in &import.names {
            let at = alias.range().to_std_range();
            let module = self.module(&alias.name, &at);
            let (name, value) = match &alias.asname {
                Some(name) => (name.as_str(), module),
                // `import os.path` binds `os`.
                None => {
                    let top = alias.name.split('.').next().unwrap_or_default();
                    let value = match module {
                        Value::Unknown => Value::Unknown,
                        _ => Value::Api(fold::canonical(top).into()),
                    };
                    (top, value)
                }
            };
            self.bind(name, value);
        }
    }

    pub fn import_from(&mut self, import: &'a StmtImportFrom) {
        let at = import.range().to_std_range();
        let name = import.module.as_deref().map(String::from).unwrap_or_default();
        if name == "__future__" {
            return;
        }
        let module = match import.level {
            0 => self.module(&name, &at),
            level => {
                let directory = match level {
                    1 => Text::from(self.setting.script_path()).directory(),
                    _ => Text::from(self.setting.script_path()).directory().joined(&"..".into()),
                };
                let name = format!("{}{name}", ".".repeat(level.min(8) as usize));
                self.own_module(directory, name, &at);
                Value::Unknown
            }
        };
        for alias in &import.names {
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            if &alias.name == "*" {
                if let Value::Api(module) = &module {
                    self.bind_all(module);
                }
                continue;
            }
            let value = match &module {
                Value::Unknown => Value::Unknown,
                module => self.attribute_of(module, &alias.name, at.clone()),
            };
            self.bind(bound, value);
        }
    }

    /// Looks up a module by name; an unknown one is reported once.
    pub fn module(&mut self, name: &str, at: &Range<usize>) -> Value {
        if self.table.knows_module(name) {
            return Value::Api(fold::canonical(name).into());
        }
        let top = name.split('.').next().unwrap_or_default().to_string();
        if self.strangers.insert(top.clone()) {
            match self.own_path(&top) {
                Some(path) => self.own_module(path, top, at),
                None => self.opaque(Opaque::UnknownModule(top), "import", at),
            }
        }
        Value::Unknown
    }

    /// The script's own directory that holds a module: the one it is in, or one that it adds to the path,
    /// `sys.path.insert(0, "src")`.
    fn own_path(&self, module: &str) -> Option<Text> {
        if self.setting.modules.contains(module) {
            return Some(Text::from(self.setting.script_path()).directory());
        }
        let is_own = |path: &&Text| {
            path.exact()
                .is_some_and(|path| !path.is_empty() && !path.starts_with(['/', '~']))
        };
        self.module_paths.iter().rfind(is_own).cloned()
    }

    /// A module of the script's own: records a read of its directory; its effects are unknown.
    fn own_module(&mut self, directory: Text, name: String, at: &Range<usize>) {
        self.note(Act::Read(directory), "import", at);
        self.opaque(Opaque::Unfollowed(name), "import", at);
    }

    /// `from os import *`: every name that has a row.
    fn bind_all(&mut self, module: &str) {
        self.star = Some(module.to_string());
        for name in self.table.members(module) {
            self.bind(name, Value::Api(fold::canonical(&format!("{module}.{name}")).into()));
        }
        let below = |whole: &&&str| whole.rsplit_once('.').is_some_and(|(of, _)| of == module);
        for whole in BY_HAND.iter().filter(below) {
            let name = whole.rsplit('.').next().unwrap_or_default();
            self.bind(name, Value::Api((*whole).into()));
        }
    }
}
