//! The time of day.

use std::time::SystemTime;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(super) fn now() -> String {
    timestamp(SystemTime::now())
}

fn timestamp(time: SystemTime) -> String {
    // As in `Sun, 22 Nov 2026 05:06:07 GMT`.
    let date = httpdate::fmt_http_date(time);
    let mut parts = date.split(' ').skip(1);
    let [day, month, year, time] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let month = MONTHS.iter().position(|name| *name == month).unwrap_or_default() + 1;
    format!("{year}-{month:02}-{day}T{time}Z")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::timestamp;

    #[test]
    fn days_are_counted_with_leap_years() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_324_339, "2026-11-22T05:12:19Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
