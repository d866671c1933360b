//! Resource limits of a run and their units in text.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest time limit, 136 years: past any run, and far from overflowing a clock.
const MAX_MILLISECONDS: u64 = u32::MAX as u64 * 1000;

/// The largest number of bytes or of a count: the kernel's own limits and offsets are signed.
const MAX_COUNT: u64 = i64::MAX as u64;

/// Limits of a run's whole process tree; `None` means that Stockade sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Processor time, summed over the tree.
    pub cpu: Option<Duration>,
    /// Resident memory in bytes, summed over the tree.
    pub memory: Option<u64>,
    /// Processes and threads alive at the same time.
    pub processes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// The size of one file in bytes.
    pub file_size: Option<u64>,
    /// Bytes that the write roots may grow by.
    pub disk: Option<u64>,
    /// Bytes of standard output and standard error together.
    pub output: Option<u64>,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits {
        time: None,
        cpu: None,
        memory: None,
        processes: None,
        open_files: None,
        file_size: None,
        disk: None,
        output: None,
    };

    /// These limits, with `inherited` for those that aren't set.
    pub fn or(self, inherited: Limits) -> Limits {
        Limits {
            time: self.time.or(inherited.time),
            cpu: self.cpu.or(inherited.cpu),
            memory: self.memory.or(inherited.memory),
            processes: self.processes.or(inherited.processes),
            open_files: self.open_files.or(inherited.open_files),
            file_size: self.file_size.or(inherited.file_size),
            disk: self.disk.or(inherited.disk),
            output: self.output.or(inherited.output),
        }
    }

    /// The size of the largest file that a program can create: the limit on all files together applies to each one too.
    pub fn largest_file(&self) -> Option<u64> {
        lower(self.file_size, self.disk)
    }

    /// The lower of each pair of limits.
    pub fn meet(self, other: Limits) -> Limits {
        Limits {
            time: lower(self.time, other.time),
            cpu: lower(self.cpu, other.cpu),
            memory: lower(self.memory, other.memory),
            processes: lower(self.processes, other.processes),
            open_files: lower(self.open_files, other.open_files),
            file_size: lower(self.file_size, other.file_size),
            disk: lower(self.disk, other.disk),
            output: lower(self.output, other.output),
        }
    }
}

fn lower<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// Formats as in a profile: `memory 4G, open-files 1024`; `none` without limits.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stated = [
            ("time", self.time.map(duration_text)),
            ("cpu", self.cpu.map(duration_text)),
            ("memory", self.memory.map(size_text)),
            ("processes", self.processes.map(|n| n.to_string())),
            ("open-files", self.open_files.map(|n| n.to_string())),
            ("file-size", self.file_size.map(size_text)),
            ("disk", self.disk.map(size_text)),
            ("output", self.output.map(size_text)),
        ];
        let mut separator = "";
        for (name, text) in stated {
            if let Some(text) = text {
                write!(f, "{separator}{name} {text}")?;
                separator = ", ";
            }
        }
        if separator.is_empty() {
            f.write_str("none")
        } else {
            Ok(())
        }
    }
}

/// The quantity that a limit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A duration.
    Duration,
    /// A number of bytes.
    Size,
    /// A count.
    Count,
}

impl Quantity {
    fn accepted(self) -> &'static str {
        match self {
            Quantity::Duration => {
                "a whole number with `ms`, `s`, `m` or `h`, as in `30s` or `2h`; without a unit it is seconds"
            }
            Quantity::Size => {
                "a whole number with `K`, `M`, `G` or `T` (powers of 1024) or `B`, as in `256M`, `256MB` or `256 MiB`"
            }
            Quantity::Count => "a whole number, as in `64`",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Duration => "a duration",
            Quantity::Size => "a size",
            Quantity::Count => "a count",
        })
    }
}

/// The reason that a text isn't a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsParseError {
    /// It has no accepted form.
    #[error("`{}` isn't {quantity}: write {}", super::error::excerpt(given), quantity.accepted())]
    Form {
        /// The text as given.
        given: String,
        /// The expected quantity.
        quantity: Quantity,
    },
    /// A size without its unit, which people take for megabytes as often as for bytes.
    #[error("`{}` has no unit", super::error::excerpt(given))]
    NoUnit {
        /// The text as given.
        given: String,
    },
    /// Zero would stop the run before it starts, and doesn't mean "no limit".
    #[error(
        "`{}` is zero: a limit is at least 1; leave it out for the default",
        super::error::excerpt(given)
    )]
    Zero {
        /// The text as given.
        given: String,
    },
    /// The number is larger than the kernel can store.
    #[error("`{}` is too large for {quantity}", super::error::excerpt(given))]
    TooLarge {
        /// The text as given.
        given: String,
        /// The expected quantity.
        quantity: Quantity,
    },
}

