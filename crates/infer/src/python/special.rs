//! Calls that run their arguments, or look up attributes by name.

use std::ops::Range;
use std::rc::Rc;

use super::super::finding::{Act, Opaque};
use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::call::COMPUTED;
use super::environment::ENVIRONMENT;
use super::fold;
use super::own::Own;
use super::reader::Reader;
use crate::arguments::Arguments;

impl Reader<'_, '_> {
    /// The result of a call that the table can't describe.
    pub fn special(&mut self, name: &str, arguments: &Arguments, at: &Range<usize>) -> Option<Value> {
        let first = arguments.positional.first().cloned().unwrap_or(Value::Nothing);
        Some(match name {
            "builtins.exec" | "builtins.eval" => {
                let named = ["globals", "locals"].iter().zip(1..);
                let spaces = named.filter_map(|(word, place)| arguments.get(place, word).cloned());
                self.code_within(&first, &spaces.collect::<Vec<_>>(), name, at)
            }
            "builtins.compile" => first,
            "builtins.__import__" | "importlib.import_module" => self.import_computed(&first, at),
            "builtins.getattr" => self.get_attribute(arguments, at),
            "builtins.setattr" => {
                if let Some(name) = arguments.positional.get(1).map(Value::text)
                    && let (Some(name), Some(value)) = (name.exact(), arguments.positional.get(2))
                {
                    self.set_field(&first, name, value.clone());
                }
                Value::Nothing
            }
            "builtins.globals" | "builtins.locals" => Value::Instance("builtins.globals".into(), None),
            "builtins.vars" => match first {
                Value::Nothing => Value::Instance("builtins.globals".into(), None),
                Value::Api(module) => Value::Api(format!("{module}.__dict__").into()),
                _ => Value::Unknown,
            },
            "operator.attrgetter" | "operator.methodcaller" => self.define(Own::Partial {
                callee: Value::Api(format!("{name}.__call__").into()),
                positional: Rc::new(vec![Value::List(Rc::new(arguments.positional.clone()))]),
                named: Rc::new(arguments.named.clone()),
            }),
            "operator.attrgetter.__call__" => self.got_attribute(&first, arguments.positional.get(1)?, at),
            "operator.methodcaller.__call__" => {
                let Value::List(words) = &first else { return None };
                let object = arguments.positional.get(1)?;
                let method = self.named_attribute(object, words.first()?, at);
                let given = Arguments {
                    positional: words[1..].to_vec(),
                    ..arguments.clone()
                };
                self.call_value(&method, &given, at.clone())
            }
            name if name.ends_with(".__getattribute__") => {
                let object = name.strip_suffix(".__getattribute__")?;
                self.named_attribute(&Value::Api(object.into()), &first, at)
            }
            name if name.ends_with(".__dict__.get") || name.ends_with(".__dict__.__getitem__") => {
                let (object, _) = name.rsplit_once(".__dict__.")?;
                self.named_attribute(&Value::Api(object.into()), &first, at)
            }
            "builtins.globals.get" => Value::Instance(COMPUTED.into(), None),
            "os.environ.get" | "os.getenv" | "os.environ.pop" | "os.environ.setdefault" | "os.getenvb" => {
                let default = arguments.get(1, "default").cloned().unwrap_or(Value::Nothing);
                self.environment(&first, Some(&default), at)
            }
            "os.environ.__getitem__" => self.environment(&first, None, at),
            "os.environ.update" | "os.environ.__setitem__" | "os.putenv" => Value::Nothing,
            name if name.starts_with("os.environ.") => {
                self.variable(&Text::unknown(), ENVIRONMENT, at);
                Value::Unknown
            }
            "sys.exit" | "builtins.exit" | "builtins.quit" | "os._exit" | "os.abort" => {
                self.has_left = true;
                Value::Nothing
            }
            "unittest.main" => {
                self.refer_frameworks();
                Value::Nothing
            }
            "runpy.run_path" | "runpy.run_module" => {
                if name == "runpy.run_path" {
                    self.note(Act::Read(first.text()), name, at);
                }
                self.opaque(Opaque::OtherFile(first.text().shown()), name, at);
                Value::Unknown
            }
            "sys.path.insert" | "sys.path.append" => {
                let path = arguments.positional.last().map_or(Text::unknown(), Value::text);
                self.module_paths.push(path);
                Value::Nothing
            }
            "marshal.loads" | "marshal.load" | "types.CodeType" | "types.FunctionType" => {
                self.opaque(Opaque::BuiltCode, name, at);
                Value::Unknown
            }
            _ => {
                return self
                    .parser(name, arguments, at)
                    .or_else(|| self.given_function(name, arguments, at));
            }
        })
    }

