//! Names that a policy closes and that a part of a pattern matches: `.e*` and `.[e]??` name `.env` as much as `.env` does.
//!
//! A part counts if it says something of the name: `*`, `*.json` and `tsconfig*.json` say no more than what kind of file
//! it is, or another name.

use std::collections::HashSet;

/// The longest part that is read; no name of a file is longer.
const MAX_LENGTH: usize = 255;

/// A class of more characters says as little as `?`.
const FEW: u32 = 6;

/// So many characters of a word are as good as all of it.
const ENOUGH: usize = 4;

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    One(char),
    /// Any character.
    Any,
    /// One character of these ranges, or none of them.
    Class(Vec<(char, char)>, bool),
    /// Any characters.
    Many,
}

impl Step {
    fn accepts(&self, c: char) -> bool {
        match self {
            Step::One(one) => *one == c,
            Step::Any | Step::Many => true,
            Step::Class(ranges, is_of_them) => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) == *is_of_them
            }
        }
    }

    /// A character that it accepts.
    fn example(&self) -> char {
        let ranges = match self {
            Step::One(one) => return *one,
            Step::Class(ranges, true) => ranges.as_slice(),
            _ => &[],
        };
        let first = ranges.first().map(|(first, _)| *first);
        first.unwrap_or_else(|| "xyz-".chars().find(|c| self.accepts(*c)).unwrap_or('x'))
    }
}

/// A part of a pattern, between two slashes.
pub struct Part {
    steps: Vec<Step>,
    /// How many steps say something of the name: without a plain extension.
    telling: usize,
}

impl Part {
    /// Reads a part; `None` where it has no wildcard.
    ///
    /// # Errors
    /// It is too long.
    pub fn read(text: &str) -> Result<Option<Part>, String> {
        if !text.contains(['*', '?', '[', '\\']) {
            return Ok(None);
        }
        let mut steps = Vec::new();
        let mut ahead = text.chars().flat_map(char::to_lowercase).peekable();
        while let Some(c) = ahead.next() {
            let step = match c {
                '*' if steps.last() == Some(&Step::Many) => continue,
                '*' => Step::Many,
                '?' => Step::Any,
                '\\' => Step::One(ahead.next().unwrap_or('\\')),
                '[' => match class(&mut ahead) {
                    Step::Class(ranges, true) if matches!(ranges[..], [(first, last)] if first == last) => {
                        Step::One(ranges[0].0)
                    }
                    class => class,
                },
                c => Step::One(c),
            };
            steps.push(step);
        }
        if steps.len() > MAX_LENGTH {
            return Err(format!("a part of a pattern is longer than {MAX_LENGTH} characters"));
        }
        let dot = steps.iter().rposition(|step| *step == Step::One('.'));
        let extension = dot.filter(|dot| *dot > 0 && steps[*dot..].iter().all(|step| matches!(step, Step::One(_))));
        let telling = extension.unwrap_or(steps.len());
        Ok(Some(Part { steps, telling }))
    }

    /// Names that it is meant for: one with something in place of the wildcards, and those of `closed` that it matches.
    pub fn names(&self, closed: &[String]) -> Vec<String> {
        let mut names = vec![self.steps.iter().map(Step::example).collect()];
        names.extend(closed.iter().filter_map(|name| self.meets(name)));
        names
    }

    /// A name that both this part and that of a closed pattern match.
    fn meets(&self, closed: &str) -> Option<String> {
        let closed: Vec<Step> = closed
            .chars()
            .map(|c| if c == '*' { Step::Many } else { Step::One(c) })
            .collect();
        let mut meeting = Meeting {
            part: self,
            closed: &closed,
            seen: HashSet::new(),
            name: String::new(),
        };
        // Without a `*` all of the name is told, be it by its length.
        let in_a_row = self.steps.contains(&Step::Many).then_some(0);
        meeting.goes_on(0, 0, in_a_row).then_some(meeting.name)
    }

    /// Whether a step is of a word, which says something of the name.
    fn is_telling(&self, at: usize) -> bool {
        at < self.telling
            && match &self.steps[at] {
                Step::One(c) => c.is_alphanumeric() || at == 0 && *c == '.',
                Step::Class(ranges, is_of_them) => {
                    let many = ranges
                        .iter()
                        .map(|(first, last)| u32::from(*last).saturating_sub((*first).into()) + 1);
                    *is_of_them && many.fold(0, u32::saturating_add) <= FEW
                }
                Step::Any | Step::Many => false,
            }
    }

    /// Whether so many steps up to this one, of which the closed pattern has all, say enough: a whole word or most of one.
    fn is_told(&self, at: usize, in_a_row: usize) -> bool {
        let before = (0..=at).rev().take_while(|at| self.is_telling(*at)).count();
        let behind = (at + 1..self.telling).take_while(|at| self.is_telling(*at)).count();
        in_a_row >= (before + behind).min(ENOUGH)
    }
}

