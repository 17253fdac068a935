//! Defects that break real clients are caught, and variations that clients must accept pass.

#![expect(clippy::print_stdout, reason = "gaps, for those who ask for the output")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::{env, fs};

use catalogue::RULES;
use codegen::catalogue::Catalogue;
use codegen::formats::{Defect, DefectVerdict, DefectsFile, Failure, MeasuredFile};
use tests::edited::{self, Found};
use tests::{corpus, defects};

fn files() -> (DefectsFile, MeasuredFile) {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    (catalogue.defects, catalogue.measured)
}

#[test]
fn each_defect_is_caught_by_the_rules_it_names() {
    let mut problems = String::new();
    let (file, measured) = files();
    assert!(file.defects.len() > 50, "{} defects", file.defects.len());
    for defect in &file.defects {
        let found = edited::check(&defect.golden, &defect.edits);
        if let Err(problem) = found.and_then(|found| judge(defect, &measured, &found)) {
            _ = writeln!(problems, "{}: {problem}", defect.name);
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

fn judge(defect: &Defect, measured: &MeasuredFile, found: &Found) -> Result<(), String> {
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
    let broken = measured.broken(&defect.case());
    let broken = broken.iter().map(|(client, _)| &*client.name);
    let untold: Vec<&str> = broken.filter(|client| !found.broken.contains(client)).collect();
    if !expected.is_empty() && !untold.is_empty() {
        return Err(format!("{untold:?} were seen to break, but that is not told"));
    }
    Ok(())
}

const EVIDENCE: &str = "docs/defects.md, ";

#[test]
fn rules_name_only_clients_that_their_defects_break() {
    let (file, measured) = files();
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
                if !measured.broken(&defect.case()).iter().any(|(client, _)| client.name == breakage.client) {
                    _ = writeln!(problems, "{}: {name} does not break {}", rule.id, breakage.client);
                }
                // A value with a vendor's prefix is allowed, but without the prefix it breaks the same clients.
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

/// Returns which clients a page lists as broken by the fault of a rule.
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
    let (file, measured) = files();
    let page = defects::page(&file, &measured);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/defects.md is stale: BLESS=1 cargo test -p tests --test defects");
}

/// The file that pins the version of each client, and its package name.
const PINS: [(&str, &str, &str); 12] = [
    ("openai-python", "versions.toml", "\"openai=="),
    ("openai-python stream()", "versions.toml", "\"openai=="),
    ("openai-agents", "versions.toml", "\"openai-agents=="),
    ("langchain-openai", "versions.toml", "\"langchain-openai=="),
    ("pydantic-ai", "versions.toml", "\"pydantic-ai-slim[openai]=="),
    ("LiteLLM", "versions.toml", "\"litellm[mcp]=="),
    ("openai-node", "versions.toml", "\"openai@"),
    ("openai-node stream()", "versions.toml", "\"openai@"),
    ("AI SDK (openai)", "versions.toml", "\"@ai-sdk/openai@"),
    ("AI SDK (open-responses)", "versions.toml", "\"@ai-sdk/open-responses@"),
    ("Codex CLI", "versions.toml", "\"@openai/codex@"),
    ("async-openai", "async-openai/Cargo.toml", "async-openai = { version = \"="),
];

#[test]
fn clients_are_measured_with_the_versions_that_are_pinned() {
    let (_, measured) = files();
    for (name, file, pin) in PINS {
        let text = fs::read_to_string(corpus::repository().join("tests/clients").join(file)).unwrap();
        let pinned = text.split_once(pin).and_then(|(_, rest)| rest.split('"').next());
        let client = measured.clients.iter().find(|client| client.name == name).expect(name);
        assert_eq!(client.version.as_deref(), pinned, "{name}: run `tests/clients/run --write`");
    }
}

/// Returns the rows of the first table of a page whose header starts with these cells, without the header.
fn rows<'p>(page: &'p str, first: &str, second: &str) -> Vec<Vec<&'p str>> {
    let cells = |line: &'p str| -> Vec<&'p str> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().trim_matches('`')).collect()
    };
    let tables = page.lines().map(cells);
    let mut from = tables.skip_while(|cells| cells.first() != Some(&first) || cells.get(1) != Some(&second));
    let head = from.next().into_iter();
    head.chain(from.skip(1).take_while(|cells| cells.len() > 2)).collect()
}

/// The table of claims agrees with the published matrix.
#[test]
fn claims_are_those_of_the_matrix() {
    let (_, measured) = files();
    let page = fs::read_to_string(corpus::repository().join("docs/client-matrix.md")).expect("it is there");
    let clients = rows(&page, "client", "version");
    let cases = rows(&page, "case", "must");
    let mut problems = String::new();
    let mut checked = 0;
    for (column, name) in cases[0].iter().enumerate().skip(2) {
        let client = measured.clients.iter().find(|client| client.name == *name).expect(name);
        let version = clients.iter().find(|cells| cells[0] == *name).map(|cells| cells[1]);
        assert_eq!(client.version.as_deref(), version, "{name}");
        for cells in cases.iter().skip(1).filter(|cells| !cells[0].contains('.')) {
            let (case, must, sign) = (cells[0], cells[1], cells[column]);
            if !case.starts_with("defect/") && !case.starts_with("fault/") {
                continue;
            }
            let claim = client.claims().find(|claim| claim.case == case).map(|claim| claim.failure);
            let is_told = match sign {
                "≠" | "∞" => claim == Some(Failure::Wrong),
                "∅" => claim == Some(Failure::Silent),
                "✗" => claim == Some(Failure::Exception) || must == "must-report",
                // An error that has to be reported is no breakage, unless the defect is why it has to be.
                "!" => claim == Some(Failure::Exception) || must == "must-report" && claim.is_none(),
                "✓" => claim.is_none(),
                _ => continue,
            };
            checked += 1;
            if !is_told {
                _ = writeln!(
                    problems,
                    "{name}: {case} is {sign} in the matrix, and {claim:?} in measured.toml"
                );
            }
        }
    }
    assert!(problems.is_empty() && checked > 300, "{checked} checked\n{problems}");
}
