//! Calls that run Python code: a text, a function, the examples in the script's docstrings.

use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};

use super::super::finding::{Act, Opaque};
use super::super::language::Language;
use super::super::reading::Reading;
use super::super::value::Value;
use super::reader::Reader;
use crate::arguments::Arguments;

impl Reader<'_, '_> {
    /// Records the code that a call runs.
    pub fn run_code(&mut self, name: &str, arguments: &Arguments, at: &Range<usize>) {
        let places: &[(usize, &str)] = match name {
            "timeit.timeit" | "timeit.repeat" | "timeit.Timer" => &[(1, "setup"), (0, "stmt")],
            "cProfile.run" | "cProfile.runctx" | "profile.run" | "profile.runctx" => &[(0, "statement")],
            "cProfile.Profile.run" | "cProfile.Profile.runctx" | "trace.Trace.run" | "trace.Trace.runctx" => {
                &[(0, "cmd")]
            }
            "pdb.run" | "pdb.runeval" => &[(0, "statement")],
            "doctest.testmod" => return self.run_examples(at),
            _ => return,
        };
        let given: Vec<Value> = places
            .iter()
            .filter_map(|(place, name)| arguments.get(*place, name).cloned())
            .filter(|value| !matches!(value, Value::Nothing | Value::Own(_)))
            .collect();
        let texts: Option<Vec<String>> = given
            .iter()
            .map(|value| value.text().exact().map(str::to_string))
            .collect();
        match texts {
            Some(texts) if !texts.is_empty() => drop(self.code(&texts.join("\n").as_str().into(), name, at)),
            Some(_) => {}
            None => given.iter().for_each(|code| drop(self.code(code, name, at))),
        }
    }

    /// Code as a value, in the current scope; the script's definitions that it names may be called.
    pub fn code(&mut self, code: &Value, name: &str, at: &Range<usize>) -> Value {
        self.code_within(code, &[], name, at)
    }

    /// The same, in namespaces that the call names: later ones count first.
    pub fn code_within(&mut self, code: &Value, namespaces: &[Value], name: &str, at: &Range<usize>) -> Value {
        for code in code.alternatives() {
            match code.text().exact() {
                Some(known) => {
                    let text = self.bindings(known, namespaces, name, at) + known;
                    self.note(Act::Code(Language::Python, text.as_str().into()), name, at);
                }
                None => self.opaque(Opaque::BuiltCode, name, at),
            }
        }
        Value::Unknown
    }

    /// Lines that bind the names of a code as they are bound here, since it is read by itself. A module that is bound nowhere
    /// may be: the code would fail without it.
    fn bindings(&mut self, code: &str, namespaces: &[Value], by: &str, at: &Range<usize>) -> String {
        const MAX: usize = 256;
        let scope = self.scope();
        let mut lines = String::new();
        let names = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        for name in names.filter(|name| !name.is_empty()).take(MAX) {
            let start = name.as_ptr() as usize - code.as_ptr() as usize;
            let follows = code[..start].ends_with(['.', '/', '\'', '"']);
            let given = namespaces.iter().rev().find_map(|space| field(space, name));
            let Some(value) = given.or_else(|| self.scopes.find(scope, name).cloned()) else {
                if !follows && self.table.knows_module(name) {
                    lines += &format!("import {name}\n");
                }
                continue;
            };
            self.refer(&value);
            for value in value.alternatives() {
                match line_of(name, &value) {
                    Some(line) => lines += &line,
                    // What its methods do can't be told there.
                    None if matches!(value, Value::Instance(..)) && !follows => self.opaque(Opaque::BuiltCode, by, at),
                    None => {}
                }
            }
        }
        lines
    }

    fn run_examples(&mut self, at: &Range<usize>) {
        let examples = std::mem::take(&mut self.examples);
        if !examples.is_empty() {
            self.code(&examples.as_str().into(), "doctest.testmod", at);
        }
        self.examples = examples;
    }
}

/// A name in a namespace.
fn field(namespace: &Value, name: &str) -> Option<Value> {
    let Value::Record(fields) = namespace else {
        return None;
    };
    let found = fields.iter().rev().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

/// The line that binds a name to a value.
fn line_of(name: &str, value: &Value) -> Option<String> {
    const MAX_LENGTH: usize = 4096;
    Some(match value {
        Value::Api(path) if path.contains(|c: char| !c.is_alphanumeric() && c != '_' && c != '.') => return None,
        Value::Api(path) => match path.rsplit_once('.') {
            Some((module, item)) => format!("from {module} import {item} as {name}\n"),
            None => format!("import {path} as {name}\n"),
        },
        Value::Text(text) => {
            let text = text.exact().filter(|text| text.len() <= MAX_LENGTH)?;
            let text: String = text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
            format!("{name} = '{text}'\n")
        }
        _ => return None,
    })
}

/// The lines after `>>>` and `...` in the docstrings of a script, its functions and classes.
pub fn examples(suite: &[Stmt]) -> String {
    let mut code = String::new();
    collect(suite, &mut code);
    code
}

fn collect(block: &[Stmt], code: &mut String) {
    for statement in block {
        match statement {
            Stmt::FunctionDef(function) => collect(&function.body, code),
            Stmt::ClassDef(class) => collect(&class.body, code),
            Stmt::Expr(expression) => {
                if let Expr::StringLiteral(text) = &*expression.value {
                    let lines = text.value.to_str().lines().map(str::trim_start);
                    for line in lines.filter_map(|line| line.strip_prefix(">>> ").or_else(|| line.strip_prefix("... ")))
                    {
                        code.push_str(line);
                        code.push('\n');
                    }
                }
            }
            _ => {}
        }
    }
}
