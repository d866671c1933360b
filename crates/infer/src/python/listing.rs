//! Directory listings, and lists of unknown length.

use std::rc::Rc;

use super::super::text::Text;
use super::super::value::Value;
use super::api::fixed;
use super::fold;
use super::own::Own;
use super::reader::Reader;
use crate::arguments::Arguments;

impl Reader<'_, '_> {
    /// Calls that list directories: the results are below them.
    pub fn listing(&mut self, name: &str, receiver: Option<&Text>, arguments: &Arguments) -> Option<Value> {
        let unknown = Text::unknown();
        let path = |text: Text| Value::Instance(fold::PATH.into(), Some(text));
        let named = || Own::Iterable {
            element: Value::Unknown,
        };
        let element = match name {
            "pathlib.Path.iterdir" | "pathlib.Path.rglob" => path(receiver?.joined(&unknown)),
            "pathlib.Path.glob" => {
                let pattern = arguments.get(0, "pattern").map_or(Text::unknown(), Value::text);
                path(receiver?.joined(&Text::from(fixed(&pattern)).then(&unknown)))
            }
            "pathlib.Path.walk" => {
                let directory = path(receiver?.joined(&unknown));
                let names = [self.define(named()), self.define(named())];
                Value::List(Rc::new([&[directory][..], &names].concat()))
            }
            "os.walk" | "os.fwalk" => {
                let top = arguments.get(0, "top").cloned().unwrap_or_else(|| ".".into());
                let below = |top: &Value| Value::Text(top.text().joined(&unknown));
                let directory = top.each(|top| below(&top));
                let names = [self.define(named()), self.define(named())];
                Value::List(Rc::new([&[directory][..], &names].concat()))
            }
            "glob.glob" | "glob.iglob" => {
                let pattern = arguments.get(0, "pathname")?;
                let has_root = arguments.get(usize::MAX, "root_dir").is_some();
                pattern.each(|pattern| {
                    let pattern = pattern.text();
                    let start = match (fixed(&pattern), has_root) {
                        ("", false) if !pattern.prefix().is_empty() => "./",
                        (start, _) => start,
                    };
                    Value::Text(Text::from(start).then(&unknown))
                })
            }
            // Names, which in the current directory are paths too.
            "os.listdir" => match arguments.get(0, "path").map(|path| path.text()) {
                Some(path) if path.exact() != Some(".") => Value::Text(unknown),
                _ => Value::Text(Text::from("./").then(&unknown)),
            },
            _ => return None,
        };
        Some(self.iterable(element))
    }

    /// Functions over lists if one of them has unknown length.
    pub fn of_iterables(&mut self, name: &str, arguments: &Arguments) -> Option<Value> {
        let all = &arguments.positional;
        if !all.iter().any(|value| self.is_iterable(value)) {
            return None;
        }
        let first = all.first()?.clone();
        let element = match name {
            "builtins.next" | "random.choice" => return Some(self.any_element(&first)),
            "builtins.min" | "builtins.max" if all.len() == 1 => return Some(self.any_element(&first)),
            "collections.deque"
            | "builtins.frozenset"
            | "itertools.cycle"
            | "itertools.islice"
            | "random.sample"
            | "random.choices"
            | "tqdm.tqdm"
            | "tqdm.auto.tqdm"
            | "rich.progress.track" => return Some(first),
            "heapq.nlargest" | "heapq.nsmallest" | "itertools.takewhile" | "itertools.dropwhile" => {
                return all.get(1).cloned();
            }
            "builtins.enumerate" => {
                let element = self.any_element(&first);
                Value::List(Rc::new(vec![Value::Unknown, element]))
            }
            "builtins.zip" | "itertools.zip_longest" | "itertools.product" => {
                let elements = all.iter().map(|list| self.any_element(list)).collect();
                Value::List(Rc::new(elements))
            }
            "itertools.chain" => Value::either(all.iter().map(|list| self.any_element(list))),
            "itertools.chain.from_iterable" => {
                let inner = self.any_element(&first);
                self.any_element(&inner)
            }
            _ => return None,
        };
        Some(self.iterable(element))
    }

    pub fn mapping(&mut self, element: Value) -> Value {
        self.define(Own::Mapping { element })
    }

    /// Any value of a dictionary; `None` if it isn't one, `Some(None)` if it is empty.
    fn any_value(&self, value: &Value) -> Option<Option<Value>> {
        match value {
            Value::Record(fields) => Some(Value::any(fields.iter().map(|(_, value)| value.clone()))),
            Value::Own(number) => match self.own.get(*number)? {
                Own::Mapping { element } => Some(Some(element.clone())),
                _ => None,
            },
            Value::OneOf(all) => {
                let each = all
                    .iter()
                    .map(|value| self.any_value(value))
                    .collect::<Option<Vec<_>>>()?;
                Some(Value::any(each.into_iter().flatten()))
            }
            _ => None,
        }
    }

    /// Adds a value under any key to a dictionary; `None` if it isn't one.
    pub fn with_value(&mut self, before: &Value, value: &Value) -> Option<Value> {
        let element = value.clone().beside(self.any_value(before)?);
        Some(self.mapping(element))
    }

    /// A method of a dictionary with unknown keys.
    pub fn mapping_method(&mut self, element: Value, name: &str, arguments: &Arguments) -> Value {
        match name {
            "values" => self.iterable(element),
            "items" => self.iterable(Value::List(Rc::new(vec![Value::Unknown, element]))),
            "get" | "pop" | "setdefault" => {
                let default = arguments.positional.get(1).cloned().unwrap_or(Value::Nothing);
                element.or(&default)
            }
            "popitem" => Value::List(Rc::new(vec![Value::Unknown, element])),
            "copy" => self.mapping(element),
            _ => Value::Unknown,
        }
    }

    pub fn is_iterable(&self, value: &Value) -> bool {
        matches!(value, Value::Own(number) if matches!(self.own.get(*number), Some(Own::Iterable { .. })))
    }

    /// Any element of a value.
    pub fn any_element(&mut self, value: &Value) -> Value {
        match self.elements(value) {
            Ok(elements) => Value::either(elements),
            Err(element) => element,
        }
    }
}
