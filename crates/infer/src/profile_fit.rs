//! From acts to the least profile, the grants that would do with less, and how sure that is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::confidence::{Doubt, confidence};
use super::evidence::{Effect, Evidence, Lines};
use super::finding::{Act, Finding, Opaque};
use super::host::{Host, host};
use super::language::Language;
use super::setting::Setting;
use super::text::Text;
use super::whereabouts::{Located, Whereabouts, locate};
use stockade::policy::{Access, is_limited_variable, is_usual_variable};
use stockade_text::mask::looks_secret;

/// What a script needs, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inference {
    /// The language that it was read as.
    pub language: Language,
    /// The least of the shipped profiles that would do: `minimal`, `readonly`, `filesystem`, `network-api`,
    /// `mcp-standard`, `trusted`.
    pub profile: String,
    /// A narrower shipped profile that isn't one of these and would do: `workspace`, for a script that writes below its root.
    pub or_profile: Option<String>,
    /// How sure that is, from 0 to 1. Under 0.7 nothing should be run with it that a person didn't look at.
    pub confidence: f64,
    /// What it rests on, in the order of the source.
    pub evidence: Vec<Evidence>,
    /// The APIs and commands that were recognised.
    pub detected_patterns: Vec<String>,
    /// Paths that it reads.
    pub reads: Vec<String>,
    /// Paths that it writes.
    pub writes: Vec<String>,
    /// Hosts that it connects to; `*` for computed ones.
    pub hosts: Vec<String>,
    /// Whether it listens on a port.
    pub listens: bool,
    /// Variables that it looks at; `*` for computed ones.
    pub env: Vec<String>,
    /// Programs that it starts.
    pub commands: Vec<String>,
    /// What can't be told from the text, and why.
    pub dynamic: Vec<String>,
    /// What would do with less than the profile.
    pub least_grants: LeastGrants,
    /// The profile that it is run with where no person chose one: `minimal` where the answer isn't sure. Never `trusted` or
    /// `mcp-standard`, which only a person gives, but the one for files of its root whose names are computed, or else for hosts.
    pub runs_as: String,
    /// The flags that it is run with beside: for files that it names and reads, or writes below its root or `/tmp`, and for
    /// variables. None where it has hosts, which could carry those away.
    pub runs_with: Vec<String>,
}

/// A profile and flags of `stockade run` that together allow what was found, and no more than that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastGrants {
    /// The profile.
    pub profile: String,
    /// The flags, as words.
    pub flags: Vec<String>,
}

/// What is needed of a profile, along its two ways up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Need {
    files: Files,
    hosts: Hosts,
    /// Whether it writes below its root, outside of `/tmp`. Of the six profiles of inference only `trusted` lets it.
    writes_root: bool,
}

/// The shipped profile that lets a run write its root, and isn't one of the six.
const WRITES_ROOT: &str = "workspace";

/// What is needed of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Files {
    #[default]
    /// None.
    None,
    /// The run's data.
    Data,
    /// All below the root.
    Root,
    /// Named ones elsewhere.
    Limited,
    /// Any.
    All,
}

/// What is needed of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Hosts {
    #[default]
    /// None.
    None,
    /// Those with a name in the script.
    Named,
    /// Any.
    Any,
}

impl Need {
    /// These files, and nothing else.
    pub fn files(files: Files) -> Need {
        Need {
            files,
            ..Need::default()
        }
    }

    /// These hosts, and nothing else.
    pub fn hosts(hosts: Hosts) -> Need {
        Need {
            hosts,
            ..Need::default()
        }
    }

    /// Writing below the root.
    pub fn writes_root() -> Need {
        Need {
            writes_root: true,
            ..Need::default()
        }
    }

    /// Both.
    pub fn and(self, other: Need) -> Need {
        Need {
            files: self.files.max(other.files),
            hosts: self.hosts.max(other.hosts),
            writes_root: self.writes_root || other.writes_root,
        }
    }

    /// The least of all shipped profiles.
    pub fn shipped(self) -> &'static str {
        match self.files <= Files::Root && self.hosts == Hosts::None && self.writes_root {
            true => WRITES_ROOT,
            false => self.profile(),
        }
    }

    /// The least of the six.
    pub(crate) fn profile(self) -> &'static str {
        match (self.files, self.hosts) {
            _ if self.writes_root => "trusted",
            (Files::All, _) => "trusted",
            (Files::Limited, _) | (_, Hosts::Any) => "mcp-standard",
            (Files::None, Hosts::Named) => "network-api",
            (_, Hosts::Named) => "mcp-standard",
            (Files::Root, Hosts::None) => "filesystem",
            (Files::Data, Hosts::None) => "readonly",
            (Files::None, Hosts::None) => "minimal",
        }
    }

    fn without_hosts(self) -> Need {
        Need {
            hosts: Hosts::None,
            ..self
        }
    }

    /// The same without hosts that would come with all files, or without end.
    fn without_all_hosts(self) -> Need {
        let hosts = match (self.files, self.hosts) {
            (Files::None, Hosts::Named) if !self.writes_root => Hosts::Named,
            _ => Hosts::None,
        };
        Need { hosts, ..self }
    }

    fn is_nothing(self) -> bool {
        self.files == Files::None && self.hosts == Hosts::None && !self.writes_root
    }
}

