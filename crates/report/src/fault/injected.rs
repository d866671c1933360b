//! Deliberate panics for tests of their containment. A build without debug assertions has none.

/// Panics if the launcher's environment asks for it: `STOCKADE_TEST_PANIC` names the point, perhaps with a part of its
/// subject and the number of calls that pass first, as in `worker:/x@3`.
///
/// The first call must come before any fork, since it reads the environment then.
#[cfg(debug_assertions)]
#[track_caller]
pub fn point<T: AsRef<[u8]>>(name: &str, about: impl FnOnce() -> T) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PASSED: AtomicUsize = AtomicUsize::new(0);
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    let Some(chosen) = CHOSEN.get_or_init(|| std::env::var("STOCKADE_TEST_PANIC").ok()) else {
        return;
    };
    let (chosen, passes) = chosen.split_once('@').unwrap_or((chosen, "0"));
    let (chosen, part) = chosen.split_once(':').unwrap_or((chosen, ""));
    let holds = |text: &[u8]| part.is_empty() || text.windows(part.len()).any(|window| window == part.as_bytes());
    let is_meant = name == chosen && holds(about().as_ref());
    if is_meant && PASSED.fetch_add(1, Ordering::Relaxed) >= passes.parse().unwrap_or(0) {
        panic!("injected at `{name}`");
    }
}

/// Does nothing.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point<T: AsRef<[u8]>>(_name: &str, _about: impl FnOnce() -> T) {}
