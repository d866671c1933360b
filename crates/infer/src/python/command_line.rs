//! Command-line options declared with `argparse`: the possible attributes of the parsed arguments.

use std::ops::Range;

use super::super::finding::Act;
use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::fold;
use super::reader::Reader;
use crate::arguments::Arguments;

impl Reader<'_, '_> {
    /// `parser.add_argument(…)`: records the option's default and type.
    pub fn declare_option(&mut self, arguments: &Arguments, at: &Range<usize>) {
        self.opened_options(arguments, at);
        let names: Vec<String> = arguments
            .positional
            .iter()
            .filter_map(|name| name.text().exact().map(String::from))
            .collect();
        let long = names.iter().find(|name| name.starts_with("--")).or(names.first());
        let stated = arguments.get(usize::MAX, "dest").map(Value::text);
        let name = match (stated.as_ref().and_then(Text::exact), long) {
            (Some(name), _) => name.to_string(),
            (None, Some(name)) => name.trim_start_matches('-').replace('-', "_"),
            (None, None) => return,
        };
        let is_path = matches!(arguments.get(usize::MAX, "type"), Some(Value::Api(class)) if fold::canonical(class) == fold::PATH);
        let is_file = matches!(arguments.get(usize::MAX, "type"), Some(Value::Instance(class, _)) if &**class == "argparse.FileType");
        let is_flag = arguments.get(usize::MAX, "action").is_some();
        let mut value = match arguments.get(usize::MAX, "choices") {
            Some(Value::List(choices)) if !is_flag => Value::either(choices.to_vec()),
            _ if is_path => Value::Instance(fold::PATH.into(), Some(Text::unknown())),
            _ if is_file => Value::Instance("io.File".into(), None),
            _ => Value::Unknown,
        };
        if let Some(default) = arguments
            .get(usize::MAX, "default")
            .filter(|default| **default != Value::Nothing)
        {
            let default = match is_path {
                true => Value::Instance(fold::PATH.into(), Some(default.text())),
                false => default.clone(),
            };
            value = default.or(&value);
        }
        let before = self.options.get(&name).cloned();
        self.options.insert(name, value.beside(before));
    }

    /// `type=argparse.FileType("w")`: opens the file that the user names, and the default.
    fn opened_options(&mut self, arguments: &Arguments, at: &Range<usize>) {
        let Some(Value::Instance(class, mode)) = arguments.get(usize::MAX, "type").cloned() else {
            return;
        };
        if &*class != "argparse.FileType" {
            return;
        }
        let default = arguments
            .get(usize::MAX, "default")
            .map_or(Vec::new(), Value::alternatives);
        let defaults = default
            .iter()
            .filter(|value| matches!(value, Value::Text(_)))
            .map(Value::text);
        let mode = mode.unwrap_or_else(Text::unknown);
        let is_read = mode.exact().is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+']));
        for path in defaults.chain([Text::unknown()]) {
            let act = if is_read { Act::Read(path) } else { Act::Write(path) };
            self.note(act, &class, at);
        }
    }

    /// `parser.set_defaults(func=…)`.
    pub fn declare_defaults(&mut self, arguments: &Arguments) {
        for (name, value) in arguments.named.iter().cloned() {
            let before = self.options.get(&name).cloned();
            self.options.insert(name, value.beside(before));
        }
    }
}
