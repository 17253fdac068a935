//! A certificate, as a page for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Certificate, SIGNATURE};
use results::text::counted;
use results::{Demand, LevelChange, ProfileReport, Reason, RunState, UndecidedKind, Verdict};

/// Maximum number of exchanges listed for a reason.
const EXCHANGES: usize = 3;

pub(super) fn page(certificate: &Certificate) -> String {
    let Certificate {
        suite,
        build,
        dialect,
        api,
        api_headers,
        target,
        model,
        options,
        state,
        profiles,
        exchanges,
        ..
    } = certificate;
    let mut out = "# Conformance certificate\n\n".to_owned();
    let state = match state {
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Begun => "not finished",
    };
    let headers: Vec<String> =
        api_headers.iter().map(|(name, value)| code(&format!("{name}: {value}"))).collect();
    let (count, fail_on) = (counted(exchanges.len() as u64, "exchange"), options.fail_on());
    for (name, value) in [
        ("Endpoint", code(target)),
        ("Model", code(model)),
        ("API", text(api)),
        ("API headers", headers.join(", ")),
        ("Dialect", code(dialect)),
        ("Suite", format!("conformance {}, build {}", text(suite), code(build))),
        ("Run", format!("{state}, {count}")),
        ("Failures", format!("{} (`--fail-on {}`)", fail_on.words(), fail_on.name())),
        ("Levels changed", text(&LevelChange::words(&options.levels, usize::MAX))),
        ("Signature", format!("in `{SIGNATURE}`; without that file beside it, this page is unsigned")),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    {
        let _ = writeln!(out, "- {name}: {value}");
    }
    out += &self::profiles(profiles, &|profile| certificate.is_claimed(profile));
    out += "\n## Reproduce\n\n";
    let _ = writeln!(
        out,
        "With version {} of the suite, the key in `CONFORMANCE_API_KEY`, and other secrets in the named \
         variables. The last command judges the recorded exchanges of a run again, including this one.\n",
        text(suite)
    );
    out += "```sh\n";
    for command in &certificate.reproduce {
        let _ = writeln!(out, "{command}");
    }
    out += "```\n\n";
    let _ = writeln!(
        out,
        "SHA-256 of `report.json`: `{}`. `certificate.json` has those of the exchanges. Nobody has signed this unless \
         `{SIGNATURE}` is beside it; `conformance verify DIR --key FILE` checks that.",
        text(&certificate.report)
    );
    out
}

/// A table of profiles, and the reasons why claimed profiles are not passed.
pub fn profiles(profiles: &[ProfileReport], is_claimed: &dyn Fn(&ProfileReport) -> bool) -> String {
    let mut out = "\n| profile | specification | state | meaning |\n|---|---|---|---|\n".to_owned();
    for profile in profiles {
        let ProfileReport { name, version, title, specification, state, .. } = profile;
        let specification = specification.as_ref().map_or("", |specification| &specification.name);
        let state = state.name();
        let (name, specification, title) = (text(name), text(specification), text(title));
        let _ = writeln!(out, "| {name} {version} | {specification} | {state} | {title} |");
    }
    let of_interest = profiles.iter().filter(|profile| !profile.reasons.is_empty());
    let (claimed, rest): (Vec<_>, Vec<_>) = of_interest.partition(|profile| is_claimed(profile));
    for profile in claimed {
        let _ = writeln!(out, "\n## {}: {}\n", text(&profile.name), profile.state.name());
        out += &reasons(&profile.reasons);
    }
    if !rest.is_empty() {
        let names: Vec<String> = rest.iter().map(|profile| text(&profile.name)).collect();
        let is_client =
            rest.iter().any(|profile| profile.reasons.iter().any(|reason| reason.demand == Demand::Case));
        let what = if is_client { "case" } else { "scenario" };
        let _ = writeln!(out, "\nNot claimed, as no {what} of them was exercised: {}.", names.join(", "));
    }
    out
}

fn reasons(reasons: &[Reason]) -> String {
    let mut lines: Vec<(String, Vec<&Reason>)> = Vec::new();
    let mut known: BTreeMap<(u8, u8, &str), usize> = BTreeMap::new();
    // Tests that only refer to the test of the response add nothing to what that one reports.
    let refers = |reason: &&Reason| reason.kind == UndecidedKind::Unanswered;
    let is_explained = |name: &str| reasons.iter().any(|other| other.name == name && !refers(&other));
    for reason in reasons.iter().filter(|reason| !refers(reason) || !is_explained(&reason.name)) {
        let key = (reason.demand as u8, reason.verdict as u8, reason.reason.as_str());
        let at = *known.entry(key).or_insert_with(|| {
            lines.push((reason.reason.clone(), Vec::new()));
            lines.len() - 1
        });
        if let Some((_, alike)) = lines.get_mut(at) {
            alike.push(reason);
        }
    }
    let mut out = String::new();
    for (why, alike) in lines {
        let Some(first) = alike.first() else { continue };
        let verdict = match first.verdict {
            Verdict::Pass => "passed",
            Verdict::Fail => "failed",
            Verdict::NotExercised => "not exercised",
            Verdict::HarnessError => "no verdict",
        };
        let mut seen = BTreeSet::new();
        let names = alike.iter().filter(|reason| !reason.name.is_empty() && seen.insert(&reason.name));
        let names: Vec<String> = names.map(|reason| code(&reason.name)).collect();
        let kind = match first.demand {
            Demand::Run => "the run",
            Demand::Scenario => "scenario",
            Demand::Rule => "rule",
            Demand::Feature => "feature",
            Demand::Case => "case",
        };
        let what = match (first.demand, names.len()) {
            (Demand::Run, _) => kind.to_owned(),
            (_, 1) => format!("{kind} {}", names.join(", ")),
            _ => format!("{kind}s {}", names.join(", ")),
        };
        let files: BTreeSet<&String> = alike.iter().flat_map(|reason| &reason.exchanges).collect();
        let mut listed = files.iter().take(EXCHANGES).map(|file| code(file)).collect::<Vec<_>>().join(", ");
        if files.len() > EXCHANGES {
            let _ = write!(listed, " and {} more", files.len() - EXCHANGES);
        }
        let listed = if listed.is_empty() { listed } else { format!(": {listed}") };
        let _ = writeln!(out, "- {verdict}: {what}: {}{listed}", text(&why));
    }
    out
}

/// Escapes untrusted text for Markdown.
pub fn text(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            _ if c.is_control() => out.push(' '),
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            // Bidirectional controls and invisible characters.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {}
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '!' | '~' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Returns untrusted text as a code span.
pub fn code(words: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c.is_ascii() && !"`|".contains(c);
    if words.chars().all(is_plain) { format!("`{words}`") } else { text(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_say_nothing_but_themselves() {
        assert_eq!(text("a|b\n# <script>[x](y) `c`"), "a\\|b \\# &lt;script>\\[x\\](y) \\`c\\`");
        assert_eq!(text("abc\u{202e}def\u{1b}[0m"), "abcdef \\[0m");
        assert_eq!(code("a/b_c"), "`a/b_c`");
        assert_eq!(code("a`b|c"), "a\\`b\\|c");
    }
}