    fn import_computed(&mut self, name: &Value, at: &Range<usize>) -> Value {
        name.each(|name| match name.text().exact() {
            Some(name) => self.module(name, at),
            None => {
                self.opaque(Opaque::ComputedImport, "importlib.import_module", at);
                Value::Unknown
            }
        })
    }

    fn get_attribute(&mut self, arguments: &Arguments, at: &Range<usize>) -> Value {
        let (Some(object), Some(name)) = (arguments.positional.first(), arguments.positional.get(1)) else {
            return Value::Unknown;
        };
        let value = self.named_attribute(object, name, at);
        match arguments.positional.get(2) {
            Some(default) => default.or(&value),
            None => value,
        }
    }

    /// `getattr(object, name)`, for each alternative of object and name.
    pub fn named_attribute(&mut self, object: &Value, name: &Value, at: &Range<usize>) -> Value {
        name.each(|name| {
            let name = name.text();
            match name.exact() {
                Some(name) => self.attribute_of(object, name, at.clone()),
                None => object.each(|object| self.attribute_by_prefix(&object, &name)),
            }
        })
    }

    /// `operator.attrgetter(names)(object)`; a name may have dots.
    fn got_attribute(&mut self, names: &Value, object: &Value, at: &Range<usize>) -> Value {
        let Value::List(names) = names else {
            return Value::Unknown;
        };
        let mut values = Vec::new();
        for name in names.iter() {
            let value = match name.text().split(".") {
                Some(parts) => parts.into_iter().fold(object.clone(), |object, part| {
                    self.named_attribute(&object, &Value::Text(part), at)
                }),
                None => self.named_attribute(object, name, at),
            };
            values.push(value);
        }
        match values.len() {
            1 => values.remove(0),
            _ => Value::List(Rc::new(values)),
        }
    }

    /// `getattr(self, "do_" + command)`: any of the methods with this prefix.
    fn attribute_by_prefix(&mut self, object: &Value, name: &Text) -> Value {
        let Value::Own(number) = object else {
            return match object {
                Value::Api(api) | Value::Instance(api, _) if self.may_act(api, name.prefix()) => {
                    Value::Instance(COMPUTED.into(), None)
                }
                _ => Value::Unknown,
            };
        };
        let class = match self.get(*number) {
            Some(Own::Object { class, .. }) => class,
            Some(Own::Class(_)) => *number,
            _ => return Value::Unknown,
        };
        let Some(Own::Class(of)) = self.get(class) else {
            return Value::Unknown;
        };
        let mut members = self.scopes.names(of.members);
        members.retain(|(member, _)| member.starts_with(name.prefix()) && !member.starts_with("__"));
        Value::either(members.into_iter().map(|(_, value)| {
            let value = self.bound(&value, object.clone(), class);
            self.refer(&value);
            value
        }))
    }

    /// Whether an API has a member with this prefix that does more than compute.
    pub fn may_act(&self, api: &str, start: &str) -> bool {
        let api = fold::canonical(api);
        &*api == COMPUTED || self.table.members(&api).iter().any(|name| name.starts_with(start))
    }

    fn refer_frameworks(&mut self) {
        for number in 0..self.own.len() {
            if matches!(self.own.get(number), Some(Own::Class(class)) if class.is_framework) {
                self.refer(&Value::Own(number));
            }
        }
    }

    fn parser(&mut self, name: &str, arguments: &Arguments, at: &Range<usize>) -> Option<Value> {
        let method = name.strip_prefix("argparse.ArgumentParser.")?;
        Some(match method {
            "add_argument" => {
                self.declare_option(arguments, at);
                Value::Unknown
            }
            "set_defaults" => {
                self.declare_defaults(arguments);
                Value::Nothing
            }
            "parse_args" => Value::Instance("argparse.Namespace".into(), None),
            "parse_known_args" => Value::List(Rc::new(vec![
                Value::Instance("argparse.Namespace".into(), None),
                Value::Unknown,
            ])),
            "exit" | "error" => {
                self.has_left = true;
                Value::Nothing
            }
            name if name.starts_with("add_") => Value::Instance("argparse.ArgumentParser".into(), None),
            _ => Value::Unknown,
        })
    }

