//! Maps acts to the least profile, to narrower grants, and to a confidence.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::assessed::Assessed;
use super::confidence::{Doubt, confidence};
use super::evidence::{Effect, Evidence, Lines};
use super::finding::Finding;
use super::language::Language;
use super::need::{Files, Hosts, Need};
use super::setting::Setting;
use stockade_text::mask::looks_secret;

/// The inferred needs of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inference {
    /// The language that the script was parsed as.
    pub language: Language,
    /// The least sufficient profile of these six: `minimal`, `readonly`, `filesystem`, `network-api`, `mcp-standard`,
    /// `trusted`.
    pub profile: String,
    /// A narrower sufficient profile outside of the six: `workspace`, for a script that writes below its root.
    pub or_profile: Option<String>,
    /// Confidence from 0 to 1. Under 0.7, a person should review the script before it runs with this profile.
    pub confidence: f64,
    /// The evidence, in source order.
    pub evidence: Vec<Evidence>,
    /// The APIs and commands that were recognised.
    pub detected_patterns: Vec<String>,
    /// Paths that it reads.
    pub reads: Vec<String>,
    /// Paths that it writes.
    pub writes: Vec<String>,
    /// Those of them that it only makes, as directories.
    #[serde(default)]
    pub makes: Vec<String>,
    /// Hosts that it connects to; `*` for computed ones.
    pub hosts: Vec<String>,
    /// Whether it listens on a port.
    pub listens: bool,
    /// Environment variables that it reads; `*` for computed ones.
    pub env: Vec<String>,
    /// Programs that it starts.
    pub commands: Vec<String>,
    /// The acts that the text doesn't determine, with the reason.
    pub dynamic: Vec<String>,
    /// Narrower grants that suffice instead of the profile.
    pub least_grants: LeastGrants,
    /// The profile of a run if no person chose one: `minimal` if the answer isn't sure. Never `trusted` or `mcp-standard`,
    /// which only a person grants, but the one for files of its root with computed names, or else for hosts.
    pub runs_as: String,
    /// The additional flags of that run: for files that it names and reads, or writes below its root or `/tmp`, and for
    /// variables. None if the profile grants hosts, to which it could send their content.
    pub runs_with: Vec<String>,
    /// The acts that neither grants.
    pub left_out: Vec<LeftOut>,
}

/// An act that a run without a person's choice isn't granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The effect.
    pub effect: Effect,
    /// As in [`Evidence`].
    pub target: String,
    /// The flag and its value that would grant it; empty where the text doesn't determine them.
    pub flags: Vec<String>,
}

/// A profile and flags of `stockade run` that together allow the acts found, and no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastGrants {
    /// The profile.
    pub profile: String,
    /// The flags, as words.
    pub flags: Vec<String>,
}

/// Computes the answer for the findings.
pub fn fit(found: Vec<Finding>, source: &str, language: Language, setting: &Setting) -> Inference {
    let lines = Lines::of(source);
    let mut answer = Inference::of(language);
    let (mut patterns, mut doubts) = (BTreeSet::new(), Vec::new());
    let (mut need, mut beyond_flags) = (Need::default(), Need::default());
    let mut flagged: Vec<(Need, Vec<String>)> = Vec::new();
    let mut by_itself = ByItself::default();
    let mut acts = Vec::new();
    let (mut makes, mut changes) = (BTreeSet::new(), BTreeSet::new());
    let mut found = found;
    found.sort_by_key(|finding| finding.at.start);
    for finding in found {
        patterns.insert(finding.by.clone());
        let Some(judged) = Assessed::of(&finding, setting) else {
            continue;
        };
        doubts.extend(judged.doubt);
        doubts.extend((finding.is_guess && !judged.need.is_nothing()).then_some(Doubt::Guess));
        need = need.and(judged.need);
        by_itself.add(&judged);
        let flags = judged.flags.clone().unwrap_or_default();
        acts.push((
            judged.need,
            LeftOut {
                effect: judged.effect,
                target: judged.target.clone(),
                flags,
            },
        ));
        match judged.flags {
            Some(flags) => flagged.push((judged.need, flags)),
            None => beyond_flags = beyond_flags.and(judged.need),
        }
        if judged.effect == Effect::Write {
            let made = if makes_directory(&finding.by) {
                &mut makes
            } else {
                &mut changes
            };
            made.insert(judged.target.clone());
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
    let mut given = Need::default();
    if answer.is_sure() {
        (given, answer.runs_with) = by_itself.given();
    }
    answer.runs_as = given.profile().into();
    for (need, act) in acts {
        let is_flagged = !act.flags.is_empty() && answer.runs_with.chunks_exact(2).any(|words| words == act.flags);
        let is_granted = is_flagged || need.and(given).profile() == given.profile() && !is_unusual_host(&act);
        if !is_granted && !answer.left_out.contains(&act) {
            answer.left_out.push(act);
        }
    }
    answer.makes = makes.difference(&changes).cloned().collect();
    answer.detected_patterns = patterns.into_iter().collect();
    answer.least_grants = least_grants(beyond_flags, flagged);
    answer.listed();
    answer
}

/// Whether it connects to a host that `network-api` lacks.
fn is_unusual_host(act: &LeftOut) -> bool {
    act.effect == Effect::Connect && !act.target.starts_with("api.")
}

/// Whether an API or a command makes a directory and does nothing to one that is there.
fn makes_directory(by: &str) -> bool {
    let name = by.split(' ').next().and_then(|name| name.rsplit('.').next());
    let name = name.unwrap_or_default().trim_end_matches("Sync");
    ["mkdir", "makedirs", "mkdirp", "mkdirs", "ensureDir"].contains(&name)
}

/// The grants that a script gets from its text alone.
#[derive(Debug, Default)]
struct ByItself {
    need: Need,
    /// The part of the need that no flag grants.
    beyond_flags: Need,
    flagged: Vec<(Need, Vec<String>)>,
}

impl ByItself {
    fn add(&mut self, judged: &Assessed) {
        let is_of_root = judged.need.files <= Files::Root && !judged.need.writes_root;
        // Excludes whole trees that hold more than the script's own files.
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

    /// Returns the need that its profile covers, and flags. Grants hosts only to a script without files, and then nothing else.
    fn given(self) -> (Need, Vec<String>) {
        let with_hosts = self.need.without_all_hosts();
        if with_hosts.hosts != Hosts::None {
            return (with_hosts, Vec::new());
        }
        let need = self.beyond_flags.without_hosts();
        (need, least_grants(need, self.flagged).flags)
    }
}

/// The profile for the need that no flag grants, and the flags for the rest.
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
    /// Minimum confidence to run a script with an answer that no person reviewed.
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
            makes: Vec::new(),
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
            left_out: Vec::new(),
        }
    }

    /// The answer for a text that can't be read at all.
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
