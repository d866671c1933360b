//! Giving values to names: patterns with defaults, assignments to fields.

use std::rc::Rc;

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::array::{any, from};
use super::fold;
use super::reader::Reader;
use crate::reading::Reading;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// Declares the names of a pattern.
    pub fn bind(&mut self, pattern: &'a BindingPattern<'a>, value: &Value) {
        self.deeper(|reader| reader.bind_inside(pattern, value));
    }

    fn bind_inside(&mut self, pattern: &'a BindingPattern<'a>, value: &Value) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.declare(name, value.clone()),
            BindingPattern::AssignmentPattern(it) => {
                let value = self.or_default(value, &it.right);
                self.bind(&it.left, &value);
            }
            BindingPattern::ObjectPattern(it) => {
                let mut taken = Vec::new();
                for property in &it.properties {
                    let (name, field) = self.pattern_field(value, &property.key);
                    taken.extend(name);
                    self.bind(&property.value, &field);
                }
                if let Some(rest) = &it.rest {
                    self.escape_environment(value, it.span);
                    self.bind(&rest.argument, &without(value, &taken));
                }
            }
            BindingPattern::ArrayPattern(it) => {
                for (at, element) in it.elements.iter().enumerate() {
                    if let Some(element) = element {
                        let value = self.element(value, at);
                        self.bind(element, &value);
                    }
                }
                if let Some(rest) = &it.rest {
                    self.bind(&rest.argument, &behind(value, it.elements.len()));
                }
            }
        }
    }

    fn pattern_field(&mut self, value: &Value, key: &'a PropertyKey<'a>) -> (Option<String>, Value) {
        match self.key(key) {
            Some(name) => {
                let field = self.member(value, &name, key.span());
                (Some(name), field)
            }
            None => (None, self.any_field(value, key.span())),
        }
    }

    /// The value, or its default where it is undefined.
    fn or_default(&mut self, value: &Value, default: &'a Expression<'a>) -> Value {
        match value {
            Value::Nothing => self.eval(default),
            Value::Unknown | Value::OneOf(_) => {
                let default = self.eval(default);
                default.beside(value.something())
            }
            value => value.clone(),
        }
    }

    /// Assigns a value to the left side of `=`.
    pub fn assign_target(&mut self, target: &'a AssignmentTarget<'a>, value: Value) {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(name) => self.assign_name(name, value),
            AssignmentTarget::ArrayAssignmentTarget(it) => {
                for (at, element) in it.elements.iter().enumerate() {
                    if let Some(element) = element {
                        let value = self.element(&value, at);
                        self.assign_or_default(element, value);
                    }
                }
                if let Some(rest) = &it.rest {
                    self.assign_target(&rest.target, behind(&value, it.elements.len()));
                }
            }
            AssignmentTarget::ObjectAssignmentTarget(it) => {
                for property in &it.properties {
                    self.assign_property(property, &value);
                }
                if let Some(rest) = &it.rest {
                    self.escape_environment(&value, it.span);
                    self.assign_target(&rest.target, Value::Unknown);
                }
            }
            target => match (target.as_member_expression(), target.get_expression()) {
                (Some(MemberExpression::ComputedMemberExpression(it)), _) => {
                    let name = self.eval(&it.expression).text();
                    self.assign_field(&it.object, name.exact().map(str::to_string), value);
                }
                (Some(member), _) => self.assign_field(member.object(), field_name(member), value),
                (None, Some(typed)) => self.assign_expression(typed, value),
                (None, None) => {}
            },
        }
    }

    fn assign_property(&mut self, property: &'a AssignmentTargetProperty<'a>, value: &Value) {
        match property {
            AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                let mut field = self.member(value, &it.binding.name, it.span);
                if let Some(default) = &it.init {
                    field = self.or_default(&field, default);
                }
                self.assign_name(&it.binding, field);
            }
            AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                let (_, field) = self.pattern_field(value, &it.name);
                self.assign_or_default(&it.binding, field);
            }
        }
    }

    fn assign_or_default(&mut self, target: &'a AssignmentTargetMaybeDefault<'a>, value: Value) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
                let value = self.or_default(&value, &it.init);
                self.assign_target(&it.binding, value);
            }
            target => {
                if let Some(target) = target.as_assignment_target() {
                    self.assign_target(target, value);
                }
            }
        }
    }

    fn assign_name(&mut self, name: &IdentifierReference<'_>, value: Value) {
        match self.symbol(name) {
            Some(symbol) => self.assign(symbol, value),
            None => self.escape(&value, name.span),
        }
    }

    /// Gives a value to an expression that can have one: a changed object takes the place of what it was.
    pub fn assign_expression(&mut self, target: &'a Expression<'a>, value: Value) {
        match target.get_inner_expression() {
            Expression::Identifier(name) => self.assign_name(name, value),
            other => match other.as_member_expression() {
                Some(member) if !member.is_computed() => self.assign_field(member.object(), field_name(member), value),
                _ => self.escape(&value, target.span()),
            },
        }
    }

    /// `object.name = value`; without a name it could be any field.
    pub fn assign_field(&mut self, object: &'a Expression<'a>, name: Option<String>, value: Value) {
        self.deeper(|reader| reader.assign_field_inside(object, name, value));
    }

    fn assign_field_inside(&mut self, object: &'a Expression<'a>, name: Option<String>, value: Value) {
        let held = self.eval(object);
        let name = name.as_deref();
        match &held {
            Value::Own(own) => self.set_own_field(*own, name, value),
            Value::Record(fields) => {
                let mut fields = fields.to_vec();
                match name {
                    Some(name) => set_field(&mut fields, name, value),
                    None => fields.push(("*".into(), value)),
                }
                self.assign_expression(object, Value::Record(fields.into()));
            }
            Value::List(all) => {
                let mut all = all.to_vec();
                if all.len() < 1024 {
                    all.push(value);
                }
                self.assign_expression(object, Value::List(all.into()));
            }
            Value::Api(name) if &**name == "global.module" || &**name == "global.exports" => {}
            Value::Api(name) if name.starts_with("global.module.") => {}
            Value::Nothing => self.assign_expression(object, Value::Unknown),
            Value::Instance(class, Some(url)) if &**class == "global.URL" => {
                let each = |value: &Value| fold::url_with(url, name, &value.text());
                let urls: Vec<Value> = value.alternatives().iter().map(each).collect();
                self.assign_expression(object, any(&urls));
            }
            _ => self.escape(&value, object.span()),
        }
    }

    fn set_own_field(&mut self, own: usize, name: Option<&str>, value: Value) {
        let is_sure = !self.scopes.is_branching();
        let Some(fields) = self.fields_of(own) else { return };
        let name = name.unwrap_or("*");
        let before = fields
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.clone());
        let value = match before {
            Some(before) if !is_sure && before != Value::Nothing => before.or(&value),
            _ => value,
        };
        set_field(fields, name, value);
    }
}

/// The name after the dot.
pub fn field_name(member: &MemberExpression<'_>) -> Option<String> {
    match member {
        MemberExpression::StaticMemberExpression(it) => Some(it.property.name.to_string()),
        MemberExpression::PrivateFieldExpression(it) => Some(format!("#{}", it.field.name)),
        MemberExpression::ComputedMemberExpression(_) => None,
    }
}

/// Sets a field, replacing one with the same name.
pub fn set_field(fields: &mut Vec<(String, Value)>, name: &str, value: Value) {
    match fields.iter().position(|(field, _)| field == name) {
        Some(at) => fields[at].1 = value,
        None if fields.len() < 1024 => fields.push((name.to_string(), value)),
        None => {}
    }
}

fn without(value: &Value, taken: &[String]) -> Value {
    match value {
        Value::Record(fields) => {
            let rest = fields.iter().filter(|(name, _)| !taken.contains(name));
            Value::Record(Rc::new(rest.cloned().collect()))
        }
        _ => Value::Unknown,
    }
}

fn behind(value: &Value, count: usize) -> Value {
    match value {
        Value::List(all) => Value::List(Rc::new(from(all, count))),
        _ => Value::Unknown,
    }
}
