//! The token counts of a response.

use spec::json::{Scan, Scanner, is_same};
use spec::table::UsagePlaces;

use super::view::number;

/// The numbers in the `usage` of a response.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) input: Option<f64>,
    pub(crate) cached: Option<f64>,
    pub(crate) output: Option<f64>,
    pub(crate) reasoning: Option<f64>,
    pub(crate) total: Option<f64>,
}

impl Usage {
    pub(crate) fn of(places: &UsagePlaces, usage: &str) -> Self {
        let UsagePlaces { input, cached, output, reasoning, total, .. } = *places;
        let mut counts = [input, cached, output, reasoning, total].map(|place| (place, None));
        let mut scanner = Scanner::new(usage);
        let read = scanner.members(|scanner, name| {
            let value = scanner.raw()?;
            for ((member, inner), count) in &mut counts {
                if is_same(name, member.as_bytes()) {
                    *count = inner.map_or_else(|| Ok(number(value)), |inner| detail(value, inner))?;
                }
            }
            Ok(())
        });
        if read.and_then(|()| scanner.end()).is_err() {
            return Self::default();
        }
        let [input, cached, output, reasoning, total] = counts.map(|(_, count)| count);
        Self { input, cached, output, reasoning, total }
    }
}

/// The last member with the name counts.
fn detail(value: &str, wanted: &str) -> Scan<Option<f64>> {
    let mut found = None;
    Scanner::new(value).members(|scanner, name| {
        let value = scanner.raw()?;
        if name == wanted.as_bytes() {
            found = number(value);
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use spec::table::apis::RESPONSES;

    use super::*;

    #[test]
    fn the_last_of_repeated_counts_is_meant() {
        let usage = Usage::of(
            &RESPONSES.usage,
            r#"{"input_tokens":1,"input_tokens_details":{"cached_tokens":2,"x":{"cached_tokens":9}},
                "output_tokens":3,"output_tokens_details":{"reasoning_tokens":4.5},"total\u005ftokens":"5","input_tokens":6}"#,
        );
        let all = [usage.input, usage.cached, usage.output, usage.reasoning];
        assert_eq!(all, [Some(6.0), Some(2.0), Some(3.0), Some(4.5)]);
        assert_eq!(usage.total, None);
    }

    #[test]
    fn what_is_no_object_counts_nothing() {
        for text in
            ["1", "[1]", "", r#"{"input_tokens":1"#, r#"{"input_tokens_details":[{"cached_tokens":1}]}"#]
        {
            let usage = Usage::of(&RESPONSES.usage, text);
            assert_eq!((usage.input, usage.cached), (None, None), "{text}");
        }
    }
}
