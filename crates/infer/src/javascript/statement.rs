//! Statements: in order, both ways where a condition isn't known, loops over known lists element by element.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::array::is_open;
use super::module;
use super::reader::Reader;
use crate::reading::Reading;
use crate::scopes::Flow;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// Statements of one block: its functions first, as they are hoisted.
    pub fn statements(&mut self, statements: &'a [Statement<'a>]) -> Flow {
        for statement in statements {
            self.hoist(statement);
        }
        for statement in statements {
            let flow = self.statement(statement);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn hoist(&mut self, statement: &'a Statement<'a>) {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            statement => statement.as_declaration(),
        };
        match (declaration, statement) {
            (Some(Declaration::VariableDeclaration(it)), _) if it.declare => {
                let names = it.declarations.iter();
                names.for_each(|declarator| self.ambient(declarator.id.get_binding_identifier()));
            }
            (Some(Declaration::TSNamespaceDeclaration(it)), _) if it.declare => self.ambient(Some(&it.id)),
            (Some(Declaration::FunctionDeclaration(it)), _) if it.declare => self.ambient(it.id.as_ref()),
            (Some(Declaration::FunctionDeclaration(it)), _) => self.declare_function(it),
            (_, Statement::ExportDefaultDeclaration(export)) => {
                if let ExportDefaultDeclarationKind::FunctionDeclaration(it) = &export.declaration {
                    self.declare_function(it);
                }
            }
            _ => {}
        }
    }

    fn declare_function(&mut self, function: &'a Function<'a>) {
        if let (Some(name), Some(_)) = (&function.id, &function.body) {
            let value = self.function(function, None);
            self.declare(name, value);
        }
    }

    /// A name that is declared to be there already: the global of that name.
    fn ambient(&mut self, name: Option<&BindingIdentifier<'_>>) {
        if let Some(name) = name {
            self.declare(name, module::global(&name.name, self.setting));
        }
    }

    fn statement(&mut self, statement: &'a Statement<'a>) -> Flow {
        self.deeper(|reader| reader.statement_inside(statement))
            .unwrap_or(Flow::Out)
    }

    fn statement_inside(&mut self, statement: &'a Statement<'a>) -> Flow {
        match statement {
            Statement::BlockStatement(block) => return self.statements(&block.body),
            Statement::BreakStatement(_) | Statement::ContinueStatement(_) => return Flow::Loop,
            Statement::ExpressionStatement(it) => {
                self.eval(&it.expression);
                if ends(&it.expression) {
                    return Flow::Out;
                }
            }
            Statement::ReturnStatement(it) => {
                let value = it.argument.as_ref().map_or(Value::Nothing, |value| self.eval(value));
                self.returns(value);
                return Flow::Out;
            }
            Statement::ThrowStatement(it) => {
                self.eval(&it.argument);
                return Flow::Out;
            }
            Statement::IfStatement(it) => return self.if_statement(it),
            Statement::TryStatement(it) => return self.try_statement(it),
            Statement::SwitchStatement(it) => return self.switch(it),
            Statement::LabeledStatement(it) => {
                let flow = self.statement(&it.body);
                return if flow == Flow::Loop { Flow::Next } else { flow };
            }
            Statement::WithStatement(it) => {
                self.eval(&it.object);
                return self.statement(&it.body);
            }
            Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_) => return self.repeated(statement),
            _ => self.declaration(statement),
        }
        Flow::Next
    }

    fn returns(&mut self, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.returned = Some(match frame.returned.take() {
                None | Some(Value::Nothing) => value,
                Some(before) if value == Value::Nothing => before,
                Some(before) => before.or(&value),
            });
        }
    }

    fn if_statement(&mut self, it: &'a IfStatement<'a>) -> Flow {
        let test = self.eval(&it.test);
        match self.certain(&it.test, &test) {
            Some(true) => return self.statement(&it.consequent),
            Some(false) => return it.alternate.as_ref().map_or(Flow::Next, |other| self.statement(other)),
            None => {}
        }
        let mut ways = vec![self.branch(|reader| reader.statement(&it.consequent))];
        match &it.alternate {
            Some(other) => {
                ways.push(self.branch(|reader| reader.statement(other)));
                self.join(ways)
            }
            None => self.join_or_none(ways),
        }
    }

    fn try_statement(&mut self, it: &'a TryStatement<'a>) -> Flow {
        let tried = self.branch(|reader| reader.statements(&it.block.body));
        let tried_flow = tried.0;
        let mut flow = match it.handler {
            Some(_) => self.join_or_none(vec![tried]),
            None => self.join(vec![tried]),
        };
        if let Some(handler) = &it.handler {
            let caught = self.branch(|reader| {
                if let Some(parameter) = &handler.param {
                    reader.bind(&parameter.pattern, &Value::Unknown);
                }
                reader.statements(&handler.body.body)
            });
            flow = match (tried_flow, caught.0) {
                (Flow::Next, _) | (_, Flow::Next) => Flow::Next,
                (Flow::Loop, _) | (_, Flow::Loop) => Flow::Loop,
                _ => Flow::Out,
            };
            self.join_or_none(vec![caught]);
        }
        match it.finalizer.as_ref().map(|block| self.statements(&block.body)) {
            Some(Flow::Out) => Flow::Out,
            _ => flow,
        }
    }

    fn switch(&mut self, it: &'a SwitchStatement<'a>) -> Flow {
        let value = self.eval(&it.discriminant);
        let known = match self.is_constant(&it.discriminant) {
            true => value.text().exact().map(str::to_string),
            false => None,
        };
        let mut ways = Vec::new();
        let mut has_default = false;
        let mut falls = false;
        for case in &it.cases {
            let test = case.test.as_ref().map(|test| self.eval(test));
            has_default |= test.is_none();
            let is_other = match (&known, test.as_ref().map(Value::text)) {
                (Some(known), Some(test)) => test.exact().is_some_and(|test| test != known),
                _ => false,
            };
            if is_other && !falls {
                falls = false;
                continue;
            }
            let way = self.branch(|reader| reader.statements(&case.consequent));
            falls = way.0 == Flow::Next;
            ways.push(way);
        }
        let flow = match has_default {
            true => self.join(ways),
            false => self.join_or_none(ways),
        };
        if flow == Flow::Loop { Flow::Next } else { flow }
    }

    fn repeated(&mut self, statement: &'a Statement<'a>) -> Flow {
        match statement {
            Statement::ForOfStatement(it) => {
                let all = self.eval(&it.right);
                self.each(&it.left, self.elements(&all), &it.body);
            }
            Statement::ForInStatement(it) => {
                let all = self.eval(&it.right);
                self.escape_environment(&all, it.right.span());
                let keys = self.keys(&all);
                self.each(&it.left, keys, &it.body);
            }
            Statement::ForStatement(it) => self.counted(it),
            Statement::WhileStatement(it) => {
                let test = self.eval(&it.test);
                if self.certain(&it.test, &test) == Some(false) {
                    return Flow::Next;
                }
                self.some_times(|reader| {
                    reader.eval(&it.test);
                    reader.statement(&it.body)
                });
            }
            Statement::DoWhileStatement(it) => self.some_times(|reader| {
                let flow = reader.statement(&it.body);
                reader.eval(&it.test);
                flow
            }),
            _ => {}
        }
        Flow::Next
    }

    /// Each element of what is looped over; `None`: an unknown number of them, or unknown ones.
    fn each(&mut self, left: &'a ForStatementLeft<'a>, elements: Option<Vec<Value>>, body: &'a Statement<'a>) {
        self.each_element(
            elements.ok_or(Value::Unknown),
            |element| !is_open(element),
            |reader, element| {
                reader.bind_left(left, element);
                reader.statement(body)
            },
        );
    }

    fn bind_left(&mut self, left: &'a ForStatementLeft<'a>, value: &Value) {
        match left {
            ForStatementLeft::VariableDeclaration(declaration) => {
                for declarator in &declaration.declarations {
                    self.bind(&declarator.id, value);
                }
            }
            left => {
                if let Some(target) = left.as_assignment_target() {
                    self.assign_target(target, value.clone());
                }
            }
        }
    }

    /// A loop with a counter: what it counts isn't known.
    fn counted(&mut self, it: &'a ForStatement<'a>) {
        match &it.init {
            Some(ForStatementInit::VariableDeclaration(declaration)) => {
                for declarator in &declaration.declarations {
                    let value = declarator.init.as_ref().map_or(Value::Nothing, |init| self.eval(init));
                    let value = match value {
                        Value::Number(_) => Value::Unknown,
                        value => value,
                    };
                    self.bind(&declarator.id, &value);
                }
            }
            Some(init) => {
                init.as_expression().map(|init| self.eval(init));
            }
            None => {}
        }
        self.some_times(|reader| {
            it.test.as_ref().map(|test| reader.eval(test));
            let flow = reader.statement(&it.body);
            it.update.as_ref().map(|update| reader.eval(update));
            flow
        });
    }
}

/// Whether an expression never returns: `process.exit(1)`.
fn ends(expression: &Expression<'_>) -> bool {
    let Expression::CallExpression(call) = expression.without_parentheses() else {
        return false;
    };
    match &call.callee {
        Expression::StaticMemberExpression(member) => {
            let object = member.object.get_identifier_reference();
            member.property.name == "exit"
                && object.is_some_and(|object| object.name == "process" || object.name == "Deno")
        }
        _ => false,
    }
}
