//! What a page says in words of its own. Foreign texts are escaped here, once.

use super::run::Tone;
use stockade_report::approve::{Answer, Choice, Extent, Requested};
use stockade_text::quote::command_line;
use stockade_text::visible::visible;

/// How a run ended.
pub struct EndFacts<'a> {
    /// The status as reports name it.
    pub status: &'a str,
    pub exit_code: Option<i32>,
    pub signal: Option<&'a str>,
    pub limit: Option<&'a str>,
}

/// The ending in words, and whether it is a good one.
pub fn ending(facts: &EndFacts<'_>) -> (String, Tone) {
    let status = match facts.status {
        "completed" => "ended by itself",
        "permission_denied" => "failed, and a refusal explains it",
        "time_limit" => "ended past its time limit",
        "resource_limit" => "ended past a limit",
        "signalled" => "ended by a signal",
        "not_started" => "never started",
        "" => "ended in an unknown way",
        other => other,
    };
    let mut parts = vec![status.to_string()];
    parts.extend(facts.exit_code.map(|code| format!("exit code {code}")));
    parts.extend(facts.signal.map(String::from));
    parts.extend(facts.limit.map(|limit| format!("limit {limit}")));
    let is_well = facts.status == "completed" && facts.exit_code == Some(0);
    let tone = if is_well { Tone::Ok } else { Tone::Bad };
    (visible(&parts.join(", ")).into_owned(), tone)
}

/// The answer in words, and whether it is a yes.
pub fn answer(answer: &Answer) -> (String, Tone) {
    let (said, tone) = match &answer.choice {
        Choice::Yes { lifetime, extent } => {
            let extent = match extent {
                Extent::Requested => String::new(),
                Extent::Wider => ", wider".to_string(),
                Extent::Profile(name) => format!(", all of profile {name}"),
            };
            (format!("yes, {}{extent}, by {}", lifetime.word(), answer.by), Tone::Ok)
        }
        Choice::No { all: true } => (format!("no to everything, by {}", answer.by), Tone::Bad),
        Choice::No { all: false } => (format!("no, by {}", answer.by), Tone::Bad),
        Choice::Silence => ("no answer".to_string(), Tone::Bad),
    };
    let reason = answer.reason.as_ref().map(|reason| format!(": {reason}"));
    (visible(&(said + &reason.unwrap_or_default())).into_owned(), tone)
}

/// What was asked for, or granted, as words of a command line.
pub fn requested(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let flags: Vec<String> = grants.iter().map(|words| command_line(words)).collect();
            flags.join(" ")
        }
        Requested::Profile(name) => command_line(&["--profile", name.as_str()]),
    }
}

/// Why no flag would allow a refused access, by the rule that refused it.
pub fn without_grant(rule: Option<&str>) -> &'static str {
    match rule {
        Some(rule) if rule.starts_with("secret ") => "no flag: only your configuration opens secrets",
        _ => "no flag",
    }
}

/// Labels with texts, without those that are empty.
pub fn facts<const N: usize>(facts: [(&'static str, String); N]) -> Vec<(&'static str, String)> {
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_report::approve::Lifetime;

    #[test]
    fn only_a_run_that_succeeded_ended_well() {
        let end = |status, exit_code, signal| {
            ending(&EndFacts {
                status,
                exit_code,
                signal,
                limit: None,
            })
        };
        assert_eq!(
            end("completed", Some(0), None),
            ("ended by itself, exit code 0".into(), Tone::Ok)
        );
        assert_eq!(end("completed", Some(3), None).1, Tone::Bad);
        assert_eq!(
            end("signalled", None, Some("SIGKILL")),
            ("ended by a signal, SIGKILL".into(), Tone::Bad)
        );
        assert_eq!(end("\u{1b}[2J", None, None).0, "\\u{1b}[2J");
        assert_eq!(end("", None, None), ("ended in an unknown way".into(), Tone::Bad));
    }

    #[test]
    fn who_answered_and_why_is_escaped() {
        let said = answer(&Answer::yes(Lifetime::Once, "ada").because("\u{202e}ok"));
        assert_eq!(said, ("yes, once, by ada: \\u{202e}ok".into(), Tone::Ok));
        assert_eq!(answer(&Answer::silence("after 60 s")).0, "no answer: after 60 s");
    }
}
