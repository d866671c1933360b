//! Questions and answers of a run, so that nothing is asked twice and the number of questions is bounded.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::keys::{Group, QuestionKey};
use crate::approve::EscalationRequest;
use crate::report::{Declined, Escalated, Escalation, Refusal};

/// Most questions in one run.
const MAX: usize = 50;
/// Most questions within [`RATE_TIME`].
const MAX_AT_ONCE: usize = 20;
const RATE_TIME: Duration = Duration::from_secs(60);
/// After this many questions in a row without an answer, no more are asked.
const SILENCES: usize = 3;
/// Most refused targets that are remembered.
const MAX_REFUSED: usize = 4096;

/// How a refused access is to be handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Considered {
    /// No question can be asked about it.
    Plain,
    /// It becomes a question.
    Ask,
    /// It was declined already.
    Refused(Declined),
}

/// The questions of a run and their answers.
#[derive(Debug, Default)]
pub struct QuestionLimits {
    asked: usize,
    recent: VecDeque<Instant>,
    refused: HashMap<QuestionKey, Declined>,
    granted: HashSet<QuestionKey>,
    strikes: HashMap<Group, usize>,
    yeses: HashMap<Group, usize>,
    silences: usize,
    ended: Option<Declined>,
    answered: Vec<Escalated>,
    /// Whether the approver decides each access by itself.
    is_free: bool,
}

impl QuestionLimits {
    /// None asked yet; `is_limited` as the approver says.
    pub fn new(is_limited: bool) -> QuestionLimits {
        QuestionLimits {
            is_free: !is_limited,
            ..QuestionLimits::default()
        }
    }

    /// Says whether an access is still to be asked about.
    pub fn consider(&self, refusal: &Refusal) -> Considered {
        if let Some(declined) = &self.ended {
            return Considered::Refused(declined.clone());
        }
        if let Some(declined) = self.refused.get(&QuestionKey::of(refusal)) {
            return Considered::Refused(declined.clone());
        }
        match self.strikes.get(&Group::of(refusal)) {
            Some(strikes) if *strikes >= EscalationRequest::NOES => Considered::Refused(Declined {
                by: Some("Stockade".into()),
                reason: Some("others like it were refused before".into()),
            }),
            _ => Considered::Ask,
        }
    }

    /// Counts one more question. Over a limit it returns an error, and from then on nothing is asked.
    pub fn count(&mut self) -> Result<usize, Declined> {
        if self.is_free {
            self.asked += 1;
            return Ok(self.asked);
        }
        let now = Instant::now();
        while self.recent.front().is_some_and(|time| now - *time > RATE_TIME) {
            self.recent.pop_front();
        }
        let reason = if self.asked >= MAX {
            Some(format!("this run has asked {MAX} times"))
        } else if self.recent.len() >= MAX_AT_ONCE {
            Some(format!("this run has asked {MAX_AT_ONCE} times within a minute"))
        } else {
            None
        };
        if let Some(reason) = reason {
            let declined = Declined {
                by: Some("Stockade".into()),
                reason: Some(reason),
            };
            self.end(declined.clone());
            return Err(declined);
        }
        self.asked += 1;
        self.recent.push_back(now);
        Ok(self.asked)
    }

    /// Records a yes; one that lasts isn't asked for again.
    pub fn grant(&mut self, key: &QuestionKey, group: &Group, lasts: bool) {
        self.silences = 0;
        if !self.is_free {
            *self.yeses.entry(group.clone()).or_default() += 1;
        }
        if lasts && self.granted.len() < MAX_REFUSED {
            self.granted.insert(key.clone());
        }
    }

    /// The number of yeses to questions of this group.
    pub fn granted_beside(&self, group: &Group) -> usize {
        self.yeses.get(group).copied().unwrap_or_default()
    }

    /// The number of noes to questions of this group; none counts where the approver decides by itself.
    pub fn refused_beside(&self, group: &Group) -> usize {
        self.strikes.get(group).copied().unwrap_or_default()
    }

    /// Whether a lasting yes was given.
    pub fn has_granted(&self, key: &QuestionKey) -> bool {
        self.granted.contains(key)
    }

    /// Records a no.
    pub fn refuse(&mut self, refusal: &Refusal, declined: Declined) {
        if self.is_free {
            return;
        }
        if self.refused.len() >= MAX_REFUSED {
            let full = Declined {
                by: Some("Stockade".into()),
                reason: Some("too much was refused".into()),
            };
            self.end(full);
        }
        self.refused.insert(QuestionKey::of(refusal), declined);
        *self.strikes.entry(Group::of(refusal)).or_default() += 1;
    }

    /// Ends all asking.
    pub fn end(&mut self, declined: Declined) {
        self.ended.get_or_insert(declined);
    }

    /// Records that a question got no answer.
    pub fn hear_nothing(&mut self) {
        self.silences += 1;
        if !self.is_free && self.silences >= SILENCES {
            self.end(Declined {
                by: None,
                reason: Some("no answer to the questions before".into()),
            });
        }
    }

    /// Records that a question got an answer.
    pub fn hear_something(&mut self) {
        self.silences = 0;
    }

    /// Keeps an answer for the report.
    pub fn keep(&mut self, answered: Escalated) {
        // Only a run without other limits comes to this one.
        if self.answered.len() < MAX_REFUSED {
            self.answered.push(answered);
        }
    }

