//! One call of a hook, read from an agent's JSON.

use std::path::PathBuf;

use serde_json::{Map, Value};
use stockade_text::json;

/// The longest input that is read, in bytes: a tool that writes a file sends the file along.
const MAX_LENGTH: usize = 32 << 20;

/// When an agent calls the hook, and what it takes as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before a tool is called.
    Before {
        /// Whether the agent asks a person if the answer says so.
        asks: bool,
        /// Whether the answer may replace the tool's input.
        rewrites: bool,
    },
    /// Before the agent asks a person for permission; without a decision it does.
    Permission {
        /// Whether the answer may replace the tool's input.
        rewrites: bool,
    },
    /// After a call.
    After {
        /// Whether the call failed, in an event of its own.
        failed: bool,
    },
}

/// A tool call that an agent tells about.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool, by the agent's name for it.
    pub tool: String,
    /// Its arguments.
    pub input: Value,
    /// The agent's id of this call, if it has one.
    pub id: Option<String>,
    /// The agent's session.
    pub session: String,
    /// The directory that the agent works in.
    pub cwd: Option<PathBuf>,
    /// The project's directories, where the agent names them.
    pub roots: Vec<PathBuf>,
}

/// What an agent tells on standard input.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its name in the agent's format.
    pub name: String,
    /// When it happens.
    pub stage: Stage,
    /// The call that it is about.
    pub call: Call,
}

/// Why an event isn't understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    /// The input is longer than any event.
    #[error("the event is longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// The input isn't an object in JSON.
    #[error("the event isn't a JSON object: {0}")]
    NoObject(String),
    /// A field is missing.
    #[error("the event has no field `{0}`")]
    Missing(&'static str),
    /// A field has another type.
    #[error("the field `{0}` isn't {1}")]
    WrongType(&'static str, &'static str),
    /// The hook doesn't know the event.
    #[error("the event `{}` isn't one that this hook answers", super::bounded(.0))]
    UnknownEvent(String),
    /// The tool's input isn't understood.
    #[error("the input of `{}` isn't understood: {}", super::bounded(.0), super::bounded(.1))]
    Input(String, String),
}

/// The fields of an event.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Reads an agent's input.
    ///
    /// # Errors
    /// It is too long, or no object in JSON.
    pub fn read(input: &[u8]) -> Result<Fields, Misread> {
        if input.len() > MAX_LENGTH {
            return Err(Misread::TooLong);
        }
        match json::from_slice(input) {
            Ok(Value::Object(fields)) => Ok(Fields(fields)),
            Ok(_) => Err(Misread::NoObject("it is another value".into())),
            Err(error) => Err(Misread::NoObject(error.to_string())),
        }
    }

    /// The value of a field; `null` is no value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Whether there is such a field.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A text that has to be there.
    pub fn text(&self, name: &'static str) -> Result<&str, Misread> {
        self.some_text(name)?.ok_or(Misread::Missing(name))
    }

    /// A text that may be there.
    pub fn some_text(&self, name: &'static str) -> Result<Option<&str>, Misread> {
        let text = |value: &'_ Value| value.is_string();
        match self.get(name) {
            None => Ok(None),
            Some(value) if text(value) => Ok(value.as_str()),
            Some(_) => Err(Misread::WrongType(name, "a text")),
        }
    }

    /// A value that has to be there.
    pub fn value(&self, name: &'static str) -> Result<&Value, Misread> {
        self.get(name).ok_or(Misread::Missing(name))
    }

    /// A directory that may be there; one that isn't absolute tells nothing.
    pub fn directory(&self, name: &'static str) -> Result<Option<PathBuf>, Misread> {
        let path = self.some_text(name)?.map(PathBuf::from);
        Ok(path.filter(|path| path.is_absolute()))
    }

    /// A list of directories that may be there.
    pub fn directories(&self, name: &'static str) -> Result<Vec<PathBuf>, Misread> {
        const LIST: &str = "a list of texts";
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let entries = value.as_array().ok_or(Misread::WrongType(name, LIST))?;
        let path = |entry: &Value| entry.as_str().map(PathBuf::from).ok_or(Misread::WrongType(name, LIST));
        entries.iter().map(path).collect()
    }
}
