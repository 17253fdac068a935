//! Tests of certificates of gateways.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs, process};

use between::{
    BETWEEN_PROFILE_VERSION, BetweenCertificate, SESSION_GROUPS, certify, names_of_pair, verify_certificate,
};
use catalogue::{AGENT_PROFILES, AgentProfile, BETWEEN_CASES, BETWEEN_RULES, BetweenCase, Level, TestRule};
use harness::frozen::{assert_fresh, assert_frozen};
use results::{BetweenPair, BetweenRun, BetweenTest, Declared, FailOn, LevelChange, OfPair, Verdict};

const REPORT: &str = "{\"a report\": 1}";

fn test(name: &str, case: &str, [front, upstream]: [&str; 2]) -> BetweenTest {
    BetweenTest {
        name: name.to_owned(),
        about: OfPair {
            case: case.to_owned(),
            front: front.to_owned(),
            upstream: upstream.to_owned(),
            ..OfPair::default()
        },
        verdict: Verdict::Pass,
        hash: "00".to_owned(),
        ..BetweenTest::default()
    }
}

/// Returns a run that passed all tests of these pairs of APIs.
fn run(pairs: &[[&str; 2]]) -> BetweenRun {
    let mut tests = Vec::new();
    for [front, upstream] in pairs {
        let pair = format!("{front}-{upstream}");
        for name in names_of_pair(&pair, &[], &Declared::default()) {
            let case = name.trim_start_matches(&pair).trim_start_matches('/').split('@').next();
            tests.push(test(&name, case.unwrap(), [front, upstream]));
        }
    }
    let pair = |[front, upstream]: &[&str; 2]| BetweenPair {
        front: (*front).to_owned(),
        upstream: (*upstream).to_owned(),
        mode: "transform".to_owned(),
        ..BetweenPair::default()
    };
    BetweenRun {
        suite: "9.9.9".to_owned(),
        gateway: "mine `|<b>".to_owned(),
        url: "http://gateway.example:4000/v1".to_owned(),
        upstream_port: Some(9000),
        model: "m".to_owned(),
        declared: Declared { retries: 2, passes_key: true, ..Declared::default() },
        fail_on: FailOn::Should,
        pairs: pairs.iter().map(pair).collect(),
        tests,
        ..BetweenRun::default()
    }
}

fn one() -> BetweenRun {
    run(&[["responses", "chat"]])
}

fn refused(run: &BetweenRun) -> String {
    BetweenCertificate::new(run, REPORT).unwrap_err()
}

/// Rules that are judged where something is declared.
const DECLARED: [&str; 3] = ["session/reasoning-home", "socket/upgrade", "time/kept-alive"];

