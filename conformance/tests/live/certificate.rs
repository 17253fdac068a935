//! Certificates of runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use catalogue::PROFILES;
use conformance::Suite;
use conformance::certificate::{Certificate, demanded, specification};
use conformance::gateway::Settings;
use conformance::results::{Demand, ProfileReport, ProfileState, Verdict};
use conformance::wire::Limits;
use spec::Dialect;

use crate::program::{conformance, expect, folder, path, several_at_once};
use crate::server::{Server, answer, golden};

fn certificate(out: &Path) -> Certificate {
    let text = fs::read_to_string(out.join("certificate.json")).expect("it is written");
    serde_json::from_str(&text).expect("it is as its type says")
}

fn profile<'c>(certificate: &'c Certificate, name: &str) -> &'c ProfileReport {
    certificate.profiles.iter().find(|profile| profile.name == name).expect("it is judged")
}

/// Rules with the profiles that demand them.
type Demands = BTreeSet<(&'static str, &'static str)>;

/// Returns which of these demands fail for a gateway that breaks their rules.
fn failing(dialect: &'static Dialect, demands: &[(&'static str, &'static str)]) -> Demands {
    let rules: BTreeSet<&str> = demands.iter().map(|(rule, _)| *rule).collect();
    let profiles: BTreeSet<&str> = demands.iter().map(|(_, profile)| *profile).collect();
    let first = rules.first().expect("there is one").replace('/', "-");
    let out = folder(&format!("certificate-{}-{}-{first}", dialect.name, rules.len()));
    let broken = rules.iter().filter_map(|rule| catalogue::rule(rule)).collect();
    let settings = Settings { rules: broken, ..Settings::new(dialect) };
    // A shorter timeout for WebSocket messages without a response.
    let limits = Limits { first_event: Duration::from_secs(2), ..Limits::default() };
    Suite::reference(settings).limits(limits).profiles(profiles).out(&out).judge().expect("it can be run");
    let judged = certificate(&out).profiles;
    let has_failed = |(rule, name): &(&str, &str)| {
        let profiles = judged.iter().filter(|profile| profile.name == *name);
        let mut reasons = profiles.flat_map(|profile| &profile.reasons);
        reasons.any(|reason| {
            (reason.verdict, reason.demand, &*reason.name) == (Verdict::Fail, Demand::Rule, *rule)
        })
    };
    demands.iter().copied().filter(has_failed).collect()
}

#[test]
fn every_demand_of_a_profile_can_fail() {
    let mut unproven: Demands =
        PROFILES.iter().flat_map(|profile| profile.rules.iter().map(|rule| (*rule, profile.name))).collect();
    // A demand proven in one dialect is not tried again in the other. Faults that hide each other are tried alone.
    for (rules_at_once, name) in [(6, "openai"), (6, "open-responses"), (1, "openai"), (1, "open-responses")]
    {
        let dialect = conformance::dialect(name).expect("it is known");
        let is_demanded = |(rule, name): &(&str, &str)| {
            let mut named = PROFILES.iter().filter(|profile| profile.name == *name);
            named.any(|profile| {
                specification(profile, dialect).is_some() && demanded(profile, dialect).contains(rule)
            })
        };
        let demands: Vec<_> = unproven.iter().copied().filter(is_demanded).collect();
        let by_rule: Vec<_> = demands.chunk_by(|(one, _), (other, _)| one == other).collect();
        // Neighbours are about the same, and hide each other more often.
        let count = by_rule.len().div_ceil(rules_at_once);
        let run = |first| by_rule.iter().skip(first).step_by(count).copied().flatten().copied().collect();
        let runs: Vec<Vec<_>> = (0..count).map(run).collect();
        let proven = Mutex::new(Demands::new());
        several_at_once(&runs, |demands| {
            let failing = failing(dialect, demands);
            proven.lock().expect("nobody panicked").extend(failing);
        });
        let proven = proven.into_inner().expect("nobody panicked");
        unproven = unproven.difference(&proven).copied().collect();
    }
    assert_eq!(unproven, Demands::new());
}

#[test]
fn the_reference_gateway_passes_every_profile_of_its_specifications() {
    for (dialect, specification) in [
        ("openai", "openai"),
        ("open-responses", "open-responses@2026-04-24"),
        ("open-responses@2026-01-15", "open-responses@2026-01-15"),
    ] {
        let about = PROFILES.iter().filter(|profile| profile.specifications.contains(&specification));
        let names: Vec<&str> = about.map(|profile| profile.name).collect();
        let out = folder(&format!("passed-{dialect}"));
        let run = conformance(&["--dialect", dialect, "--profile", &names.join(","), "--out", path(&out)]);
        expect(&run, 0, &["text/hello::answer"]);
        assert!(
            run.stderr.contains(&format!("certificate: passed {}\n", names.join(", "))),
            "{}",
            run.stderr
        );
        expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
        let certificate = certificate(&out);
        for name in names {
            let passed = profile(&certificate, name);
            assert_eq!((passed.state, passed.reasons.len()), (ProfileState::Passed, 0), "{name}");
            assert_eq!(passed.specification.as_ref().map(|of| of.name.as_str()), Some(specification));
        }
        let page = fs::read_to_string(out.join("certificate.md")).expect("it is written");
        assert!(page.contains("## Reproduce") && page.contains(&format!("--dialect {dialect} ")), "{page}");
    }
}

