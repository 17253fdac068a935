//! What real clients fail on is caught, and what they must bear is let through.

#![expect(clippy::print_stdout, reason = "gaps, for those who ask for the output")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::{env, fs};

use catalogue::RULES;
use codegen::formats::{Defect, DefectVerdict, DefectsFile};
use tests::edited::{self, Found};
use tests::{corpus, defects};

fn file() -> DefectsFile {
    codegen::catalogue::defects(&corpus::repository().join("spec")).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn each_defect_is_caught_by_the_rules_it_names() {
    let mut problems = String::new();
    let file = file();
    assert_eq!(file.defects.len(), 72);
    for defect in &file.defects {
        let found = edited::check(&defect.golden, &defect.edits);
        if let Err(problem) = found.and_then(|found| judge(defect, &found)) {
            _ = writeln!(problems, "{}: {problem}", defect.name);
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

fn judge(defect: &Defect, found: &Found) -> Result<(), String> {
    let verdict = defect.verdict().ok_or("it says nothing, or more than one thing, of what catches it")?;
    let expected: BTreeSet<&str> = match verdict {
        DefectVerdict::Caught(rules) => rules.iter().map(String::as_str).collect(),
        DefectVerdict::Legal(_) | DefectVerdict::Unseen(_) if !found.notes.is_empty() => {
            return Err(format!("nothing should be noted, but {:?} are", found.notes));
        }
        DefectVerdict::Legal(_) | DefectVerdict::Unseen(_) => BTreeSet::new(),
        DefectVerdict::Gap(plan) => {
            println!("gap: {}: {plan}", defect.name);
            BTreeSet::new()
        }
    };
    if found.binding != expected {
        return Err(format!("{expected:?} should tell, but {:?} do", found.binding));
    }
    let broken = defect.broken_clients().map(|(client, _)| client);
    let untold: Vec<&str> = broken.filter(|client| !found.broken.contains(client)).collect();
    if !expected.is_empty() && !untold.is_empty() {
        return Err(format!("{untold:?} were seen to break, but that is not told"));
    }
    Ok(())
}

const EVIDENCE: &str = "docs/defects.md, ";

#[test]
fn rules_name_only_clients_that_their_defects_break() {
    let file = file();
    let mut problems = String::new();
    let mut checked = 0;
    for rule in RULES {
        for breakage in rule.breaks {
            let Some(names) = breakage.source.strip_prefix(EVIDENCE) else { continue };
            checked += 1;
            let names: Vec<&str> = names.split(", ").flat_map(|names| names.split(" and ")).collect();
            for name in names {
                let Some(defect) = file.defects.iter().find(|defect| defect.name == name) else {
                    _ = writeln!(problems, "{}: there is no defect {name}", rule.id);
                    continue;
                };
                if !defect.broken_clients().any(|(client, _)| client == breakage.client) {
                    _ = writeln!(problems, "{}: {name} does not break {}", rule.id, breakage.client);
                }
                // What is allowed under a vendor's prefix breaks the same clients without one.
                let is_caught = matches!(defect.verdict(), Some(DefectVerdict::Caught(_)));
                if is_caught && !defect.rules.iter().any(|caught_by| caught_by == rule.id) {
                    _ = writeln!(problems, "{}: it does not catch {name}", rule.id);
                }
            }
        }
    }
    assert!(problems.is_empty() && checked > 0, "\n{problems}");
}

const MEASURED: &str = "docs/field-report.md, with faults";

/// What the page says broke with the fault of a rule.
fn broken_with_fault(page: &str, rule: &str) -> Option<String> {
    let rule = format!("`{rule}`");
    let cells = |row: &str| row.split('|').map(str::trim).map(str::to_owned).collect::<Vec<_>>();
    let mut rows = page.lines().map(cells).filter(|cells| cells.len() == 5);
    rows.find(|cells| cells[1].contains(&rule)).map(|cells| cells[2].replace('`', ""))
}

#[test]
fn rules_name_only_clients_that_their_faults_broke() {
    let page = fs::read_to_string(corpus::repository().join("docs/field-report.md")).expect("it is there");
    let mut problems = String::new();
    let mut checked = 0;
    for rule in RULES {
        for breakage in rule.breaks.iter().filter(|breakage| breakage.source == MEASURED) {
            checked += 1;
            let told = broken_with_fault(&page, rule.id).unwrap_or_default();
            let is_told = match breakage.client {
                "AI SDK (openai)" => ["@ai-sdk/openai", "both AI SDK"].iter().any(|name| told.contains(name)),
                "AI SDK (open-responses)" => {
                    ["@ai-sdk/open-responses", "both AI SDK"].iter().any(|name| told.contains(name))
                }
                client => told.contains(client),
            };
            if !is_told {
                _ = writeln!(problems, "{}: {} is not said to break: {told:?}", rule.id, breakage.client);
            }
        }
    }
    assert!(problems.is_empty() && checked > 0, "\n{problems}");
}

#[test]
fn the_page_is_fresh() {
    let path = corpus::repository().join("docs/defects.md");
    let page = defects::page(&file());
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/defects.md is stale: BLESS=1 cargo test -p tests --test defects");
}
