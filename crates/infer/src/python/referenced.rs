//! Functions that are only referenced: callbacks, handlers, framework methods. Each runs once, with unknown arguments.

use super::super::reading::Reading;
use super::super::value::Value;
use super::own::{Function, Kind, Own};
use super::reader::Reader;
use crate::arguments::Arguments;

impl<'a> Reader<'a, '_> {
    /// Records a reference to one of the script's own definitions.
    pub fn refer(&mut self, value: &Value) {
        for value in value.alternatives() {
            if let Value::Own(number) = value
                && self.is_referenced.insert(number)
            {
                self.referenced.push(number);
            }
        }
    }

    /// Runs the referenced definitions that weren't called, then those that they reference in turn.
    pub fn visit_referenced(&mut self) {
        let mut next = 0;
        while let Some(number) = self.referenced.get(next).copied() {
            next += 1;
            if !self.work().step(1) {
                return;
            }
            match self.get(number) {
                Some(Own::Function(function)) => self.visit(number, &function, None),
                Some(Own::Bound { function, receiver }) => {
                    if let Some(Own::Function(inner)) = self.get(function) {
                        self.visit(function, &inner, Some(receiver));
                    }
                }
                Some(Own::Partial { callee, .. }) => {
                    let arguments = Arguments::unknown();
                    self.call_value(&callee, &arguments, 0..0);
                }
                Some(Own::Class(class)) if class.is_framework => {
                    let arguments = Arguments::unknown();
                    let object = self.construct(number, &class, &arguments, 0..0);
                    self.refer(&object);
                }
                Some(Own::Object { class, .. }) => self.visit_methods(number, class),
                _ => {}
            }
            self.has_left = false;
        }
    }

    /// Runs methods that are called implicitly: special ones, and all of a class that inherits from a framework's.
    fn visit_methods(&mut self, object: usize, class: usize) {
        for class in self.lineage(class) {
            for (name, member) in self.scopes.names(class.members) {
                let is_special =
                    name.starts_with("__") && !matches!(&*name, "__init__" | "__call__" | "__enter__" | "__exit__");
                if !class.is_framework && !is_special {
                    continue;
                }
                if let Value::Own(number) = member
                    && let Some(Own::Function(function)) = self.get(number)
                {
                    let receiver = (function.kind != Kind::Static).then_some(Value::Own(object));
                    self.visit(number, &function, receiver);
                }
            }
        }
    }

    fn visit(&mut self, number: usize, function: &Function<'a>, receiver: Option<Value>) {
        if !self.visited.contains(&number) {
            let arguments = Arguments::unknown();
            self.follow(number, function, receiver, &arguments);
        }
    }
}
