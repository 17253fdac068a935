//! Damages of good streams are found, at the level that fits their effect on clients.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::Level;
use codegen::formats::Edits;
use conformance::Checker;
use serde::Deserialize;
use tests::damages::{self, Damage, Stream};
use tests::{corpus, edited};

/// `damaged.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    must: Vec<Damage>,
    should: Vec<Damage>,
    may: Vec<Damage>,
}

/// `exact.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edited {
    exact: Vec<Exact>,
}

/// Edits of a golden, with all rules that they break.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exact {
    name: String,
    golden: String,
    edits: Edits,
    #[serde(default)]
    binding: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

fn listed() -> Listed {
    toml::from_str(include_str!("damaged.toml")).expect("it is as its type says")
}

/// Returns the findings in a stream.
fn findings(stream: &[u8]) -> BTreeSet<(Level, String)> {
    let mut checker = Checker::new(corpus::dialect("openai"));
    checker.push(stream);
    checker.finish();
    checker.findings().iter().map(|found| (found.level, found.rule.to_string())).collect()
}

/// Returns good streams: goldens, and recordings if there are any.
fn good() -> Vec<Stream> {
    let recorded = corpus::real("responses", "openai").into_iter().map(|path| Stream::recorded(&path, false));
    let mut all = damages::goldens("openai");
    all.extend(recorded);
    all.retain(|stream| findings(stream.text.as_bytes()).is_empty());
    all
}

#[test]
fn damages_are_found_at_the_level_of_their_effect() {
    let good = good();
    assert!(good.len() > 15, "{} streams", good.len());
    let Listed { must, should, may } = listed();
    let (mut wrong, mut made) = (String::new(), 0);
    for (level, damages) in [(Level::Must, must), (Level::Should, should), (Level::May, may)] {
        for damage in damages {
            let rule = damage.rule.clone().expect("each has a rule");
            let damaged = good.iter().filter_map(|stream| damage.make(stream)).take(6);
            let found: Vec<_> = damaged.map(|stream| findings(&stream)).collect();
            made += found.len();
            let is_found = |found: &&BTreeSet<(Level, String)>| {
                found.contains(&(level, rule.clone())) && found.iter().all(|(other, _)| *other <= level)
            };
            let hits = found.iter().filter(is_found).count();
            if hits == 0 || hits < found.len() {
                let _ = writeln!(
                    wrong,
                    "{}: {hits} of {}, {rule} {level:?}: {found:?}",
                    damage.name,
                    found.len()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "of {made} damaged streams:\n{wrong}");
}

#[test]
fn edits_break_exactly_these_rules() {
    let mut wrong = String::new();
    let Edited { exact } = toml::from_str(include_str!("exact.toml")).expect("it is as its type says");
    for Exact { name, golden, edits, binding, notes } in exact {
        let found = edited::check(&golden, &edits).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        if !(found.binding.iter().eq(&binding) && found.notes.iter().eq(&notes)) {
            let _ = writeln!(wrong, "{name}: {found:?}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn names_may_be_escaped() {
    let name = regex::Regex::new(r#""([a-z_]+)":"#).expect("a pattern");
    let escaped = |found: &regex::Captures<'_>| {
        let units: Vec<String> = found[1].bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        format!("\"{}\":", units.concat())
    };
    for Stream { text, .. } in good().into_iter().take(30) {
        let last = text.rfind("data: ").expect("an event");
        let end = text[..last].to_owned() + &name.replace_all(&text[last..], escaped);
        assert_eq!(findings(end.as_bytes()), BTreeSet::new(), "{end}");
    }
}
