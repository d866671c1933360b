//! Classes of the script, and their objects.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use super::super::reading::Reading;
use super::super::value::Value;
use super::own::{Class, Kind, Own};
use super::reader::{Frame, Reader};
use crate::arguments::Arguments;

/// Maximum number of classes in a lineage, with the class itself.
const MAX_BASES: usize = 32;

impl<'a> Reader<'a, '_> {
    pub fn define_class(&mut self, def: &'a StmtClassDef) {
        let mut bases = Vec::new();
        for base in def.bases() {
            bases.push(self.callee(base));
        }
        let mut is_data = bases
            .iter()
            .any(|base| matches!(base, Value::Api(name) if FIELD_CLASSES.contains(&&**name)));
        for decorator in &def.decorator_list {
            let value = match &decorator.expression {
                Expr::Call(call) => self.callee(&call.func),
                expression => self.callee(expression),
            };
            is_data |= matches!(value, Value::Api(name) if name.ends_with("dataclass") || name.starts_with("attr"));
        }
        let outer = self.scope();
        let members = self.scopes.open(Some(outer));
        let is_framework = bases.iter().any(|base| match base {
            Value::Api(name) => {
                !PLAIN_BASES.iter().any(|plain| name.starts_with(plain)) && !FIELD_CLASSES.contains(&&**name)
            }
            Value::Own(number) => matches!(self.own.get(*number), Some(Own::Class(class)) if class.is_framework),
            _ => true,
        });
        let fields = is_data.then(|| fields(&def.body));
        let class = self.define(Own::Class(Rc::new(Class {
            bases,
            members,
            fields,
            is_framework,
        })));
        let Value::Own(number) = class else { return };
        let mut frame = Frame::of(members);
        (frame.is_class, frame.class) = (true, Some(number));
        self.frames.push(frame);
        self.block(&def.body);
        self.frames.pop();
        self.bind(&def.name, class);
    }

    /// A class and its bases in the script, nearest first.
    pub fn lineage(&self, class: usize) -> Vec<Rc<Class>> {
        let mut waiting = std::collections::VecDeque::from([class]);
        let mut lineage = Vec::new();
        while let Some(number) = waiting.pop_front()
            && lineage.len() < MAX_BASES
        {
            if let Some(Own::Class(class)) = self.own.get(number) {
                waiting.extend(class.bases.iter().filter_map(|base| match base {
                    Value::Own(number) => Some(*number),
                    _ => None,
                }));
                lineage.push(class.clone());
            }
        }
        lineage
    }

    /// Looks up a member by name, from the class upwards.
    pub fn member(&self, class: usize, name: &str) -> Option<Value> {
        let lineage = self.lineage(class);
        let mut members = lineage.iter().map(|class| self.scopes.own(class.members, name));
        members.find_map(|member| member.cloned())
    }

    /// The API class from which a class inherits.
    pub fn foreign_base(&self, class: usize) -> Option<Rc<str>> {
        let lineage = self.lineage(class);
        let mut bases = lineage.iter().flat_map(|class| &class.bases);
        bases.find_map(|base| match base {
            Value::Api(name) => Some(name.clone()),
            _ => None,
        })
    }

    /// Constructs an object.
    pub fn construct(&mut self, number: usize, class: &Class, arguments: &Arguments, at: Range<usize>) -> Value {
        let fields = self.scopes.open(None);
        let object = self.define(Own::Object { class: number, fields });
        if let Some(names) = &class.fields {
            for (name, value) in names.iter().zip(&arguments.positional) {
                self.scopes.set(fields, name.as_str(), value.clone());
            }
            for (name, value) in &arguments.named {
                self.scopes.set(fields, name.as_str(), value.clone());
            }
            for name in names {
                let is_factory = matches!(self.member(number, name), Some(Value::Instance(class, _)) if &*class == "dataclasses.field");
                if self.scopes.own(fields, name.as_str()).is_none() && (arguments.has_more || is_factory) {
                    self.scopes.set(fields, name.as_str(), Value::Unknown);
                }
            }
        }
        if let Value::Own(object) = object {
            self.call_own_method_with(object, &["__init__"], arguments, at.clone());
            self.call_own_method(object, &["__post_init__"], at);
        }
        // Its special methods are called implicitly.
        self.refer(&object);
        object
    }

    pub fn call_own_method(&mut self, object: usize, names: &[&str], at: Range<usize>) -> Option<Value> {
        self.call_own_method_with(object, names, &Arguments::default(), at)
    }

    /// Calls the first of several methods that the object has.
    pub fn call_own_method_with(
        &mut self,
        object: usize,
        names: &[&str],
        arguments: &Arguments,
        at: Range<usize>,
    ) -> Option<Value> {
        let Some(Own::Object { class, .. }) = self.get(object) else {
            return None;
        };
        let method = names.iter().find_map(|name| self.member(class, name))?;
        let bound = self.bound(&method, Value::Own(object), class);
        Some(self.call_value(&bound, arguments, at))
    }

    /// Binds a member to an object.
    pub fn bound(&mut self, member: &Value, object: Value, class: usize) -> Value {
        let Value::Own(number) = member else {
            return member.clone();
        };
        let Some(Own::Function(function)) = self.get(*number) else {
            return member.clone();
        };
        match function.kind {
            Kind::Static => member.clone(),
            Kind::OfClass => self.define(Own::Bound {
                function: *number,
                receiver: Value::Own(class),
            }),
            Kind::Property => self.follow(*number, &function, Some(object), &Arguments::default()),
            Kind::Plain => self.define(Own::Bound {
                function: *number,
                receiver: object,
            }),
        }
    }

    /// `super()`.
    pub fn parent_object(&mut self) -> Value {
        let frame = self.frame();
        match (frame.class, frame.receiver.clone()) {
            (Some(class), Some(object)) => self.define(Own::Super { class, object }),
            _ => Value::Unknown,
        }
    }

    /// `super().name(…)`.
    pub fn call_parent(
        &mut self,
        class: usize,
        object: &Value,
        name: &str,
        arguments: &Arguments,
        at: Range<usize>,
    ) -> Value {
        let Some(Own::Class(class)) = self.get(class) else {
            return Value::Unknown;
        };
        for base in &class.bases {
            match base {
                Value::Own(base) => {
                    if let Some(method) = self.member(*base, name) {
                        let bound = self.bound(&method, object.clone(), *base);
                        return self.call_value(&bound, arguments, at);
                    }
                }
                Value::Api(api) if name != "__init__" => {
                    return self.call_api(&format!("{api}.{name}"), None, arguments, at);
                }
                _ => {}
            }
        }
        Value::Unknown
    }
}

/// The parameter names of a data class's constructor.
fn fields(body: &[Stmt]) -> Vec<String> {
    body.iter()
        .filter_map(|statement| match statement {
            Stmt::AnnAssign(assign) => assign.target.as_name_expr().map(|name| name.id.to_string()),
            _ => None,
        })
        .collect()
}

const FIELD_CLASSES: &[&str] = &["typing.NamedTuple", "pydantic.BaseModel", "typing.TypedDict"];

/// Base classes that don't call methods of their subclasses.
const PLAIN_BASES: &[&str] = &["builtins.", "abc.", "enum.", "typing.", "collections.", "string."];
