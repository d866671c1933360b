//! Files that SQL names: SQLite opens some by its own statements (sqlite.org/lang_attach.html, lang_vacuum.html).

use super::text::Text;

#[derive(PartialEq)]
enum Token {
    Word(String),
    Quoted(Text),
    Other,
}

/// The files of `ATTACH DATABASE 'file'` and `VACUUM INTO 'file'`: both are written, and created if missing.
pub fn files(sql: &Text) -> Vec<Text> {
    let tokens = tokens(&sql.marked());
    let is = |at: usize, word: &str| matches!(tokens.get(at), Some(Token::Word(given)) if given == word);
    let mut files = Vec::new();
    for at in 0..tokens.len() {
        let next = match () {
            () if is(at, "attach") && is(at + 1, "database") => at + 2,
            () if is(at, "attach") && !is(at + 1, "partition") => at + 1,
            () if is(at, "vacuum") && is(at + 1, "into") => at + 2,
            () if is(at, "vacuum") && is(at + 2, "into") => at + 3,
            () => continue,
        };
        match tokens.get(next) {
            Some(Token::Quoted(file)) if matches!(file.exact(), Some(":memory:" | "")) => {}
            Some(Token::Quoted(file)) => files.push(file.clone()),
            Some(_) => files.push(Text::unknown()),
            None => {}
        }
    }
    files
}

fn tokens(sql: &str) -> Vec<Token> {
    const MAX: usize = 1 << 16;
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next()
        && tokens.len() < MAX
    {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            '\'' | '"' => {
                let end = rest[1..].find(first).map_or(rest.len(), |end| end + 1);
                tokens.push(Token::Quoted(Text::of_marked(&rest[1..end])));
                (end + 1).min(rest.len())
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            letter if is_word(letter) => {
                let length = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..length].to_ascii_lowercase()));
                length
            }
            letter => {
                if !letter.is_whitespace() {
                    tokens.push(Token::Other);
                }
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_statements_are_found() {
        let shown = |sql: &str| files(&sql.into()).iter().map(Text::shown).collect::<Vec<String>>();
        assert_eq!(shown("ATTACH DATABASE 'a.db' AS b"), ["a.db"]);
        assert_eq!(
            shown("select 1; attach 'a.db' as b; vacuum main into 'c.db'"),
            ["a.db", "c.db"]
        );
        assert_eq!(shown("ATTACH DATABASE ? AS b"), ["…"]);
        assert_eq!(
            shown("INSERT INTO a VALUES ('attach database x') -- vacuum into 'x'"),
            [""; 0]
        );
        assert_eq!(
            shown("ALTER TABLE a ATTACH PARTITION b; ATTACH ':memory:' AS c"),
            [""; 0]
        );
    }
}
