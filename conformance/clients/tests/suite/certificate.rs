//! Tests of certificates of clients.

use clients::{ClientCertificate, ClientSuite, PlayedTurn, cases, client_profiles, demanded_cases};
use harness::frozen::{assert_fresh, assert_frozen};
use results::{ClientRun, Demand, ProfileState, Verdict};

use super::{at_once, run, suite};

/// Returns a run with the cases that profiles require.
fn demanded(kind: &str, dialect: &str, profiles: &[&str]) -> ClientRun {
    let profiles: Vec<String> = profiles.iter().map(ToString::to_string).collect();
    let suite = ClientSuite { dialect: spec::dialect(dialect).unwrap(), profiles, jobs: 8, ..suite(kind) };
    let names: Vec<String> =
        client_profiles(&suite.profiles).flat_map(|profile| demanded_cases(profile, suite.dialect)).collect();
    run(&suite, &|name| names.iter().any(|one| one == name))
}

fn states(run: &ClientRun) -> Vec<(&str, ProfileState)> {
    run.profiles.iter().map(|profile| (profile.name.as_str(), profile.state)).collect()
}

#[test]
fn profiles_demand_cases_that_there_are() {
    for profile in client_profiles(&[]) {
        for name in profile.specifications {
            let demanded = demanded_cases(profile, spec::dialect(name).unwrap());
            for id in profile.cases {
                let is_there = demanded.iter().any(|case| case.split('.').next() == Some(id));
                assert!(is_there, "{}: {name} has no {id}", profile.name);
            }
        }
    }
}

/// The profiles of each dialect, besides that about retries, which another test runs, and a client that fails each.
const PROFILES: [(&str, &[(&str, &str)]); 4] = [
    (
        "openai",
        &[("client-core", "hides-errors"), ("client-tools", "one-call"), ("client-websocket", "one-call")],
    ),
    (
        "open-responses",
        &[("client-core", "trims"), ("client-tools", "one-call"), ("client-websocket", "one-call")],
    ),
    (
        "anthropic",
        &[
            ("messages-client-core", "hides-errors"),
            ("messages-client-thinking", "drops-thoughts"),
            ("messages-client-tools", "mixes-up-calls"),
        ],
    ),
    ("chat", &[("chat-client-core", "hides-errors"), ("chat-client-tools", "mixes-up-calls")]),
];

#[test]
fn each_profile_is_passed_by_a_perfect_client_and_failed_by_a_faulty_one() {
    at_once(&PROFILES, |(dialect, profiles)| {
        let of_api = |profile: &catalogue::ClientProfile| {
            let mut names = profile.specifications.iter().filter_map(|name| spec::dialect(name));
            names.any(|of| of.api.name == spec::dialect(dialect).unwrap().api.name)
        };
        let all: Vec<&str> = client_profiles(&[]).filter(|one| of_api(one)).map(|one| one.name).collect();
        let named: Vec<&str> = profiles.iter().map(|(name, _)| *name).collect();
        let besides: Vec<&str> = all.iter().filter(|name| **name != "client-resilience").copied().collect();
        assert_eq!(besides, named, "{dialect}");
        let run = demanded("perfect", dialect, &named);
        let passed: Vec<_> = named.iter().map(|name| (*name, ProfileState::Passed)).collect();
        let reasons = run.profiles.iter().map(|one| &one.reasons).collect::<Vec<_>>();
        assert_eq!(states(&run), passed, "{dialect}: {reasons:?}");
        for (profile, faulty) in *profiles {
            let run = demanded(faulty, dialect, &[profile]);
            assert_eq!(states(&run), [(*profile, ProfileState::Failed)], "{dialect}: {faulty}");
        }
    });
    // Profiles do not apply to a dialect without a specification.
    let run = demanded("perfect", "vllm-responses", &["client-core"]);
    assert_eq!(run.profiles[0].state, ProfileState::NotApplicable);
}

#[test]
fn what_a_client_gets_wrong_or_leaves_out_is_held_against_it() {
    let reasons = |kind: &str| {
        let run = demanded(kind, "openai", &["client-tools"]);
        let profile = run.profiles.into_iter().next().unwrap();
        let verdicts: Vec<Verdict> = profile.reasons.iter().map(|reason| reason.verdict).collect();
        assert!(profile.reasons.iter().all(|reason| reason.demand == Demand::Case));
        (profile.state, verdicts)
    };
    let (state, verdicts) = reasons("one-call");
    assert!(state == ProfileState::Failed && verdicts.contains(&Verdict::Fail));
    let (state, verdicts) = reasons("lazy");
    assert!(state == ProfileState::Incomplete && verdicts.iter().all(|one| *one == Verdict::NotExercised));
    let (state, verdicts) = reasons("sends-text");
    assert!(state == ProfileState::Failed && verdicts.iter().all(|one| *one == Verdict::Fail));
}