    /// Functions that call a function passed as an argument.
    fn given_function(&mut self, name: &str, arguments: &Arguments, at: &Range<usize>) -> Option<Value> {
        let last = name.rsplit('.').next().unwrap_or_default();
        let first = arguments.positional.first().cloned();
        match (name, last) {
            ("builtins.map" | "builtins.filter" | "itertools.starmap", _) => {}
            ("functools.partial", _) => {
                return Some(self.define(Own::Partial {
                    callee: first?,
                    positional: Rc::new(arguments.behind(1).positional),
                    named: Rc::new(arguments.named.clone()),
                }));
            }
            ("threading.Thread" | "multiprocessing.Process" | "threading.Timer", _) => {
                let target = arguments
                    .get(1, "target")
                    .or_else(|| arguments.get(1, "function"))?
                    .clone();
                let given = match arguments.get(usize::MAX, "args") {
                    Some(Value::List(values)) => Arguments::of(values.to_vec()),
                    Some(_) => Arguments::unknown(),
                    None => Arguments::default(),
                };
                self.aside(&target, &given, at);
                return Some(Value::Instance(name.into(), None));
            }
            (
                "asyncio.run" | "asyncio.wait_for" | "asyncio.create_task" | "asyncio.shield" | "asyncio.ensure_future",
                _,
            )
            | ("contextlib.closing" | "contextlib.nullcontext" | "contextlib.aclosing", _)
            | (
                "builtins.reversed" | "builtins.sorted" | "builtins.list" | "builtins.tuple" | "builtins.set"
                | "builtins.iter",
                _,
            )
            | (_, "enter_context" | "enter_async_context" | "run_until_complete") => {
                return first.filter(|first| *first != Value::Nothing);
            }
            ("asyncio.gather", _) => return Some(Value::List(Rc::new(arguments.positional.clone()))),
            ("asyncio.to_thread" | "atexit.register", _) | (_, "submit" | "apply_async" | "apply")
                if first.is_some() =>
            {
                let mut given = arguments.behind(1);
                if last.starts_with("apply") {
                    given = match arguments.positional.get(1) {
                        Some(Value::List(values)) => Arguments::of(values.to_vec()),
                        _ => given,
                    };
                }
                return Some(self.aside(&first?, &given, at));
            }
            (_, "run_in_executor") => {
                let callee = arguments.positional.get(1)?.clone();
                return Some(self.aside(&callee, &arguments.behind(2), at));
            }
            (name, "map" | "starmap" | "imap" | "imap_unordered")
                if name.contains("Executor") || name.contains("Pool") => {}
            _ => return None,
        }
        let over = arguments.positional.get(1).cloned().unwrap_or(Value::Unknown);
        let elements = match self.elements(&over) {
            Ok(elements) => elements,
            Err(element) => vec![element],
        };
        let mut results = Vec::new();
        for element in elements {
            let given = match (&element, last) {
                (Value::List(values), "starmap") => Arguments::of(values.to_vec()),
                _ => Arguments::of(vec![element.clone()]),
            };
            let result = self.aside(&first.clone().unwrap_or(Value::Unknown), &given, at);
            results.push(if name == "builtins.filter" { element } else { result });
        }
        let known = matches!(over, Value::List(_)) && name == "builtins.map";
        Some(match known {
            true => Value::List(Rc::new(results)),
            false => self.iterable(Value::either(results)),
        })
    }

    /// Calls a function whose exit doesn't end the caller.
    fn aside(&mut self, callee: &Value, given: &Arguments, at: &Range<usize>) -> Value {
        let value = self.deeper(|reader| reader.call_value(callee, given, at.clone()));
        self.has_left = false;
        value.unwrap_or(Value::Unknown)
    }

    /// Calls that look up the home directory.
    pub fn machine(
        &mut self,
        name: &str,
        receiver: Option<&Text>,
        arguments: &Arguments,
        at: &Range<usize>,
    ) -> Option<Value> {
        let first = arguments.positional.first().map_or(Text::unknown(), Value::text);
        let path = |text: Text| Value::Instance(fold::PATH.into(), Some(text));
        Some(match name {
            "pathlib.Path.home" => path(self.home(at)),
            "pathlib.Path.expanduser" => {
                let text = receiver.cloned().unwrap_or_else(Text::unknown);
                self.expand(&text, at);
                path(text)
            }
            "os.path.expanduser" => {
                for value in arguments.positional.first()?.alternatives() {
                    self.expand(&value.text(), at);
                }
                return arguments.positional.first().map(fold::as_text);
            }
            "os.path.expandvars" => {
                self.expand_variables(&first, at);
                Value::Text(match first.prefix().contains('$') {
                    true => Text::unknown(),
                    false => first,
                })
            }
            _ => return None,
        })
    }

    fn expand(&mut self, path: &Text, at: &Range<usize>) {
        if path.prefix().is_empty() && path.exact().is_none() || path.prefix().starts_with('~') {
            self.home(at);
        }
    }

    fn expand_variables(&mut self, text: &Text, at: &Range<usize>) {
        let Some(text) = text.exact() else {
            self.variable(&Text::unknown(), ENVIRONMENT, at);
            return;
        };
        for part in text.split('$').skip(1) {
            let part = part.trim_start_matches('{');
            let end = part
                .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .unwrap_or(part.len());
            self.variable(&part[..end].into(), ENVIRONMENT, at);
        }
    }
}
