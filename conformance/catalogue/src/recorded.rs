//! Numbers of recorded streams of a vendor that comply with a rule.

/// The counts, written by a test: `BLESS=1 cargo test -p tests --test suite recorded`.
const COUNTS: &str = include_str!(env!("RECORDED"));

/// Number of recorded streams that comply with a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Streams that comply.
    pub kept: u32,
    /// Streams to which the rule applies.
    pub streams: u32,
}

/// Returns the number of recorded streams of a dialect that comply with a rule, if counted.
pub fn recorded(dialect: &str, rule: &str) -> Option<Recorded> {
    COUNTS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut words = line.split(' ');
        let is_it = words.next()? == dialect && words.next()? == rule;
        let [kept, streams] = [words.next()?, words.next()?].map(str::parse);
        Some(Recorded { kept: kept.ok()?, streams: streams.ok()? }).filter(|_| is_it)
    })
}