#[test]
fn profiles_are_frozen() {
    let rules = |is_of_sessions: bool| {
        let is_in = |rule: &&TestRule| SESSION_GROUPS.contains(&catalogue::group(rule.id)) == is_of_sessions;
        let rules = BETWEEN_RULES.iter().filter(is_in).filter(|rule| !DECLARED.contains(&rule.id));
        let mut rules = rules.map(|rule| format!("{} {:?}", rule.id, rule.level)).collect::<Vec<_>>();
        rules.sort();
        rules
    };
    let demands = |([front, upstream], agent): ([&str; 2], Option<&'static AgentProfile>)| {
        let pair = format!("{front}-{upstream}");
        let tests = names_of_pair(&pair, agent.as_slice(), &Declared::default());
        // Texts may change, and so may the other pairs of a case.
        let asked = |case: &&BetweenCase| {
            let id = case.id.split_once('/').unwrap();
            let name = agent.map_or_else(
                || format!("{pair}/{}", case.id),
                |agent| format!("{pair}/{}/{}/{}", id.0, agent.name(), id.1),
            );
            tests.iter().any(|test| test.split('@').next() == Some(&*name))
        };
        let cases = BETWEEN_CASES.iter().filter(asked).map(|case| {
            let text = BetweenCase { title: "", prose: "", fronts: &[], upstreams: &[], ..*case };
            format!("{text:?}")
                .replace(", session: None", "")
                .replace(", silent_at: None", "")
                .replace(", moves_at: None", "")
                .replace(", triggers: false", "")
        });
        let asks = agent.map(|agent| {
            let asks = AgentProfile { title: "", prose: "", is_warmed: false, version: 1, ..*agent };
            format!("{asks:?}").replace(", is_warmed: false", "").replace(", version: 1", "")
        });
        let demands = tests.iter().cloned().chain(cases).chain(rules(agent.is_some())).chain(asks);
        let name = agent.map_or("between", |agent| agent.name());
        let version = agent.map_or(BETWEEN_PROFILE_VERSION, |agent| agent.version);
        (format!("{name}-{pair}@{version}"), demands.collect::<Vec<_>>().join("\n"))
    };
    let apis = || spec::spoken().map(|api| api.name);
    let pairs = || apis().flat_map(|front| apis().map(move |upstream| [front, upstream]));
    let of_agent = |agent: &'static AgentProfile| {
        pairs().filter(|[front, _]| *front == agent.api()).map(move |pair| (pair, Some(agent)))
    };
    let all = pairs().map(|pair| (pair, None)).chain(AGENT_PROFILES.iter().flat_map(of_agent));
    assert_frozen("-p between profiles_are_frozen", all.map(demands));
}

#[test]
fn a_certificate_names_the_agents_that_played() {
    let codex = AGENT_PROFILES.iter().find(|agent| agent.id == "responses/codex").unwrap();
    let tests = names_of_pair("responses-chat", &[codex], &Declared::default());
    let tests = tests.iter().map(|name| test(name, "session/long", ["responses", "chat"]));
    let profiles = BTreeSet::from(["codex".to_owned()]);
    let mut run = BetweenRun { tests: tests.collect(), profiles, ..one() };
    let certificate = BetweenCertificate::new(&run, REPORT).unwrap();
    assert_eq!(certificate.passed(), ["codex-responses-chat"]);
    assert_eq!(certificate.profiles[0].agent.as_deref(), Some(&*codex.words()));
    assert!(certificate.markdown().contains(&format!("| codex-responses-chat 3, {} |", codex.words())));
    assert!(certificate.reproduce.contains(" --profile codex "), "{}", certificate.reproduce);
    run.tests.pop();
    assert!(refused(&run).starts_with("the run was partial"), "{}", refused(&run));
}

