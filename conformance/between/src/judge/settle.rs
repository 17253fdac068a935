//! Questions that only the whole run answers: whether a finding of one test is the fault that the test is about, or one
//! that other tests have, too.

use std::collections::BTreeSet;

use catalogue::BETWEEN_CASES;
use results::{BetweenTest, TestFinding};

/// The rule about answers that must be the same however a stream is cut.
const BORDERS: &str = "borders/same-answer";
/// The rule about streams that a fault of the upstream breaks.
const MALFORMED: &str = "fault/malformed";
/// The end of the names of rules about scopes that stay open.
const NEVER_CLOSED: &str = "/never-closed";

/// The pair, the case, the rule and the kind of a finding.
type KnownFindings = BTreeSet<[String; 4]>;

/// Some findings do not come from what a test is about, and go back to their own rules: findings about the borders of writes,
/// if the answer is as wrong where each event is written at once, and findings about the client's stream after a fault, if
/// the streams of the pair have them without a fault. The others get one cause for each place in a gateway: the first finding
/// of each test stands for all that follow from it.
pub(crate) fn settle(tests: &mut [BetweenTest]) {
    let mut known = KnownFindings::new();
    let mut sound = BTreeSet::new();
    let like = |test: &BetweenTest| BETWEEN_CASES.iter().find(|case| case.id == test.about.case)?.like;
    let played: BTreeSet<[String; 2]> =
        tests.iter().map(|test| [test.pair(), test.about.case.clone()]).collect();
    for test in tests.iter() {
        for finding in &test.findings {
            let [rule, kind] = [&finding.rule, &finding.kind].map(Clone::clone);
            if !test.name.contains('@') && like(test).is_none() {
                sound.insert([test.pair(), kind.clone()]);
            }
            known.insert([test.pair(), test.about.case.clone(), rule, kind]);
        }
    }
    for test in tests.iter_mut() {
        let pair = test.pair();
        let like = like(test).filter(|like| played.contains(&[pair.clone(), (*like).to_owned()]));
        for finding in &mut test.findings {
            let is_sound = sound.contains(&[pair.clone(), finding.kind.clone()]);
            match (&*finding.rule, like) {
                (BORDERS, _) => of_borders(finding, &|rule, kind| {
                    let kinds =
                        [pair.clone(), like.unwrap_or_default().to_owned(), rule.to_owned(), kind.to_owned()];
                    known.contains(&kinds)
                }),
                (MALFORMED, _) if is_sound && catalogue::rule(rule_of(&finding.kind)).is_some() => {
                    rule_of(&finding.kind).clone_into(&mut finding.rule);
                    let found = finding.message.split_once(&format!(" {}: ", finding.rule));
                    let found = found.map(|(_, found)| found.to_owned());
                    finding.message = found.unwrap_or_else(|| finding.message.clone());
                }
                // Which scopes stay open depends on the place of the fault.
                (MALFORMED, _) if rule_of(&finding.kind).ends_with(NEVER_CLOSED) => {
                    "never closed".clone_into(&mut finding.kind);
                }
                (rule, Some(_)) if !is_sound && catalogue::rule(rule).is_some() => {
                    finding.message =
                        format!("the stream breaks {rule} where it is cut so: {}", finding.message);
                    BORDERS.clone_into(&mut finding.rule);
                    finding.kind = writes(&test.about.case);
                }
                _ => {}
            }
        }
        drop_repeated(&mut test.findings);
    }
}

/// Findings stay as they are before they are settled: the tests of other parts of the run are needed to settle them.
pub(crate) fn keep_unsettled(tests: &mut [BetweenTest]) {
    for test in tests {
        test.about.unsettled.clone_from(&test.findings);
    }
}

/// The finding goes back to its own rule if the answer is as wrong without borders.
fn of_borders(finding: &mut TestFinding, is_known: &dyn Fn(&str, &str) -> bool) {
    let mut parts = finding.kind.splitn(3, ": ");
    let (Some(writes), Some(rule)) = (parts.next(), parts.next()) else { return };
    let kind = parts.next().unwrap_or_default();
    if is_known(rule, kind) {
        (finding.rule, finding.kind) = (rule.to_owned(), kind.to_owned());
    } else {
        finding.kind = writes.to_owned();
    }
}

fn writes(case: &str) -> String {
    let case = BETWEEN_CASES.iter().find(|known| known.id == case);
    case.map_or("", |case| super::writes(case.writes)).to_owned()
}

fn rule_of(kind: &str) -> &str {
    kind.split_once('.').map_or(kind, |(rule, _)| rule)
}

/// The first finding of each rule and kind stays, and all of rules about what a test is about.
fn drop_repeated(findings: &mut Vec<TestFinding>) {
    let mut seen = BTreeSet::new();
    findings.retain(|finding| {
        let kind =
            if [BORDERS, MALFORMED].contains(&&*finding.rule) { String::new() } else { finding.kind.clone() };
        seen.insert([finding.rule.clone(), kind])
    });
}
