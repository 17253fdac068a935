//! The rules that the violation of each rule breaks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::RuleInApi;
use conformance::{Rules, check, violation};

fn dialect_of(own: &RuleInApi) -> &'static spec::Dialect {
    let (name, _) = own.violation.golden.split_once('/').expect("a golden has a dialect");
    spec::DIALECTS.iter().find(|dialect| dialect.name == name).expect("the golden's dialect")
}

#[test]
fn every_violation_breaks_what_its_page_says() {
    let mut matrix = String::new();
    for (rule, own) in catalogue::rules_in_apis() {
        let recording =
            violation::apply(&own.violation).unwrap_or_else(|problem| panic!("{}: {problem}", rule.id));
        let report = check(rule.id, &mut &*recording, None, &Rules::of(dialect_of(own)));
        assert_eq!(report.error, None, "{}", rule.id);
        let mut broken: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in &report.findings {
            *broken.entry(&*finding.rule).or_default() += finding.count;
        }
        assert!(broken.contains_key(rule.id), "{} is not broken by its own violation", rule.id);
        let _ = write!(matrix, "{} <- {}:", rule.id, own.violation.golden);
        for (broken, count) in broken {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            let _ = write!(matrix, " {broken}{times}");
        }
        matrix.push('\n');
    }
    insta::assert_snapshot!(matrix);
}
