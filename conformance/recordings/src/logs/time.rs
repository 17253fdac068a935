//! Times in rows of logs, which come as texts and as numbers of several units.

/// The seconds since 1970 of a time as JSON. A duration has none.
pub(super) fn seconds(value: &str) -> Option<f64> {
    let text = value.trim_matches('"');
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let Some(number) = number else { return of_text(text) };
    // Seconds, milliseconds, microseconds or nanoseconds: a time of this century is one in a single unit.
    [1.0, 1e3, 1e6, 1e9].into_iter().map(|unit| number / unit).find(|seconds| (1e9..1e10).contains(seconds))
}

/// `2026-11-29T10:11:07.93Z`, with a space or an offset instead; without an offset it is UTC.
fn of_text(text: &str) -> Option<f64> {
    let number = |from: usize, length: usize| text.get(from..from + length)?.parse::<u32>().ok();
    let is_separated = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')]
        .iter()
        .all(|(at, separator)| text.as_bytes().get(*at) == Some(separator));
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hours, minutes) = (number(11, 2)?, number(14, 2)?);
    let rest = text.get(17..)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    let (seconds, zone) = rest.split_at(end);
    let offset = match zone.as_bytes() {
        [] | [b'Z'] => 0.0,
        [sign @ (b'+' | b'-'), ..] => {
            let hours = zone.get(1..3)?.parse::<f64>().ok()?;
            let minutes = zone.get(3..)?.trim_start_matches(':').parse::<f64>().unwrap_or(0.0);
            (hours * 60.0 + minutes) * if *sign == b'-' { -60.0 } else { 60.0 }
        }
        _ => return None,
    };
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && year >= 1970;
    if !is_separated || !is_date {
        return None;
    }
    // Days of the civil calendar, in years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let whole = f64::from(days) * 86_400.0 + f64::from(hours * 3600 + minutes * 60);
    Some(whole + seconds.parse::<f64>().ok()? - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_forms_are_equal() {
        for text in [
            "1795947067.5",
            "1795947067500",
            "\"1795947067500000000\"",
            "\"2026-11-29T10:11:07.5Z\"",
            "\"2026-11-29 10:11:07.500000\"",
            "\"2026-11-29 12:11:07.500000+02:00\"",
            "\"2026-11-29T05:41:07.5-0430\"",
        ] {
            assert_eq!(seconds(text), Some(1_795_947_067.5), "{text}");
        }
        for text in ["0.2", "312", "\"soon\"", "null", "\"2026-13-29T10:11:07Z\"", "\"2026-11-29T10:11:0é\""]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds("\"2000-02-29T00:00:00Z\""), Some(951_782_400.0));
    }
}