impl LimitsParseError {
    /// The correct form, if the message doesn't contain it.
    pub fn hint(&self) -> Option<String> {
        match self {
            LimitsParseError::NoUnit { given } => Some(format!(
                "write `{}M` for mebibytes, or `K`, `G`, `T` or `B` for bytes",
                super::error::excerpt(given)
            )),
            _ => None,
        }
    }
}

/// Parses a duration: `500ms`, `30s`, `5m`, `2h`, or seconds without a unit.
///
/// # Errors
/// The text is no duration, or is too large.
pub fn parse_duration(text: &str) -> Result<Duration, LimitsParseError> {
    let written = WrittenLimit::split(text, Quantity::Duration)?;
    let milliseconds_per_unit = match written.unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        _ => return Err(written.form()),
    };
    written
        .times(milliseconds_per_unit, MAX_MILLISECONDS)
        .map(Duration::from_millis)
}

/// Parses a number of bytes with its unit: `512K`, `256MB`, `2 GiB`, `1000B`. The units are powers of 1024 in each
/// spelling, as for containers' memory and in systemd's units.
///
/// # Errors
/// The text is no size, or is too large.
pub fn parse_size(text: &str) -> Result<u64, LimitsParseError> {
    let written = WrittenLimit::split(text, Quantity::Size)?;
    let bytes_per_unit = match written.unit.trim_start_matches(' ') {
        "" if written.unit.is_empty() => return Err(written.no_unit()),
        "B" => 1,
        "K" | "k" | "KB" | "kB" | "KiB" => 1 << 10,
        "M" | "m" | "MB" | "MiB" => 1 << 20,
        "G" | "g" | "GB" | "GiB" => 1 << 30,
        "T" | "t" | "TB" | "TiB" => 1 << 40,
        _ => return Err(written.form()),
    };
    written.times(bytes_per_unit, MAX_COUNT)
}

/// Parses a count: digits and nothing else.
///
/// # Errors
/// The text is no number, or is too large.
pub fn parse_count(text: &str) -> Result<u64, LimitsParseError> {
    let written = WrittenLimit::split(text, Quantity::Count)?;
    if written.unit.is_empty() {
        written.times(1, MAX_COUNT)
    } else {
        Err(written.form())
    }
}

/// Formats a duration in the largest unit that divides it; `parse_duration` parses it back.
pub fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if duration.subsec_millis() != 0 {
        format!("{}ms", duration.as_millis())
    } else if seconds.is_multiple_of(3600) {
        format!("{}h", seconds / 3600)
    } else if seconds.is_multiple_of(60) {
        format!("{}m", seconds / 60)
    } else {
        format!("{seconds}s")
    }
}

/// Formats a number of bytes in the largest unit that divides it; `parse_size` parses it back.
pub fn size_text(bytes: u64) -> String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes != 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

/// A number and the unit after it, not yet looked up.
struct WrittenLimit<'t> {
    given: &'t str,
    quantity: Quantity,
    number: u64,
    unit: &'t str,
}

impl<'t> WrittenLimit<'t> {
    fn split(given: &'t str, quantity: Quantity) -> Result<Self, LimitsParseError> {
        let end = given.find(|c: char| !c.is_ascii_digit()).unwrap_or(given.len());
        let (digits, unit) = given.split_at(end);
        let mut written = WrittenLimit {
            given,
            quantity,
            number: 0,
            unit,
        };
        if digits.is_empty() {
            return Err(written.form());
        }
        written.number = digits.parse().map_err(|_| written.too_large())?;
        Ok(written)
    }

    fn times(&self, factor: u64, most: u64) -> Result<u64, LimitsParseError> {
        if self.number == 0 {
            return Err(LimitsParseError::Zero {
                given: self.given.to_owned(),
            });
        }
        self.number
            .checked_mul(factor)
            .filter(|&product| product <= most)
            .ok_or_else(|| self.too_large())
    }

    fn form(&self) -> LimitsParseError {
        LimitsParseError::Form {
            given: self.given.to_owned(),
            quantity: self.quantity,
        }
    }

