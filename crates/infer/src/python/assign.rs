//! Assignments to names, fields and elements, and unpacking.

use std::rc::Rc;

use ruff_python_ast::{Expr, StmtAugAssign};

use super::super::reading::Reading;
use super::super::scopes::MODULE;
use super::super::value::Value;
use super::own::Own;
use super::reader::Reader;

impl<'a> Reader<'a, '_> {
    /// Binds a name to a value in the scope that it belongs to.
    pub fn bind(&mut self, name: &str, value: Value) {
        let frame = self.frame();
        let scope = frame.scope;
        let place = if frame.globals.contains(name) {
            MODULE
        } else if frame.nonlocals.contains(name) {
            let outer = self.scopes.parent(scope).unwrap_or(MODULE);
            self.scopes.holder(outer, name).unwrap_or(outer)
        } else {
            scope
        };
        self.scopes.set(place, name, value);
    }

    pub fn assign(&mut self, target: &'a Expr, value: Value) {
        match target {
            Expr::Name(name) => self.bind(&name.id, value),
            Expr::Tuple(all) => self.assign_each(&all.elts, &value),
            Expr::List(all) => self.assign_each(&all.elts, &value),
            Expr::Starred(star) => self.assign(&star.value, value),
            Expr::Attribute(attribute) => {
                let object = self.value(&attribute.value);
                for object in object.alternatives() {
                    self.set_field(&object, &attribute.attr, value.clone());
                }
            }
            Expr::Subscript(subscript) => {
                let key = self.value(&subscript.slice);
                if self.is_environment(&subscript.value) {
                    return;
                }
                let before = self.callee(&subscript.value);
                let after = match (&before, key.text().exact()) {
                    (Value::Record(fields), Some(key)) => {
                        let mut fields = fields.to_vec();
                        fields.retain(|(name, _)| name != key);
                        fields.push((key.to_string(), value));
                        Some(self.work().made(Value::Record(Rc::new(fields))))
                    }
                    _ => self.with_value(&before, &value),
                };
                if let Some(after) = after {
                    self.replace(&subscript.value, after);
                }
            }
            _ => {}
        }
    }

    /// Replaces the list or record that a name or field holds.
    pub fn replace(&mut self, place: &'a Expr, value: Value) {
        match place {
            Expr::Name(name) => {
                let scope = self.scope();
                if let Some(holder) = self.scopes.holder(scope, name.id.as_str()) {
                    self.scopes.set(holder, name.id.as_str(), value);
                }
            }
            Expr::Attribute(attribute) => {
                let object = self.callee(&attribute.value);
                self.set_field(&object, &attribute.attr, value);
            }
            Expr::Subscript(_) => self.assign(place, value),
            _ => {}
        }
    }

    pub fn set_field(&mut self, object: &Value, name: &str, value: Value) {
        let Value::Own(number) = object else { return };
        let fields = match self.own.get(*number) {
            Some(Own::Object { fields, .. }) => *fields,
            Some(Own::Class(class)) => class.members,
            _ => return,
        };
        self.scopes.set(fields, name, value);
    }

    fn assign_each(&mut self, targets: &'a [Expr], value: &Value) {
        let elements = self.elements(value);
        let star = targets.iter().position(Expr::is_starred_expr);
        match (elements, star) {
            (Ok(elements), None) if elements.len() == targets.len() => {
                for (target, element) in targets.iter().zip(elements) {
                    self.assign(target, element);
                }
            }
            (Ok(elements), Some(star)) if elements.len() + 1 >= targets.len() => {
                let behind = targets.len() - star - 1;
                let end = elements.len() - behind;
                for (target, element) in targets.iter().zip(&elements[..star]) {
                    self.assign(target, element.clone());
                }
                self.assign(&targets[star], Value::List(Rc::new(elements[star..end].to_vec())));
                for (target, element) in targets[star + 1..].iter().zip(&elements[end..]) {
                    self.assign(target, element.clone());
                }
            }
            (elements, _) => {
                let element = elements.err().unwrap_or(Value::Unknown);
                for target in targets {
                    self.assign(target, element.clone());
                }
            }
        }
    }

    /// `a += b`.
    pub fn assign_more(&mut self, assign: &'a StmtAugAssign) {
        let before = self.callee(&assign.target);
        let more = self.value(&assign.value);
        let after = self.operate(&before, assign.op, &more);
        match &*assign.target {
            Expr::Subscript(_) => {}
            target => self.assign(target, after),
        }
    }
}
