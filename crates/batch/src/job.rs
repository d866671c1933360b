//! One job: a line of JSON, and the words that it starts.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use stockade_policy::profile::parse_duration;
use stockade_text::json;

/// The longest id: it is repeated in the result.
const MAX_ID: usize = 1024;

/// The longest argument that a program can be given, without its NUL (execve(2), `MAX_ARG_STRLEN`).
const MAX_ARGUMENT: usize = 128 * 1024 - 1;

/// The programs that run code, and the option that takes it.
const LANGUAGES: [(&str, [&str; 2]); 3] = [
    ("python", ["python3", "-c"]),
    ("javascript", ["node", "-e"]),
    ("shell", ["sh", "-c"]),
];

/// One line of the input.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Job {
    /// The id, exactly as it was written.
    #[serde(deserialize_with = "as_written")]
    pub id: Option<Box<RawValue>>,
    /// A program and its arguments.
    pub command: Option<Vec<String>>,
    /// A line of the shell.
    pub shell: Option<String>,
    /// The text of a program, in the language of `lang`.
    pub code: Option<String>,
    /// `python`, `javascript` or `shell`.
    pub lang: Option<String>,
    /// What the program reads as standard input.
    pub stdin: Option<String>,
    /// A profile, which the caller's [`Sandboxes`](crate::Sandboxes) may refuse.
    pub profile: Option<String>,
    /// The longest time; it only shortens the batch's own.
    pub timeout: Option<Timeout>,
    /// The run's root, in that of the batch.
    pub root: Option<PathBuf>,
}

/// Why a job got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// What failed, and why.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl JobError {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> JobError {
        JobError {
            message: message.into(),
            hint: None,
        }
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> JobError {
        self.hint = Some(hint.into());
        self
    }
}

impl From<stockade::Error> for JobError {
    fn from(error: stockade::Error) -> JobError {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            let text = cause.to_string();
            // A transparent error says what its source says.
            if !message.ends_with(&text) {
                message += ": ";
                message += &text;
            }
            source = cause.source();
        }
        for detail in error.details() {
            message += "; ";
            message += &detail;
        }
        JobError {
            message,
            hint: error.hint(),
        }
    }
}

/// A time, as seconds or as text with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout(pub Duration);

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timeout, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Seconds(f64),
            Text(String),
        }
        use serde::de::Error;
        const WRONG: &str = "`timeout` is seconds above 0, or a time such as \"30s\"";
        match Written::deserialize(deserializer).map_err(|_| Error::custom(WRONG))? {
            Written::Seconds(seconds) => match Duration::try_from_secs_f64(seconds) {
                Ok(time) if !time.is_zero() => Ok(Timeout(time)),
                _ => Err(Error::custom(WRONG)),
            },
            Written::Text(text) => parse_duration(&text)
                .map(Timeout)
                .map_err(|error| Error::custom(format!("`timeout`: {error}"))),
        }
    }
}

impl Job {
    /// Reads a line.
    ///
    /// # Errors
    /// It isn't a job.
    pub fn read(line: &[u8]) -> Result<Job, JobError> {
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(JobError::new("the line isn't a job: it is no JSON object"));
        }
        let job: Job =
            json::from_slice(line).map_err(|error| JobError::new(format!("the line isn't a job: {error}")))?;
        match &job.id {
            Some(id) if id.get().len() > MAX_ID => Err(JobError::new(format!("`id` is longer than {MAX_ID} bytes"))),
            _ => Ok(job),
        }
    }

    /// The program and its arguments.
    ///
    /// # Errors
    /// The job names none, or more than one; the code is too long for an argument, or its language isn't known.
    pub fn words(&self) -> Result<Vec<String>, JobError> {
        let words = match (&self.command, &self.shell, &self.code) {
            (Some(words), None, None) if !words.is_empty() => words.clone(),
            (Some(_), None, None) => return Err(JobError::new("`command` is empty")),
            (None, Some(line), None) => vec!["sh".into(), "-c".into(), line.clone()],
            (None, None, Some(code)) => self.program_of(code)?,
            (None, None, None) => {
                return Err(JobError::new("the job starts nothing")
                    .hint("give it one of `command`, `shell`, and `code` with `lang`"));
            }
            _ => return Err(JobError::new("a job has only one of `command`, `shell` and `code`")),
        };
        if self.lang.is_some() && self.code.is_none() {
            return Err(JobError::new("`lang` is for `code`, and there is none"));
        }
        match words.iter().any(|word| word.len() > MAX_ARGUMENT) {
            true => Err(
                JobError::new(format!("an argument is longer than {MAX_ARGUMENT} bytes"))
                    .hint("put the text into a file, or into `stdin`"),
            ),
            false => Ok(words),
        }
    }

    fn program_of(&self, code: &str) -> Result<Vec<String>, JobError> {
        let names = || LANGUAGES.map(|(name, _)| format!("`{name}`")).join(", ");
        let Some(language) = &self.lang else {
            return Err(JobError::new("`code` needs `lang`").hint(format!("one of {}", names())));
        };
        match LANGUAGES.iter().find(|(name, _)| name == language) {
            Some((_, [program, option])) => Ok(vec![program.to_string(), option.to_string(), code.to_string()]),
            None => Err(JobError::new(format!("`lang` `{language}` isn't known")).hint(format!("one of {}", names()))),
        }
    }
}

fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The id of a line that isn't a job, as far as it can be read; `None` where it has none, or one that may be cut.
pub fn id_of(line: &[u8]) -> Option<Box<RawValue>> {
    json::id_of(line).filter(|id| id.get().len() <= MAX_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Vec<String>, String> {
        let job = Job::read(line.as_bytes()).map_err(|error| error.message)?;
        job.words().map_err(|error| error.message)
    }

    #[test]
    fn a_job_names_exactly_one_thing_to_start() {
        for (line, expected) in [
            (r#"{"command": ["ls", "-l"]}"#, vec!["ls", "-l"]),
            (r#"{"shell": "ls | wc"}"#, vec!["sh", "-c", "ls | wc"]),
            (
                r#"{"code": "print(1)", "lang": "python"}"#,
                vec!["python3", "-c", "print(1)"],
            ),
            (r#"{"code": "1", "lang": "javascript"}"#, vec!["node", "-e", "1"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        for (line, part) in [
            ("{}", "starts nothing"),
            (r#"{"command": []}"#, "`command` is empty"),
            (r#"{"command": ["ls"], "shell": "ls"}"#, "only one of"),
            (r#"{"code": "1"}"#, "needs `lang`"),
            (r#"{"code": "1", "lang": "cobol"}"#, "`cobol` isn't known"),
            (r#"{"command": ["ls"], "lang": "shell"}"#, "`lang` is for `code`"),
            (r#"{"command": "ls"}"#, "isn't a job"),
            (r#"{"comand": ["ls"]}"#, "unknown field `comand`"),
            (r#"{"command": ["ls"], "command": ["rm"]}"#, "duplicate field `command`"),
            (r#"["ls"]"#, "no JSON object"),
            ("", "no JSON object"),
        ] {
            let error = words(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn code_that_is_no_argument_is_refused_before_it_runs() {
        let line = |bytes| format!(r#"{{"code": "{}", "lang": "python"}}"#, "1".repeat(bytes));
        assert!(words(&line(MAX_ARGUMENT)).is_ok());
        assert!(words(&line(MAX_ARGUMENT + 1)).unwrap_err().contains("longer than"));
    }

    #[test]
    fn a_timeout_is_seconds_or_text() {
        let timeout = |text: &str| Job::read(format!(r#"{{"timeout": {text}}}"#).as_bytes()).map(|job| job.timeout);
        for (text, milliseconds) in [("2", 2000), ("0.5", 500), ("\"1m\"", 60_000), ("\"250ms\"", 250)] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(timeout(text).unwrap(), Some(Timeout(time)), "{text}");
        }
        for text in ["0", "-1", "1e300", "\"\"", "\"soon\"", "[1]", "true"] {
            assert!(timeout(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_kept_as_it_was_written_also_of_a_line_that_is_no_job() {
        let id = |line: &str| Job::read(line.as_bytes()).unwrap().id.map(|id| id.get().to_string());
        assert_eq!(id(r#"{"id": {"a":  1.50}}"#).as_deref(), Some(r#"{"a":  1.50}"#));
        assert_eq!(id(r#"{"id": null}"#).as_deref(), Some("null"));
        let found = |line: &str| id_of(line.as_bytes()).map(|id| id.get().to_string());
        assert_eq!(found(r#"{"id": 7, "comand": 1}"#).as_deref(), Some("7"));
        assert_eq!(found(r#"{"id": 7"#), None);
        assert_eq!(found("[7]"), None);
        assert!(Job::read(format!(r#"{{"id": "{}"}}"#, "x".repeat(MAX_ID)).as_bytes()).is_err());
    }
}