/// One act, judged.
struct Judged {
    effect: Effect,
    target: String,
    need: Need,
    /// The flags that would grant it, and nothing else.
    flags: Option<Vec<String>>,
    /// Whether it is of a file below the root or `/tmp`.
    is_near: bool,
    doubt: Option<Doubt>,
}

/// The answer for what was found.
pub fn fit(found: Vec<Finding>, source: &str, language: Language, setting: &Setting) -> Inference {
    let lines = Lines::of(source);
    let mut answer = Inference::of(language);
    let (mut patterns, mut doubts) = (BTreeSet::new(), Vec::new());
    let (mut need, mut beyond_flags) = (Need::default(), Need::default());
    let mut flagged: Vec<(Need, Vec<String>)> = Vec::new();
    let mut by_itself = ByItself::default();
    let mut found = found;
    found.sort_by_key(|finding| finding.at.start);
    for finding in found {
        patterns.insert(finding.by.clone());
        let Some(judged) = Judged::of(&finding, setting) else {
            continue;
        };
        doubts.extend(judged.doubt);
        doubts.extend((finding.is_guess && !judged.need.is_nothing()).then_some(Doubt::Guess));
        need = need.and(judged.need);
        by_itself.add(&judged);
        match judged.flags {
            Some(flags) => flagged.push((judged.need, flags)),
            None => beyond_flags = beyond_flags.and(judged.need),
        }
        let evidence = lines.evidence(judged.effect, judged.target, &finding.at);
        if !answer.evidence.contains(&evidence) {
            answer.evidence.push(evidence);
        }
    }
    answer.profile = need.profile().into();
    answer.or_profile = Some(need.shipped())
        .filter(|shipped| *shipped != need.profile())
        .map(str::to_string);
    answer.confidence = confidence(doubts);
    if answer.is_sure() {
        (answer.runs_as, answer.runs_with) = by_itself.given();
    }
    answer.detected_patterns = patterns.into_iter().collect();
    answer.least_grants = least_grants(beyond_flags, flagged);
    answer.listed();
    answer
}

/// What a script gets by its text alone.
#[derive(Debug, Default)]
struct ByItself {
    need: Need,
    /// Of the need, what no flag grants.
    beyond_flags: Need,
    flagged: Vec<(Need, Vec<String>)>,
}

impl ByItself {
    fn add(&mut self, judged: &Judged) {
        let is_of_root = judged.need.files <= Files::Root && !judged.need.writes_root;
        // No tree as a whole that is more than the script's own.
        let is_whole = ["", ".", "/tmp"].contains(&judged.target.trim_end_matches('/'));
        if is_of_root {
            self.need = self.need.and(judged.need);
        }
        let is_given = match judged.effect {
            Effect::Read => true,
            Effect::Write => judged.is_near,
            Effect::Env => !looks_secret(judged.target.as_ref()),
            _ => false,
        };
        match judged.flags.as_ref().filter(|_| !is_whole) {
            Some(flags) if is_given => self.flagged.push((judged.need, flags.clone())),
            None if is_of_root => self.beyond_flags = self.beyond_flags.and(judged.need),
            _ => {}
        }
    }

    /// A profile and flags. Hosts are given to what has no files, and nothing else is then.
    fn given(self) -> (String, Vec<String>) {
        let with_hosts = self.need.without_all_hosts();
        if with_hosts.hosts != Hosts::None {
            return (with_hosts.profile().into(), Vec::new());
        }
        let least = least_grants(self.beyond_flags.without_hosts(), self.flagged);
        (least.profile, least.flags)
    }
}

/// The profile for what no flag grants, and the flags for the rest of it.
fn least_grants(need: Need, flagged: Vec<(Need, Vec<String>)>) -> LeastGrants {
    let mut flags: Vec<Vec<String>> = Vec::new();
    for (further, words) in flagged {
        let is_covered = need.and(further).profile() == need.profile();
        if !is_covered && !flags.contains(&words) {
            flags.push(words);
        }
    }
    LeastGrants {
        profile: need.profile().into(),
        flags: flags.concat(),
    }
}

impl Inference {
    /// Under it nothing is run with an answer that a person didn't look at.
    pub const SURE: f64 = 0.7;