    /// The questions and answers, for the report.
    pub fn escalation(&self) -> Option<Escalation> {
        (!self.answered.is_empty()).then(|| Escalation {
            requests: self.answered.clone(),
            ended: self.ended.as_ref().map(ToString::to_string),
        })
    }
}

/// The refusal of a call that still fails after a yes: asking again would end in the same way.
pub fn not_opened() -> Declined {
    Declined {
        by: Some("Stockade".into()),
        reason: Some("what was granted doesn't open it".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Kind;
    use crate::supervise::testing::refusal;

    fn no() -> Declined {
        Declined {
            by: Some("ada".into()),
            reason: None,
        }
    }

    #[test]
    fn the_same_target_is_asked_about_once_whichever_way_it_is_changed() {
        let mut limits = QuestionLimits::default();
        limits.refuse(&refusal(Kind::Create, "/w/a"), no());
        assert_eq!(
            limits.consider(&refusal(Kind::Write, "/w/a")),
            Considered::Refused(no())
        );
        assert_eq!(
            limits.consider(&refusal(Kind::Delete, "/w/a")),
            Considered::Refused(no())
        );
        assert_eq!(limits.consider(&refusal(Kind::Read, "/w/a")), Considered::Ask);
        assert_eq!(limits.consider(&refusal(Kind::Write, "/w/b")), Considered::Ask);
    }

    #[test]
    fn two_refusals_close_a_directory_or_a_host() {
        let mut limits = QuestionLimits::default();
        for target in ["/w/a", "/w/b"] {
            limits.refuse(&refusal(Kind::Read, target), no());
        }
        assert!(matches!(
            limits.consider(&refusal(Kind::Read, "/w/c")),
            Considered::Refused(_)
        ));
        assert_eq!(limits.consider(&refusal(Kind::Read, "/w/d/c")), Considered::Ask);
        for target in ["a.example:80", "a.example:443"] {
            limits.refuse(&refusal(Kind::Connect, target), no());
        }
        let port = limits.consider(&refusal(Kind::Connect, "a.example:8080"));
        assert!(matches!(port, Considered::Refused(_)));
        assert_eq!(
            limits.consider(&refusal(Kind::Connect, "b.example:80")),
            Considered::Ask
        );
    }

    #[test]
    fn an_approver_that_decides_by_itself_is_asked_each_time() {
        let mut limits = QuestionLimits::new(false);
        for _ in 0..=2 * MAX {
            assert!(limits.count().is_ok());
            limits.refuse(&refusal(Kind::Read, "/w/a"), no());
            limits.hear_nothing();
            assert_eq!(limits.consider(&refusal(Kind::Read, "/w/a")), Considered::Ask);
        }
    }

    #[test]
    fn a_run_that_asks_too_often_is_refused_for_the_rest() {
        let mut limits = QuestionLimits::default();
        for number in 1..=MAX_AT_ONCE {
            assert_eq!(limits.count(), Ok(number));
        }
        assert!(limits.count().is_err());
        let considered = limits.consider(&refusal(Kind::Read, "/w/a"));
        assert!(matches!(considered, Considered::Refused(_)), "{considered:?}");
        limits.recent.clear();
        assert!(matches!(
            limits.consider(&refusal(Kind::Read, "/w/a")),
            Considered::Refused(_)
        ));
    }

    #[test]
    fn a_run_has_a_budget_of_questions() {
        let mut limits = QuestionLimits::default();
        for _ in 0..MAX {
            limits.recent.clear();
            limits.count().unwrap();
        }
        limits.recent.clear();
        assert!(limits.count().is_err());
    }

    #[test]
    fn three_questions_in_a_row_without_an_answer_are_the_last() {
        let mut limits = QuestionLimits::default();
        limits.hear_nothing();
        limits.hear_nothing();
        limits.hear_something();
        limits.hear_nothing();
        limits.hear_nothing();
        assert_eq!(limits.consider(&refusal(Kind::Read, "/w/a")), Considered::Ask);
        limits.hear_nothing();
        let considered = limits.consider(&refusal(Kind::Read, "/w/a"));
        assert!(matches!(considered, Considered::Refused(declined) if declined.by.is_none()));
    }

    #[test]
    fn a_yes_for_one_call_is_counted_and_not_remembered() {
        let mut limits = QuestionLimits::default();
        let refusal = refusal(Kind::Read, "/w/a");
        let (key, group) = (QuestionKey::of(&refusal), Group::of(&refusal));
        limits.grant(&key, &group, false);
        assert!(!limits.has_granted(&key));
        assert_eq!(limits.granted_beside(&group), 1);
        limits.grant(&key, &group, true);
        assert!(limits.has_granted(&key));
        assert_eq!((limits.granted_beside(&group), limits.refused_beside(&group)), (2, 0));
    }

    #[test]
    fn more_refused_targets_than_are_remembered_end_all_asking() {
        let mut limits = QuestionLimits::default();
        for number in 0..=MAX_REFUSED {
            limits.refuse(&refusal(Kind::Read, &format!("/{number}/a")), no());
        }
        let considered = limits.consider(&refusal(Kind::Read, "/another/a"));
        assert!(matches!(considered, Considered::Refused(_)));
    }

    #[test]
    fn the_first_reason_to_end_is_the_one_that_is_told() {
        let mut limits = QuestionLimits::default();
        limits.end(no());
        limits.end(not_opened());
        assert_eq!(limits.consider(&refusal(Kind::Read, "/w/a")), Considered::Refused(no()));
        assert!(limits.escalation().is_none());
    }
}