/// A class behind its `[`, which is a character of its own where nothing closes it.
fn class(ahead: &mut std::iter::Peekable<impl Iterator<Item = char> + Clone>) -> Step {
    let mut rest = ahead.clone();
    let is_of_them = rest.next_if(|c| matches!(c, '!' | '^')).is_none();
    let mut ranges = Vec::new();
    while let Some(c) = rest.next() {
        match c {
            ']' if !ranges.is_empty() => {
                *ahead = rest;
                return Step::Class(ranges, is_of_them);
            }
            // `[:alpha:]` and its like: which characters isn't read.
            '[' if matches!(rest.peek(), Some(':' | '.' | '=')) => {
                for _ in rest.by_ref().take_while(|c| *c != ']') {}
                ranges.push((if is_of_them { '\0' } else { char::MAX }, char::MAX));
            }
            c => {
                let first = if c == '\\' { rest.next().unwrap_or(c) } else { c };
                let mut range = rest.clone();
                let last = (range.next() == Some('-')).then(|| range.next()).flatten();
                let last = last.filter(|last| *last != ']');
                if last.is_some() {
                    rest = range;
                }
                ranges.push((first, last.unwrap_or(first)));
            }
        }
    }
    Step::One('[')
}

/// The search for a name that a part and a closed pattern both match.
struct Meeting<'p> {
    part: &'p Part,
    closed: &'p [Step],
    seen: HashSet<(usize, usize, Option<usize>)>,
    name: String,
}

impl Meeting<'_> {
    /// Whether they can meet behind these steps. `in_a_row`: how many steps of a word the closed pattern has too; `None` once
    /// those are enough.
    fn goes_on(&mut self, at: usize, closed_at: usize, in_a_row: Option<usize>) -> bool {
        if !self.seen.insert((at, closed_at, in_a_row)) {
            return false;
        }
        let (own, closed) = (self.part.steps.get(at), self.closed.get(closed_at));
        let is_own_many = own == Some(&Step::Many);
        let broken = in_a_row.map(|_| 0);
        if is_own_many && self.goes_on(at + 1, closed_at, broken)
            || closed == Some(&Step::Many) && self.goes_on(at, closed_at + 1, in_a_row)
        {
            return true;
        }
        let (Some(own), Some(closed)) = (own, closed) else {
            return own.is_none() && closed.is_none() && in_a_row.is_none();
        };
        let (c, next, closed_next, in_a_row) = match closed {
            Step::One(c) if is_own_many => (*c, at, closed_at + 1, broken),
            Step::One(c) if own.accepts(*c) && self.part.is_telling(at) => {
                let more = in_a_row.map(|count| (count + 1).min(ENOUGH));
                (
                    *c,
                    at + 1,
                    closed_at + 1,
                    more.filter(|count| !self.part.is_told(at, *count)),
                )
            }
            Step::One(c) if own.accepts(*c) => (*c, at + 1, closed_at + 1, broken),
            Step::Many if !is_own_many => (own.example(), at + 1, closed_at, broken),
            _ => return false,
        };
        self.name.push(c);
        if self.goes_on(next, closed_next, in_a_row) {
            return true;
        }
        self.name.pop();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(part: &str) -> Vec<String> {
        let closed = [
            ".env",
            ".env*",
            "id_rsa*",
            "*.pem",
            "credentials*.json",
            "*-credentials.json",
            "config",
        ];
        let part = Part::read(part).unwrap();
        part.map_or(Vec::new(), |part| part.names(&closed.map(String::from))[1..].to_vec())
    }

    #[test]
    fn a_part_names_what_it_says_something_of() {
        for part in [
            ".e*",
            ".e??",
            ".[e]*",
            ".[a-f]nv",
            ".[!f]*",
            ".*",
            "*nv",
            "*e*v",
            "*.e*",
            "????",
            "[.]e*",
            ".\\e*",
            ".EN*",
            "?env",
            ".[[:alpha:]]nv",
        ] {
            assert!(names(part).contains(&".env".to_string()), "{part}: {:?}", names(part));
        }
        for (part, name) in [
            (".e*.local", ".env.local"),
            ("i?_rsa", "id_rsa"),
            ("*.p?m", ".pem"),
            ("*_rsa", "id_rsa"),
            ("cred*", "credentials.json"),
            ("credentialsof*", "credentialsof.json"),
        ] {
            assert!(names(part).contains(&name.to_string()), "{part}: {:?}", names(part));
        }
    }

    #[test]
    fn a_part_that_says_a_kind_or_another_name_names_no_closed_one() {
        for part in [
            "*",
            "?*",
            "*.*",
            "*.json",
            "*.test.ts",
            "*_test.go",
            "tsconfig*.json",
            "[A-Z]*.tsx",
            "*.spec.*",
            "[!.]*",
            ".eslintrc*",
            ".env",
            "use*.ts",
            "*.{",
            "[",
        ] {
            assert_eq!(names(part), Vec::<String>::new(), "{part}");
        }
        assert!(Part::read(&"?".repeat(1000)).is_err());
        let long = format!("{}x", "*z".repeat(120));
        assert_eq!(names(&long), Vec::<String>::new());
    }
}
