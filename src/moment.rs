//! Parses and prints times, in UTC. Internally they are milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDateTime};
use stockade_policy::profile::parse_duration;

/// `2026-11-22 08:30:05`.
pub fn text(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis);
    time.unwrap_or_default().format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Parses a date with or without a time of day, or a duration before now.
pub fn parse(given: &str) -> Result<u64, String> {
    if let Ok(ago) = parse_duration(given) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(u64::try_from(now.saturating_sub(ago).as_millis()).unwrap_or(0));
    }
    let given = given.trim_end_matches('Z').replace('T', " ");
    let whole = if given.contains(' ') {
        given
    } else {
        given + " 00:00:00"
    };
    let time = NaiveDateTime::parse_from_str(&whole, "%Y-%m-%d %H:%M:%S");
    let ms = time
        .ok()
        .and_then(|time| u64::try_from(time.and_utc().timestamp_millis()).ok());
    ms.ok_or_else(|| "a date (`2026-11-22`, `2026-11-22T08:30:00Z`, in UTC) or how long ago (`12h`)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written() {
        for written in [
            "1970-01-01 00:00:00",
            "2000-02-29 23:59:59",
            "2026-11-22 08:30:05",
            "2100-03-01 12:00:00",
        ] {
            assert_eq!(text(parse(written).unwrap()), written);
        }
        assert_eq!(parse("2026-11-22"), Ok(1_795_305_600_000));
        assert_eq!(parse("2026-11-22T00:00:01Z"), Ok(1_795_305_601_000));
        let hour_ago = parse("1h").unwrap();
        assert!(hour_ago < parse("1s").unwrap() && hour_ago > parse("2026-01-01").unwrap());
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for given in [
            "",
            "yesterday",
            "2026-02-30",
            "2100-02-29",
            "2026-13-01",
            "1969-12-31",
            "2026-11-22T25:00:00",
            "2026--1-1",
        ] {
            assert!(parse(given).is_err(), "{given}");
        }
    }
}
