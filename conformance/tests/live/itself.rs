//! The suite against its own reference gateway.

use conformance::gateway;

use crate::program::{conformance, expect, folder, path};

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
    for dialect in gateway::dialects() {
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
    for dialect in gateway::dialects() {
        let of_dialect = format!("\ntest {}/text/hello::answer ", dialect.name);
        assert!(run.stdout.contains(&of_dialect), "{}", dialect.name);
        expect(&conformance(&["verify", path(&out.join(dialect.name))]), 0, &["consistent: "]);
    }
}
