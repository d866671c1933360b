//! Rejects text that nests too deep, before parsing.
//!
//! The parser grows its stack on demand, but dropping and reading its tree recurse without that. CPython rejects
//! 200 nested brackets and 100 indents as well (Parser/lexer: MAXLEVEL, MAXINDENT), so every valid script passes.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

const MAX_BRACKETS: usize = 200;
const MAX_INDENTS: usize = 100;
/// Maximum number of operators, prefixes and calls without a comma between them, over all open brackets.
const MAX_CHAIN: usize = 2000;

/// Returns the reason if a text nests too deep.
pub fn too_deep(source: &str) -> Option<&'static str> {
    let mut tokens = lexer::lex(source, Mode::Module);
    let mut nesting = Nesting {
        levels: vec![Level::default()],
        chain: 0,
    };
    let mut indents = 0_usize;
    loop {
        let kind = tokens.next_token();
        match kind {
            TokenKind::EndOfFile => return None,
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            kind => nesting.take(kind),
        }
        if indents > MAX_INDENTS || nesting.levels.len() > MAX_BRACKETS {
            return Some("its code nests too deep");
        }
        if nesting.chain > MAX_CHAIN {
            return Some("an expression of it is too long");
        }
    }
}

/// The open brackets.
struct Nesting {
    levels: Vec<Level>,
    /// The sum of all levels.
    chain: usize,
}

/// The content of one bracket since its last comma.
#[derive(Default)]
struct Level {
    chain: usize,
    /// A comma doesn't end these: `lambda a, b: lambda …`.
    lambdas: usize,
}

impl Nesting {
    fn take(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                self.levels.push(Level::default());
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                self.reset();
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.count();
            }
            TokenKind::Comma => self.end_chain(),
            TokenKind::Newline | TokenKind::Semi => self.reset(),
            TokenKind::Lambda => {
                self.chain += 1;
                if let Some(level) = self.levels.last_mut() {
                    level.lambdas += 1;
                }
            }
            kind if nests(kind) => self.count(),
            _ => {}
        }
    }

    fn count(&mut self) {
        self.chain += 1;
        if let Some(level) = self.levels.last_mut() {
            level.chain += 1;
        }
    }

    fn end_chain(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.chain = self.chain.saturating_sub(level.chain);
            level.chain = 0;
        }
    }

    fn reset(&mut self) {
        self.end_chain();
        if let Some(level) = self.levels.last_mut() {
            self.chain = self.chain.saturating_sub(level.lambdas);
            level.lambdas = 0;
        }
    }
}

/// Whether a token makes the syntax tree deeper.
fn nests(kind: TokenKind) -> bool {
    kind.is_operator() && !matches!(kind, TokenKind::Colon | TokenKind::Equal)
        || matches!(
            kind,
            TokenKind::And
                | TokenKind::Or
                | TokenKind::Not
                | TokenKind::Is
                | TokenKind::In
                | TokenKind::If
                | TokenKind::Await
                | TokenKind::Yield
        )
}
