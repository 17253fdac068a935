//! The pages of rules, of clients, of both ends of a gateway, or of an API, and what both sides of a finding show.

use crate::pages;
use catalogue::{TestRule, between_rule, client_rule};
use results::text::common;
use results::{TestCause, TestFinding};

/// The part of a rule's page that reports quote.
#[derive(Debug, Clone)]
pub(crate) struct RulePage {
    pub(crate) title: &'static str,
    pub(crate) fix: String,
    pub(crate) authority: String,
    /// Why the clause of the contract is owed, if the rule rests on one.
    pub(crate) because: &'static str,
    /// The threads of users who met it broken.
    pub(crate) threads: &'static [&'static str],
    pub(crate) prose: String,
    /// Its URL, or the URL of the document that it rests on.
    pub(crate) address: Option<String>,
}

pub(crate) fn of_client(id: &str, _group: &str) -> Option<RulePage> {
    client_rule(id).map(of_tests)
}

fn of_tests(rule: &TestRule) -> RulePage {
    RulePage {
        title: rule.title,
        fix: rule.fix.to_owned(),
        authority: rule.foundation(),
        because: rule.contract().map_or("", |clause| clause.because),
        threads: rule.threads,
        prose: rule.prose.to_owned(),
        address: pages::in_repository(&rule.page()),
    }
}

/// The pair is `FRONT-UPSTREAM`.
pub(crate) fn of_pair(id: &str, pair: &str) -> Option<RulePage> {
    page(id, pair.split('-').next().unwrap_or_default())
}

/// The rule is one of `between`, or of the client's API.
fn page(id: &str, front: &str) -> Option<RulePage> {
    let own = between_rule(id).map(of_tests);
    own.or_else(|| {
        let rule = catalogue::rule(id)?;
        let own = rule.in_api(front);
        Some(RulePage {
            title: rule.title,
            fix: own.every_fix(),
            authority: own.citation.to_string(),
            because: "",
            threads: &[],
            prose: format!("{}\n\n{}", rule.prose, own.note).trim_end().to_owned(),
            address: pages::address(rule, own),
        })
    })
}

impl RulePage {
    /// Its title, help, text and URL.
    pub(super) fn for_scanning(self) -> (String, String, String, Option<String>) {
        let Self { title, fix, authority, prose, address, .. } = self;
        let help = format!("{title} ({}). Fix: {fix}", authority.trim_end_matches('.'));
        let text = format!("{prose}\n\nAuthority: {authority}\n\nFix: {fix}");
        (title.to_owned(), help, text, address)
    }
}

/// Also says if the cause does not fail.
pub(crate) fn level_of(cause: &TestCause) -> String {
    let keyword = cause.level.keyword();
    if cause.fails { keyword.to_owned() } else { format!("{keyword}, does not fail") }
}

/// Both sides of a finding with their names; nothing where a side shows nothing.
pub(crate) fn sides(finding: &TestFinding) -> Vec<(&'static str, &str)> {
    let all = [("upstream", &*finding.upstream), ("client", &*finding.client)];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Counted from 1. `None` unless both sides are there and have a common start.
pub(crate) fn first_difference(finding: &TestFinding) -> Option<usize> {
    let (upstream, client) = (&*finding.upstream, &*finding.client);
    // Of texts whose beginning is left out, the place says nothing.
    let is_part = [upstream, client].iter().any(|text| text.starts_with('…'));
    if upstream.is_empty() || client.is_empty() || upstream == client || is_part {
        return None;
    }
    let begin = common(upstream, client);
    let characters = upstream.get(..begin)?.chars().count();
    (characters > 0).then_some(characters + 1)
}

/// Number of characters before a difference.
const BEFORE: usize = 60;

/// The part of the text, of up to `most` characters, where it differs from the other side. Marks stand where something is
/// left out.
pub(crate) fn window(finding: &TestFinding, text: &str, most: usize) -> String {
    let count = text.chars().count();
    let differs_at = first_difference(finding).map_or(0, |at| at - 1);
    let from =
        if count <= most { 0 } else { differs_at.saturating_sub(BEFORE).min(count.saturating_sub(most)) };
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    let part: String = text.chars().skip(from).take(most).collect();
    format!("{}{part}{}", mark(from > 0), mark(from + most < count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Level;

    fn finding(upstream: &str, client: &str) -> TestFinding {
        TestFinding {
            rule: String::new(),
            level: Level::Must,
            fails: true,
            message: String::new(),
            kind: String::new(),
            breaks: Vec::new(),
            upstream: upstream.to_owned(),
            client: client.to_owned(),
        }
    }

    #[test]
    fn differences_are_counted_in_characters() {
        assert_eq!(first_difference(&finding("wörld", "wörd")), Some(4));
        assert_eq!(first_difference(&finding("wörld", "wörld and more")), Some(6));
        for (upstream, client) in [("a", "b"), ("a", "a"), ("", "a"), ("a", "")] {
            assert_eq!(first_difference(&finding(upstream, client)), None);
        }
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let long = "é".repeat(500);
        let (one, other) = (format!("{long}A{long}"), format!("{long}B"));
        let finding = finding(&one, &other);
        let shown = window(&finding, &one, 100);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains('A'));
        let shown = window(&finding, &other, 100);
        assert!(shown.starts_with('…') && shown.ends_with('B'));
        assert_eq!(window(&finding, "short", 100), "short");
    }
}
