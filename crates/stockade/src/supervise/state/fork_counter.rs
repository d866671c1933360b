//! Counts the processes and threads of a run as they are made.

use std::time::{Duration, Instant};

/// How long a count of the tree may miss a process that was allowed.
const SHOWS_AFTER: Duration = Duration::from_millis(20);

/// Counts the processes and threads of a run as they are made.
#[derive(Default)]
pub struct ForkCounter {
    /// The times at which processes were allowed that a count of the tree may miss.
    expected: Vec<Instant>,
    /// The number of processes that may be made before the tree is counted again.
    free: u64,
}

impl ForkCounter {
    /// Allows one more without a count, if the last one found much room. A process that a count misses, because its
    /// parent ends meanwhile, is found by the next one, which comes after half of the room at the latest.
    pub fn knows_room(&mut self) -> bool {
        let knows = self.free > 0;
        if knows {
            self.free -= 1;
            self.expect();
        }
        knows
    }

    fn expect(&mut self) {
        self.expected.retain(|since| since.elapsed() < SHOWS_AFTER);
        self.expected.push(Instant::now());
    }

    /// Allows one more, if there is room besides those alive and those expected.
    pub fn expect_one_more(&mut self, alive: u64, limit: u64) -> bool {
        self.expected.retain(|since| since.elapsed() < SHOWS_AFTER);
        let taken = alive + self.expected.len() as u64;
        let has_room = taken < limit;
        if has_room {
            self.free = (limit - taken - 1) / 2;
            self.expect();
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes were allowed at this time.
    fn allowed_at(time: Instant) -> ForkCounter {
        ForkCounter {
            expected: vec![time; 2],
            free: 0,
        }
    }

    #[test]
    fn half_of_the_room_is_given_without_another_count() {
        let mut counter = ForkCounter::default();
        assert!(!counter.knows_room(), "the tree was never counted");
        assert!(counter.expect_one_more(0, 9));
        let free = (0..).take_while(|_| counter.knows_room()).count();
        assert_eq!(free, 4);
    }

    #[test]
    fn at_the_limit_there_is_no_room() {
        let mut counter = ForkCounter::default();
        assert!(!counter.expect_one_more(9, 9));
        assert!(!counter.expect_one_more(10, 9));
        assert!(counter.expect_one_more(8, 9));
        assert!(!counter.knows_room());
    }

    #[test]
    fn processes_that_a_count_may_miss_take_room() {
        // Allowed in an hour: expected however slow the machine is.
        let mut counter = allowed_at(Instant::now() + Duration::from_secs(3600));
        assert!(!counter.expect_one_more(7, 9));
        assert!(counter.expect_one_more(6, 9));
    }

    #[test]
    fn a_process_is_expected_only_until_a_count_shows_it() {
        let mut counter = allowed_at(Instant::now() - SHOWS_AFTER);
        assert!(counter.expect_one_more(8, 9));
    }
}
