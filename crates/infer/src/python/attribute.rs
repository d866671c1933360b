//! Attributes and elements of values.

use std::ops::Range;

use ruff_python_ast::{Expr, ExprSubscript};
use ruff_text_size::Ranged;

use super::super::finding::Opaque;
use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::call::COMPUTED;
use super::environment::ENVIRONMENT;
use super::fold;
use super::own::Own;
use super::reader::Reader;

impl<'a> Reader<'a, '_> {
    /// `object.name`, for each alternative of the object.
    pub fn attribute_of(&mut self, object: &Value, name: &str, at: Range<usize>) -> Value {
        if matches!(name, "__subclasses__" | "__globals__" | "__builtins__" | "__code__") {
            self.opaque(Opaque::ComputedName, name, &at);
        }
        let object = object.something().unwrap_or(Value::Unknown);
        object.each(|object| self.attribute_of_one(&object, name, at.clone()))
    }

    fn attribute_of_one(&mut self, object: &Value, name: &str, at: Range<usize>) -> Value {
        match object {
            Value::Api(api) => {
                let whole = fold::canonical(&format!("{api}.{name}"));
                self.constant(&whole, &at).unwrap_or_else(|| Value::Api(whole.into()))
            }
            Value::Instance(class, text) => self.attribute_of_instance(class, text.as_ref(), name),
            Value::Own(number) => match self.get(*number) {
                Some(Own::Object { class, fields }) => {
                    if let Some(value) = self.scopes.own(fields, name) {
                        return value.clone();
                    }
                    if let Some(member) = self.member(class, name) {
                        return self.bound(&member, object.clone(), class);
                    }
                    match self.foreign_base(class) {
                        Some(base) => self.define(Own::Method {
                            name: format!("{base}.{name}").into(),
                            receiver: None,
                        }),
                        None => Value::Unknown,
                    }
                }
                Some(Own::Class(_)) => match self.member(*number, name) {
                    Some(Value::Own(member)) => match self.get(member) {
                        Some(Own::Function(function)) if function.kind == super::own::Kind::OfClass => {
                            self.bound(&Value::Own(member), Value::Unknown, *number)
                        }
                        _ => Value::Own(member),
                    },
                    member => member.unwrap_or(Value::Unknown),
                },
                _ => Value::Unknown,
            },
            // A member of an enumeration has the assigned value.
            value if name == "value" => value.clone(),
            _ => Value::Unknown,
        }
    }

    fn attribute_of_instance(&mut self, class: &str, text: Option<&Text>, name: &str) -> Value {
        if let Some(value) = fold::path_attribute(class, text, name) {
            return value;
        }
        if class == COMPUTED {
            return Value::Instance(COMPUTED.into(), None);
        }
        if class == "argparse.Namespace" {
            return self.options.get(name).cloned().unwrap_or(Value::Unknown);
        }
        if fold::is_sticky(class) {
            return Value::Instance(class.into(), None);
        }
        self.define(Own::Method {
            name: format!("{class}.{name}").into(),
            receiver: text.cloned(),
        })
    }

    /// `object[key]`.
    pub fn subscript(&mut self, subscript: &'a ExprSubscript) -> Value {
        let at = subscript.range().to_std_range();
        let object = self.callee(&subscript.value);
        if self.is_iterable(&object) && subscript.slice.is_slice_expr() {
            return object;
        }
        if let Expr::Slice(slice) = &*subscript.slice {
            let bounds =
                [&slice.lower, &slice.upper, &slice.step].map(|bound| bound.as_deref().map(|bound| self.value(bound)));
            return fold::sliced(&object, bounds);
        }
        let key = self.value(&subscript.slice);
        object.each_with(&key, |object, key| self.element(object, key, at.clone()))
    }

    fn element(&mut self, object: &Value, key: &Value, at: Range<usize>) -> Value {
        match (object, key) {
            (Value::Api(name), key) if &**name == ENVIRONMENT => self.environment(key, None, &at),
            (Value::Api(name), key) if &**name == "sys.modules" => match key.text().exact() {
                Some(key) => Value::Api(fold::canonical(key).into()),
                None => Value::Instance(COMPUTED.into(), None),
            },
            (Value::Api(name), key) if name.ends_with(".__dict__") => {
                let module = Value::Api(name.trim_end_matches(".__dict__").into());
                self.named_attribute(&module, key, &at)
            }
            (Value::Instance(class, _), key) if &**class == "builtins.globals" => {
                let scope = self.scope();
                match key.text().exact() {
                    Some(name) => match self.scopes.find(scope, name) {
                        Some(value) => value.clone(),
                        None => Value::Api(format!("builtins.{name}").into()),
                    },
                    None => Value::Instance(COMPUTED.into(), None),
                }
            }
            (Value::Instance(class, Some(text)), Value::Number(up)) if &**class == "pathlib.parents" => {
                let mut path = text.clone();
                for _ in 0..=(*up).clamp(0, 64) {
                    path = fold::parent(&path);
                }
                Value::Instance(fold::PATH.into(), Some(path))
            }
            (Value::Instance(class, _), _) if fold::is_sticky(class) => object.clone(),
            (Value::Own(number), _) => match self.get(*number) {
                Some(Own::Iterable { element } | Own::Mapping { element }) => element,
                // A generic class (`Box[int]`) is itself.
                Some(Own::Class(_)) => object.clone(),
                _ => Value::Unknown,
            },
            _ => {
                let value = fold::element(object, key);
                // Any value of the record may be read: functions in it may be called.
                self.refer(&value);
                value
            }
        }
    }
}