    fn of(language: Language) -> Inference {
        Inference {
            language,
            profile: "minimal".into(),
            or_profile: None,
            confidence: 0.0,
            evidence: Vec::new(),
            detected_patterns: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            hosts: Vec::new(),
            listens: false,
            env: Vec::new(),
            commands: Vec::new(),
            dynamic: Vec::new(),
            least_grants: LeastGrants {
                profile: "minimal".into(),
                flags: Vec::new(),
            },
            runs_as: "minimal".into(),
            runs_with: Vec::new(),
        }
    }

    /// The answer for what can't be read at all.
    pub fn unreadable(language: Language, why: &str) -> Inference {
        Inference {
            profile: "trusted".into(),
            dynamic: vec![format!("it can't be read: {why}")],
            ..Self::of(language)
        }
    }

    /// Whether the answer is sure enough to run the script with it.
    pub fn is_sure(&self) -> bool {
        self.confidence >= Self::SURE
    }

    /// Fills the lists from the evidence.
    fn listed(&mut self) {
        let targets = |effect: Effect| {
            let of_it = self.evidence.iter().filter(|evidence| evidence.effect == effect);
            let targets: BTreeSet<String> = of_it.map(|evidence| evidence.target.clone()).collect();
            targets.into_iter().collect::<Vec<String>>()
        };
        let reads = targets(Effect::Read);
        let writes = targets(Effect::Write);
        let hosts = targets(Effect::Connect);
        let env = targets(Effect::Env);
        let commands = targets(Effect::Start);
        let dynamic = targets(Effect::Dynamic);
        self.listens = self.evidence.iter().any(|evidence| evidence.effect == Effect::Listen);
        (self.reads, self.writes, self.hosts) = (reads, writes, hosts);
        (self.env, self.commands, self.dynamic) = (env, commands, dynamic);
    }
}

impl Judged {
    /// One that no flag grants, and that leaves no doubt.
    fn new(effect: Effect, target: impl Into<String>, need: Need) -> Judged {
        Judged {
            effect,
            target: target.into(),
            need,
            flags: None,
            is_near: false,
            doubt: None,
        }
    }

    /// `None` for what leaves nothing to say.
    fn of(finding: &Finding, setting: &Setting) -> Option<Judged> {
        Some(match &finding.act {
            Act::Read(path) => return Self::file(Effect::Read, path, setting),
            Act::Write(path) => return Self::file(Effect::Write, path, setting),
            Act::Connect(target) => return Self::connection(target, setting),
            Act::Listen => Judged::new(Effect::Listen, "a port", Need::hosts(Hosts::Any)),
            Act::Variable(name) => return Self::variable(name),
            Act::Start(words) => {
                let program = words.first().map(Text::shown).unwrap_or_default();
                Judged {
                    flags: Some(Vec::new()),
                    ..Judged::new(Effect::Start, program, Need::default())
                }
            }
            Act::Opaque(opaque) => Self::opaque(opaque),
            Act::Shell(_) | Act::Code(..) | Act::Enter(_) | Act::Back => return None,
        })
    }

    fn file(effect: Effect, path: &Text, setting: &Setting) -> Option<Judged> {
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
        Some(Judged {
            flags: is_exact.then(|| vec![flag.to_string(), shown.clone()]),
            is_near: matches!(
                whereabouts,
                Whereabouts::Data | Whereabouts::Root | Whereabouts::Temporary
            ),
            doubt,
            ..Judged::new(effect, shown, need)
        })
    }

    fn connection(target: &Text, setting: &Setting) -> Option<Judged> {
        let (target, need, doubt) = match host(target) {
            Host::Nowhere => return None,
            Host::File(path) => return Self::file(Effect::Read, &path.into(), setting),
            Host::Named(name) => (name, Need::hosts(Hosts::Named), None),
            Host::Unknown => ("*".to_string(), Need::hosts(Hosts::Any), Some(Doubt::Computed)),
        };
        Some(Judged {
            flags: doubt.is_none().then(|| vec!["--host".to_string(), target.clone()]),
            doubt,
            ..Judged::new(Effect::Connect, target, need)
        })
    }

    fn variable(name: &Text) -> Option<Judged> {
        let known = name.exact();
        if known.is_some_and(is_usual_variable) {
            return None;
        }
        let files = match known {
            Some(name) if name == "PATH" || is_limited_variable(name) => Files::Limited,
            _ => Files::All,
        };
        Some(Judged {
            flags: known.map(|name| vec!["--env".to_string(), name.to_string()]),
            ..Judged::new(Effect::Env, known.unwrap_or("*"), Need::files(files))
        })
    }

    fn opaque(opaque: &Opaque) -> Judged {
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
            // That its file is read stands beside it.
            Opaque::Unfollowed(_) => (Need::default(), Doubt::Unfollowed),
            // It may do anything.
            Opaque::Unparsed(_) => (Need::files(Files::All), Doubt::Unparsed),
            _ => (Need::files(Files::All), Doubt::Opaque),
        };
        Judged {
            doubt: Some(doubt),
            ..Judged::new(Effect::Dynamic, why, need)
        }
    }
}
