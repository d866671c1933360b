//! What the script defines: functions, classes, objects.

use std::rc::Rc;

use ruff_python_ast::{Expr, Parameters, Stmt};

use super::super::text::Text;
use super::super::value::Value;

/// Something of the script's own; `Value::Own` is its number.
#[derive(Debug, Clone)]
pub enum Own<'a> {
    Function(Rc<Function<'a>>),
    Class(Rc<Class>),
    /// An object of an own class, and the scope of its fields.
    Object {
        class: usize,
        fields: usize,
    },
    /// A function with what comes first among its arguments.
    Bound {
        function: usize,
        receiver: Value,
    },
    /// A method of an API's object.
    Method {
        name: Rc<str>,
        receiver: Option<Text>,
    },
    /// A function with some of its arguments: `functools.partial`.
    Partial {
        callee: Value,
        positional: Rc<Vec<Value>>,
        named: Rc<Vec<(String, Value)>>,
    },
    /// Gives one value after another, an unknown number of times.
    Iterable {
        element: Value,
    },
    /// A dictionary with unknown keys: what any of its values is.
    Mapping {
        element: Value,
    },
    /// `super()` of an object.
    Super {
        class: usize,
        object: Value,
    },
}

/// A function or lambda.
#[derive(Debug)]
pub struct Function<'a> {
    pub parameters: Option<&'a Parameters>,
    pub defaults: Vec<(&'a str, Value)>,
    pub body: Body<'a>,
    /// The scope that it was defined in.
    pub scope: usize,
    /// The class whose method it is.
    pub class: Option<usize>,
    pub kind: Kind,
    /// Whether it yields.
    pub is_generator: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    Block(&'a [Stmt]),
    Expression(&'a Expr),
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Static,
    OfClass,
    Property,
}

/// A class.
#[derive(Debug)]
pub struct Class {
    pub bases: Vec<Value>,
    /// The scope of its members.
    pub members: usize,
    /// Fields that its construction takes, in order: of a data class or named tuple.
    pub fields: Option<Vec<String>>,
    /// Whether its methods may be called by what it inherits from.
    pub is_framework: bool,
}
