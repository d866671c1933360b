//! From what a person said to the answer that is sent.

use super::order::Said;
use crate::approve::{Answer, Choice, EscalationRequest, Extent, Lifetime, Requested};

/// The answer to a request. The error says why it can't be one.
pub fn answer(said: &Said, request: &EscalationRequest, by: &str) -> Result<Answer, String> {
    let (choice, reason) = match said {
        Said::No(reason) => (Choice::No { all: false }, reason.clone()),
        Said::NoAll => (Choice::No { all: true }, None),
        Said::Wider(lifetime) => {
            let extent = Extent::Wider;
            let lifetime = lifetime.or_else(|| usual(request)).ok_or("no lifetime was offered")?;
            (Choice::Yes { lifetime, extent }, None)
        }
        Said::Yes(lifetime, name) => {
            let lifetime = *lifetime;
            let extent = match name {
                Some(name) => Extent::Profile(name.clone()),
                None if request.requested.must_be_typed() => {
                    return Err(format!(
                        "type the profile's name too: `{} {}`",
                        lifetime.word(),
                        Requested::TYPED
                    ));
                }
                None => Extent::Requested,
            };
            (Choice::Yes { lifetime, extent }, None)
        }
    };
    Ok(Answer {
        choice,
        by: by.to_string(),
        reason,
    })
}

/// How long something wider lasts where nothing is said: once is hardly meant.
pub fn usual(request: &EscalationRequest) -> Option<Lifetime> {
    let offered = &request.lifetimes;
    let session = offered.iter().find(|lifetime| **lifetime == Lifetime::Session);
    session.or_else(|| offered.first()).copied()
}

/// An answer in a few words, for the history.
pub fn summary(answer: &Answer) -> String {
    let said = match &answer.choice {
        Choice::Yes { lifetime, extent } => {
            let extent = match extent {
                Extent::Requested => String::new(),
                Extent::Wider => "wider, ".to_string(),
                Extent::Profile(name) => format!("all of `{name}`, "),
            };
            format!("yes, {extent}{}", lifetime.word())
        }
        Choice::No { all: true } => "no to all of this run".to_string(),
        Choice::No { all: false } => "no".to_string(),
        Choice::Silence => "nobody answered".to_string(),
    };
    match &answer.reason {
        Some(reason) => format!("{said}: {reason}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::samples::request;

    #[test]
    fn wider_lasts_for_the_session_where_nothing_is_said() {
        let choice = answer(&Said::Wider(None), &request(), "x").unwrap().choice;
        let lifetime = Lifetime::Session;
        let extent = Extent::Wider;
        assert_eq!(choice, Choice::Yes { lifetime, extent });
    }

    #[test]
    fn trusted_has_to_be_typed() {
        let mut request = request();
        request.requested = Requested::Profile(Requested::TYPED.into());
        let error = answer(&Said::Yes(Lifetime::Once, None), &request, "x").unwrap_err();
        assert_eq!(error, "type the profile's name too: `once trusted`");
        let typed = answer(&Said::Yes(Lifetime::Once, Some(Requested::TYPED.into())), &request, "x").unwrap();
        assert_eq!(summary(&typed), "yes, all of `trusted`, once");
    }
}
