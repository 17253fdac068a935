//! Recorded sessions of real agents, replayed through the reference translator.

use std::path::Path;
use std::time::Duration;

use between::{Pair, Reference, Settings, Suite, front_dialect, read_sessions, upstream_dialect};
use conformance::live::RunRuntime;
use conformance::results::{Declared, Verdict};
use conformance::suite::Selection;

fn settings(folder: &Path) -> Settings {
    let fronts = spec::spoken().filter_map(front_dialect);
    let pairs = fronts.flat_map(|front| {
        let upstreams = spec::spoken().filter_map(upstream_dialect);
        upstreams.map(move |upstream| Pair::of_reference(front, upstream))
    });
    Settings {
        gateway: String::new(),
        name: "reference".to_owned(),
        command: Vec::new(),
        headers: Vec::new(),
        pairs: pairs.collect(),
        model: "model-1".to_owned(),
        key: Some("client-key-5f1d".to_owned()),
        upstream_key: Some("upstream-key-93ab".to_owned()),
        declared: Declared::default(),
        is_limit_known: false,
        max_bytes: None,
        max_time: None,
        agents: Vec::new(),
        sessions: read_sessions(&[folder.to_owned()], None).unwrap().0,
        selection: Selection::default(),
        shard: None,
        jobs: 1,
        limit: Duration::from_secs(20),
        patience: Duration::from_secs(2),
        out: None,
    }
}

#[test]
#[cfg_attr(not(sessions), ignore = "needs recorded sessions: set CONFORMANCE_SESSIONS")]
fn real_sessions_pass_the_reference_translator() {
    let Some(folder) = option_env!("SESSIONS") else { return };
    let mut settings = settings(Path::new(folder));
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, None).unwrap();
    let run = suite.run(&settings, &mut |_| {}).unwrap();
    assert!(!run.tests.is_empty());
    let wrong = run.tests.iter().filter(|test| test.verdict != Verdict::Pass || !test.findings.is_empty());
    let wrong: Vec<String> = wrong
        .flat_map(|test| {
            let findings =
                test.findings.iter().map(|it| format!("{}: {}: {}", test.name, it.rule, it.message));
            findings.chain([format!("{}: {}", test.name, test.reason)])
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
