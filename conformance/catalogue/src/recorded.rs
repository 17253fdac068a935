//! How many recorded streams of a vendor keep a rule, counted over the corpus of recordings.

/// The counts. A test writes them: `BLESS=1 cargo test -p tests --test recorded`.
const COUNTS: &str = include_str!("../../../spec/recorded.txt");

/// How many recorded streams keep a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Streams that keep it.
    pub kept: u32,
    /// Streams with something that the rule is about.
    pub streams: u32,
}

/// Returns how many recorded streams of a dialect keep a rule, if they were counted.
pub fn recorded(dialect: &str, rule: &str) -> Option<Recorded> {
    COUNTS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut words = line.split(' ');
        let is_it = words.next()? == dialect && words.next()? == rule;
        let [kept, streams] = [words.next()?, words.next()?].map(str::parse);
        Some(Recorded { kept: kept.ok()?, streams: streams.ok()? }).filter(|_| is_it)
    })
}
