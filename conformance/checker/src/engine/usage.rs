//! The token counts of a response.

use spec::json::values;
use spec::table::UsagePlaces;

use super::view::number;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) input: Option<f64>,
    pub(crate) cached: Option<f64>,
    pub(crate) written: Option<f64>,
    /// The sum of the parts of the written ones.
    pub(crate) written_parts: f64,
    pub(crate) output: Option<f64>,
    pub(crate) reasoning: Option<f64>,
    pub(crate) total: Option<f64>,
}

impl Usage {
    pub(crate) fn of(places: &UsagePlaces, usage: &str) -> Self {
        let UsagePlaces { input, cached, written, written_parts: [longer, shorter], .. } = *places;
        let UsagePlaces { output, reasoning, total, .. } = *places;
        let places = [input, cached, written, longer, shorter, output, reasoning, total];
        let found = values(usage, places.map(|(member, _)| member));
        let mut counts = places.iter().zip(found).map(|((_, inner), value)| match inner {
            Some(inner) => number(values(value, [inner])[0]),
            None => number(value),
        });
        let [input, cached, written, longer, shorter, output, reasoning, total] =
            std::array::from_fn(|_| counts.next().flatten());
        let written_parts = longer.into_iter().chain(shorter).sum();
        Self { input, cached, written, written_parts, output, reasoning, total }
    }
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
