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

    /// Code as a value; the script's definitions that it names may be called.
    pub fn code(&mut self, code: &Value, name: &str, at: &Range<usize>) -> Value {
        for code in code.alternatives() {
            let text = code.text();
            match text.exact() {
                Some(known) => {
                    self.refer_names(known);
                    self.note(Act::Code(Language::Python, text.clone()), name, at);
                }
                None => self.opaque(Opaque::BuiltCode, name, at),
            }
        }
        Value::Unknown
    }

    fn refer_names(&mut self, code: &str) {
        const MOST: usize = 256;
        let scope = self.scope();
        for name in code
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .take(MOST)
        {
            if let Some(value) = self.scopes.find(scope, name).cloned() {
                self.refer(&value);
            }
        }
    }

    fn run_examples(&mut self, at: &Range<usize>) {
        let examples = std::mem::take(&mut self.examples);
        if !examples.is_empty() {
            self.code(&examples.as_str().into(), "doctest.testmod", at);
        }
        self.examples = examples;
    }
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
