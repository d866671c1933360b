//! Results whose answers came too late.
//!
//! With `WAIT_KILLABLE_RECV` (Linux 5.19) a waiting target can't be interrupted. Without it an interrupted call is made
//! again: its result is kept for (thread, call, registers) and given then, or a `mkdir` would run twice.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::mutex::lock;

/// The result of a call whose answer came too late: a signal interrupted the target, which then repeats the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The call's number and registers.
    pub call: (i32, [u64; 6]),
    /// The result to answer with.
    pub result: Result<i64, i32>,
}

/// Results that were never received, by thread.
#[derive(Debug, Default)]
pub struct Replays(Mutex<HashMap<i32, Replay>>);

impl Replays {
    /// Most threads; threads that were killed never repeat their call.
    const MAX: usize = 256;

    /// Keeps a result for the thread that will repeat its call.
    pub fn remember(&self, thread: i32, replay: Replay) {
        let mut replays = lock(&self.0);
        if replays.len() >= Replays::MAX {
            replays.clear();
        }
        replays.insert(thread, replay);
    }

    /// The result of the same call of the same thread, if it was done and the answer was never received.
    pub fn recall(&self, thread: i32, call: (i32, [u64; 6])) -> Option<Result<i64, i32>> {
        let mut replays = lock(&self.0);
        if replays.is_empty() {
            return None;
        }
        let replay = replays.remove(&thread)?;
        (replay.call == call).then_some(replay.result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(number: i32) -> Replay {
        Replay {
            call: (number, [7; 6]),
            result: Ok(3),
        }
    }

    #[test]
    fn the_same_call_gets_its_result_once() {
        let replays = Replays::default();
        replays.remember(1, replay(5));
        assert_eq!(replays.recall(2, (5, [7; 6])), None);
        assert_eq!(replays.recall(1, (5, [7; 6])), Some(Ok(3)));
        assert_eq!(replays.recall(1, (5, [7; 6])), None);
    }

    #[test]
    fn another_call_of_the_thread_forgets_it() {
        let replays = Replays::default();
        replays.remember(1, replay(5));
        assert_eq!(replays.recall(1, (6, [7; 6])), None);
        assert_eq!(replays.recall(1, (5, [7; 6])), None);
    }

    #[test]
    fn threads_that_never_come_back_take_no_more_than_their_room() {
        let replays = Replays::default();
        for thread in 0..1000 {
            replays.remember(thread, replay(5));
        }
        assert!(lock(&replays.0).len() <= Replays::MAX);
        assert_eq!(replays.recall(999, (5, [7; 6])), Some(Ok(3)));
    }
}
