//! The shipped profiles that are inferred, and their two ways up.

/// The ways up: `minimal < readonly < filesystem < mcp-standard < trusted`, and by `network-api` in the middle.
const WAYS: [&[&str]; 2] = [
    &["minimal", "readonly", "filesystem", "mcp-standard", "trusted"],
    &["minimal", "network-api", "mcp-standard", "trusted"],
];

/// How an inferred profile stands to the one that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It gives all that is needed and more.
    Over,
    Exact,
    /// It lacks something.
    Under,
}

impl Standing {
    pub fn of(inferred: &str, needed: &str) -> Standing {
        let is_above = |way: &&[&str]| position(way, inferred) > position(way, needed) && way.contains(&needed);
        match inferred == needed {
            true => Standing::Exact,
            false if WAYS.iter().any(is_above) => Standing::Over,
            false => Standing::Under,
        }
    }
}

/// Steps from one profile to another, along the ways: `readonly` is two from `network-api`, by `minimal`.
pub fn steps(one: &str, other: &str) -> usize {
    let direct = |one: &str, other: &str| {
        let along = |way: &&[&str]| Some(position(way, one)?.abs_diff(position(way, other)?));
        WAYS.iter().filter_map(along).min()
    };
    let by = |middle: &str| Some(direct(one, middle)? + direct(middle, other)?);
    let around = ["minimal", "mcp-standard"].map(by).into_iter().flatten().min();
    direct(one, other)
        .into_iter()
        .chain(around)
        .min()
        .unwrap_or_else(|| panic!("{one} or {other} is no inferred profile"))
}

fn position(way: &[&str], profile: &str) -> Option<usize> {
    way.iter().position(|name| *name == profile)
}

#[test]
fn one_way_goes_by_files_and_the_other_by_hosts() {
    assert_eq!(Standing::of("trusted", "network-api"), Standing::Over);
    assert_eq!(Standing::of("filesystem", "network-api"), Standing::Under);
    assert_eq!(Standing::of("network-api", "readonly"), Standing::Under);
    assert_eq!(Standing::of("minimal", "minimal"), Standing::Exact);
    for (one, other, between) in [
        ("minimal", "trusted", 3),
        ("readonly", "network-api", 2),
        ("filesystem", "network-api", 2),
        ("filesystem", "trusted", 2),
    ] {
        assert_eq!(steps(one, other), between, "{one} {other}");
    }
}
