//! From acts to the least profile, the grants that would do with less, and how sure that is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::confidence::{Doubt, confidence};
use super::evidence::{Effect, Evidence, Lines};
use super::finding::Finding;
use super::judged::Judged;
use super::language::Language;
use super::need::{Files, Hosts, Need};
use super::setting::Setting;
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
