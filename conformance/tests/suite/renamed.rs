//! Findings do not depend on names: of events, ids and indices, of the root and its containers, and of the value of the root.

use catalogue::{DecidedBy, Operand, RULES, Relation, Rule, RuleInApi, Whose};
use conformance::checker::RuleSets;
use conformance::{Rules, check, violation};
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, golden};
use reports::pages::{self, words};
use results::Finding;

/// The names of a stream of `openai`, and those that `spec::renamed` has for them.
const NAMES: [(&str, &str); 6] = [
    ("event: error\n", "event: zip.error\n"),
    ("{\"type\":\"error\"", "{\"type\":\"zip.error\""),
    ("response.", "zap."),
    ("\"item_id\"", "\"zap_id\""),
    ("\"output_index\"", "\"zap_index\""),
    ("\"response\":", "\"zap_answer\":"),
];

/// Words of findings to rename.
const WORDS: [(&str, &str); 9] = [
    ("renamed has", "openai has"),
    ("zip.error", "error"),
    ("zap_id", "item_id"),
    ("zap_index", "output_index"),
    ("zap_answer", "response"),
    ("zap answer", "response"),
    ("zap_entry", "item"),
    ("zap entry", "item"),
    ("zap.", "response."),
];

fn replaced(text: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns the findings in a recording without locations in the file, with the names of `openai`.
fn found(dialect: &'static spec::Dialect, format: Format, bytes: &[u8]) -> Vec<String> {
    let report = check("renamed", &mut &*bytes, Some(format), &Rules::of(dialect));
    let words = |finding: &Finding| {
        let Finding { rule, level, place, pointer, message, expected, actual, count, .. } = finding;
        let text = format!(
            "{rule} {level:?} {:?} {pointer:?} {message} {expected:?} {actual:?} {count}",
            place.event
        );
        if dialect.name == "renamed" {
            let old = WORDS.iter().map(|(_, old)| *old).find(|old| old.contains('_') && text.contains(old));
            assert_eq!(old, None, "{text}");
        }
        replaced(&text, &WORDS)
    };
    report.findings.iter().filter(|finding| !names_events(&finding.rule)).map(words).collect()
}

/// Returns whether a rule is about events that its page names.
pub(crate) fn names_events(rule: &str) -> bool {
    operands(rule).iter().any(|operand| matches!(operand.of, Whose::Events(_)))
}

/// Returns the values that the relation of a rule compares.
pub(crate) fn operands(rule: &str) -> Vec<Operand> {
    let known = RULES.iter().find(|known| known.id == rule);
    match known.map(|rule| rule.decided_by) {
        Some(DecidedBy::Relation(
            Relation::Constant(of)
            | Relation::Repeated(of)
            | Relation::Unique(of)
            | Relation::Value { of, .. },
        )) => vec![of],
        Some(DecidedBy::Relation(
            Relation::Equal { of, equals }
            | Relation::Concat { of, equals }
            | Relation::Collect { of, equals },
        )) => vec![of, equals],
        _ => Vec::new(),
    }
}

/// Returns the findings in a recording with original and with other names. Only text can be renamed.
fn both(format: Format, bytes: &[u8]) -> Option<[Vec<String>; 2]> {
    let text = std::str::from_utf8(bytes).ok()?;
    let before = found(&spec::openai::DIALECT, format, bytes);
    let after = found(&spec::renamed::DIALECT, format, replaced(text, &NAMES).as_bytes());
    Some([before, after])
}

#[test]
fn good_streams_are_good_under_other_names() {
    let mut streams = 0;
    for golden in GOLDENS.iter().filter(|golden| golden.holds_for("openai")) {
        let nothing = [const { Vec::new() }; 2];
        assert_eq!(both(golden.format, golden.bytes), Some(nothing), "{}", golden.name);
        streams += 1;
    }
    assert!(streams > 20, "{streams} good streams");
}

#[test]
fn the_rules_of_a_dialect_that_is_not_listed_are_its_own() {
    let sets = RuleSets::all();
    for dialect in spec::DIALECTS.iter().copied().chain([&spec::renamed::DIALECT, &spec::reshaped::DIALECT]) {
        assert_eq!(sets.of(dialect).dialect().name, dialect.name);
    }
}

#[test]
fn violations_are_found_under_other_names() {
    let (mut proven, mut differ) = (0, Vec::new());
    let is_here = |(rule, own): &(&Rule, &RuleInApi)| {
        own.violation.golden.starts_with("openai/") && !names_events(rule.id)
    };
    for (rule, own) in catalogue::rules_in_apis().filter(is_here) {
        let recording = violation::apply(&own.violation).expect(rule.id);
        let format = golden(own.violation.golden).expect(rule.id).format;
        let Some([before, after]) = both(format, &recording) else { continue };
        if before == after {
            proven += usize::from(!before.is_empty());
        } else {
            differ.push((rule.id, before, after));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(proven > 50, "{proven} rules");
}

#[test]
fn pages_of_rules_have_the_words_of_an_api() {
    let original = spec::openai::DIALECT.api.name;
    for (rule, own) in catalogue::rules_in_apis().filter(|(_, own)| own.api == original) {
        let text = |api: &spec::Api| match rule.decided_by {
            DecidedBy::Structure(families) => {
                families.iter().map(|family| words::family(*family, api)).collect()
            }
            DecidedBy::Relation(relation) => words::relation(&relation, rule.scopes, api),
            DecidedBy::Code(_) => String::new(),
        };
        let renamed = text(spec::renamed::DIALECT.api);
        let has_noun = ["response", "item"].iter().any(|noun| renamed.split(' ').any(|word| word == *noun));
        assert!(!has_noun, "{}: {renamed}", rule.id);
        assert_eq!(replaced(&renamed, &WORDS), text(pages::api(own)), "{}", rule.id);
    }
}
