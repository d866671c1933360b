//! Fields and elements of values.

use std::rc::Rc;

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::array::{any, is_open};
use super::binding::field_name;
use super::module;
use super::reader::{Own, Reader};
use super::{fold, string};
use crate::arguments::Arguments;
use crate::finding::Act;
use crate::reading::Reading;
use crate::text::Text;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// `object.name`, `object[name]`.
    pub fn member_value(&mut self, it: &'a MemberExpression<'a>) -> Value {
        let object = self.eval(it.object());
        let MemberExpression::ComputedMemberExpression(computed) = it else {
            return self.member(&object, &field_name(it).unwrap_or_default(), it.span());
        };
        match self.eval(&computed.expression) {
            Value::Number(at) => self.element(&object, usize::try_from(at).unwrap_or(usize::MAX)),
            name => self.named_members(&object, &name, it.span()),
        }
    }

    /// Fields by a value that says which: each of its alternatives.
    pub fn named_members(&mut self, object: &Value, name: &Value, at: Span) -> Value {
        let names: Option<Vec<String>> = name
            .alternatives()
            .iter()
            .map(|name| name.text().exact().map(str::to_string))
            .collect();
        match names {
            Some(names) => Value::either(names.iter().map(|name| self.member(object, name, at))),
            None => self.any_field(object, at),
        }
    }

    /// A field by its name.
    pub fn member(&mut self, object: &Value, name: &str, at: Span) -> Value {
        match object {
            Value::Api(api) => self.api_member(&api.clone(), name, at),
            Value::Instance(class, text) => match (&**class, text) {
                ("global.URL", Some(text)) => fold::url_part(text, name),
                ("RegExp", _) => Value::Unknown,
                _ => Value::Instance(format!("{class}.{name}").into(), text.clone()),
            },
            Value::Record(_) => match (object.field(name), object.field("*")) {
                (Some(value), _) => value.clone(),
                (None, Some(any)) => any.or(&Value::Unknown),
                (None, None) => Value::Nothing,
            },
            Value::List(all) if name == "length" && !all.iter().any(is_open) => Value::Number(all.len() as i64),
            Value::List(_) => name.parse().map_or(Value::Unknown, |at| self.element(object, at)),
            Value::Own(own) => self.own_member(*own, object, name, at),
            Value::OneOf(_) => object.each(|value| self.member(&value, name, at)),
            _ => Value::Unknown,
        }
    }

    fn api_member(&mut self, api: &str, name: &str, at: Span) -> Value {
        if module::is_environment(api) {
            return self.variable(&name.into(), api, at);
        }
        if api == "import.meta" {
            return self.import_meta(name);
        }
        if api == "globalThis" {
            return module::global(name, self.setting);
        }
        if self.opens_environment(api, name) {
            return Value::Unknown;
        }
        module::api_member(api, name)
    }

    /// A getter of the process that says more than the run was given: none does.
    fn opens_environment(&self, api: &str, name: &str) -> bool {
        api == "node:process" && matches!(name, "argv" | "argv0" | "execArgv" | "title" | "platform")
            || (api == "Deno" || api == "Bun") && matches!(name, "args" | "argv")
    }

    fn import_meta(&self, name: &str) -> Value {
        let path = self.setting.script_path();
        match name {
            "url" => format!("file://{path}").as_str().into(),
            "filename" | "path" => path.as_str().into(),
            "dirname" | "dir" => Text::from(path).directory().into(),
            "main" => Value::Truth(true),
            "env" => Value::Api("import.meta.env".into()),
            "require" => Value::Api("global.require".into()),
            _ => Value::Unknown,
        }
    }

    fn own_member(&mut self, own: usize, object: &Value, name: &str, at: Span) -> Value {
        let (class, base, fields, is_static) = match self.own.get(own) {
            Some(Own::Object { class, base, fields }) => (*class, base.clone(), fields, false),
            Some(Own::Class { fields, .. }) => (own, None, fields, true),
            _ => return Value::Unknown,
        };
        if let Some((_, value)) = fields.iter().find(|(field, _)| field == name) {
            return value.clone();
        }
        if let Some(method) = self.find_method(class, name, is_static) {
            let is_getter = method.definition.kind == MethodDefinitionKind::Get;
            let function = self.bound(&method, object.clone());
            return match is_getter {
                true => self.call_value(&function, None, &Arguments::none(), at),
                false => function,
            };
        }
        match (base, self.own.get(own)) {
            (Some(base), _) => self.member(&base, name, at),
            (
                None,
                Some(Own::Class {
                    parent: Some(parent), ..
                }),
            ) => {
                let parent = parent.clone();
                self.member(&parent, name, at)
            }
            _ => Value::Unknown,
        }
    }

    /// Any field: which one isn't known.
    pub fn any_field(&mut self, object: &Value, at: Span) -> Value {
        let all: Vec<Value> = match object {
            Value::Record(fields) => fields.iter().map(|(_, value)| value.clone()).collect(),
            Value::List(all) => all.to_vec(),
            Value::OneOf(all) => all.iter().map(|value| self.any_field(value, at)).collect(),
            Value::Own(own) => match self.own.get(*own).cloned() {
                Some(Own::Object { class, fields, .. }) => {
                    let mut all: Vec<Value> = fields.into_iter().map(|(_, value)| value).collect();
                    all.extend(self.methods(class, object));
                    all
                }
                _ => Vec::new(),
            },
            Value::Api(name) if module::is_environment(name) => {
                self.note(Act::Variable(Text::unknown()), name, at);
                Vec::new()
            }
            Value::Api(name) if &**name != "node:process.argv" => vec![Value::Api(format!("{name}.*").into())],
            _ => Vec::new(),
        };
        Value::either(all)
    }

    /// An element by its place.
    pub fn element(&mut self, object: &Value, at: usize) -> Value {
        match object {
            Value::List(all) => match all.get(at) {
                Some(value) => value.clone(),
                None if all.iter().any(is_open) => any(all),
                None => Value::Nothing,
            },
            Value::Record(_) => object.field(&at.to_string()).cloned().unwrap_or(Value::Unknown),
            Value::Text(text) => string::letter(text, at),
            Value::OneOf(_) => object.each(|value| self.element(&value, at)),
            _ => Value::Unknown,
        }
    }

    /// The elements of what can be gone through, where they are known.
    pub fn elements(&self, value: &Value) -> Option<Vec<Value>> {
        match value {
            Value::List(all) => Some(all.to_vec()),
            Value::Nothing => Some(Vec::new()),
            Value::Text(text) => text
                .exact()
                .filter(|text| text.len() <= 256)
                .map(|text| text.chars().map(|letter| letter.to_string().as_str().into()).collect()),
            Value::Record(fields) => self.elements(&listed(fields, "entries")?),
            Value::OneOf(all) => {
                let all: Option<Vec<Vec<Value>>> = all.iter().map(|value| self.elements(value)).collect();
                all.map(|all| all.concat())
            }
            _ => None,
        }
    }

    /// The names of the fields.
    pub fn keys(&self, value: &Value) -> Option<Vec<Value>> {
        match value {
            Value::Record(fields) if !fields.iter().any(|(name, _)| name == "*") => {
                Some(fields.iter().map(|(name, _)| name.as_str().into()).collect())
            }
            _ => None,
        }
    }

    /// The fields with their names; `*` for those that aren't known.
    pub fn fields(&self, value: &Value) -> Vec<(String, Value)> {
        match value {
            Value::Record(fields) => fields.to_vec(),
            Value::Own(own) => match self.own.get(*own) {
                Some(Own::Object { fields, .. }) => fields.clone(),
                _ => Vec::new(),
            },
            Value::Nothing | Value::Truth(_) => Vec::new(),
            _ => vec![("*".into(), Value::Unknown)],
        }
    }

    /// All variables, where the environment as a whole is taken.
    pub fn escape_environment(&mut self, value: &Value, at: Span) {
        if let Value::Api(name) = value
            && module::is_environment(name)
        {
            self.note(Act::Variable(Text::unknown()), name, at);
        }
    }
}

/// The names, values or pairs of both that fields have; `None`: something else is asked for.
pub fn listed(fields: &[(String, Value)], what: &str) -> Option<Value> {
    fn name((name, _): &(String, Value)) -> Value {
        match &**name {
            "*" => Value::Unknown,
            name => name.into(),
        }
    }
    let each: fn(&(String, Value)) -> Value = match what {
        "keys" => name,
        "values" => |(_, value)| value.clone(),
        "entries" => |field| Value::List(Rc::new(vec![name(field), field.1.clone()])),
        _ => return None,
    };
    Some(Value::List(Rc::new(fields.iter().map(each).collect())))
}
