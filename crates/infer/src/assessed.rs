//! Maps an act to its need, the flags that would grant it, and the remaining doubt.

use super::confidence::Doubt;
use super::evidence::Effect;
use super::finding::{Act, Finding, Opaque};
use super::host::{Host, host};
use super::need::{Files, Hosts, Need};
use super::setting::Setting;
use super::text::Text;
use super::whereabouts::{Located, Whereabouts, locate};
use stockade_policy::policy::{Access, is_limited_variable, is_usual_variable};

/// The assessment of one act.
pub struct Assessed {
    pub effect: Effect,
    pub target: String,
    pub need: Need,
    /// The flags that grant this act and nothing else.
    pub flags: Option<Vec<String>>,
    /// Whether its file is below the root or `/tmp`.
    pub is_near: bool,
    pub doubt: Option<Doubt>,
}

impl Assessed {
    /// An act without flags and without doubt.
    fn new(effect: Effect, target: impl Into<String>, need: Need) -> Assessed {
        Assessed {
            effect,
            target: target.into(),
            need,
            flags: None,
            is_near: false,
            doubt: None,
        }
    }

    /// Assesses a finding; `None` if it needs nothing.
    pub fn of(finding: &Finding, setting: &Setting) -> Option<Assessed> {
        Some(match &finding.act {
            Act::Read(path) => return Self::file(Effect::Read, path, setting),
            Act::Write(path) => return Self::file(Effect::Write, path, setting),
            Act::Connect(target) => return Self::connection(target, setting),
            Act::Listen => Assessed::new(Effect::Listen, "a port", Need::hosts(Hosts::Any)),
            Act::Variable(name) => return Self::variable(name),
            Act::Start(words) => {
                let program = words.first().map(Text::shown).unwrap_or_default();
                Assessed {
                    flags: Some(Vec::new()),
                    ..Assessed::new(Effect::Start, program, Need::default())
                }
            }
            Act::Opaque(opaque) => Self::opaque(opaque),
            Act::Shell(_) | Act::Code(..) | Act::Enter(_) | Act::Back => return None,
        })
    }

    fn file(effect: Effect, path: &Text, setting: &Setting) -> Option<Assessed> {
        let (access, flag) = match effect {
            Effect::Read => (Access::READ, "--read"),
            _ => (Access::WRITE, "--write"),
        };
        let Located {
            whereabouts,
            shown,
            is_exact,
        } = locate(path, access, setting);
        let need = match (whereabouts, effect) {
            (Whereabouts::Free, _) => return None,
            (Whereabouts::Temporary, _) => Need::files(Files::Root),
            (Whereabouts::Data, Effect::Read) => Need::files(Files::Data),
            (Whereabouts::Root, Effect::Read) => Need::files(Files::Root),
            (Whereabouts::Elsewhere | Whereabouts::Unknown, Effect::Read) => Need::files(Files::Limited),
            (Whereabouts::Data | Whereabouts::Root, _) => Need::writes_root(),
            (Whereabouts::Elsewhere | Whereabouts::Unknown, _) => Need::files(Files::All),
        };
        let doubt = match whereabouts {
            Whereabouts::Unknown => Some(Doubt::Computed),
            _ if !is_exact => Some(Doubt::PartlyKnown),
            _ => None,
        };
        Some(Assessed {
            flags: is_exact.then(|| vec![flag.to_string(), setting.absolute(&shown)]),
            is_near: matches!(
                whereabouts,
                Whereabouts::Data | Whereabouts::Root | Whereabouts::Temporary
            ),
            doubt,
            ..Assessed::new(effect, shown, need)
        })
    }

    fn connection(target: &Text, setting: &Setting) -> Option<Assessed> {
        let (target, need, doubt) = match host(target) {
            Host::Nowhere => return None,
            Host::File(path) => return Self::file(Effect::Read, &path.into(), setting),
            Host::Named(name) => (name, Need::hosts(Hosts::Named), None),
            Host::Unknown => ("*".to_string(), Need::hosts(Hosts::Any), Some(Doubt::Computed)),
        };
        Some(Assessed {
            flags: doubt.is_none().then(|| vec!["--host".to_string(), target.clone()]),
            doubt,
            ..Assessed::new(Effect::Connect, target, need)
        })
    }

    fn variable(name: &Text) -> Option<Assessed> {
        let known = name.exact();
        if known.is_some_and(is_usual_variable) {
            return None;
        }
        let files = match known {
            Some(name) if name == "PATH" || is_limited_variable(name) => Files::Limited,
            _ => Files::All,
        };
        Some(Assessed {
            flags: known.map(|name| vec!["--env".to_string(), name.to_string()]),
            ..Assessed::new(Effect::Env, known.unwrap_or("*"), Need::files(files))
        })
    }

    fn opaque(opaque: &Opaque) -> Assessed {
        let why = match opaque {
            Opaque::BuiltCode => "runs code that it builds".to_string(),
            Opaque::RemoteCode => "runs code that it fetches".to_string(),
            Opaque::ComputedImport => "imports what it computes".to_string(),
            Opaque::ComputedName => "calls what it computes".to_string(),
            Opaque::UnknownModule(name) => format!("uses the module `{name}`, which isn't known"),
            Opaque::UnknownProgram(name) => format!("starts `{name}`, which isn't known"),
            Opaque::OtherFile(name) => format!("runs the code of `{name}`"),
            Opaque::Unfollowed(name) => format!("uses the code of `{name}`, which isn't read"),
            Opaque::Unparsed(why) => format!("doesn't parse: {why}"),
            Opaque::TooMuch(why) => why.to_string(),
        };
        let (need, doubt) = match opaque {
            // Reading its file is a finding of its own.
            Opaque::Unfollowed(_) => (Need::default(), Doubt::Unfollowed),
            // It may do anything.
            Opaque::Unparsed(_) => (Need::files(Files::All), Doubt::Unparsed),
            _ => (Need::files(Files::All), Doubt::Opaque),
        };
        Assessed {
            doubt: Some(doubt),
            ..Assessed::new(Effect::Dynamic, why, need)
        }
    }
}
