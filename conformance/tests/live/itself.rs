//! The suite against its own reference gateway.

use std::fs;

use catalogue::PROFILES;
use conformance::certificate::specification;
use conformance::gateway;
use conformance::results::ProfileState;

use crate::program::{certificate, conformance, expect, folder, path};

#[test]
fn the_reference_gateway_passes_in_every_dialect() {
    let out = folder("itself");
    let run = conformance(&["--dialect", "all", "--out", path(&out)]);
    expect(&run, 0, &["test openai/call/parallel::call", "test wave/text/hello::answer", " 0 failed"]);
    let (_, table) = run.stdout.split_once("\nside by side\n").expect("there is a table at the end");
    assert!(
        table.contains("passed  failed  not exercised  harness error  profiles passed  clients broken\n"),
        "{table}"
    );
    for dialect in gateway::called_dialects() {
        let name = format!("  {} ", dialect.name);
        let row = table.lines().find_map(|line| line.strip_prefix(&*name)).expect(dialect.name);
        let row: Vec<&str> = row.split_whitespace().collect();
        let told = |end: &str| {
            let is_of =
                |line: &&str| line.starts_with(&format!("test {}/", dialect.name)) && line.contains(end);
            run.stdout.lines().filter(is_of).count()
        };
        // The goldens of the dialect are trials, too, but no scenarios.
        let passed: usize = row[0].parse().expect("it is a number");
        assert!(passed > 30 && passed <= told("... ok"), "{row:?}");
        assert_eq!((row[1], row[3]), ("·", "·"), "{row:?}");
    }
    // Only features that the dialect lacks are not exercised.
    let open: Vec<&str> = (run.stdout.lines())
        .filter(|line| line.contains("::answer") && line.contains("ignored ("))
        .filter(|line| !line.contains(" has no ") && !line.contains("defines no requests"))
        .filter(|line| !line.contains(" is not in --transport"))
        .collect();
    assert_eq!(open, Vec::<&str>::new());
    for dialect in gateway::called_dialects() {
        let of_dialect = format!("\ntest {}/text/hello::answer ", dialect.name);
        assert!(run.stdout.contains(&of_dialect), "{}", dialect.name);
        let out = out.join(dialect.name);
        expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
        // It passes every profile of its specification.
        let judged = certificate(&out).profiles;
        for profile in PROFILES.iter().filter(|profile| specification(profile, dialect).is_some()) {
            let passed = judged.iter().find(|judged| judged.name == profile.name).expect(profile.name);
            assert_eq!((passed.state, &*passed.reasons), (ProfileState::Passed, &[][..]), "{}", profile.name);
            let of = passed.specification.as_ref().expect("it is of one");
            assert!(profile.specifications.contains(&&*of.name), "{}: {}", profile.name, of.name);
        }
        let page = fs::read_to_string(out.join("certificate.md")).expect("it is written");
        let command = format!("--dialect {} ", dialect.name);
        assert!(page.contains("## Reproduce") && page.contains(&command), "{page}");
    }
}
