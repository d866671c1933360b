//! The script's own classes: fields, constructors, methods found along their parents.

use oxc_ast::ast::*;
use oxc_span::Span;

use super::binding::set_field;
use super::reader::{Code, Frame, Own, Reader};
use crate::arguments::Arguments;
use crate::reading::Reading;
use crate::value::Value;

/// Maximum number of parents of a class that are searched.
const MAX_PARENTS: usize = 16;

/// A method and where it was found.
pub struct Method<'a> {
    pub definition: &'a MethodDefinition<'a>,
    around: usize,
    home: usize,
}

impl<'a> Reader<'a, '_> {
    /// A class's value; its static parts are run.
    pub fn class(&mut self, class: &'a Class<'a>) -> Value {
        let parent = class.heritage.as_ref().map(|heritage| self.eval(&heritage.expression));
        let around = self.scope;
        let value = self.add(Own::Class {
            class,
            around,
            parent,
            fields: Vec::new(),
        });
        if let Some(name) = &class.id {
            self.declare(name, value.clone());
        }
        let Value::Own(own) = value else {
            return value;
        };
        self.framed(frame(class.span, value.clone(), own), around, |reader| {
            for element in &class.body.body {
                match element {
                    ClassElement::StaticBlock(block) => {
                        reader.statements(&block.body);
                    }
                    ClassElement::PropertyDefinition(it) if it.r#static => reader.field(own, it),
                    _ => {}
                }
            }
        });
        value
    }

    /// A new object of a class of the script.
    pub fn construct(&mut self, class: usize, arguments: &Arguments, at: Span) -> Value {
        let object = self.add(Own::Object {
            class,
            base: None,
            fields: Vec::new(),
        });
        let initialised = match self.frames.len() < 8 {
            true => self.deeper(|reader| reader.initialise(class, &object, arguments, at, 0)),
            false => None,
        };
        if initialised.is_none() {
            self.escape_all(arguments, at);
        }
        if self.foreign_parent(class) {
            self.escape(&object, at);
        }
        object
    }

    /// Whether a class extends one that isn't the script's, which calls its methods.
    fn foreign_parent(&self, mut class: usize) -> bool {
        for _ in 0..MAX_PARENTS {
            match self.own.get(class) {
                Some(Own::Class { parent, .. }) => match parent {
                    Some(Value::Own(parent)) => class = *parent,
                    Some(Value::Api(name)) => return &**name != "global.Error",
                    parent => return !matches!(parent, None | Some(Value::Nothing)),
                },
                _ => return true,
            }
        }
        true
    }

    fn initialise(&mut self, own: usize, object: &Value, arguments: &Arguments, at: Span, depth: usize) {
        let Some(Own::Class {
            class, around, parent, ..
        }) = self.own.get(own).cloned()
        else {
            return;
        };
        let constructor = methods(class).find(|method| method.kind.is_constructor() && method.value.body.is_some());
        if constructor.is_none() || parent.is_none() {
            if let Some(parent) = &parent
                && depth < MAX_PARENTS
            {
                self.initialise_parent(parent, object, arguments, at, depth);
            }
            self.instance_fields(own, object);
        }
        if let Some(constructor) = constructor {
            let function = self.add(Own::Function {
                code: Code::Function(&constructor.value),
                around,
                this: Some(object.clone()),
                home: Some(own),
            });
            self.call_value(&function, None, arguments, at);
        }
    }

    fn initialise_parent(&mut self, parent: &Value, object: &Value, arguments: &Arguments, at: Span, depth: usize) {
        match parent {
            Value::Own(parent) => self.initialise(*parent, object, arguments, at, depth + 1),
            parent => {
                let made = self.new_value(parent, arguments, at);
                if let Value::Own(object) = object
                    && let Some(Own::Object { base, .. }) = self.own.get_mut(*object)
                {
                    *base = Some(made);
                }
            }
        }
    }

    /// `super(…)`.
    pub fn super_call(&mut self, arguments: &Arguments, at: Span) {
        let frame = self.frames.last();
        let Some((object, own)) = frame.and_then(|frame| Some((frame.this.clone()?, frame.home?))) else {
            return;
        };
        if let Some(Own::Class {
            parent: Some(parent), ..
        }) = self.own.get(own).cloned()
        {
            self.initialise_parent(&parent, &object, arguments, at, self.frames.len());
            self.instance_fields(own, &object);
        }
    }

    /// The object's part of the parent class: `super.method()`.
    pub fn super_method(&mut self, name: &str) -> Option<Value> {
        let frame = self.frames.last()?;
        let (this, own) = (frame.this.clone()?, frame.home?);
        let parent = match self.own.get(own)? {
            Own::Class { parent, .. } => parent.clone()?,
            _ => return None,
        };
        match parent {
            Value::Own(parent) => {
                let method = self.find_method(parent, name, false)?;
                Some(self.bound(&method, this))
            }
            _ => None,
        }
    }

    fn instance_fields(&mut self, own: usize, object: &Value) {
        let Some(Own::Class { class, around, .. }) = self.own.get(own).cloned() else {
            return;
        };
        let Value::Own(target) = object else {
            return;
        };
        let target = *target;
        self.framed(frame(class.span, object.clone(), own), around, |reader| {
            for element in &class.body.body {
                if let ClassElement::PropertyDefinition(it) = element
                    && !it.r#static
                {
                    reader.field(target, it);
                }
            }
        });
    }

    fn field(&mut self, target: usize, it: &'a PropertyDefinition<'a>) {
        let value = it.value.as_ref().map(|value| self.eval(value));
        let name = self.key(&it.key);
        let (Some(name), Some(value)) = (name, value) else {
            return;
        };
        if let Some(fields) = self.fields_of(target) {
            set_field(fields, &name, value);
        }
    }

    /// A method by its name, of the class or a parent of it.
    pub fn find_method(&self, class: usize, name: &str, is_static: bool) -> Option<Method<'a>> {
        let mut own = class;
        for _ in 0..MAX_PARENTS {
            let Some(Own::Class {
                class, around, parent, ..
            }) = self.own.get(own)
            else {
                return None;
            };
            let found = methods(class).find(|method| {
                method.r#static == is_static
                    && method.kind != MethodDefinitionKind::Set
                    && method_name(&method.key).as_deref() == Some(name)
            });
            if let Some(definition) = found {
                return Some(Method {
                    definition,
                    around: *around,
                    home: own,
                });
            }
            match parent {
                Some(Value::Own(parent)) => own = *parent,
                _ => return None,
            }
        }
        None
    }

    /// A method as a function with its `this`.
    pub fn bound(&mut self, method: &Method<'a>, this: Value) -> Value {
        self.add(Own::Function {
            code: Code::Function(&method.definition.value),
            around: method.around,
            this: Some(this),
            home: Some(method.home),
        })
    }

    /// All methods of a class, with their `this`.
    pub fn methods(&mut self, class: usize, this: &Value) -> Vec<Value> {
        let Some(Own::Class {
            class: tree, around, ..
        }) = self.own.get(class).cloned()
        else {
            return Vec::new();
        };
        let own = methods(tree).filter(|method| !method.r#static && !method.kind.is_constructor());
        let method = |definition| Method {
            definition,
            around,
            home: class,
        };
        own.map(|definition| self.bound(&method(definition), this.clone()))
            .collect()
    }
}

fn methods<'a>(class: &'a Class<'a>) -> impl Iterator<Item = &'a MethodDefinition<'a>> {
    class.body.body.iter().filter_map(|element| match element {
        ClassElement::MethodDefinition(method) => Some(&**method),
        _ => None,
    })
}

fn frame(span: Span, this: Value, home: usize) -> Frame {
    Frame {
        code: span.start,
        this: Some(this),
        home: Some(home),
        ..Frame::default()
    }
}

fn method_name(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name)),
        key => key.static_name().map(|name| name.to_string()),
    }
}

/// A parameter that is a field too (TypeScript).
pub fn set_parameter_field(reader: &mut Reader<'_, '_>, pattern: &BindingPattern<'_>, value: Value) {
    let this = reader.frames.last().and_then(|frame| frame.this.clone());
    if let (Some(Value::Own(object)), Some(name)) = (this, pattern.get_binding_identifier())
        && let Some(fields) = reader.fields_of(object)
    {
        set_field(fields, &name.name, value);
    }
}
