//! Judges the run of a client again, from its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use harness::certificate::{CERTIFICATE, PAGE, SIGNATURE, keep, of_profiles, verify_kept};
use harness::evidence::{self, Evidence, files_of};
use results::{ClientRun, ClientTest, FailOn, ProfileState, Verified};
use serde_json::Value;
use spec::Dialect;

use super::cases::{cases, measured_cases};
use super::certificate::{ClientCertificate, is_exercised, profiles};
use super::evidence::{CaseEvidence, FILE, file_of};
use super::suite::{REPORT, tests};
use crate::cases::case::PlayedCase;

/// Judges the evidence of a run again, and compares the results.
pub fn verify(folder: &Path, run: &ClientRun, fail_on: Option<FailOn>) -> Verified {
    let mut verified = Verified::default();
    if let Err(error) = Evidence::open(folder).load_dialect(&run.dialect, run.dialect_folder.as_deref()) {
        verified.unreadable(error.to_string());
        return verified;
    }
    let Some(dialect) = spec::dialect(&run.dialect) else {
        verified.unreadable(format!("there is no dialect {:?}", run.dialect));
        return verified;
    };
    let timeout = run.timeout.map(Duration::from_millis);
    let measured = measured_cases_of(run, dialect);
    let known: BTreeMap<&str, &PlayedCase> =
        cases(dialect).iter().chain(&measured).map(|case| (&*case.name, case)).collect();
    let (mut owns, mut played, mut evidence) = (Vec::new(), Vec::new(), Vec::new());
    for test in &run.tests {
        let Some(case) = known.get(&*test.name) else {
            verified.unreadable(format!("{}: there is no such case in {}", test.name, dialect.name));
            continue;
        };
        match CaseEvidence::read(folder, &test.name) {
            Ok((_, hash)) if hash != test.hash => {
                verified.unreadable(format!("{}: its file was changed", test.name));
            }
            Ok((of_case, _)) => {
                let mut case = (*case).clone();
                if let Some(timeout) = timeout {
                    case.set_timeout(timeout);
                }
                played.push(case);
                evidence.push(of_case);
                owns.push(test);
            }
            Err(error) => verified.unreadable(format!("{}: {error}", file_of(&test.name))),
        }
    }
    let mut again = tests(dialect, &played, &evidence);
    verified.judged = again.len();
    for (test, own) in again.iter_mut().zip(owns) {
        (test.expected, test.hash, test.files) =
            (own.expected.clone(), own.hash.clone(), vec![file_of(&own.name)]);
    }
    let own = ClientRun { profiles: profiles(&run.asked, dialect, &again), tests: again, ..run.clone() };
    let again = own.clone().concluded();
    for (test, judged) in pairs(run, &again) {
        verified.differences.extend(test.differences(judged));
        if (&test.about, &test.reason, &test.files) != (&judged.about, &judged.reason, &judged.files) {
            let reason =
                if judged.reason.is_empty() { String::new() } else { format!(", {}", judged.reason) };
            let what = format!("{}{reason}", judged.about.outcome.name());
            verified.differences.push(format!("{}: its recordings say: {what}", test.name));
        }
    }
    if verified.differences.is_empty() {
        verified.compare([run.outcome, again.outcome], [&run.causes, &again.causes]);
        if (&run.totals, &run.profiles) != (&again.totals, &again.profiles) {
            verified.differences.push("totals or profiles do not follow from its tests".to_owned());
        }
    }
    let files: Vec<String> = run
        .tests
        .iter()
        .filter(|test| known.contains_key(&*test.name))
        .map(|test| file_of(&test.name))
        .chain(files_of(dialect).map(|(file, _)| file))
        .collect();
    let of_run = [REPORT, CERTIFICATE, PAGE, SIGNATURE];
    verified.strangers(
        Evidence::open(folder).strangers(&files.iter().map(String::as_str).chain(of_run).collect()),
    );
    if let Some(fail_on) = fail_on {
        let strict = ClientRun { fail_on, ..own }.concluded();
        let failing = strict.tests.iter().filter(|test| test.has_failed());
        verified.failing = failing.map(|test| test.name.clone()).collect();
    }
    verified.bounded()
}

/// The cases that are only measured, where a run has one of them: they are many.
fn measured_cases_of(run: &ClientRun, dialect: &'static Dialect) -> Vec<PlayedCase> {
    let own: BTreeSet<&str> = cases(dialect).iter().map(|case| &*case.name).collect();
    let is_own = |test: &ClientTest| own.contains(&*test.name);
    if run.tests.iter().all(is_own) { Vec::new() } else { measured_cases(dialect) }
}

fn pairs<'r>(
    run: &'r ClientRun,
    again: &'r ClientRun,
) -> impl Iterator<Item = (&'r ClientTest, &'r ClientTest)> {
    let judged: BTreeMap<&str, &ClientTest> = again.tests.iter().map(|test| (&*test.name, test)).collect();
    run.tests.iter().filter_map(move |test| Some((test, *judged.get(&*test.name)?)))
}

/// Makes room for a run in a folder: it must have none, unless that is to be replaced.
///
/// # Errors
///
/// If the folder has a run, or files that are of none.
pub fn make_room(folder: &Path, old: Option<&ClientRun>, replaces: bool) -> io::Result<()> {
    evidence::make_room(folder, REPORT, replaces, &|name| name.ends_with(FILE))?;
    old.map_or(Ok(()), |old| Evidence::open(folder).remove_dialect(&old.dialect))
}

/// Writes the report of a run and its certificate to its folder.
///
/// # Errors
///
/// If a file cannot be written.
pub fn keep_run(folder: &Path, run: &ClientRun, report: &str) -> io::Result<()> {
    harness::replace(&folder.join(REPORT), report)?;
    keep(folder, Some(&ClientCertificate::new(run, report).texts()))
}

/// Compares the certificate in a folder with its run: returns the names of the profiles that passed.
///
/// # Errors
///
/// With the difference.
pub fn verify_certificate(folder: &Path, run: &ClientRun) -> Result<Vec<String>, String> {
    let report = Evidence::open(folder).read(REPORT).map_err(|error| format!("{REPORT}: {error}"))?;
    let certificate = ClientCertificate::new(run, &String::from_utf8_lossy(&report));
    verify_kept(folder, Ok(certificate.texts()))?;
    let passed = run.profiles.iter().filter(|profile| profile.state == ProfileState::Passed);
    Ok(passed.map(|profile| profile.name.clone()).collect())
}

/// Returns the in-toto statement that is signed: the result of each profile, about the files of a run. It has passed if all
/// exercised profiles have.
///
/// # Errors
///
/// If a file cannot be read.
pub fn statement(folder: &Path, run: &ClientRun) -> Result<Value, String> {
    let exercised = run.profiles.iter().filter(|profile| is_exercised(profile));
    let states: Vec<ProfileState> = exercised.map(|profile| profile.state).collect();
    of_profiles(&Evidence::open(folder), &[CERTIFICATE, PAGE, REPORT], REPORT, &run.profiles, &states)
}
