//! Functions of the script: their definitions and calls.

use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Parameter, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::super::reading::Reading;
use super::super::scopes::{Flow, MODULE};
use super::super::text::Text;
use super::super::value::Value;
use super::fold;
use super::own::{Body, Function, Kind, Own};
use super::reader::{Frame, Reader};
use crate::arguments::Arguments;

/// Maximum depth of nested calls that are followed.
const MAX_CALL_DEPTH: usize = 24;
/// Maximum number of active calls of one function.
const MAX_RECURSIONS: usize = 2;

/// Decorators that return the function itself.
const PLAIN_DECORATORS: &[&str] = &[
    "builtins.staticmethod",
    "builtins.classmethod",
    "builtins.property",
    "functools.wraps",
    "functools.lru_cache",
    "functools.cache",
    "functools.cached_property",
    "contextlib.contextmanager",
    "contextlib.asynccontextmanager",
    "abc.abstractmethod",
    "typing.override",
    "typing.overload",
    "functools.total_ordering",
    "typing.final",
    "functools.singledispatch",
    "typing.no_type_check",
];

impl<'a> Reader<'a, '_> {
    pub fn define_function(&mut self, def: &'a StmtFunctionDef) {
        let defaults = self.defaults(Some(&def.parameters));
        let (mut kind, mut is_foreign, mut wrappers) = (Kind::Plain, false, Vec::new());
        for decorator in &def.decorator_list {
            let value = match &decorator.expression {
                // A known factory stands for its result: `functools.lru_cache(maxsize=None)`.
                Expr::Call(call) => match self.callee(&call.func) {
                    Value::Api(name) if PLAIN_DECORATORS.contains(&&*name) => Value::Api(name),
                    _ => self.callee(&decorator.expression),
                },
                expression => self.callee(expression),
            };
            match &value {
                Value::Api(name) => match &**name {
                    "builtins.staticmethod" => kind = Kind::Static,
                    "builtins.classmethod" => kind = Kind::OfClass,
                    "builtins.property" | "functools.cached_property" => kind = Kind::Property,
                    name if PLAIN_DECORATORS.contains(&name) => {}
                    _ => is_foreign = true,
                },
                Value::Own(_) => wrappers.push((value, decorator.range().to_std_range())),
                _ => is_foreign = true,
            }
        }
        let scope = self.closure();
        let class = self
            .frame()
            .class
            .filter(|_| self.frames.last().is_some_and(|frame| frame.is_class));
        let mut value = self.define(Own::Function(Rc::new(Function {
            parameters: Some(&def.parameters),
            defaults,
            body: Body::Block(&def.body),
            scope,
            class,
            kind,
            is_generator: Yields::is_in(&def.body),
        })));
        if is_foreign {
            self.refer(&value);
        }
        for (wrapper, at) in wrappers.into_iter().rev() {
            let wrapped = self.call_value(&wrapper, &Arguments::of(vec![value.clone()]), at);
            match wrapped {
                Value::Unknown | Value::Nothing => self.refer(&value),
                wrapped => value = wrapped,
            }
        }
        self.bind(&def.name, value);
    }

    pub fn lambda(&mut self, parameters: Option<&'a Parameters>, body: Body<'a>) -> Value {
        let defaults = self.defaults(parameters);
        let scope = self.closure();
        self.define(Own::Function(Rc::new(Function {
            parameters,
            defaults,
            body,
            scope,
            class: None,
            kind: Kind::Static,
            is_generator: false,
        })))
    }

    /// The enclosing scope of a function: it excludes a class's names.
    fn closure(&mut self) -> usize {
        let (scope, is_class) = (self.frame().scope, self.frame().is_class);
        match is_class {
            true => self.scopes.parent(scope).unwrap_or(MODULE),
            false => scope,
        }
    }

    fn defaults(&mut self, parameters: Option<&'a Parameters>) -> Vec<(&'a str, Value)> {
        let all = parameters
            .into_iter()
            .flat_map(|parameters| parameters.iter_non_variadic_params());
        let mut defaults = Vec::new();
        for parameter in all {
            if let Some(default) = &parameter.default {
                defaults.push((parameter.parameter.name.as_str(), self.value(default)));
            }
        }
        defaults
    }

    /// Runs a function's body with these arguments.
    pub fn follow(
        &mut self,
        number: usize,
        function: &Function<'a>,
        receiver: Option<Value>,
        given: &Arguments,
    ) -> Value {
        let running = self
            .frames
            .iter()
            .filter(|frame| frame.function == Some(number))
            .count();
        if running >= MAX_RECURSIONS && function.is_generator {
            // The recursive call yields the same values as this one and adds none.
            return self.iterable(Value::Nothing);
        }
        if running >= MAX_RECURSIONS || self.frames.len() > MAX_CALL_DEPTH || !self.work().step(2) {
            return Value::Unknown;
        }
        self.visited.insert(number);
        let scope = self.scopes.open(Some(function.scope));
        self.bind_parameters(scope, function, receiver.clone(), given);
        let mut frame = Frame::of(scope);
        (frame.function, frame.class, frame.receiver) = (Some(number), function.class, receiver);
        self.frames.push(frame);
        let (flow, mut value) = match function.body {
            Body::Block(body) => (self.block(body), Value::Nothing),
            Body::Expression(body) => (Flow::Next, self.callee(body)),
        };
        self.has_left = false;
        let Some(frame) = self.frames.pop() else {
            return Value::Unknown;
        };
        match (frame.yielded, frame.returned) {
            (Some(element), _) => return self.define(Own::Iterable { element }),
            (None, Some(returned)) if flow == Flow::Out => value = returned,
            (None, Some(returned)) => value = returned.or(&value),
            (None, None) => self.has_left = flow == Flow::Out,
        }
        value
    }

    fn bind_parameters(&mut self, scope: usize, function: &Function<'a>, receiver: Option<Value>, given: &Arguments) {
        let Some(parameters) = function.parameters else { return };
        let mut positional = receiver.into_iter().chain(given.positional.iter().cloned());
        let mut named = given.named.clone();
        for (index, each) in parameters.iter_non_variadic_params().enumerate() {
            let name = each.parameter.name.as_str();
            let by_position = match index < parameters.posonlyargs.len() + parameters.args.len() {
                true => positional.next(),
                false => None,
            };
            let by_name = named
                .iter()
                .position(|(given, _)| given == name)
                .map(|at| named.remove(at).1);
            let default = function
                .defaults
                .iter()
                .find(|(given, _)| *given == name)
                .map(|(_, value)| value.clone());
            let value = match by_position.or(by_name) {
                Some(Value::Unknown) => self.annotated(&each.parameter),
                Some(value) => value,
                None if given.has_more => self.annotated(&each.parameter).beside(default),
                None => default.unwrap_or_else(|| self.annotated(&each.parameter)),
            };
            self.scopes.set(scope, name, value);
        }
        if let Some(rest) = &parameters.vararg {
            let rest_values: Vec<Value> = positional.collect();
            let value = match given.has_more {
                true => Value::Unknown,
                false => Value::List(Rc::new(rest_values)),
            };
            self.scopes.set(scope, rest.name.as_str(), value);
        }
        if let Some(rest) = &parameters.kwarg {
            let value = match given.has_more {
                true => Value::Unknown,
                false => Value::Record(Rc::new(named)),
            };
            self.scopes.set(scope, rest.name.as_str(), value);
        }
    }

    /// An unknown argument: an object of the class that its annotation names.
    fn annotated(&mut self, parameter: &'a Parameter) -> Value {
        parameter
            .annotation
            .as_deref()
            .map_or(Value::Unknown, |annotation| self.of_annotation(annotation))
    }

    fn of_annotation(&mut self, annotation: &'a Expr) -> Value {
        let class = match annotation {
            Expr::Name(_) | Expr::Attribute(_) => self.callee(annotation),
            Expr::StringLiteral(name) => {
                let scope = self.scope();
                self.scopes
                    .find(scope, name.value.to_str())
                    .cloned()
                    .unwrap_or(Value::Unknown)
            }
            // `Path | None`, `Optional[Path]`.
            Expr::BinOp(either) => return self.of_annotation(&either.left),
            Expr::Subscript(of) => match (self.callee(&of.value), &*of.slice) {
                (Value::Api(name), inner) if &*name == "typing.Optional" => return self.of_annotation(inner),
                (Value::Api(name), inner @ Expr::Name(_)) if LISTS.contains(&&*name) => {
                    let element = self.of_annotation(inner);
                    return self.iterable(element);
                }
                _ => return Value::Unknown,
            },
            _ => return Value::Unknown,
        };
        match &class {
            Value::Api(name) => match fold::canonical(name) {
                name if name == fold::PATH => Value::Instance(name.into(), Some(Text::unknown())),
                name if fold::is_class(&name) && !name.starts_with("builtins.") && !name.starts_with("typing.") => {
                    Value::Instance(name.into(), None)
                }
                _ => Value::Unknown,
            },
            Value::Own(number) => match self.get(*number) {
                Some(Own::Class(_)) => {
                    let fields = self.scopes.open(None);
                    self.define(Own::Object { class: *number, fields })
                }
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }
}

/// Looks for `yield` in a body, not in nested functions.
struct Yields(bool);

impl Yields {
    fn is_in(body: &[Stmt]) -> bool {
        let mut yields = Yields(false);
        yields.visit_body(body);
        yields.0
    }
}

impl<'v> Visitor<'v> for Yields {
    fn visit_stmt(&mut self, statement: &'v Stmt) {
        if !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            visitor::walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &'v Expr) {
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.0 = true,
            Expr::Lambda(_) => {}
            expression => visitor::walk_expr(self, expression),
        }
    }
}

const LISTS: &[&str] = &[
    "builtins.list",
    "builtins.set",
    "builtins.tuple",
    "typing.List",
    "typing.Iterable",
    "typing.Sequence",
    "typing.Iterator",
    "collections.abc.Iterable",
    "collections.abc.Sequence",
    "collections.abc.Iterator",
];
