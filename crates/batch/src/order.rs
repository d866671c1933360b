//! Puts the results into the order of the jobs, and writes them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::batch::Tally;
use crate::output::Output;
use crate::stop::Stop;

/// The most bytes of results that wait for an earlier one. Threads whose results would be more wait as well.
const MAX_WAITING: usize = 64 << 20;

/// Bytes that a waiting result costs beside its own.
const EACH: usize = 128;

/// The results between the threads and the output.
pub struct Order<'o> {
    state: Mutex<State>,
    written: Condvar,
    stop: &'o Stop,
    told: &'o (dyn Fn(Tally) + Sync),
}

struct State {
    next: u64,
    waiting: BTreeMap<u64, (Vec<u8>, bool)>,
    bytes: usize,
    output: Output,
    tally: Tally,
    failure: Option<io::Error>,
}

impl<'o> Order<'o> {
    /// Into this output, behind what it holds.
    pub fn into(output: Output, done: Tally, stop: &'o Stop, told: &'o (dyn Fn(Tally) + Sync)) -> Order<'o> {
        Order {
            state: Mutex::new(State {
                next: done.done,
                waiting: BTreeMap::new(),
                bytes: 0,
                output,
                tally: done,
                failure: None,
            }),
            written: Condvar::new(),
            stop,
            told,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one result, and writes it once all before it are there. Waits where too much waits.
    pub fn put(&self, index: u64, line: Vec<u8>, is_answer: bool) {
        let mut state = self.state();
        // The thread that has the next result never waits here, so the others don't wait for ever.
        while state.bytes + line.len() > MAX_WAITING && index != state.next && !self.stop.is_asked() {
            let pause = std::time::Duration::from_millis(100);
            state = self
                .written
                .wait_timeout(state, pause)
                .map_or_else(|error| error.into_inner().0, |(state, _)| state);
        }
        state.bytes += line.len() + EACH;
        state.waiting.insert(index, (line, is_answer));
        if index == state.next && state.failure.is_none() {
            if let Err(error) = state.write() {
                state.failure = Some(error);
                self.stop.ask();
            }
            self.written.notify_all();
            (self.told)(state.tally);
        }
    }

    /// The number of results that were written, once all threads have ended.
    pub fn finish(self) -> io::Result<Tally> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failure {
            Some(error) => Err(error),
            None => state.output.finish().map(|()| state.tally),
        }
    }
}

impl State {
    /// Writes what is next, and all that follows it, at once.
    fn write(&mut self) -> io::Result<()> {
        let (mut lines, mut tally) = (Vec::new(), self.tally);
        while let Some((line, is_answer)) = self.waiting.remove(&self.next) {
            self.bytes -= line.len() + EACH;
            self.next += 1;
            tally.done += 1;
            tally.unanswered += u64::from(!is_answer);
            lines.extend(line);
        }
        self.output.add(&lines)?;
        self.tally = tally;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.contains(&b'!') {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn with_order(act: impl FnOnce(&Order<'_>)) -> (Vec<u8>, io::Result<Tally>, bool) {
        let (signals, _signal) = io::pipe().unwrap();
        let stop = Stop::by(signals.as_fd()).unwrap();
        let written = Written::default();
        let order = Order::into(
            Output::stream(Box::new(written.clone())),
            Tally { done: 5, unanswered: 1 },
            &stop,
            &|_| {},
        );
        act(&order);
        let tally = order.finish();
        let bytes = written.0.lock().unwrap().clone();
        (bytes, tally, stop.is_asked())
    }

    #[test]
    fn results_are_written_in_the_order_of_the_jobs() {
        let (bytes, tally, _) = with_order(|order| {
            for (index, answer) in [(7, true), (5, false), (9, true), (6, true), (8, true)] {
                order.put(index, format!("{index}\n").into_bytes(), answer);
            }
        });
        assert_eq!(bytes, b"5\n6\n7\n8\n9\n");
        assert_eq!(
            tally.unwrap(),
            Tally {
                done: 10,
                unanswered: 2
            }
        );
    }

    #[test]
    fn a_thread_waits_where_too_much_waits() {
        let (bytes, ..) = with_order(|order| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for index in 6..10 {
                        order.put(index, vec![b'x'; MAX_WAITING / 2 + 1], true);
                    }
                });
                std::thread::sleep(std::time::Duration::from_millis(300));
                assert!(order.state().bytes <= MAX_WAITING);
                order.put(5, b"5".to_vec(), true);
            });
        });
        assert_eq!(bytes.len(), 4 * (MAX_WAITING / 2 + 1) + 1);
    }

    #[test]
    fn a_result_that_cannot_be_written_ends_the_batch() {
        let (bytes, tally, is_over) = with_order(|order| {
            order.put(5, b"5".to_vec(), true);
            order.put(6, b"!".to_vec(), true);
            order.put(7, b"7".to_vec(), true);
        });
        assert_eq!((bytes, is_over), (b"5".to_vec(), true));
        assert_eq!(tally.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
