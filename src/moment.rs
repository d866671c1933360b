//! Parses and prints times, in UTC. Internally they are milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

use stockade_policy::profile::parse_duration;

const DAY: i64 = 86_400;

/// `2026-11-22 08:30:05`.
pub fn text(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1000).unwrap_or(0);
    let (days, time) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// Parses a date with or without a time of day, or a duration before now.
pub fn parse(given: &str) -> Result<u64, String> {
    if let Ok(ago) = parse_duration(given) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(u64::try_from(now.saturating_sub(ago).as_millis()).unwrap_or(0));
    }
    let seconds = seconds(given.trim_end_matches('Z'));
    let ms = seconds.and_then(|seconds| u64::try_from(seconds).ok()?.checked_mul(1000));
    ms.ok_or_else(|| "a date (`2026-11-22`, `2026-11-22T08:30:00Z`, in UTC) or how long ago (`12h`)".into())
}

fn seconds(given: &str) -> Option<i64> {
    let (day, time) = given.split_once(['T', ' ']).unwrap_or((given, "00:00:00"));
    let [year, month, date] = numbers(day, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_one = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&date);
    let is_of_day = hour < 24 && minute < 60 && second < 61;
    let days = is_one.then(|| days(year, month, date))?;
    // The 31st of February would convert to a different day.
    let exists = self::date(days) == (year, month, date);
    (is_of_day && exists).then_some(days * DAY + hour * 3600 + minute * 60 + second)
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let numbers: Option<Vec<i64>> = text
        .split(separator)
        .map(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| part.parse().ok())?
        })
        .collect();
    numbers?.try_into().ok()
}

/// Year, month and day, so many days after 1970-01-01, in the Gregorian calendar. Eras of 400 years begin with March, so
/// that the day of the leap year is the last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The inverse of `date`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = (month + 9) % 12;
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
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