#[test]
fn a_certificate_states_what_was_tested_and_on_which_terms() {
    let mut run = one();
    let sequences = run.tests.iter_mut().find(|test| test.about.case == "text/plain").unwrap();
    sequences.about.limits = vec![["request/stops".to_owned(), "no such member".to_owned()]];
    let usual = Level::Should;
    run.levels = vec![LevelChange { rule: "answer/reasoning".to_owned(), usual, level: Level::May }];
    let certificate = BetweenCertificate::new(&run, REPORT).unwrap();
    assert_eq!(certificate.passed(), ["between-responses-chat"]);
    assert_eq!(
        (&*certificate.host, certificate.declared.retries, certificate.declared.passes_key),
        ("gateway.example", 2, true)
    );
    assert_eq!(certificate.report, harness::hash(REPORT.as_bytes()));
    let profile = &certificate.profiles[0];
    assert_eq!(profile.tests.values().sum::<u64>(), run.tests.len() as u64);
    assert!(profile.tests["fault"] > profile.tests["refusal"]);
    assert_eq!((&*profile.limits[0].rule, profile.limits[0].tests), ("request/stops", 1));
    let page = certificate.markdown();
    for line in [
        "- Gateway: mine \\`\\|&lt;b>",
        "| between-responses-chat 1 | transform | passed |",
        "no such member (1 tests)",
        "--front responses --upstream chat --fail-on should --rule answer/reasoning=may \
         --gateway http://gateway.example:4000/v1 --upstream-port 9000 --model m --retries 2 --passes-key",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}

#[test]
fn each_pair_has_a_result_of_its_own() {
    let mut run = run(&[["responses", "chat"], ["messages", "chat"]]);
    run.tests[0].verdict = Verdict::Fail;
    // An expected failure is one.
    run.tests[0].expected = Some("known".to_owned());
    let certificate = BetweenCertificate::new(&run, REPORT).unwrap();
    let states: Vec<_> = certificate.profiles.iter().map(|it| (&*it.name, it.is_passed, it.unmet)).collect();
    assert_eq!(states, [("between-responses-chat", false, 1), ("between-messages-chat", true, 0)]);
    assert_eq!(certificate.passed(), ["between-messages-chat"]);
}

#[test]
fn what_supports_no_certificate_gets_none() {
    let mut partial = one();
    partial.tests.pop();
    let count = partial.tests.len();
    let reason = refused(&partial);
    assert_eq!(
        reason,
        format!("the run was partial: it has {count} of the {} tests of responses-chat", count + 1)
    );
    // A test twice does not stand for another one.
    partial.tests.push(partial.tests[0].clone());
    assert!(refused(&partial).contains("partial"));
    for verdict in [Verdict::Fail, Verdict::NotExercised, Verdict::HarnessError] {
        let mut run = one();
        run.tests[0].verdict = verdict;
        assert_eq!(refused(&run), "no pair of APIs passed all of its tests");
    }
    let lowered = |rule: &str, usual| {
        let levels = vec![LevelChange { rule: rule.to_owned(), usual, level: Level::Off }];
        refused(&BetweenRun { levels, ..one() })
    };
    assert!(lowered("answer/text", Level::Must).starts_with("answer/text is a MUST rule"));
    // The level that the file names as the usual one is not believed.
    assert!(lowered("answer/text", Level::May).starts_with("answer/text is a MUST rule"));
    let mut local = one();
    local.pairs[0].mode = "local".to_owned();
    assert!(refused(&local).contains("mode local"));
}

#[test]
fn a_certificate_is_that_of_its_run() {
    let folder = env::temp_dir().join(format!("conformance-between-certificate-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("between.json"), REPORT).unwrap();
    let run = one();
    let file = |name: &str| -> PathBuf { folder.join(name) };
    // The signature of the run before does not fit this one.
    fs::write(file("certificate.sigstore.json"), "").unwrap();
    assert!(certify(&folder, &run, REPORT).unwrap().is_ok());
    assert!(!file("certificate.sigstore.json").exists());
    let differs = |run: &BetweenRun| verify_certificate(&folder, run).unwrap_err();
    assert_eq!(verify_certificate(&folder, &run).unwrap(), ["between-responses-chat"]);
    assert!(
        differs(&BetweenRun { declared: Declared::default(), ..run.clone() })
            .starts_with("certificate.json: it is not")
    );
    let mut worse = run.clone();
    worse.tests[0].verdict = Verdict::Fail;
    assert!(differs(&worse).contains("supports no certificate: no pair of APIs"));
    let page = fs::read_to_string(file("certificate.md")).unwrap();
    fs::write(file("certificate.md"), page.replace("passed", "perfect")).unwrap();
    assert!(differs(&run).starts_with("certificate.md: it is not"));
    fs::remove_file(file("certificate.json")).unwrap();
    assert!(differs(&run).starts_with("certificate.json: "));
    // A worse run takes the certificate of the one before away.
    assert!(certify(&folder, &worse, REPORT).unwrap().is_err());
    assert!(!file("certificate.md").exists() && verify_certificate(&folder, &worse).unwrap().is_empty());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn certificate_schema_is_fresh() {
    let text = format!("{:#}\n", schemars::schema_for!(BetweenCertificate).as_value());
    assert_fresh("-p between certificate_schema", "docs/between-certificate.schema.json", &text);
}
