//! Statements.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtTry, WithItem};
use ruff_text_size::Ranged;

use super::super::reading::Reading;
use super::super::scopes::Flow;
use super::super::value::Value;
use super::own::Own;
use super::reader::Reader;

impl<'a> Reader<'a, '_> {
    /// Runs statements until one leaves the block.
    pub fn block(&mut self, body: &'a [Stmt]) -> Flow {
        for statement in body {
            let flow = self.deeper(|reader| reader.statement(statement)).unwrap_or(Flow::Out);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &'a Stmt) -> Flow {
        match statement {
            Stmt::FunctionDef(def) => self.define_function(def),
            Stmt::ClassDef(def) => self.define_class(def),
            Stmt::Return(back) => {
                let value = back.value.as_deref().map_or(Value::Nothing, |value| self.value(value));
                let frame = self.frame();
                frame.returned = Some(value.beside(frame.returned.take()));
                return Flow::Out;
            }
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| {
                self.value(target);
            }),
            Stmt::Assign(assign) => {
                // An alias of the environment doesn't read all of it yet.
                let value = match self.is_environment(&assign.value) {
                    true => self.callee(&assign.value),
                    false => self.value(&assign.value),
                };
                for target in &assign.targets {
                    self.assign(target, value.clone());
                }
            }
            Stmt::AugAssign(assign) => self.assign_more(assign),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.value(value);
                    self.assign(&assign.target, value);
                }
            }
            Stmt::For(each) => return self.for_each(each),
            Stmt::While(again) => return self.repeat(again),
            Stmt::If(choice) => return self.choose(choice),
            Stmt::With(with) => return self.with(&with.items, &with.body),
            Stmt::Match(choice) => return self.match_cases(choice),
            Stmt::Raise(raise) => {
                let raised = raise.exc.as_deref().map(|raised| self.value(raised));
                let is_missing = matches!(&raised, Some(Value::Api(name) | Value::Instance(name, _)) if name.ends_with("NotImplementedError"));
                if is_missing {
                    // A base class's method that subclasses override.
                    let frame = self.frame();
                    frame.returned.get_or_insert(Value::Unknown);
                }
                return Flow::Out;
            }
            Stmt::Try(attempt) => return self.attempt(attempt),
            Stmt::Assert(assert) => {
                self.value(&assert.test);
            }
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Global(global) => {
                let names: Vec<String> = global.names.iter().map(|name| name.to_string()).collect();
                self.frame().globals.extend(names);
            }
            Stmt::Nonlocal(nonlocal) => {
                let names: Vec<String> = nonlocal.names.iter().map(|name| name.to_string()).collect();
                self.frame().nonlocals.extend(names);
            }
            Stmt::Expr(expression) => {
                self.has_left = false;
                self.value(&expression.value);
            }
            Stmt::TypeAlias(_) | Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {}
            Stmt::Break(_) | Stmt::Continue(_) => return Flow::Loop,
        }
        match std::mem::take(&mut self.has_left) {
            true => Flow::Out,
            false => Flow::Next,
        }
    }

    /// `try`: handlers start from the changes that the body may have made.
    fn attempt(&mut self, attempt: &'a StmtTry) -> Flow {
        let begun = self.scopes.begin();
        let body = self.block(&attempt.body);
        let begun_else = self.scopes.begin();
        let body = match body {
            Flow::Next => self.block(&attempt.orelse),
            left => left,
        };
        let after_else = self.scopes.end(begun_else);
        let partly = self.scopes.end(begun);
        let mut whole = partly.clone();
        whole.extend(after_else);
        let mut ways = vec![(body, whole)];
        for handler in &attempt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            ways.push(self.branch(|reader| {
                reader.scopes.join(&[partly.clone(), Default::default()]);
                if let Some(name) = &handler.name {
                    reader.bind(name, Value::Unknown);
                }
                reader.block(&handler.body)
            }));
        }
        let flow = self.join(ways);
        match self.block(&attempt.finalbody) {
            Flow::Next => flow,
            left => left,
        }
    }

    fn with(&mut self, items: &'a [WithItem], body: &'a [Stmt]) -> Flow {
        let mut managers = Vec::new();
        for item in items {
            let manager = self.value(&item.context_expr);
            let range = item.context_expr.range().to_std_range();
            let value = self.entered(&manager, range.clone());
            if let Some(target) = &item.optional_vars {
                self.assign(target, value);
            }
            managers.push((manager, range));
        }
        let before = self.frame().returned.clone();
        let mut flow = self.block(body);
        if flow == Flow::Out && self.frame().returned == before {
            // The manager may suppress the exception: `contextlib.suppress`.
            flow = Flow::Next;
        }
        for (manager, range) in managers.into_iter().rev() {
            if let Value::Own(number) = manager
                && matches!(self.get(number), Some(Own::Object { .. }))
            {
                self.call_own_method(number, &["__exit__", "__aexit__"], range);
            }
        }
        flow
    }

    /// The value that `as` binds.
    fn entered(&mut self, manager: &Value, at: std::ops::Range<usize>) -> Value {
        match manager {
            Value::Own(number) => match self.get(*number) {
                Some(Own::Iterable { element }) => element,
                Some(Own::Object { .. }) => self
                    .call_own_method(*number, &["__enter__", "__aenter__"], at)
                    .unwrap_or_else(|| manager.clone()),
                _ => Value::Unknown,
            },
            Value::Instance(class, Some(path)) if &**class == "tempfile.TemporaryDirectory" => path.clone().into(),
            Value::Instance(class, Some(path)) if &**class == "os.scandir" => {
                let path = path.joined(&super::super::text::Text::unknown());
                let entry = Value::Instance("os.DirEntry".into(), Some(path));
                self.iterable(entry)
            }
            manager => manager.clone(),
        }
    }

    /// Evaluates expressions whose values may be unused, such as the tests of a comprehension.
    pub fn values(&mut self, expressions: &'a [Expr]) -> Vec<Value> {
        expressions.iter().map(|expression| self.value(expression)).collect()
    }
}
