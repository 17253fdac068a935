//! Which of the reference gateway's faults a profile does not notice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use catalogue::{PROFILES, Profile};
use conformance::certificate::{Certificate, specification};
use conformance::gateway::{Settings, WireFault, fault_list};
use conformance::results::ProfileState;
use conformance::wire::Limits;
use conformance::{Rules, Suite};
use spec::Dialect;
use tests::generated::is_fresh;

use super::usual;

const PAGE: &str = "docs/unnoticed.md";
const BY: &str = "exercised -- --ignored";

/// Returns the profiles of a dialect.
fn profiles(dialect: &'static Dialect) -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().filter(|profile| specification(profile, dialect).is_some())
}

fn faults(dialect: &'static Dialect) -> Vec<&'static str> {
    fault_list([&Rules::of(dialect)]).into_iter().map(|fault| fault.fault).collect()
}

/// Returns the profiles that a gateway with a fault passes.
fn passed(dialect: &'static Dialect, fault: &str) -> BTreeSet<String> {
    let folder = format!("{}-{}", dialect.name, fault.replace('/', "-"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unnoticed").join(folder);
    let rules = catalogue::rule(fault).into_iter().collect();
    let wire = WireFault::named(fault).into_iter().collect();
    let settings = Settings { rules, wire, ..Settings::new(dialect) };
    // What does not come is not waited for.
    let short = Duration::from_secs(2);
    let limits = Limits { first_event: short, idle: short, total: short * 5, ..Limits::default() };
    let suite = Suite::reference(settings).limits(limits).jobs(16).seed("0").replace(true).out(&out);
    suite.profiles(profiles(dialect).map(|profile| profile.name)).judge().expect("it can be run");
    let text = fs::read_to_string(out.join("certificate.json")).expect("it is written");
    let certificate: Certificate = serde_json::from_str(&text).expect("it is as its type says");
    let passed = certificate.profiles.into_iter().filter(|profile| profile.state == ProfileState::Passed);
    passed.map(|profile| profile.name).collect()
}

/// Returns the faults that each profile of a dialect passes with.
fn unnoticed(dialect: &'static Dialect) -> BTreeMap<String, BTreeSet<&'static str>> {
    let (faults, next) = (faults(dialect), AtomicUsize::new(0));
    let all = Mutex::new(BTreeMap::<String, BTreeSet<&str>>::new());
    let work = || {
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            let passed = passed(dialect, fault);
            let mut all = all.lock().expect("nobody panicked");
            for profile in passed {
                all.entry(profile).or_default().insert(fault);
            }
        }
    };
    thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    all.into_inner().expect("nobody panicked")
}

#[test]
#[ignore = "runs the suite once for each fault, which takes minutes"]
fn faults_that_profiles_do_not_notice() {
    let mut page = "# Faults that a profile does not notice\n\n\
        The reference gateway can break rules and the transport, one fault at a time (`conformance serve --fault`). A profile notices a \
        fault if the gateway does not pass it then. What it does not notice, its certificate says nothing about: no answer to its scenarios \
        can have the fault, or the profile does not demand the rule.\n\n\
        `BLESS=1 cargo test -p tests --test suite exercised -- --ignored` writes this page.\n"
        .to_owned();
    for dialect in usual() {
        let unnoticed = unnoticed(dialect);
        let all = faults(dialect).len();
        for profile in profiles(dialect) {
            let passed = unnoticed.get(profile.name).cloned().unwrap_or_default();
            let noticed = all - passed.len();
            let _ = write!(
                page,
                "\n## {}\n\nNotices {noticed} of {all} faults of {}",
                profile.name, dialect.name
            );
            let names: Vec<String> = passed.iter().map(|fault| format!("`{fault}`")).collect();
            let _ = writeln!(page, ". Not: {}.", names.join(", "));
        }
    }
    is_fresh(PAGE, &page, BY);
}

/// The page is about the profiles and faults that there are.
#[test]
fn the_page_about_faults_knows_all_profiles() {
    let page = fs::read_to_string(tests::corpus::repository().join(PAGE)).expect("it is there");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let expected: Vec<&str> = usual().flat_map(profiles).map(|profile| profile.name).collect();
    assert_eq!(headings, expected, "BLESS=1 cargo test -p tests --test suite {BY}");
    for dialect in usual() {
        let all = faults(dialect);
        for profile in profiles(dialect) {
            let (_, rest) = page.split_once(&format!("## {}\n\n", profile.name)).expect("it has a heading");
            let line = rest.lines().next().unwrap_or_default();
            let count = format!(" of {} faults of {}", all.len(), dialect.name);
            assert!(
                line.contains(&count),
                "{}: {line}: BLESS=1 cargo test -p tests --test suite {BY}",
                profile.name
            );
            let (_, names) = line.split_once("Not: ").expect("there is something that it does not notice");
            for name in names.split('`').skip(1).step_by(2) {
                assert!(all.contains(&name), "{name} is no fault of {}", dialect.name);
            }
        }
    }
}
