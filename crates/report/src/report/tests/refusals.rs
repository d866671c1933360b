//! The bounded list of refusals.

use super::*;

fn note(refusals: &mut Refusals, kind: Kind, target: &str, at: u64) {
    let refusal = Refusal {
        at: Duration::from_millis(at),
        ..refusal(kind, target)
    };
    refusals.note(refusal, at);
}

#[test]
fn equal_ones_are_counted() {
    let mut refusals = Refusals::default();
    note(&mut refusals, Kind::Read, "/a", 1);
    note(&mut refusals, Kind::Write, "/a", 2);
    note(&mut refusals, Kind::Read, "/a", 3);
    let [read, write] = refusals.list() else { panic!() };
    assert_eq!(
        (read.count, read.first.at.as_millis(), read.last_at.as_millis()),
        (2, 1, 3)
    );
    assert_eq!(write.count, 1);
}

#[test]
fn the_first_and_the_last_of_endless_probes_are_kept() {
    let mut refusals = Refusals::default();
    let total = 20_000;
    for index in 0..total {
        note(&mut refusals, Kind::Read, &format!("/probe/{index}"), index);
    }
    note(&mut refusals, Kind::Create, "/srv/out", total);
    let list = refusals.list();
    assert_eq!(list.len(), Refusals::MAX + Refusals::LATEST);
    assert_eq!(list[0].first.target, b"/probe/0");
    assert!(list.iter().any(|counted| counted.first.target == b"/srv/out"));
    assert_eq!(refusals.dropped() + list.len() as u64, total + 1);
    let mut begun = run(&["x"]);
    begun.refusals = refusals;
    begun.calls = total;
    let report = begun.fails_on("/srv/out").judged();
    assert_eq!(explaining(&report), ["/srv/out"]);
    assert_eq!(report.denials_dropped, total + 1 - report.denials.len() as u64);
}

#[test]
fn long_names_fill_no_memory() {
    let mut refusals = Refusals::default();
    for index in 0..5000 {
        note(
            &mut refusals,
            Kind::Read,
            &format!("/{index}/{}", "x".repeat(100_000)),
            index,
        );
    }
    let held: usize = refusals
        .list()
        .iter()
        .map(|counted| counted.first.asked.len() + counted.first.target.len())
        .sum();
    assert!(held < 2 * Refusals::MAX_BYTES, "{held}");
    assert!(refusals.dropped() > 4000);
}

#[test]
fn one_that_was_dropped_from_the_ring_comes_back_as_new() {
    let mut refusals = Refusals::default();
    for index in 0..(Refusals::MAX + Refusals::LATEST) as u64 {
        note(&mut refusals, Kind::Read, &format!("/{index}"), index);
    }
    let pushed_out = format!("/{}", Refusals::MAX);
    note(&mut refusals, Kind::Read, "/new", 9000);
    assert!(
        !refusals
            .list()
            .iter()
            .any(|counted| counted.first.target == pushed_out.as_bytes())
    );
    note(&mut refusals, Kind::Read, &pushed_out, 9001);
    note(&mut refusals, Kind::Read, &pushed_out, 9002);
    let again = refusals
        .list()
        .iter()
        .find(|counted| counted.first.target == pushed_out.as_bytes());
    assert_eq!(again.unwrap().count, 2);
}
