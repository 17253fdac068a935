//! The dialects of the build, loaded from their folders as those of users are, have the same findings as the compiled ones.

use std::collections::BTreeMap;
use std::fs;

use catalogue::RuleInApi;
use conformance::recordings::Checking;
use conformance::{Rules, check, goldens, violation};
use spec::Dialect;
use spec::folder;
use tests::corpus;

/// Returns each dialect of the build, compiled and loaded.
fn both() -> impl Iterator<Item = [&'static Dialect; 2]> {
    let remade = |dialect: &&'static Dialect| {
        [*dialect, folder::remade(dialect.name).unwrap_or_else(|error| panic!("{error}"))]
    };
    spec::DIALECTS.iter().map(remade)
}

/// Returns what is found in a recording.
fn found(rules: &Rules, bytes: &[u8]) -> String {
    format!("{:#?}", check("recording", &mut &*bytes, None, rules))
}

#[track_caller]
fn same([compiled, loaded]: &[Rules; 2], name: &str, bytes: &[u8]) -> String {
    let found = found(compiled, bytes);
    let other = self::found(loaded, bytes);
    if found != other {
        let (line, (own, other)) = (1..)
            .zip(found.lines().zip(other.lines()))
            .find(|(_, (own, other))| own != other)
            .expect("one has more lines");
        panic!("{}, {name}, line {line}:\n  {own}\n  {other}", compiled.dialect().name);
    }
    found
}

#[test]
fn loaded_dialects_have_the_findings_of_compiled_ones() {
    let (mut good, mut broken) = (0, 0);
    let violation =
        |own: &RuleInApi| (own.violation.golden, violation::apply(&own.violation).expect("it applies"));
    let violations: Vec<_> = catalogue::rules_in_apis().map(|(_, own)| (own.api, violation(own))).collect();
    for dialects in both() {
        let api = dialects[0].api.name;
        let rules = dialects.map(Rules::of);
        // Those of other dialects have findings, too.
        let is_of_api = |name: &str| spec::DIALECTS.iter().any(|it| it.name == name && it.api.name == api);
        for golden in goldens::GOLDENS.iter().filter(|golden| is_of_api(golden.dialect)) {
            same(&rules, golden.name, golden.bytes);
            good += 1;
        }
        for (_, (golden, bytes)) in violations.iter().filter(|(of, _)| *of == api) {
            let found = same(&rules, golden, bytes);
            broken += usize::from(found.contains("Finding {"));
        }
    }
    assert!(good > 500 && broken > 1000, "{good} goldens, {broken} broken streams");
}

#[test]
fn loaded_dialects_are_the_compiled_ones() {
    for [compiled, loaded] in both() {
        let facts = |dialect: &'static Dialect| {
            let Dialect { name, product, source, summary, lineage, signature, fallback, framing, .. } =
                dialect;
            let Dialect {
                opening, envelope, terminal, error, roots, operations, rules, render, types, ..
            } = dialect;
            let events: Vec<_> = dialect
                .effects()
                .map(|it| {
                    (it.name, it.description, it.number, it.effect, it.scope, it.role, it.value, it.when)
                })
                .collect();
            let more: Vec<_> =
                dialect.effects().map(|it| (it.phase, it.early, it.effects.len(), it.is_nested())).collect();
            (
                format!(
                    "{name} {product} {source} {summary} {lineage:?} {signature:?} {fallback:?} {framing:?}"
                ),
                format!("{opening:?} {envelope:?} {terminal:?} {error} {roots:?} {operations:?} {rules:?}"),
                format!("{render:?} {types:?} {events:?} {more:?}"),
            )
        };
        assert_eq!(facts(compiled), facts(loaded));
        assert!(loaded.folder.is_none());
    }
}

#[test]
fn events_are_found_by_their_names_and_no_others() {
    for dialect in both().flatten() {
        let listed = |name: &str| dialect.events.iter().find(|event| event.name == name);
        for name in dialect.events.iter().map(|event| event.name) {
            for name in [name, &name[1..], &format!("x{name}"), &format!("{name}x"), ""] {
                let found = dialect.event(name).map(|event| event.number);
                assert_eq!(found, listed(name).map(|event| event.number), "{name} in {}", dialect.name);
            }
        }
    }
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn recordings_have_the_same_findings_in_loaded_dialects() {
    let remade: BTreeMap<&str, [Rules; 2]> =
        both().map(|dialects| (dialects[0].name, dialects.map(Rules::of))).collect();
    let mut checked = 0;
    for folder in [corpus::required(), corpus::neighbours()] {
        for file in corpus::files(&folder, &["sse", "ndjson", "json", "jsonl", "har", "http"]) {
            let bytes = fs::read(&file).expect("it was listed");
            let sets = conformance::checker::RuleSets::all();
            let report =
                Checking::recognising(&sets, false).check("recording".to_owned(), &mut &*bytes, None);
            for seen in &report.dialects {
                same(&remade[&*seen.dialect], &file.display().to_string(), &bytes);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked} recordings");
}
