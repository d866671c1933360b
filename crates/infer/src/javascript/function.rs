//! The script's own functions: made, and followed when they are called.

use std::rc::Rc;

use oxc_ast::ast::*;
use oxc_span::Span;

use super::class::set_parameter_field;
use super::reader::{Code, Frame, Own, Reader};
use crate::arguments::Arguments;
use crate::reading::Reading;
use crate::scopes::Flow;
use crate::value::Value;

/// Maximum depth of nested calls that are followed.
const MAX_FRAMES: usize = 8;

impl<'a> Reader<'a, '_> {
    /// A function's value; one of a class has that as its home.
    pub fn function(&mut self, function: &'a Function<'a>, home: Option<usize>) -> Value {
        let around = self.scope;
        self.add(Own::Function {
            code: Code::Function(function),
            around,
            this: None,
            home,
        })
    }

    /// An arrow function's value: its `this` is the one around it.
    pub fn arrow(&mut self, arrow: &'a ArrowFunctionExpression<'a>) -> Value {
        let around = self.scope;
        let frame = self.frames.last();
        let (this, home) = frame.map_or((None, None), |frame| (frame.this.clone(), frame.home));
        self.add(Own::Function {
            code: Code::Arrow(arrow),
            around,
            this,
            home,
        })
    }

    /// Follows a call of one of the script's own functions.
    pub fn call_own(&mut self, own: usize, this: Option<Value>, arguments: &Arguments, at: Span) -> Value {
        if let Some(Own::Bound { callee, this, first }) = self.own.get(own).cloned() {
            let value = self.deeper(|reader| reader.call_value(&callee, this, &arguments.after(&first), at));
            return value.unwrap_or(Value::Unknown);
        }
        let Some(Own::Function {
            code,
            around,
            this: bound,
            home,
        }) = self.own.get(own).cloned()
        else {
            return Value::Unknown;
        };
        let inside = self.frames.iter().filter(|frame| frame.code == code.start()).count();
        let is_telling = self.repeats() || arguments.positional.iter().any(is_telling);
        let may_repeat = inside > 0 && is_telling && self.work.is_fresh();
        if inside > 1 && may_repeat {
            // What comes of this is what comes of the calls around it.
            self.escape_all(arguments, at);
            return Value::List(Rc::default());
        }
        if self.frames.len() >= MAX_FRAMES && inside == 0 {
            self.escape(&Value::Own(own), at);
        }
        let frame = Frame {
            code: code.start(),
            this: bound.or(this),
            home,
            ..Frame::default()
        };
        let is_followed = inside <= usize::from(may_repeat) && self.frames.len() < MAX_FRAMES;
        let run = |reader: &mut Self| reader.framed(frame, around, |reader| reader.run_code(code, arguments));
        let Some(frame) = is_followed.then(|| self.deeper(run)).flatten() else {
            self.escape_all(arguments, at);
            return Value::Unknown;
        };
        match code {
            Code::Function(function) if function.generator => Value::List(Rc::new(frame.yielded)),
            _ => frame.returned.unwrap_or(Value::Nothing),
        }
    }

    /// Whether a function is followed that was called by itself.
    fn repeats(&self) -> bool {
        let mut frames = self.frames.iter().enumerate();
        frames.any(|(at, frame)| self.frames[..at].iter().any(|before| before.code == frame.code))
    }

    /// Does something within a function's names and `this`.
    pub fn framed(&mut self, frame: Frame, around: usize, inside: impl FnOnce(&mut Self)) -> Frame {
        let scope = self.scopes.open(Some(around));
        let caller = std::mem::replace(&mut self.scope, scope);
        self.frames.push(frame);
        inside(self);
        self.scope = caller;
        self.frames.pop().unwrap_or_default()
    }

    fn run_code(&mut self, code: Code<'a>, arguments: &Arguments) {
        match code {
            Code::Function(function) => {
                self.parameters(&function.params, arguments);
                if let Some(body) = &function.body {
                    self.statements(&body.statements);
                }
            }
            Code::Arrow(arrow) => {
                self.parameters(&arrow.params, arguments);
                match (&arrow.body, arrow.body.as_expression()) {
                    (ArrowFunctionBody::FunctionBody(body), _) => {
                        self.statements(&body.statements);
                    }
                    (_, Some(value)) => {
                        let value = self.eval(value);
                        if let Some(frame) = self.frames.last_mut() {
                            frame.returned = Some(value);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn parameters(&mut self, parameters: &'a FormalParameters<'a>, arguments: &Arguments) {
        for (at, parameter) in parameters.items.iter().enumerate() {
            let mut value = arguments.at(at);
            if let Some(default) = &parameter.initializer {
                value = match &value {
                    Value::Nothing => self.eval(default),
                    Value::Unknown => {
                        let default = self.maybe_eval(default);
                        default.or(&Value::Unknown)
                    }
                    value => value.clone(),
                };
            }
            self.bind(&parameter.pattern, &value);
            if parameter.accessibility.is_some() || parameter.readonly {
                set_parameter_field(self, &parameter.pattern, value);
            }
        }
        if let Some(rest) = &parameters.rest {
            let value = match arguments.has_more {
                true => Value::Unknown,
                false => Value::List(Rc::new(
                    arguments
                        .positional
                        .iter()
                        .skip(parameters.items.len())
                        .cloned()
                        .collect(),
                )),
            };
            self.bind(&rest.rest.argument, &value);
        }
    }

    /// Calls something that may be called any number of times, or never.
    pub fn call_maybe(&mut self, callee: &Value, arguments: &Arguments, at: Span) -> Value {
        let mut value = Value::Unknown;
        self.maybe(|reader| {
            value = reader.call_value(callee, None, arguments, at);
            Flow::Next
        });
        value
    }
}

/// Whether an argument tells something about a path or host.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::Text(text) | Value::Instance(_, Some(text)) => !text.is_unknown(),
        value => value.parts().into_iter().any(is_telling),
    }
}
