//! Constant folding: results of pure functions and operators for known values.
//!
//! `path`, `url`, `text` and `list` hold the functions of each; this module holds the names and combines alternatives.

mod list;
mod path;
mod text;
mod url;

use ruff_python_ast::{Expr, Number, UnaryOp};

use super::super::constant;
use super::super::text::Text;
use super::super::value::Value;
use crate::arguments::Arguments;

pub use list::{element, list_method, sliced};
pub use path::{parent, path_attribute};
pub use text::{percent, text_method};

pub const PATH: &str = "pathlib.Path";

/// Aliases of modules and functions.
const ALIASES: &[(&str, &str)] = &[
    ("posixpath", "os.path"),
    ("posix", "os"),
    ("io.open", "builtins.open"),
    ("_io.open", "builtins.open"),
    ("builtins.__builtins__", "builtins"),
    ("pathlib.PosixPath", PATH),
    ("pathlib.PurePath", PATH),
    ("pathlib.PurePosixPath", PATH),
    ("requests.api", "requests"),
    ("requests.sessions", "requests"),
    ("requests.session", "requests.Session"),
    ("multiprocessing.context.Process", "multiprocessing.Process"),
    ("os.environb", "os.environ"),
    ("PIL.Image.Image", "PIL.Image"),
    ("pandas.core.frame", "pandas"),
    ("collections.abc", "typing"),
    ("builtins.input", "builtins.input"),
    ("asyncio.subprocess.create_subprocess", "asyncio.create_subprocess"),
    ("redis.Redis.from_url", "redis.from_url"),
];

/// The name as in the table.
pub fn canonical(name: &str) -> String {
    for (alias, real) in ALIASES {
        if let Some(rest) = name.strip_prefix(alias)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return format!("{real}{rest}");
        }
    }
    name.to_string()
}

/// Whether a name is a class's by naming convention.
pub fn is_class(name: &str) -> bool {
    name.rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with(|first: char| first.is_ascii_uppercase()))
        || name == "dataclasses.field"
}

/// Whether a class's methods and elements mostly have the same class.
pub fn is_sticky(class: &str) -> bool {
    matches!(
        class,
        "pandas.DataFrame" | "PIL.Image" | "polars.DataFrame" | "docx.Document"
    )
}

/// Whether a class represents a path or URL.
pub fn is_target(class: &str) -> bool {
    matches!(
        class,
        PATH | "os.DirEntry"
            | "urllib.request.Request"
            | "requests.Request"
            | "httpx.URL"
            | "yarl.URL"
            | "httpx.Request"
            | url::PARTS
            | "tempfile.TemporaryDirectory"
    )
}

/// The result of a pure function.
pub fn call(name: &str, receiver: Option<&Text>, arguments: &Arguments) -> Option<Value> {
    let wide = arguments
        .positional
        .iter()
        .position(|value| matches!(value, Value::OneOf(_)));
    if let Some(at) = wide {
        // Tries one argument's alternatives in turn; `or` bounds the number of results.
        let mut result = None;
        for value in arguments.positional[at].alternatives() {
            let mut one = arguments.clone();
            one.positional[at] = value;
            result = Some(call(name, receiver, &one)?.beside(result));
            if result == Some(Value::Unknown) {
                break;
            }
        }
        return result;
    }
    path::call(name, receiver, arguments)
        .or_else(|| url::call(name, receiver, arguments))
        .or_else(|| text::call(name, arguments))
        .or_else(|| list::call(name, arguments))
}

/// Concatenates two texts; a value that isn't a text becomes an unknown part.
pub fn concatenate(one: &Value, other: &Value) -> Value {
    constant::concatenate(one, other, Value::text)
}

/// `str(value)`.
pub fn as_text(value: &Value) -> Value {
    value.each(|value| Value::Text(value.text()))
}

/// `-1`.
pub fn negative(expression: &Expr) -> Value {
    if let Expr::UnaryOp(unary) = expression
        && unary.op == UnaryOp::USub
        && let Expr::NumberLiteral(number) = &*unary.operand
        && let Number::Int(number) = &number.value
        && let Some(number) = number.as_i64()
    {
        return Value::Number(-number);
    }
    Value::Unknown
}
