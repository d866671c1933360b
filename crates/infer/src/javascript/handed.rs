//! Escaping functions of modules: their acts happen at some time, with unknown arguments.

use oxc_span::Span;

use super::reader::Reader;
use crate::arguments::Arguments;
use crate::value::Value;

/// Whose functions are handed about by tests, or only shown.
const HARMLESS: [&str; 14] = [
    "global.console",
    "global.jest",
    "global.vi",
    "global.expect",
    "global.Array",
    "global.Boolean",
    "global.Object",
    "global.Promise",
    "global.String",
    "global.Symbol",
    "global.WeakMap",
    "global.WeakSet",
    "jest",
    "vitest",
];

impl Reader<'_, '_> {
    /// Arguments go to an unknown callee, which may call the API functions among them.
    pub fn hand_away(&mut self, arguments: &Arguments, at: Span) {
        for value in &arguments.positional {
            self.hand_value(value, at, 0);
        }
    }

    /// The same for a callee that has a name.
    pub fn hand_to(&mut self, name: &str, arguments: &Arguments, at: Span) {
        let is_harmless = HARMLESS.iter().any(|of| {
            name.strip_prefix(of)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        let is_plain = super::call::is_plain(name) && !name.starts_with("global.");
        if !is_harmless && !is_plain {
            self.hand_away(arguments, at);
        }
    }

    fn hand_value(&mut self, value: &Value, at: Span, depth: usize) {
        const MAX_DEPTH: usize = 4;
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Api(name) if self.acts(name) => {
                let any = Arguments::unknown().after(&[Value::Unknown]);
                let before = std::mem::replace(&mut self.work.is_guessing, true);
                self.call_api(name, None, &any, at);
                self.work.is_guessing = before;
            }
            value => value
                .parts()
                .into_iter()
                .for_each(|part| self.hand_value(part, at, depth + 1)),
        }
    }

    /// Whether an API is a function that may do something outside; a module is none.
    fn acts(&self, name: &str) -> bool {
        let is_function = name.contains('.');
        let starts = name.strip_prefix("node:child_process.").is_some();
        is_function && (starts || name == "global.fetch" || self.row(name).is_some())
    }
}