#[test]
fn a_certificate_says_what_a_run_proves() {
    let mut run = demanded("one-call", "openai", &["client-tools", "client-websocket"]);
    run.command = vec!["my client".to_owned(), "--it's".to_owned()];
    run.tests.retain(|case| case.name.rsplit('.').next() != Some("ws"));
    let certificate = ClientCertificate::new(&run, "{}\n");
    let text = certificate.json();
    assert_eq!(serde_json::from_str::<ClientCertificate>(&text).unwrap(), certificate);
    insta::assert_snapshot!(certificate.markdown());
}

#[test]
fn client_profiles_are_frozen() {
    let mut all = Vec::new();
    for profile in client_profiles(&[]) {
        for name in profile.specifications {
            let dialect = spec::dialect(name).unwrap();
            let played = cases(dialect);
            let demands = |id: String| {
                let case = played.iter().find(|case| case.name == id).unwrap();
                let steps: Vec<_> = case.turns.iter().map(PlayedTurn::case_step).collect();
                let steps = serde_json::to_string(&steps).unwrap();
                let (expect, cancel, retries) = (case.expect.name(), case.cancel_after, case.max_retries());
                format!("{id} {expect} {} {:?} {cancel:?} {retries:?} {steps}", case.request, case.about)
            };
            let demands: Vec<String> = demanded_cases(profile, dialect).into_iter().map(demands).collect();
            all.push((format!("{}@{} {name}", profile.name, profile.version), demands.join("\n")));
        }
    }
    assert_frozen("-p clients client_profiles_are_frozen", all);
}

#[test]
fn certificate_schema_is_fresh() {
    let text = format!("{:#}\n", schemars::schema_for!(ClientCertificate).as_value());
    assert_fresh("-p clients certificate_schema", "docs/client-certificate.schema.json", &text);
}

/// A forgery of a run.
type Change<'c> = &'c dyn Fn(&mut ClientRun);

#[test]
fn results_and_certificates_follow_from_evidence() {
    let folder = harness::Scratch::new("client-verify").unwrap();
    let suite = ClientSuite { out: Some(folder.path().to_owned()), ..suite("one-call") };
    let wanted = |name: &str| ["call/one", "call/parallel", "retry/rate-limit"].contains(&name);
    let run = suite.run(suite.cases(&wanted), &|_| {}).unwrap();
    assert!(run.failed().next().is_some() && run.tests.len() == 3);
    let report = serde_json::to_string_pretty(&run).unwrap();
    clients::keep_run(folder.path(), &run, &report).unwrap();
    let differs = |change: &dyn Fn(&mut ClientRun)| {
        let mut run: ClientRun = serde_json::from_str(&report).unwrap();
        change(&mut run);
        clients::verify(folder.path(), &run, None).differences.join("\n")
    };
    assert_eq!(differs(&|_| ()), "");
    assert_eq!(clients::verify_certificate(folder.path(), &run), Ok(Vec::new()));
    let failed = run.tests.iter().position(|test| test.verdict == Verdict::Fail).unwrap();
    let changes: [(Change<'_>, &str); 12] = [
        (&|run| run.tests[failed].verdict = Verdict::Pass, "its recordings say failed"),
        (&|run| run.tests[failed].findings.clear(), "its recordings show client/wrong"),
        (&|run| run.tests[failed].about.outcome = results::ClientOutcome::Right, "its recordings say: wrong"),
        (&|run| run.tests[failed].about.title.clear(), "its recordings say: wrong"),
        (&|run| run.tests[failed].hash.clear(), "its file was changed"),
        (&|run| run.tests[failed].name = "../x".to_owned(), "there is no such case"),
        (&|run| drop(run.tests.remove(failed)), "it is no file of the run"),
        (&|run| run.outcome = results::Outcome::Passed, "the outcome is"),
        (&|run| run.causes.clear(), "the causes do not follow"),
        (&|run| run.totals.wrong = 0, "totals or profiles"),
        (&|run| run.profiles[0].reasons.clear(), "totals or profiles"),
        (&|run| run.dialect = "x".to_owned(), "there is no dialect"),
    ];
    for (change, what) in changes {
        assert!(differs(change).contains(what), "{what}: {}", differs(change));
    }
    let other = ClientRun { client: "another".to_owned(), ..run.clone() };
    assert!(clients::verify_certificate(folder.path(), &other).is_err());
}
