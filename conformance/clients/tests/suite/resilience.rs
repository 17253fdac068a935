//! Clients that retry: a perfect one passes, and each that retries in a wrong way is caught where it does.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clients::{ClientSuite, client_profiles, demanded_cases};
use results::{ClientOutcome, ClientRun, ProfileState, Transport};

use super::{at_once, run, suite};

const DIALECTS: [&str; 3] = ["openai", "anthropic", "chat"];
const PROFILE: &str = "client-resilience";

/// Clients with one fault each, except the last, which names a request as it may.
const FAULTY: [&str; 11] = [
    "retries-at-once",
    "waits-too-long",
    "retries-too-often",
    "retries-everything",
    "never-retries",
    "knows-no-retries",
    "changes-the-request",
    "names-each-request",
    "shows-both",
    "trusts-headers",
    "names-requests",
];

fn of(kind: &str, dialect: &str) -> ClientSuite {
    ClientSuite {
        dialect: spec::dialect(dialect).expect("it is there"),
        transports: vec![Transport::Sse],
        profiles: vec![PROFILE.to_owned()],
        // They wait most of the time.
        jobs: 8,
        ..suite(kind)
    }
}

fn retrying(kind: &str, dialect: &str) -> ClientRun {
    run(&of(kind, dialect), &|name| name.starts_with("retry/"))
}

/// Returns what a client does in each case, without times.
fn told(run: &ClientRun) -> Vec<String> {
    let of_case = |case: &results::ClientTest| {
        let problems: Vec<String> = case.requests().map(|problem| without_times(&problem.message)).collect();
        format!("{} {}: {}", case.name, case.about.outcome.name(), problems.join(", "))
    };
    run.tests.iter().map(of_case).collect()
}

fn without_times(message: &str) -> String {
    let Some((asked, said)) = message.split_once(" after ").filter(|_| message.starts_with("asked again"))
    else {
        return message.to_owned();
    };
    let (_, said) = said.split_once(';').expect("a time, and what was said");
    format!("{asked};{said}")
}

#[test]
fn each_fault_of_retries_is_caught_where_it_shows() {
    let kinds = || ["perfect"].into_iter().chain(FAULTY);
    // What the other APIs play differs only in what follows output.
    let runs: Vec<(&str, &str)> = kinds()
        .map(|kind| (kind, "openai"))
        .chain(
            DIALECTS[1..].iter().flat_map(|dialect| ["perfect", "shows-both"].map(|kind| (kind, *dialect))),
        )
        .collect();
    let found: Vec<(&str, &str, Vec<String>)> = runs
        .chunks(4)
        .flat_map(|some| at_once(some, |(kind, dialect)| (*kind, *dialect, told(&retrying(kind, dialect)))))
        .collect();
    let of = |kind: &str, dialect: &str| {
        let run = found.iter().find(|(one, other, _)| (*one, *other) == (kind, dialect));
        &run.expect("it ran").2
    };
    for dialect in DIALECTS {
        let perfect = of("perfect", dialect);
        let is_fine = |line: &&String| line.ends_with(" right: ") || line.ends_with(" reported: ");
        let wrong: Vec<_> = perfect.iter().filter(|line| !is_fine(line)).collect();
        assert!(wrong.is_empty(), "{dialect}: {wrong:?}");
        assert_eq!(perfect, of("perfect", "openai"), "{dialect}");
        assert_eq!(of("shows-both", dialect), of("shows-both", "openai"), "{dialect}");
    }
    let mut all = String::new();
    for kind in FAULTY {
        let perfect = of("perfect", "openai");
        let caught: Vec<&String> = of(kind, "openai").iter().filter(|line| !perfect.contains(line)).collect();
        let _ = writeln!(all, "{kind}");
        for line in &caught {
            let _ = writeln!(all, "  {line}");
        }
        assert_eq!(caught.is_empty(), kind == "names-requests", "{all}");
    }
    insta::assert_snapshot!("retries", all);
}

#[test]
fn a_client_that_waits_without_end_hangs() {
    let played = [
        ("has-no-timeout", "retry/stalled"),
        ("waits-for-hours", "retry/an-hour"),
        ("waits-for-hours", "retry/gives-up"),
        ("perfect", "retry/stalled"),
    ];
    let hung = at_once(&played, |(kind, name)| {
        let suite = ClientSuite { jobs: 1, ..of(kind, "openai") };
        let mut cases = suite.cases(&|case| ["retry/bad-request", name].contains(&case));
        // A client that has replied once is not given the time of a first start again.
        cases.sort_by_key(|case| case.name == *name);
        let run = suite.run(cases, &|_| {}).expect("the client can be tested");
        run.tests.iter().any(|case| case.about.outcome == ClientOutcome::Hung)
    });
    assert!(hung[0] && (hung[1] || hung[2]) && !hung[3], "{hung:?}");
}

#[test]
fn the_profile_is_passed_by_clients_that_retry_well_alone() {
    let began = Instant::now();
    let is_passed = |dialect: &str| {
        let profile = client_profiles(&[PROFILE.to_owned()]).next().expect("it is there");
        let names = demanded_cases(profile, spec::dialect(dialect).expect("it is there"));
        assert!(names.len() >= 12, "{dialect}: {names:?}");
        let state = |kind: &str, names: &[String]| {
            let run = run(&of(kind, dialect), &|name| names.iter().any(|one| one == name));
            run.profiles.into_iter().next().expect("it is there").state
        };
        assert_eq!(state("perfect", &names), ProfileState::Passed, "{dialect}");
        assert_eq!(state("never-retries", &names), ProfileState::Failed, "{dialect}");
        assert_eq!(state("knows-no-retries", &names), ProfileState::Incomplete, "{dialect}");
    };
    at_once(&DIALECTS, |dialect| is_passed(dialect));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn the_profile_ends_within_a_minute_whatever_two_clients_do() {
    // How long the suite waits for a reply after the time of a case.
    const GRACE: Duration = Duration::from_secs(3);
    for dialect in DIALECTS {
        let suite = of("perfect", dialect);
        let profile = client_profiles(&suite.profiles).next().expect("it is there");
        let names = demanded_cases(profile, suite.dialect);
        let cases = suite.cases(&|name| names.iter().any(|one| one == name));
        let most: Duration = cases.iter().map(|case| case.limit() + GRACE).sum();
        assert!(most / 2 <= Duration::from_secs(60), "{dialect}: {most:?}");
    }
}

#[test]
fn output_is_shown_before_a_stream_fails() {
    for dialect in DIALECTS {
        for name in ["cut-after-output", "error-after-output", "stalled-after-output"] {
            let cases = of("perfect", dialect).cases(&|case| case == format!("retry/{name}"));
            let responses: Vec<String> = cases
                .first()
                .expect("it is there")
                .responses()
                .iter()
                .map(|response| String::from_utf8_lossy(&response.bytes).into_owned())
                .collect();
            let [first, second] = responses.as_slice() else { panic!("{responses:?}") };
            assert!(first.contains("Hello") && !first.contains("world"), "{dialect} {name}: {first}");
            assert!(second.contains("morning") && !second.contains("Hello"), "{dialect} {name}: {second}");
        }
    }
}
