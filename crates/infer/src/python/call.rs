//! Calls: callee, arguments and result.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::super::finding::Opaque;
use super::super::reading::Reading;
use super::super::value::Value;
use super::fold;
use super::own::Own;
use super::reader::Reader;
use crate::arguments::Arguments;

/// The class of a value that was looked up by a computed name.
pub const COMPUTED: &str = "a computed name";

impl<'a> Reader<'a, '_> {
    pub fn call(&mut self, call: &'a ExprCall) -> Value {
        let at = call.range().to_std_range();
        if let Expr::Attribute(attribute) = &*call.func {
            let receiver = self.callee(&attribute.value);
            let arguments = self.arguments(call);
            let Some(receiver) = receiver.something() else {
                return Value::Unknown;
            };
            return receiver.each(|one| {
                match self.change_in_place(&attribute.value, &one, &attribute.attr, &arguments) {
                    true => Value::Nothing,
                    false => self.call_method(&one, &attribute.attr, &arguments, at.clone()),
                }
            });
        }
        if matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super") && call.arguments.args.is_empty() {
            return self.parent_object();
        }
        let callee = self.callee(&call.func);
        let arguments = self.arguments(call);
        self.call_value(&callee, &arguments, at)
    }

    fn arguments(&mut self, call: &'a ExprCall) -> Arguments {
        let mut arguments = Arguments::default();
        for argument in &call.arguments.args {
            let value = self.value(argument);
            match (argument.is_starred_expr(), &value) {
                (true, Value::List(values)) => arguments.positional.extend(values.iter().cloned()),
                (true, _) => arguments.has_more = true,
                _ => arguments.positional.push(value),
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value);
            match (&keyword.arg, &value) {
                (Some(name), _) => arguments.named.push((name.to_string(), value)),
                (None, Value::Record(fields)) => arguments.named.extend(fields.iter().cloned()),
                (None, _) => arguments.has_more = true,
            }
        }
        arguments
    }

    /// Calls each alternative of a value.
    pub fn call_value(&mut self, callee: &Value, arguments: &Arguments, at: Range<usize>) -> Value {
        let callee = callee.something().unwrap_or(Value::Unknown);
        callee.each(|callee| self.call_one(&callee, arguments, at.clone()))
    }

    fn call_one(&mut self, callee: &Value, arguments: &Arguments, at: Range<usize>) -> Value {
        match callee {
            Value::Api(name) => self.call_api(name, None, arguments, at),
            Value::Instance(class, _) if &**class == COMPUTED => {
                self.opaque(Opaque::ComputedName, "getattr", &at);
                Value::Unknown
            }
            Value::Own(number) => match self.get(*number) {
                Some(Own::Function(function)) => self.follow(*number, &function, None, arguments),
                Some(Own::Class(class)) => self.construct(*number, &class, arguments, at),
                Some(Own::Bound { function, receiver }) => match self.get(function) {
                    Some(Own::Function(inner)) => self.follow(function, &inner, Some(receiver), arguments),
                    _ => Value::Unknown,
                },
                Some(Own::Method { name, receiver }) => self.call_api(&name, receiver.as_ref(), arguments, at),
                Some(Own::Partial {
                    callee,
                    positional,
                    named,
                }) => {
                    let mut all = arguments.after(&positional);
                    all.named.extend(named.iter().cloned());
                    self.deeper(|reader| reader.call_value(&callee, &all, at))
                        .unwrap_or(Value::Unknown)
                }
                Some(Own::Object { .. }) => self
                    .call_own_method_with(*number, &["__call__"], arguments, at)
                    .unwrap_or(Value::Unknown),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Calls a method of one value.
    pub fn call_method(&mut self, receiver: &Value, name: &str, arguments: &Arguments, at: Range<usize>) -> Value {
        let value = match receiver {
            Value::Text(_) => fold::text_method(receiver, name, arguments),
            Value::List(_) | Value::Record(_) => fold::list_method(receiver, name, arguments),
            Value::Api(api) => return self.call_api(&format!("{api}.{name}"), None, arguments, at),
            Value::Instance(class, _) if &**class == COMPUTED => return self.call_one(receiver, arguments, at),
            Value::Instance(class, text) => {
                return self.call_api(&format!("{class}.{name}"), text.as_ref(), arguments, at);
            }
            Value::Own(number) => {
                if let Some(Own::Super { class, object }) = self.get(*number) {
                    return self.call_parent(class, &object, name, arguments, at);
                }
                if let Some(Own::Iterable { element }) = self.get(*number) {
                    return match name {
                        "pop" | "popleft" | "__next__" => element,
                        "copy" | "union" | "intersection" | "difference" | "__iter__" => receiver.clone(),
                        _ => Value::Unknown,
                    };
                }
                if let Some(Own::Mapping { element }) = self.get(*number) {
                    return self.mapping_method(element, name, arguments);
                }
                let method = self.attribute_of(receiver, name, at.clone());
                return self.call_value(&method, arguments, at);
            }
            _ => {
                self.guess(name, arguments, at);
                Value::Unknown
            }
        };
        self.work().made(value)
    }

    /// `list.append(x)` and the like: updates the place that holds the list.
    fn change_in_place(&mut self, place: &'a Expr, receiver: &Value, name: &str, arguments: &Arguments) -> bool {
        let after = match (receiver, name, arguments.positional.first()) {
            (Value::List(values), "append" | "add" | "appendleft", Some(more)) => {
                Value::List(Rc::new(values.iter().chain([more]).cloned().collect()))
            }
            (Value::List(values), "extend", Some(Value::List(more))) => {
                Value::List(Rc::new(values.iter().chain(more.iter()).cloned().collect()))
            }
            (Value::List(values), "extend" | "update", Some(more)) => {
                let more = self.any_element(more);
                Value::List(Rc::new(values.iter().cloned().chain([more]).collect()))
            }
            (Value::List(values), "insert", Some(_)) => {
                let more = arguments.positional.get(1).cloned().unwrap_or(Value::Unknown);
                Value::List(Rc::new(values.iter().cloned().chain([more]).collect()))
            }
            (Value::Own(_), "setdefault", Some(_)) => {
                let default = arguments.positional.get(1).cloned().unwrap_or(Value::Nothing);
                if let Some(after) = self.with_value(receiver, &default) {
                    self.replace(place, after);
                }
                return false;
            }
            (Value::Own(number), "append" | "add" | "appendleft" | "extend" | "update", Some(more)) => {
                let element = match self.get(*number) {
                    Some(Own::Iterable { element }) => element,
                    Some(Own::Mapping { .. }) => {
                        self.replace(place, Value::Unknown);
                        return true;
                    }
                    _ => return false,
                };
                let more = match name {
                    "extend" | "update" => self.any_element(more),
                    _ => more.clone(),
                };
                self.iterable(element.or(&more))
            }
            (Value::Record(fields), "update", Some(Value::Record(more))) => {
                Value::Record(Rc::new(fields.iter().chain(more.iter()).cloned().collect()))
            }
            (Value::Record(_), "update", _) => Value::Unknown,
            _ => return false,
        };
        let after = self.work().made(after);
        self.replace(place, after);
        true
    }
}
