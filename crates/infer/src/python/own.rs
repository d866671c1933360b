//! The script's own definitions: functions, classes, objects.

use std::rc::Rc;

use ruff_python_ast::{Expr, Parameters, Stmt};

use super::super::text::Text;
use super::super::value::Value;

/// A definition of the script; `Value::Own` holds its index.
#[derive(Debug, Clone)]
pub enum Own<'a> {
    Function(Rc<Function<'a>>),
    Class(Rc<Class>),
    /// An object of the script's class, and the scope of its fields.
    Object {
        class: usize,
        fields: usize,
    },
    /// A function bound to its first argument.
    Bound {
        function: usize,
        receiver: Value,
    },
    /// A method of an API's object.
    Method {
        name: Rc<str>,
        receiver: Option<Text>,
    },
    /// A function with some arguments given: `functools.partial`.
    Partial {
        callee: Value,
        positional: Rc<Vec<Value>>,
        named: Rc<Vec<(String, Value)>>,
    },
    /// Yields values an unknown number of times.
    Iterable {
        element: Value,
    },
    /// A dictionary with unknown keys; `element` is any of its values.
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
    /// The scope of its definition.
    pub scope: usize,
    /// The class if it is a method.
    pub class: Option<usize>,
    pub kind: Kind,
    /// Whether it contains `yield`.
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
    /// The constructor's fields in order, for a data class or named tuple.
    pub fields: Option<Vec<String>>,
    /// Whether a base class outside the script may call its methods.
    pub is_framework: bool,
}
