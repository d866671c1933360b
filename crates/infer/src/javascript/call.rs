//! Calls: of the script's own functions, of methods of values, of APIs.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::binding::field_name;
use super::reader::{Own, Reader};
use super::{fold, string};
use crate::arguments::Arguments;
use crate::reading::Reading;
use crate::text::Text;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    pub fn call(&mut self, it: &'a CallExpression<'a>) -> Value {
        self.deeper(|reader| reader.call_inside(it)).unwrap_or(Value::Unknown)
    }

    fn call_inside(&mut self, it: &'a CallExpression<'a>) -> Value {
        match it.callee.get_inner_expression() {
            Expression::Super(_) => {
                let arguments = self.arguments(&it.arguments);
                self.super_call(&arguments, it.span);
                Value::Nothing
            }
            Expression::ChainExpression(chain) => match chain.expression.as_member_expression() {
                Some(member) => self.member_call(member, it),
                None => self.plain_call(it),
            },
            callee => match callee.as_member_expression() {
                Some(member) => self.member_call(member, it),
                None => self.plain_call(it),
            },
        }
    }

    fn plain_call(&mut self, it: &'a CallExpression<'a>) -> Value {
        let callee = self.eval(&it.callee);
        let arguments = self.arguments(&it.arguments);
        self.call_value(&callee, None, &arguments, it.span)
    }

    fn member_call(&mut self, member: &'a MemberExpression<'a>, it: &'a CallExpression<'a>) -> Value {
        let object = member.object();
        if let MemberExpression::ComputedMemberExpression(computed) = member {
            let receiver = self.eval(object);
            let name = self.eval(&computed.expression);
            return self.computed_call(&receiver, &name, it);
        }
        let name = field_name(member).unwrap_or_default();
        if let Expression::Super(_) = object {
            let arguments = self.arguments(&it.arguments);
            let method = self.super_method(&name).unwrap_or(Value::Unknown);
            return self.call_value(&method, None, &arguments, it.span);
        }
        let receiver = self.eval(object);
        let arguments = self.arguments(&it.arguments);
        if let Some(changed) = self.changed(&receiver, &name, &arguments) {
            self.assign_expression(object, changed);
            return Value::Unknown;
        }
        let value = self.method(&receiver, &name, &arguments, it.span);
        if let (Value::Api(api), "assign", Value::Record(_)) = (&receiver, &*name, &value)
            && &**api == "global.Object"
            && let Some(target) = it.arguments.first().and_then(|target| target.as_expression())
            && (target.is_member_expression() || target.get_identifier_reference().is_some())
        {
            self.assign_expression(target, value.clone());
        }
        value
    }

    fn computed_call(&mut self, receiver: &Value, name: &Value, it: &'a CallExpression<'a>) -> Value {
        let arguments = self.arguments(&it.arguments);
        name.each(|name| {
            if let (Value::Number(at), Value::List(_)) = (&name, receiver) {
                let callee = self.element(receiver, usize::try_from(*at).unwrap_or(usize::MAX));
                return self.call_value(&callee, Some(receiver.clone()), &arguments, it.span);
            }
            match (name.text().exact(), receiver) {
                (Some(name), _) => self.method(receiver, name, &arguments, it.span),
                (None, Value::Api(module)) => {
                    let module = module.split(".*").next().unwrap_or_default();
                    self.computed_name(module, it.span);
                    self.escape_all(&arguments, it.span);
                    Value::Unknown
                }
                (None, receiver) => {
                    let callee = self.any_field(receiver, it.span);
                    self.call_value(&callee, Some(receiver.clone()), &arguments, it.span)
                }
            }
        })
    }

    /// Arguments as they are given; a spread list counts by its elements.
    pub fn arguments(&mut self, given: &'a [Argument<'a>]) -> Arguments {
        let mut arguments = Arguments::none();
        for argument in given {
            match argument {
                Argument::SpreadElement(spread) => {
                    let value = self.eval(&spread.argument);
                    match self.elements(&value) {
                        Some(elements) => arguments.positional.extend(elements),
                        None => {
                            arguments.has_more = true;
                            if arguments.positional.is_empty() {
                                arguments.positional.push(Value::Unknown);
                            }
                        }
                    }
                }
                argument => {
                    let value = argument
                        .as_expression()
                        .map_or(Value::Unknown, |argument| self.eval(argument));
                    arguments.positional.push(value);
                }
            }
        }
        arguments
    }

    /// Calls a value.
    pub fn call_value(&mut self, callee: &Value, this: Option<Value>, arguments: &Arguments, at: Span) -> Value {
        match callee {
            Value::Own(own) => self.call_own(*own, this, arguments, at),
            Value::Api(name) => match (function_method(name), this) {
                // `Function.prototype.call.call(f, this, …)`.
                (Some(method), Some(function)) => self.method(&function, method, arguments, at),
                _ => self.call_api(name, None, arguments, at),
            },
            Value::Instance(class, text) => self.call_api(class, text.as_ref(), arguments, at),
            Value::OneOf(_) => callee.each(|callee| self.call_value(&callee, this.clone(), arguments, at)),
            _ => {
                self.hand_away(arguments, at);
                self.escape_all(arguments, at);
                Value::Unknown
            }
        }
    }

    /// Calls a method of a value.
    pub fn method(&mut self, receiver: &Value, name: &str, arguments: &Arguments, at: Span) -> Value {
        if let Value::OneOf(_) = receiver {
            return receiver.each(|receiver| self.method(&receiver, name, arguments, at));
        }
        if let Some(value) = self.promised(receiver, name, arguments, at) {
            return value;
        }
        match receiver {
            Value::Api(api) if matches!(name, "call" | "apply" | "bind") && &**api != "global.Reflect" => {
                self.called(receiver, name, arguments, at)
            }
            Value::Own(own) => match self.own.get(*own) {
                Some(Own::Function { .. } | Own::Bound { .. }) => self.called(receiver, name, arguments, at),
                _ => self.own_method(receiver, name, arguments, at),
            },
            Value::Api(_) => {
                let callee = self.member(receiver, name, at);
                self.call_value(&callee, None, arguments, at)
            }
            Value::Instance(class, text) => self.instance_method(class, text.as_ref(), name, arguments, at),
            Value::Text(text) => {
                let value = string::method(text, name, &arguments.positional);
                self.escape_all(arguments, at);
                value
            }
            Value::List(all) => self.array_method(&all.clone(), name, arguments, at),
            Value::Record(_) => self.record_method(receiver, name, arguments, at),
            Value::Number(_) if name == "toString" => Value::Text(receiver.text()),
            _ => {
                self.hand_away(arguments, at);
                self.unknown_method(name, arguments, at)
            }
        }
    }

    fn own_method(&mut self, receiver: &Value, name: &str, arguments: &Arguments, at: Span) -> Value {
        match self.member(receiver, name, at) {
            Value::Unknown => self.unknown_method(name, arguments, at),
            callee => self.call_value(&callee, Some(receiver.clone()), arguments, at),
        }
    }

    fn instance_method(
        &mut self,
        class: &str,
        text: Option<&Text>,
        name: &str,
        arguments: &Arguments,
        at: Span,
    ) -> Value {
        if let Some(value) = fold::instance_method(class, text, name, &arguments.positional) {
            return value;
        }
        let value = self.call_api(&format!("{class}.{name}"), text, arguments, at);
        let chains = [
            "on",
            "once",
            "use",
            "unref",
            "ref",
            "setTimeout",
            "setEncoding",
            "addListener",
            "pipe",
            "option",
        ];
        match value {
            Value::Unknown if chains.contains(&name) => Value::Instance(class.into(), text.cloned()),
            value => value,
        }
    }

    /// `f.call(this, …)`, `f.apply(this, list)`, `f.bind(this, …)`.
    fn called(&mut self, callee: &Value, name: &str, arguments: &Arguments, at: Span) -> Value {
        let this = arguments.positional.first().cloned();
        let rest = arguments.behind(1);
        match name {
            "call" => self.call_value(callee, this, &rest, at),
            "apply" => {
                let all = rest.positional.first().and_then(|all| self.elements(all));
                self.call_value(callee, this, &Arguments::known(all), at)
            }
            "bind" if !rest.positional.is_empty() || is_function_method(callee) => {
                let callee = callee.clone();
                self.add(Own::Bound {
                    callee,
                    this,
                    first: rest.positional,
                })
            }
            "bind" => match (callee, self.own_function(callee)) {
                (_, Some(Own::Function { code, around, home, .. })) => self.add(Own::Function {
                    code,
                    around,
                    this,
                    home,
                }),
                (callee, _) => callee.clone(),
            },
            _ => Value::Unknown,
        }
    }

    fn own_function(&self, value: &Value) -> Option<Own<'a>> {
        match value {
            Value::Own(own) => self.own.get(*own).cloned(),
            _ => None,
        }
    }

    /// The result of a promise: awaiting is transparent, so the value is the promise.
    fn promised(&mut self, receiver: &Value, name: &str, arguments: &Arguments, at: Span) -> Option<Value> {
        let callback = arguments.positional.first();
        let is_callback = matches!(callback, Some(Value::Own(_) | Value::Api(_) | Value::OneOf(_)));
        match name {
            "then" if is_callback => {
                let given = Arguments::of(vec![receiver.clone()]);
                let value = self.call_value(callback?, None, &given, at);
                if let Some(refused) = arguments.positional.get(1) {
                    self.escape(refused, at);
                }
                Some(value)
            }
            "catch" if is_callback => {
                let given = Arguments::of(vec![Value::Unknown]);
                let value = self.call_maybe(callback?, &given, at);
                Some(value.something().map_or(receiver.clone(), |value| receiver.or(&value)))
            }
            "finally" if is_callback => {
                self.call_value(callback?, None, &Arguments::none(), at);
                Some(receiver.clone())
            }
            _ => None,
        }
    }

    pub fn new_expression(&mut self, it: &'a NewExpression<'a>) -> Value {
        let callee = self.eval(&it.callee);
        let arguments = self.arguments(&it.arguments);
        self.new_value(&callee, &arguments, it.span)
    }

    /// `new callee(…)`.
    pub fn new_value(&mut self, callee: &Value, arguments: &Arguments, at: Span) -> Value {
        match callee {
            Value::Own(own) => match self.own.get(*own) {
                Some(Own::Class { .. }) => self.construct(*own, arguments, at),
                _ => {
                    self.call_own(*own, Some(Value::Record(Vec::new().into())), arguments, at);
                    Value::Unknown
                }
            },
            Value::OneOf(_) => callee.each(|callee| self.new_value(&callee, arguments, at)),
            callee => self.call_value(callee, None, arguments, at),
        }
    }

    pub fn tagged(&mut self, it: &'a TaggedTemplateExpression<'a>) -> Value {
        let tag = self.eval(&it.tag);
        let text = self.template(&it.quasi);
        match &tag {
            Value::Api(name) if &**name == "global.String.raw" => text,
            Value::Own(_) => self.call_value(&tag, None, &Arguments::unknown(), it.span),
            tag => self.call_value(tag, None, &Arguments::of(vec![text]), it.quasi.span()),
        }
    }

    /// Arguments escape: they go where they can't be followed.
    pub fn escape_all(&mut self, arguments: &Arguments, at: Span) {
        for value in &arguments.positional {
            self.escape(value, at);
        }
    }
}

/// `call` of `Function.prototype.call`, and its like.
fn function_method(name: &str) -> Option<&str> {
    let (_, last) = name.rsplit_once('.')?;
    matches!(last, "call" | "apply" | "bind").then_some(last)
}

fn is_function_method(value: &Value) -> bool {
    matches!(value, Value::Api(name) if function_method(name).is_some())
}

/// Namespaces of which no function does anything outside.
pub fn is_plain(module: &str) -> bool {
    [
        "global.",
        "node:path",
        "node:util",
        "node:url",
        "node:crypto",
        "node:assert",
    ]
    .iter()
    .any(|name| module.starts_with(name))
}
