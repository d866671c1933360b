//! State at one position of a script: variables, functions, arguments, the current directory.

use std::collections::HashMap;
use std::rc::Rc;

use brush_parser::ast::FunctionBody;

use super::parse::Offsets;
use crate::text::Text;
use crate::value::Value;

/// The possible texts of a word: at least one.
pub(super) type Field = Vec<Text>;

/// A function: its body, and the byte offsets of the characters of its source.
pub(super) struct Function {
    pub body: FunctionBody,
    pub offsets: Option<Rc<Offsets>>,
}

/// The state at one position.
#[derive(Clone)]
pub(super) struct State {
    pub variables: HashMap<String, Value>,
    pub functions: HashMap<String, Rc<Function>>,
    /// `$1`, `$2`, …; `None` where they are the caller's.
    pub arguments: Option<Rc<Vec<Field>>>,
    /// The possible current directories, relative to the one that the script started in; empty for that one itself.
    pub directories: Vec<Text>,
    /// Whether a sourced file may have set any variable.
    pub has_sourced: bool,
    /// Whether a sourced file is the script's own and isn't read: unknown commands are taken for its functions.
    pub has_unread_functions: bool,
    /// After `exit` or `exec`: nothing runs any more.
    pub is_over: bool,
}

impl State {
    /// Maximum number of variables that are tracked.
    const MAX_VARIABLES: usize = 1024;

    pub fn new() -> State {
        State {
            variables: HashMap::new(),
            functions: HashMap::new(),
            arguments: None,
            directories: Vec::new(),
            has_sourced: false,
            has_unread_functions: false,
            is_over: false,
        }
    }

    pub fn set(&mut self, name: &str, value: Value) {
        if self.variables.len() < Self::MAX_VARIABLES || self.variables.contains_key(name) {
            self.variables.insert(name.to_string(), value);
        }
    }

    /// Merges the states after two branches, either of which may have been taken.
    pub fn or(self, other: State) -> State {
        match (self.is_over, other.is_over) {
            (true, false) => return other,
            (false, true) => return self,
            _ => {}
        }
        let mut both = self;
        both.has_sourced |= other.has_sourced;
        both.has_unread_functions |= other.has_unread_functions;
        for (name, value) in other.variables {
            match both.variables.get_mut(&name) {
                Some(known) if *known == value => {}
                Some(known) => *known = known.or(&value),
                None => both.set(&name, value),
            }
        }
        for (name, function) in other.functions {
            both.functions.entry(name).or_insert(function);
        }
        if both.directories != other.directories {
            let start = || vec![Text::from(".")];
            let full = |texts: Vec<Text>| if texts.is_empty() { start() } else { texts };
            both.directories = full(both.directories);
            for directory in full(other.directories) {
                if !both.directories.contains(&directory) {
                    both.directories.push(directory);
                }
            }
        }
        both
    }
}
