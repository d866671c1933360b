//! Branches: `if`, `match`, loops. All are taken except those that constants rule out.

use ruff_python_ast::{Expr, Pattern, StmtFor, StmtIf, StmtMatch, StmtWhile};

use super::super::reading::Reading;
use super::super::scopes::Flow;
use super::super::value::Value;
use super::reader::Reader;

impl<'a> Reader<'a, '_> {
    pub fn choose(&mut self, choice: &'a StmtIf) -> Flow {
        let mut ways = Vec::new();
        let mut clauses = vec![(Some(&*choice.test), &choice.body[..])];
        clauses.extend(
            choice
                .elif_else_clauses
                .iter()
                .map(|clause| (clause.test.as_ref(), &clause.body[..])),
        );
        let mut denied: Vec<&'a Expr> = Vec::new();
        for (test, body) in clauses {
            let truth = test.map_or(Some(true), |test| self.truth(test));
            if truth != Some(false) {
                ways.push(self.branch(|reader| {
                    denied.iter().for_each(|test| reader.narrow(test, false));
                    if let Some(test) = test {
                        reader.narrow(test, true);
                    }
                    reader.block(body)
                }));
            }
            if truth == Some(true) {
                return self.join(ways);
            }
            denied.extend(test);
        }
        ways.push(self.branch(|reader| {
            denied.iter().for_each(|test| reader.narrow(test, false));
            Flow::Next
        }));
        self.join(ways)
    }

    pub fn match_cases(&mut self, choice: &'a StmtMatch) -> Flow {
        let subject = self.value(&choice.subject);
        let mut ways = Vec::new();
        let mut is_complete = false;
        for case in &choice.cases {
            ways.push(self.branch(|reader| {
                reader.bind_pattern(&case.pattern, &subject);
                if let Some(guard) = &case.guard {
                    reader.value(guard);
                }
                reader.block(&case.body)
            }));
            is_complete |= case.guard.is_none() && case.pattern.is_irrefutable();
        }
        match is_complete {
            true => self.join(ways),
            false => self.join_or_none(ways),
        }
    }

    fn bind_pattern(&mut self, pattern: &'a Pattern, subject: &Value) {
        let mut name = |name: &Option<ruff_python_ast::Identifier>, value: Value| {
            if let Some(name) = name {
                self.bind(name, value);
            }
        };
        match pattern {
            Pattern::MatchAs(pattern) => {
                name(&pattern.name, subject.clone());
                if let Some(inner) = &pattern.pattern {
                    self.bind_pattern(inner, subject);
                }
            }
            Pattern::MatchStar(star) => name(&star.name, Value::Unknown),
            Pattern::MatchSequence(list) => {
                list.patterns
                    .iter()
                    .for_each(|inner| self.bind_pattern(inner, &Value::Unknown));
            }
            Pattern::MatchMapping(map) => {
                name(&map.rest, Value::Unknown);
                map.patterns
                    .iter()
                    .for_each(|inner| self.bind_pattern(inner, &Value::Unknown));
            }
            Pattern::MatchClass(class) => {
                let arguments = &class.arguments;
                arguments
                    .patterns
                    .iter()
                    .for_each(|inner| self.bind_pattern(inner, &Value::Unknown));
                arguments
                    .keywords
                    .iter()
                    .for_each(|inner| self.bind_pattern(&inner.pattern, &Value::Unknown));
            }
            Pattern::MatchOr(any) => any.patterns.iter().for_each(|inner| self.bind_pattern(inner, subject)),
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }

    pub fn for_each(&mut self, each: &'a StmtFor) -> Flow {
        let over = self.value(&each.iter);
        let elements = self.elements(&over);
        self.each_element(
            elements,
            |_| true,
            |reader, element| {
                reader.assign(&each.target, element.clone());
                reader.block(&each.body)
            },
        );
        self.block(&each.orelse)
    }

    pub fn repeat(&mut self, again: &'a StmtWhile) -> Flow {
        if self.truth(&again.test) == Some(false) {
            return self.block(&again.orelse);
        }
        self.some_times(|reader| {
            reader.value(&again.test);
            reader.block(&again.body)
        });
        self.block(&again.orelse)
    }

    /// Narrows a name by a test: it is, or isn't, `None`.
    fn narrow(&mut self, test: &'a Expr, holds: bool) {
        let (name, is_something) = match test {
            Expr::Name(name) => (name, holds),
            Expr::UnaryOp(not) if not.op == ruff_python_ast::UnaryOp::Not => return self.narrow(&not.operand, !holds),
            Expr::BoolOp(all) => {
                if holds == (all.op == ruff_python_ast::BoolOp::And) {
                    all.values.iter().for_each(|value| self.narrow(value, holds));
                }
                return;
            }
            Expr::Compare(compare) => match (&*compare.left, &compare.ops[..], &compare.comparators[..]) {
                (Expr::Name(name), [op], [Expr::NoneLiteral(_)]) => match op {
                    ruff_python_ast::CmpOp::Is | ruff_python_ast::CmpOp::Eq => (name, !holds),
                    ruff_python_ast::CmpOp::IsNot | ruff_python_ast::CmpOp::NotEq => (name, holds),
                    _ => return,
                },
                _ => return,
            },
            _ => return,
        };
        let scope = self.scope();
        let Some(holder) = self.scopes.holder(scope, name.id.as_str()) else {
            return;
        };
        let Some(value) = self.scopes.own(holder, name.id.as_str()).cloned() else {
            return;
        };
        let mut left: Vec<Value> = value.alternatives();
        left.retain(|value| match is_something {
            true => value.truth() != Some(false),
            false => !matches!(value, Value::Own(_) | Value::Api(_) | Value::Instance(..)),
        });
        if let Some(narrowed) = Value::any(left) {
            self.scopes.set(holder, name.id.as_str(), narrowed);
        }
    }
}
