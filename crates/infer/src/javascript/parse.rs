//! Parses a text into oxc's tree: finds the kind of source, or reports the syntax error.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::language::Language;
use crate::setting::Setting;

/// Why a text doesn't parse.
pub struct SyntaxError {
    /// `LINE:COLUMN message`.
    pub message: String,
    /// Byte of the source.
    pub at: usize,
}

/// Parses a text as the first kind of source that it is; the error is of the first kind.
pub fn program<'a>(
    allocator: &'a Allocator,
    source: &str,
    language: Language,
    setting: &Setting,
) -> Result<&'a Program<'a>, SyntaxError> {
    let source = allocator.alloc_str(source);
    let mut first = None;
    for kind in kinds(language, setting) {
        let parsed = Parser::new(allocator, source, kind).parse();
        let error = parsed.diagnostics.errors().next().map(|error| {
            let at = error.labels.iter().next().map_or(0, |label| label.offset() as usize);
            syntax_error(source, at, &error.message)
        });
        match error {
            None if !parsed.panicked => return Ok(allocator.alloc(parsed.program)),
            None => first = first.or(Some(syntax_error(source, 0, "it can't be parsed"))),
            Some(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| syntax_error(source, 0, "it can't be parsed")))
}

/// The kinds to try, in order. JSX and type assertions (`<T>x`) exclude each other.
fn kinds(language: Language, setting: &Setting) -> Vec<SourceType> {
    let extension = setting.script.as_deref().and_then(|path| path.extension());
    let extension = extension.and_then(|extension| extension.to_str());
    let (ts, tsx) = (SourceType::ts(), SourceType::tsx());
    match (language, extension) {
        (Language::TypeScript, Some("tsx")) => vec![tsx, ts, ts.with_commonjs(true)],
        (Language::TypeScript, _) => vec![ts, tsx, ts.with_commonjs(true)],
        (_, Some("cjs")) => vec![SourceType::cjs(), SourceType::jsx(), SourceType::script()],
        _ => vec![
            SourceType::jsx(),
            SourceType::cjs().with_jsx(true),
            SourceType::script(),
        ],
    }
}

fn syntax_error(source: &str, at: usize, message: &str) -> SyntaxError {
    let at = source.floor_char_boundary(at.min(source.len()));
    let before = &source[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    SyntaxError {
        message: format!("{line}:{column} {message}"),
        at,
    }
}
