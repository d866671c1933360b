//! One query for many lookups, and room for new answers.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);

fn named(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn found(ttl_seconds: u32) -> LookupOutcome {
    LookupOutcome::found(vec!["10.0.0.1".parse().unwrap()], ttl_seconds)
}

#[test]
fn an_answer_is_asked_for_once_and_says_how_long_it_still_holds() {
    let cache = NameCache::default();
    let name = named("a.example");
    assert_eq!(cache.fresh(&name), None);
    let first = cache.answer(&name, PATIENCE, || found(300)).unwrap();
    assert_eq!(first.ttl, Duration::from_secs(300));
    let second = cache.answer(&name, PATIENCE, || panic!("asked twice")).unwrap();
    assert!(second.ttl < first.ttl && second.ttl > Duration::from_secs(290));
    assert_eq!(cache.fresh(&name).unwrap().unwrap().addresses, first.addresses);
    cache.clear();
    assert_eq!(cache.fresh(&name), None);
}

#[test]
fn a_stale_answer_is_asked_for_again() {
    let cache = NameCache::default();
    let name = named("a.example");
    cache.answer(&name, PATIENCE, || found(300)).unwrap();
    let Some(CacheEntry::Known(known)) = cache.entries().remove(&name) else {
        panic!("not known")
    };
    cache.entries().insert(
        name.clone(),
        CacheEntry::Known(CachedName {
            until: Instant::now(),
            ..known
        }),
    );
    assert_eq!(cache.fresh(&name), None);
    assert_eq!(
        cache.answer(&name, PATIENCE, LookupOutcome::failed),
        Err(NoAddress::Failed)
    );
}

#[test]
fn those_who_ask_at_the_same_time_share_one_question() {
    let cache = NameCache::default();
    let name = named("a.example");
    let asked = AtomicUsize::new(0);
    let (started, starts) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let count = || {
        asked.fetch_add(1, Ordering::Relaxed);
        found(300)
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            cache.answer(&name, PATIENCE, move || {
                started.send(()).unwrap();
                gone.recv().unwrap();
                found(300)
            })
        });
        starts.recv().unwrap();
        assert_eq!(cache.fresh(&name), None, "not known yet");
        let others: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| cache.answer(&name, PATIENCE, count)))
            .collect();
        go.send(()).unwrap();
        let expected = first.join().unwrap().unwrap().addresses;
        for other in others {
            assert_eq!(other.join().unwrap().unwrap().addresses, expected);
        }
    });
    assert_eq!(asked.into_inner(), 0);
}

#[test]
fn nothing_waits_for_an_asker_that_panicked_or_takes_too_long() {
    let cache = NameCache::default();
    let name = named("a.example");
    let asking = panic::catch_unwind(AssertUnwindSafe(|| {
        cache.answer(&name, PATIENCE, || panic!("on purpose"))
    }));
    assert!(asking.is_err());
    assert_eq!(cache.fresh(&name), Some(Err(NoAddress::Failed)));
    let never = PendingLookup::default();
    assert_eq!(never.wait(Duration::from_millis(5)), Err(NoAddress::Failed));
}

#[test]
fn what_was_asked_before_a_clear_is_not_kept() {
    let cache = NameCache::default();
    let name = named("a.example");
    let clear_meanwhile = || {
        cache.clear();
        found(300)
    };
    assert!(cache.answer(&name, PATIENCE, clear_meanwhile).is_ok());
    assert_eq!(cache.fresh(&name), None);
    let ask_anew_meanwhile = || {
        cache.clear();
        cache.answer(&name, PATIENCE, || found(300)).unwrap();
        LookupOutcome::failed()
    };
    assert!(cache.answer(&name, PATIENCE, ask_anew_meanwhile).is_err());
    assert!(cache.fresh(&name).unwrap().is_ok());
}

#[test]
fn the_answer_that_ends_first_makes_room() {
    let cache = NameCache::default();
    for number in 0..MAX_NAMES {
        let ttl_seconds = if number == 7 { 100 } else { 1000 };
        cache
            .answer(&named(&format!("n{number}.example")), PATIENCE, || found(ttl_seconds))
            .unwrap();
    }
    cache
        .answer(&named("one-more.example"), PATIENCE, || found(1000))
        .unwrap();
    assert_eq!(cache.entries().len(), MAX_NAMES);
    assert_eq!(cache.fresh(&named("n7.example")), None);
    assert!(cache.fresh(&named("n8.example")).is_some());
}
