//! A call that waits for an approval.

use super::call_grants::CallGrants;
use crate::approve::Answer;
use crate::report::Refusal;
use crate::supervise::state::nested_runs::CallerRuns;
use stockade_sys::notify::Notification;

/// A call that is handled again from the start.
pub struct PendingCall {
    /// The call.
    pub notification: Notification,
    /// The nested runs that the caller is in.
    pub nested_runs: CallerRuns,
    /// The grants that the call already has.
    pub call_grants: CallGrants,
}

/// A call that waits for an approval.
pub struct Question {
    pub call: PendingCall,
    /// The refused access.
    pub refusal: Refusal,
    /// The errno of the call on a no.
    pub errno: i32,
}

/// A message to the prompt queue.
pub enum Message {
    /// A call that waits.
    Question(Box<Question>),
    /// The answer to the question of this number.
    Answered(usize, Answer),
    /// No process of the run is left.
    Over,
}
