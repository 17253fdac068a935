//! Defects that break real clients are caught, and variations that clients must accept pass.

#![expect(clippy::print_stdout, reason = "gaps, for those who ask for the output")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use codegen::catalogue::Catalogue;
use codegen::formats::{Defect, DefectVerdict, DefectsFile, MeasuredFile, Outcome, ThreadCause};
use serde::Deserialize;
use tests::edited::{self, Found};
use tests::{corpus, defects, generated};

fn files() -> (DefectsFile, BTreeMap<String, MeasuredFile>) {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    (catalogue.defects, catalogue.measured)
}

#[test]
fn each_defect_is_caught_by_the_rules_it_names() {
    let mut problems = String::new();
    let (file, _) = files();
    assert!(file.defects.len() > 50, "{} defects", file.defects.len());
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
    Ok(())
}

#[test]
fn threads_have_causes() {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    let threads = &catalogue.threads;
    assert!(threads.len() > 120, "{} threads", threads.len());
    generated::is_fresh("docs/threads.md", &defects::threads(&catalogue.defects, threads), "defects");
    // A thread about a legal stream that nothing else shows is one about a client.
    for thread in threads {
        let Some(ThreadCause::Client(why)) = thread.cause() else { continue };
        let named = why.split('`').nth(1).expect("a reason names the stream that the client must read");
        let defect = catalogue.defects.defects.iter().find(|defect| defect.name == named);
        let verdict = defect.and_then(Defect::verdict);
        assert!(matches!(verdict, Some(DefectVerdict::Legal(_))), "{:?}: {named} is not legal", thread.at);
    }
}

#[test]
fn the_page_is_fresh() {
    let (file, measured) = files();
    generated::is_fresh("docs/defects.md", &defects::page(&file, &measured["responses"]), "defects");
}

/// The list of clients, as far as versions are concerned.
#[derive(Deserialize)]
struct Drivers {
    packages: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    client: Vec<Driver>,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
    measured: Option<Measuring>,
}

#[derive(Deserialize)]
struct Measuring {
    packages: String,
    /// The package with the version.
    pin: Option<String>,
}

#[test]
fn clients_are_measured_with_the_versions_that_are_pinned() {
    let (_, measured) = files();
    let clients = || measured.values().flat_map(|file| &file.clients);
    let read = |file: &str| {
        fs::read_to_string(corpus::repository().join("tests/clients").join(file)).expect("it is there")
    };
    let list: Drivers = toml::from_str(&read("drivers.toml")).expect("it is as its type says");
    let cargo = read("async-openai/Cargo.toml");
    let mut pinned = BTreeMap::new();
    for Driver { name, measured } in &list.client {
        let Some(Measuring { packages, pin: Some(pin) }) = measured else { continue };
        let of_cargo = || cargo.split_once(&format!("{pin} = {{ version = \"=")).map(|(_, rest)| rest);
        let own = list.packages.get(packages).map(|own| own.values().flatten());
        let in_own = own.and_then(|mut own| own.find_map(|one| one.strip_prefix(pin.as_str())));
        let version = in_own.or_else(of_cargo).and_then(|rest| rest.split('"').next());
        let version = version.map(|version| version.trim_start_matches(['=', '@']));
        let client = clients().find(|client| client.name == *name).expect(name);
        assert_eq!(client.version.as_deref(), version, "{name}: run `tests/clients/run --write`");
        pinned.insert(name, version);
    }
    // Whoever has a version can be measured again.
    let mut measured = clients().filter(|client| client.version.is_some());
    assert!(measured.all(|client| pinned.contains_key(&client.name)));
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
    for (api, measured) in measured.iter().filter(|(_, file)| !file.outcomes.is_empty()) {
        let title = spec::APIS.iter().find(|known| known.name == api).expect(api).title;
        let (_, part) = page.split_once(&format!("\n## {title}\n")).expect(title);
        claims_agree(measured, part);
    }
}

fn claims_agree(measured: &MeasuredFile, part: &str) {
    let clients = rows(part, "client", "version");
    let cases = rows(part, "case", "must");
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
            let outcome = measured.outcome(&client.name, case);
            let is_told = match sign {
                _ if outcome == Outcome::FailsOnIntact => sign != "✓",
                "≠" | "∞" => outcome == Outcome::Wrong,
                "∅" => outcome == Outcome::Silent,
                "✗" => outcome == Outcome::Exception || must == "must-report",
                // An error that has to be reported is no breakage, unless the defect is why it has to be.
                "!" => outcome == Outcome::Exception || must == "must-report" && outcome == Outcome::Handled,
                "✓" => outcome == Outcome::Handled,
                _ => continue,
            };
            checked += 1;
            if !is_told {
                _ = writeln!(
                    problems,
                    "{name}: {case} is {sign} in the matrix, and {outcome:?} in measured.toml"
                );
            }
        }
    }
    let listed = (cases.len() - 1) * (cases[0].len() - 2);
    assert!(problems.is_empty() && checked > listed / 2, "{checked} of {listed} checked\n{problems}");
}
