//! What only the whole run shows: whether a finding of one test is the fault of what that test is about, or one that other
//! tests have, too.

use std::collections::BTreeSet;

use catalogue::BETWEEN_CASES;
use results::{BetweenFinding, BetweenTest};

/// The rule about answers that must be the same however a stream is cut.
const BORDERS: &str = "borders/same-answer";
/// The rule about streams that a fault of the upstream breaks.
const MALFORMED: &str = "fault/malformed";

/// The pair, the case, the rule and the kind of a finding.
type Known = BTreeSet<[String; 4]>;

/// Gives findings that do not come from what a test is about back to their own rules: those about the borders of writes, if the
/// answer is as wrong where each event is written at once, and those about the client's stream after a fault, if the streams
/// of the pair have them without a fault. What is left of the latter has one cause for each fault.
pub fn settle(tests: &mut [BetweenTest]) {
    let mut known = Known::new();
    let mut sound = BTreeSet::new();
    for test in tests.iter() {
        for finding in &test.findings {
            let [rule, kind] = [&finding.rule, &finding.kind].map(Clone::clone);
            if !test.name.contains('@') {
                sound.insert([test.pair(), kind.clone()]);
            }
            known.insert([test.pair(), test.case.clone(), rule, kind]);
        }
    }
    for test in tests.iter_mut() {
        let pair = test.pair();
        let like = BETWEEN_CASES.iter().find(|case| case.id == test.case).and_then(|case| case.like);
        for finding in &mut test.findings {
            match &*finding.rule {
                BORDERS => {
                    let Some(like) = like else { continue };
                    let mut parts = finding.kind.splitn(3, ": ").skip(1);
                    let (Some(rule), kind) = (parts.next(), parts.next().unwrap_or_default()) else {
                        continue;
                    };
                    let [rule, kind] = [rule, kind].map(str::to_owned);
                    if known.contains(&[pair.clone(), like.to_owned(), rule.clone(), kind.clone()]) {
                        (finding.rule, finding.kind) = (rule, kind);
                    }
                }
                MALFORMED => {
                    let Some((fault, kind)) = finding.kind.split_once(": ") else { continue };
                    let (fault, kind) = (fault.to_owned(), kind.to_owned());
                    if sound.contains(&[pair.clone(), kind.clone()]) {
                        rule_of(&kind).clone_into(&mut finding.rule);
                        let found = finding.message.split_once(&format!(" {}: ", finding.rule));
                        let found = found.map(|(_, found)| found.to_owned());
                        finding.message = found.unwrap_or_else(|| finding.message.clone());
                        finding.kind = kind;
                    } else {
                        finding.kind = fault;
                    }
                }
                _ => {}
            }
        }
        drop_repeated(&mut test.findings);
    }
}

/// Returns the rule of a kind of finding of the checker.
fn rule_of(kind: &str) -> &str {
    kind.split_once('.').map_or(kind, |(rule, _)| rule)
}

/// Keeps the first finding of each rule and kind.
fn drop_repeated(findings: &mut Vec<BetweenFinding>) {
    let mut seen = BTreeSet::new();
    findings.retain(|finding| seen.insert([finding.rule.clone(), finding.kind.clone()]));
}
