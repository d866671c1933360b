//! Environment variables, and constants that depend on the machine.

use std::ops::Range;

use ruff_python_ast::Expr;

use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::fold;
use super::reader::Reader;

pub const ENVIRONMENT: &str = "os.environ";

impl<'a> Reader<'a, '_> {
    /// Whether an expression is the environment itself.
    pub fn is_environment(&mut self, expression: &'a Expr) -> bool {
        matches!(expression, Expr::Name(_) | Expr::Attribute(_))
            && matches!(self.callee(expression), Value::Api(name) if &*name == ENVIRONMENT)
    }

    /// A variable's value: unknown except for `HOME`.
    pub fn environment(&mut self, name: &Value, default: Option<&Value>, at: &Range<usize>) -> Value {
        let value = name.each(|name| self.variable(&name.text(), ENVIRONMENT, at));
        match default {
            Some(default) if value == Value::Unknown => default.or(&value),
            None if value == Value::Unknown => Value::Unknown,
            _ => value,
        }
    }

    /// The home directory.
    pub fn home(&mut self, at: &Range<usize>) -> Text {
        self.variable(&"HOME".into(), ENVIRONMENT, at).text()
    }

    /// The value of a module's constant that is the same on every Linux.
    pub fn constant(&mut self, name: &str, at: &Range<usize>) -> Option<Value> {
        Some(match name {
            "os.sep" | "os.path.sep" => "/".into(),
            "os.curdir" | "os.path.curdir" => ".".into(),
            "os.pardir" | "os.path.pardir" => "..".into(),
            "os.linesep" => "\n".into(),
            "os.extsep" => ".".into(),
            "os.pathsep" => ":".into(),
            "os.devnull" => "/dev/null".into(),
            "os.name" => "posix".into(),
            "sys.platform" => "linux".into(),
            "sys.executable" => "python3".into(),
            "string.ascii_lowercase" => "abcdefghijklmnopqrstuvwxyz".into(),
            "string.digits" => "0123456789".into(),
            "tempfile.tempdir" => "/tmp".into(),
            "sys.argv" | "sys.version_info" | "sys.orig_argv" => Value::Unknown,
            "site.USER_BASE" | "site.USER_SITE" => {
                let home = self.home(at);
                Value::Instance(fold::PATH.into(), Some(home))
            }
            _ => return None,
        })
    }
}