#[test]
fn what_was_not_exercised_is_never_green() {
    let hello: &[&str] = &["text/hello"];
    let short = "a filter excluded some of its tests";
    let cases: [(&str, &[&str], &str); 6] = [
        ("filtered", &["text/hello::answer"], short),
        ("partly", hello, short),
        ("ignored", &["--profile", "core", "--ignore", "wire/terminated"], "it was excluded from the run"),
        ("transport", &["--profile", "core", "--transport", "sse"], "the run excluded this transport"),
        (
            "features",
            &["--profile", "core,multimodal", "--features", "tools"],
            "image-input is not in --features",
        ),
        (
            "hosted",
            &["--profile", "background,compaction,hosted-tools", "--features", "tools,cancellation"],
            "compaction is not in --features",
        ),
    ];
    for (name, args, reason) in cases {
        let out = folder(&format!("incomplete-{name}"));
        expect(&conformance(&[args, &["--out", path(&out)]].concat()), 0, &[" 0 failed"]);
        let certificate = certificate(&out);
        assert!(
            certificate.profiles.iter().all(|profile| profile.state == ProfileState::Incomplete),
            "{name}"
        );
        let mut reasons = certificate.profiles.iter().flat_map(|profile| &profile.reasons);
        assert!(reasons.any(|told| told.reason == reason), "{name}: {certificate:#?}");
        expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
    }
    // Turns of WebSocket scenarios are not sent if WebSockets are not selected.
    let unsent = conformance(&["--profile", "websocket", "--transport", "sse,json"]);
    let told =
        "nothing that websocket demands can be sent over this transport: choose another with --transport";
    assert!(unsent.code == Some(2) && unsent.stderr.contains(told), "{}", unsent.stderr);
    let out = folder("incomplete-websocket");
    let args = ["--profile", "websocket,multimodal", "--transport", "sse,json", "--out", path(&out)];
    expect(&conformance(&args), 0, &[" 0 failed"]);
    let without = certificate(&out);
    assert_eq!(profile(&without, "websocket").state, ProfileState::Incomplete);
    assert_eq!(profile(&without, "multimodal").state, ProfileState::Passed);
    // No profile is about a product's dialect.
    let out = folder("incomplete-wave");
    expect(&conformance(&["--dialect", "wave", "--profile", "core", "--out", path(&out)]), 0, &[" 0 failed"]);
    let core = certificate(&out).profiles.remove(0);
    assert_eq!((core.state, core.specification), (ProfileState::NotApplicable, None));
}

#[test]
fn a_certificate_says_what_failed_and_where() {
    let broken = golden("openai/text").replace("event: response.output_item.added", "event: added");
    let server = Server::new(move |_, stream| answer(stream, "200 OK", "text/event-stream", &broken));
    let out = folder("failed-core");
    let args = ["--target", &server.url, "--model", "it's $(mine)", "--profile", "core", "--attempts", "1"];
    let run = conformance(&[args.as_slice(), &["--out", path(&out)]].concat());
    expect(&run, 1, &["error[wire/event-line]"]);
    assert!(run.stderr.contains("certificate: failed core"), "{}", run.stderr);
    let certificate = certificate(&out);
    let core = profile(&certificate, "core");
    assert_eq!(core.state, ProfileState::Failed);
    let of_rule = core.reasons.iter().find(|reason| reason.name == "wire/event-line").expect("it is told");
    assert_eq!((of_rule.demand, of_rule.verdict), (Demand::Rule, Verdict::Fail));
    assert!(of_rule.reason.starts_with("broken in "), "after one name or several: {of_rule:?}");
    assert!(of_rule.exchanges.contains(&"exchanges/text/hello.exchange".to_owned()), "{of_rule:?}");
    let of_twin = core.reasons.iter().find(|reason| reason.name == "text/hello.json").expect("it is told");
    assert_eq!((of_twin.demand, of_twin.verdict), (Demand::Scenario, Verdict::Fail));
    assert_eq!(certificate.exchanges.len(), server.requests().len());
    let page = fs::read_to_string(out.join("certificate.md")).expect("it is written");
    let reproduce = r"--dialect openai --model 'it'\''s $(mine)' --profile core --attempts 1 --out again";
    for words in ["| core 1 |", "failed: rule", "`exchanges/", reproduce] {
        assert!(page.contains(words), "there is no {words:?} in\n{page}");
    }
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
}

#[test]
fn a_forged_certificate_is_named() {
    let out = folder("forged");
    expect(&conformance(&["text/hello::", "--out", path(&out)]), 0, &[]);
    for (file, from, to) in [
        ("certificate.json", "\"incomplete\"", "\"passed\""),
        ("certificate.md", "incomplete", "passed"),
        ("certificate.json", "\"sha256\": \"", "\"sha256\": \"0"),
    ] {
        let file = out.join(file);
        let old = fs::read_to_string(&file).expect("it is there");
        assert!(old.contains(from), "{old}");
        fs::write(&file, old.replacen(from, to, 1)).expect("it can be written");
        let name = file.file_name().and_then(|name| name.to_str()).expect("it has one");
        expect(&conformance(&["verify", path(&out)]), 1, &[&format!("{name}: line ")]);
        fs::write(&file, old).expect("it can be written");
    }
    fs::remove_file(out.join("certificate.json")).expect("it is there");
    expect(&conformance(&["verify", path(&out)]), 1, &["certificate.json: it cannot be read"]);
}

#[test]
fn profiles_are_called_by_their_names() {
    let run = conformance(&["--profile", "cora", "--list"]);
    assert!(run.code == Some(2) && run.stderr.contains("(did you mean core?)"), "{}", run.stderr);
    let listed = conformance(&["--profile", "structured-output", "--list"]);
    expect(&listed, 0, &["format/json-schema::answer: test"]);
    assert!(!listed.stdout.contains("text/hello"), "{}", listed.stdout);
}