    fn no_unit(&self) -> LimitsParseError {
        LimitsParseError::NoUnit {
            given: self.given.to_owned(),
        }
    }

    fn too_large(&self) -> LimitsParseError {
        LimitsParseError::TooLarge {
            given: self.given.to_owned(),
            quantity: self.quantity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_have_units_and_are_seconds_without() {
        for (text, milliseconds) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("90", 90_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn sizes_have_units_that_are_powers_of_1024() {
        for (text, bytes) in [
            ("256M", 256 << 20),
            ("2G", 2 << 30),
            ("512K", 512 << 10),
            ("1024B", 1024),
            ("50MiB", 50 << 20),
            ("256 MiB", 256 << 20),
            ("256MB", 256 << 20),
            ("4 kB", 4 << 10),
            ("1T", 1 << 40),
            ("7k", 7 << 10),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_refused_with_the_accepted_forms() {
        for text in ["", "s", "-1s", "1.5s", " 1s", "1s ", "1 s", "1d", "1S", "１s", "0x10"] {
            assert!(
                matches!(parse_duration(text), Err(LimitsParseError::Form { .. })),
                "{text}"
            );
        }
        for text in ["", "M", "-1M", "1.5M", "1Mb", "1Mi", "1 ", " 1M", "1M ", "1\tM", "all"] {
            assert!(matches!(parse_size(text), Err(LimitsParseError::Form { .. })), "{text}");
        }
        for text in ["", "1K", "+1", "-1"] {
            assert!(
                matches!(parse_count(text), Err(LimitsParseError::Form { .. })),
                "{text}"
            );
        }
        insta::assert_snapshot!(
            parse_size("1Mb").unwrap_err(),
            @"`1Mb` isn't a size: write a whole number with `K`, `M`, `G` or `T` (powers of 1024) or `B`, as in `256M`, `256MB` or `256 MiB`"
        );
        insta::assert_snapshot!(
            parse_duration("soon").unwrap_err(),
            @"`soon` isn't a duration: write a whole number with `ms`, `s`, `m` or `h`, as in `30s` or `2h`; without a unit it is seconds"
        );
    }

    #[test]
    fn a_size_without_its_unit_is_refused() {
        for text in ["256", "0", "1"] {
            assert!(
                matches!(parse_size(text), Err(LimitsParseError::NoUnit { .. })),
                "{text}"
            );
        }
        let error = parse_size("256").unwrap_err();
        insta::assert_snapshot!(error, @"`256` has no unit");
        insta::assert_snapshot!(error.hint().unwrap(), @"write `256M` for mebibytes, or `K`, `G`, `T` or `B` for bytes");
    }

    #[test]
    fn zero_is_refused() {
        assert!(matches!(parse_duration("0s"), Err(LimitsParseError::Zero { .. })));
        assert!(matches!(parse_size("000K"), Err(LimitsParseError::Zero { .. })));
        assert!(matches!(parse_count("0"), Err(LimitsParseError::Zero { .. })));
    }

    #[test]
    fn overflow_is_refused() {
        for text in [
            "18446744073709551615B",
            "99999999999999999999",
            "9223372036854775807K",
            "8388608T",
        ] {
            assert!(
                matches!(parse_size(text), Err(LimitsParseError::TooLarge { .. })),
                "{text}"
            );
        }
        for text in [
            "18446744073709551615h",
            "18446744073709551615",
            "18446744073709551615ms",
        ] {
            assert!(
                matches!(parse_duration(text), Err(LimitsParseError::TooLarge { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn limits_are_shown_as_a_profile_writes_them() {
        let limits = Limits {
            memory: Some(4 << 30),
            cpu: Some(Duration::from_secs(3600)),
            ..Limits::NONE
        };
        assert_eq!(limits.to_string(), "cpu 1h, memory 4G");
        assert_eq!(Limits::NONE.to_string(), "none");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(milliseconds in 1..=MAX_MILLISECONDS, bytes in 1..=MAX_COUNT) {
            let duration = Duration::from_millis(milliseconds);
            prop_assert_eq!(parse_duration(&duration_text(duration)), Ok(duration));
            prop_assert_eq!(parse_size(&size_text(bytes)), Ok(bytes));
        }

        #[test]
        fn no_text_makes_a_limit_panic(text in any::<String>()) {
            let _ = parse_duration(&text);
            let _ = parse_size(&text);
            let _ = parse_count(&text);
        }
    }
}
