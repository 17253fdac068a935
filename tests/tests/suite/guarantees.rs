//! Each guarantee in the documents of dialects that a rule checks is broken by edits of a golden, and the rule reports
//! it.

use std::collections::BTreeSet;
use std::fmt::Write;

use codegen::catalogue::Catalogue;
use tests::{corpus, edited};

/// Schemas of events are tested elsewhere, for every event.
const SCHEMA: &str = "schema/event-valid";

#[test]
fn broken_guarantees_are_told() {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    let mut problems = String::new();
    for (dialect, list) in &catalogue.guarantees {
        for guarantee in &list.guarantees {
            let name = format!("{dialect}, {}", guarantee.id);
            let mut unproven: BTreeSet<&str> =
                guarantee.rules.iter().map(String::as_str).filter(|rule| *rule != SCHEMA).collect();
            for stream in &guarantee.broken_by {
                let is_of_dialect =
                    stream.golden.strip_prefix(dialect).is_some_and(|rest| rest.starts_with('/'));
                if !is_of_dialect {
                    _ = writeln!(problems, "{name}: {} is of another dialect", stream.golden);
                }
                let told = match edited::check(&stream.golden, &stream.edits) {
                    Ok(found) => found.binding,
                    Err(problem) => {
                        _ = writeln!(problems, "{name}: {}: {problem}", stream.golden);
                        continue;
                    }
                };
                if !guarantee.rules.iter().any(|rule| told.contains(rule.as_str())) {
                    _ = writeln!(
                        problems,
                        "{name}: none of its rules finds {:?}; these rules do: {told:?}",
                        stream.edits
                    );
                }
                unproven.retain(|rule| !told.contains(rule));
            }
            if !unproven.is_empty() {
                _ = writeln!(problems, "{name}: no stream breaks {unproven:?}");
            }
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}
