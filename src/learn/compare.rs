//! Compares the effects inferred from a script's text with those used when it ran.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::lesson::Lesson;

/// The effects inferred from the script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The lowest profile, as inferred.
    pub profile: String,
    /// Paths that it reads; `…` stands for an unknown part.
    pub reads: Vec<String>,
    /// Paths that it writes.
    pub writes: Vec<String>,
    /// Hosts; `*` for computed ones.
    pub hosts: Vec<String>,
    /// Whether it listens.
    pub listens: bool,
}

/// The inferred and the used effects, and their differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The inferred effects.
    pub asked: Asked,
    /// The lowest profile that covers the used effects.
    pub used: String,
    /// Effects inferred and never used.
    pub never_used: Vec<Effect>,
    /// Effects used and not inferred.
    pub not_inferred: Vec<Effect>,
    /// Each target, for a table.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// `read`, `write`, `connect`, `listen`.
    pub effect: &'static str,
    /// Its target.
    pub target: String,
}

/// A row of the table: an inferred effect, and all uses of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `read`, `write`, `connect`, `listen`.
    pub effect: &'static str,
    /// The inferred target; `None` if it wasn't inferred.
    pub asked: Option<String>,
    /// The used targets; empty if it was never used.
    pub used: Vec<String>,
}

/// Compares the inferred effects with a lesson.
pub fn compare(asked: Asked, lesson: &Lesson) -> Comparison {
    let ports: Vec<String> = lesson.listens.iter().map(u16::to_string).collect();
    let port = match asked.listens {
        true => vec!["a port".to_string()],
        false => Vec::new(),
    };
    let mut rows = side_by_side("read", &asked.reads, &lesson.reads, is_below);
    rows.extend(side_by_side("write", &asked.writes, &lesson.writes, is_below));
    rows.extend(side_by_side("connect", &asked.hosts, &lesson.hosts, is_host));
    rows.extend(side_by_side("listen", &port, &ports, |_, _| true));
    let never = rows.iter().filter(|row| row.used.is_empty());
    let never_used = never.filter_map(|row| Some(Effect::of(row.effect, row.asked.as_ref()?)));
    let unasked = rows.iter().filter(|row| row.asked.is_none());
    let not_inferred = unasked.flat_map(|row| row.used.iter().map(|target| Effect::of(row.effect, target)));
    Comparison {
        used: lesson.least.to_string(),
        never_used: never_used.collect(),
        not_inferred: not_inferred.collect(),
        asked,
        rows,
    }
}

impl Effect {
    fn of(effect: &'static str, target: &str) -> Effect {
        Effect {
            effect,
            target: target.to_string(),
        }
    }
}

impl Comparison {
    /// The table, for people. Texts are the program's: escape them line by line.
    pub fn lines(&self) -> Vec<String> {
        let asked = |row: &Row| row.asked.clone().unwrap_or_else(|| "not inferred".into());
        let width = self
            .rows
            .iter()
            .map(|row| asked(row).chars().count())
            .max()
            .unwrap_or(0)
            .clamp(5, 60);
        let mut lines = vec![
            format!("{:7}  {:width$}  used", "", "asked"),
            format!("{:7}  {:width$}  {}", "profile", self.asked.profile, self.used),
        ];
        for row in &self.rows {
            let mut used = row.used.iter().map(String::as_str);
            let first = used.next().unwrap_or("never");
            lines.push(format!("{:7}  {:width$}  {first}", row.effect, asked(row)));
            lines.extend(used.map(|target| format!("{:7}  {:width$}  {target}", "", "")));
        }
        lines
    }
}

/// A row for each inferred target with its uses, and one for the rest.
fn side_by_side(
    effect: &'static str,
    asked: &[String],
    used: &[String],
    serves: impl Fn(&str, &str) -> bool,
) -> Vec<Row> {
    let mut rows: Vec<Row> = asked
        .iter()
        .map(|asked| Row {
            effect,
            asked: Some(asked.clone()),
            used: used.iter().filter(|used| serves(asked, used)).cloned().collect(),
        })
        .collect();
    let rest: Vec<String> = used
        .iter()
        .filter(|used| !asked.iter().any(|asked| serves(asked, used)))
        .cloned()
        .collect();
    if !rest.is_empty() {
        rows.push(Row {
            effect,
            asked: None,
            used: rest,
        });
    }
    rows
}

/// Whether a used path is the inferred one or below it. Of a partly unknown path the known beginning counts.
fn is_below(asked: &str, used: &str) -> bool {
    let is_in_root = |path: &str| !path.starts_with(['/', '~', '…']);
    if is_in_root(asked) != is_in_root(used) && !asked.starts_with('…') {
        return false;
    }
    match asked.split_once('…') {
        Some((known, _)) => plain(used).to_string_lossy().starts_with(&*plain_text(known)),
        None => plain(used).starts_with(plain(asked)),
    }
}

fn plain_text(path: &str) -> String {
    let end = if path.ends_with('/') { "/" } else { "" };
    match plain(path).to_string_lossy() {
        text if text.is_empty() => text.into_owned(),
        text => format!("{text}{end}"),
    }
}

/// Without `.`, so that `./a` and `a` are the same.
fn plain(path: &str) -> PathBuf {
    let parts = Path::new(path).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// Whether a used host is an inferred one. Ports of the web may be left out.
fn is_host(asked: &str, used: &str) -> bool {
    let (known, is_cut) = match asked.split_once('…') {
        Some((known, _)) => (known, true),
        None => (asked, false),
    };
    let local = |host: &str| host.replace("127.0.0.1", "localhost").replace("[::1]", "localhost");
    let (known, used) = (local(known), local(used));
    let names_every_port = known
        .strip_suffix(":*")
        .is_some_and(|name| used.rsplit_once(':').is_some_and(|(host, _)| host == name));
    known == "*" || known == used || is_cut && used.starts_with(&known) || names_every_port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_compare_by_being_below() {
        for (asked, used, serves) in [
            ("./data", "./data/a.csv", true),
            ("./data/a.csv", "./data/a.csv", true),
            ("./data/a.csv", "./data", false),
            ("./data", "./database", false),
            ("./data/…", "./data/a.csv", true),
            ("./rep…", "./report.txt", true),
            (".", "./x", true),
            (".", "/etc/x", false),
            ("…", "/etc/x", true),
            ("~/x", "~/x/y", true),
            ("/tmp", "/tmp/x", true),
        ] {
            assert_eq!(is_below(asked, used), serves, "{asked} {used}");
        }
        assert!(is_host("localhost:8000", "127.0.0.1:8000") && is_host("*", "x.example"));
        assert!(is_host("localhost:*", "localhost:81") && !is_host("a.example", "b.example"));
    }
}
