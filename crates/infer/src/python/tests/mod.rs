//! Small scripts and their expected acts.

mod hostile;
mod language;
mod libraries;
mod listing;

use super::super::finding::{Act, Opaque};
use super::super::setting::Setting;
use super::super::text::Text;

/// The acts of a script, as `read data/a.csv`.
fn acts(source: &str) -> Vec<String> {
    let setting = Setting {
        modules: ["beside".to_string()].into(),
        ..Setting::default()
    };
    let mut acts: Vec<String> = super::read(source, &setting)
        .iter()
        .map(|found| shown(&found.act))
        .collect();
    acts.sort();
    acts.dedup();
    acts
}

fn shown(act: &Act) -> String {
    let words = |words: &[Text]| words.iter().map(Text::shown).collect::<Vec<_>>().join(" ");
    match act {
        Act::Read(path) => format!("read {}", path.shown()),
        Act::Write(path) => format!("write {}", path.shown()),
        Act::Connect(target) => format!("connect {}", target.shown()),
        Act::Listen => "listen".into(),
        Act::Variable(name) => format!("variable {}", name.shown()),
        Act::Start(all) => format!("start {}", words(all)),
        Act::Shell(line) => format!("shell {}", line.shown()),
        Act::Code(_, code) => format!("code {}", code.shown()),
        Act::Enter(path) => format!("enter {}", path.shown()),
        Act::Back => "back".into(),
        Act::Opaque(Opaque::UnknownModule(name)) => format!("unknown module {name}"),
        Act::Opaque(opaque) => format!("{opaque:?}"),
    }
}

fn check(cases: &[(&str, &[&str])]) {
    for (source, expected) in cases {
        assert_eq!(acts(source), *expected, "{source}");
    }
}
