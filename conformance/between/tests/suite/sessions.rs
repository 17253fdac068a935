//! Recorded sessions, replayed through the reference translator.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, process};

use between::{Pair, Reference, SESSION_GROUPS, Suite, read_sessions};
use catalogue::AGENT_PROFILES;
use harness::live::RunRuntime;
use results::{BetweenRun, BetweenTest, Declared, Verdict};

use super::translator::{pairs, settings};

/// The faults of replayed sessions, each with the session and the pairs that show it.
const SHOWN: &[(&str, &str, &[&str])] = &[
    ("cache/key-stable", "library", &["responses-responses", "responses-chat"]),
    ("cache/marks-kept", "garden", &["messages-messages"]),
    ("cache/marks-limit", "garden", &["messages-messages"]),
    ("cache/params-stable", "library", &["responses-responses", "responses-messages"]),
    ("cache/prefix-stable", "library", &["responses-responses", "responses-chat", "responses-messages"]),
    ("cache/usage-kept", "garden", &["messages-messages", "messages-chat", "messages-responses"]),
    ("contract/attribution-alone", "garden", &["messages-messages"]),
    ("contract/beta", "garden", &["messages-messages"]),
    ("contract/error-body", "garden", &["messages-messages", "messages-chat"]),
    ("contract/error-token", "garden", &["messages-messages"]),
    ("contract/open-list", "garden", &["messages-messages"]),
    ("contract/pairs", "garden", &["messages-messages"]),
    ("contract/query", "garden", &["messages-messages", "messages-chat"]),
    ("contract/retry-after", "library", &["responses-responses", "responses-chat"]),
    ("contract/should-retry", "garden", &["messages-messages", "messages-responses"]),
    ("contract/status", "garden", &["messages-messages", "messages-chat"]),
    ("contract/system-kept", "garden", &["messages-messages"]),
    ("contract/version", "garden", &["messages-messages"]),
    ("session/break-told", "garden", &["messages-messages", "messages-chat", "messages-responses"]),
    ("session/compaction", "library", &["responses-responses"]),
    ("session/lanes-apart", "garden", &["messages-messages", "messages-chat"]),
    ("session/one-request", "boat", &["chat-chat", "chat-messages"]),
    ("session/phase-kept", "library", &["responses-responses"]),
    ("session/recovers", "garden", &["messages-messages", "messages-chat"]),
    ("session/results-order", "boat", &["chat-chat", "chat-responses"]),
    ("session/sealed-kept", "garden", &["messages-messages", "messages-responses"]),
    ("session/silent-downgrade", "garden", &["messages-messages", "messages-chat"]),
    ("session/system-inside", "boat", &["chat-chat", "chat-messages", "chat-responses"]),
    ("session/tools-kept", "boat", &["chat-chat", "chat-messages"]),
];

/// The faults, each with tests of agents that show it.
const PLAYED: &[(&str, &str)] = &[
    ("cache/key-stable", "responses-chat/session/codex/two-tasks"),
    ("cache/marks-kept", "messages-messages/session/pi/two-tasks"),
    ("cache/marks-limit", "messages-messages/session/claude-code/two-tasks"),
    ("cache/params-stable", "session/opencode/two-tasks"),
    ("cache/prefix-stable", "session/opencode/two-tasks"),
    ("cache/usage-kept", "session/gemini-cli/two-tasks"),
    ("contract/attribution-alone", "messages-messages/session/claude-code/two-tasks"),
    ("contract/beta", "messages-messages/session/pi/two-tasks"),
    ("contract/error-body", "session/codex/overloaded@429"),
    ("contract/count-tokens", "messages-chat/session/claude-code/probes"),
    ("contract/error-token", "messages-messages/session/claude-code/effort-refused"),
    ("contract/open-list", "messages-messages/session/claude-code/two-tasks"),
    ("contract/pairs", "messages-messages/session/claude-code/two-tasks"),
    ("contract/probe", "messages-messages/session/claude-code/probes"),
    ("contract/query", "messages-chat/session/claude-code/two-tasks"),
    ("contract/retry-after", "session/codex/overloaded@429"),
    ("contract/should-retry", "session/claude-code/overloaded@529"),
    ("contract/status", "session/pi/overloaded@529"),
    ("contract/system-kept", "messages-messages/session/claude-code/two-tasks"),
    ("contract/version", "messages-messages/session/pi/two-tasks"),
    ("session/break-told", "chat-messages/session/opencode/broken@cut:5"),
    ("session/compaction", "responses-responses/session/codex/compacted"),
    ("session/lanes-apart", "messages-messages/session/claude-code/helper"),
    ("session/one-request", "chat-responses/session/pi/two-tasks"),
    ("session/phase-kept", "responses-responses/session/codex/two-tasks"),
    ("session/recovers", "messages-messages/session/claude-code/overloaded@429"),
    ("session/results-order", "session/gemini-cli/parallel"),
    ("session/sealed-kept", "gemini-gemini/session/gemini-cli/two-tasks"),
    ("session/silent-downgrade", "messages-messages/session/claude-code/member-refused"),
    ("session/system-inside", "messages-chat/session/claude-code/two-tasks"),
    ("session/tools-kept", "session/opencode/parallel"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sessions")
}

fn replay(
    sessions: &[PathBuf],
    fault: Option<&str>,
    with: &[&str],
    is_in: impl Fn(&Pair) -> bool,
) -> BetweenRun {
    replay_as(Declared::default(), sessions, fault, with, is_in)
}

fn replay_as(
    declared: Declared,
    sessions: &[PathBuf],
    fault: Option<&str>,
    with: &[&str],
    is_in: impl Fn(&Pair) -> bool,
) -> BetweenRun {
    let mut settings = settings(pairs().filter(is_in).collect(), with);
    settings.declared = declared;
    settings.sessions = read_sessions(sessions, None).unwrap().0;
    if sessions.is_empty() {
        settings.agents = AGENT_PROFILES.iter().collect();
        // Some faults remember the request before.
        settings.jobs = if fault.is_some() { 1 } else { 8 };
    }
    settings.limit = Duration::from_secs(20);
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, fault).unwrap();
    suite.run(&settings, &mut |_| {}).unwrap()
}

fn findings(run: &BetweenRun) -> Vec<String> {
    let all = run.tests.iter().flat_map(|test| test.findings.iter().map(move |finding| (test, finding)));
    all.map(|(test, finding)| format!("{}: {}: {}", test.name, finding.rule, finding.message)).collect()
}

#[test]
fn the_right_translator_keeps_sessions() {
    let run = replay(&[folder()], None, &[], |_| true);
    assert_eq!(findings(&run), Vec::<String>::new());
    assert_eq!(run.tests.len(), 16);
    assert!(run.tests.iter().all(|test| test.verdict == Verdict::Pass), "{:?}", run.tests);
    let measures = |name: &str| {
        let test = run.tests.iter().find(|test| test.name == name).unwrap();
        test.about.measures.join("\n")
    };
    let garden = "prefix kept 100 % of";
    assert!(
        measures("messages-messages/session/garden").starts_with(garden),
        "{}",
        measures("messages-messages/session/garden")
    );
}

#[test]
fn the_right_translator_keeps_what_agents_need() {
    // The same stream breaks off in one way only: all take a minute.
    let cases = [
        "two-tasks",
        "parallel",
        "long",
        "helper",
        "too-long",
        "overloaded",
        "refused",
        "broken@end",
        "probes",
        "interjection",
        "unknown",
    ];
    let run = replay(&[], None, &cases, |_| true);
    assert_eq!(findings(&run), Vec::<String>::new());
    assert!(run.tests.len() > 500 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
    let lacking = AGENT_PROFILES.iter().filter(|agent| {
        let is_own = |test: &BetweenTest| test.name.contains(&format!("/session/{}/", agent.name()));
        !run.tests.iter().any(is_own)
    });
    assert_eq!(lacking.count(), 0);
}

#[test]
fn agents_talk_over_a_socket() {
    let declared = Declared { websocket: true, ..Declared::default() };
    let is_in = |pair: &Pair| ["responses-chat", "responses-responses"].contains(&&*pair.name());
    let cases = ["two-tasks", "too-long", "overloaded", "broken@end"];
    let run = replay_as(declared.clone(), &[], None, &cases, is_in);
    assert_eq!(findings(&run), Vec::<String>::new());
    assert!(run.tests.len() > 50 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
    let fault = Some("session/system-inside");
    let wrong = replay_as(declared, &[], fault, &["responses-chat/session/codex/two-tasks"], is_in);
    let found: BTreeSet<&str> = wrong.tests[0].findings.iter().map(|finding| &*finding.rule).collect();
    assert_eq!(found, BTreeSet::from(["session/system-inside"]));
}

#[test]
fn what_one_provider_seals_does_not_reach_another() {
    let declared = Declared { other_model: Some("other-1".to_owned()), ..Declared::default() };
    let play = |fault| replay_as(declared.clone(), &[], fault, &["two-homes"], |_| true);
    let run = play(None);
    assert_eq!(findings(&run), Vec::<String>::new());
    assert!(run.tests.len() > 30 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
    let wrong = play(Some("session/reasoning-home"));
    let found: BTreeSet<&str> =
        wrong.tests.iter().flat_map(|test| &test.findings).map(|finding| &*finding.rule).collect();
    assert_eq!(found, BTreeSet::from(["session/reasoning-home"]));
}

#[test]
fn a_recorded_list_is_sent_as_it_was() {
    let folder_of_lists = env::temp_dir().join(format!("conformance-lists-{}", process::id()));
    fs::create_dir_all(&folder_of_lists).unwrap();
    let text = fs::read_to_string(folder().join("kite.jsonl")).unwrap();
    let text =
        text.replace("{\\\"promptTokenCount", "{\\\"cachedContentTokenCount\\\":2,\\\"promptTokenCount");
    fs::write(folder_of_lists.join("events.jsonl"), &text).unwrap();
    let lists = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let target = line["target"].as_str().unwrap().replace("?alt=sse", "");
        let body = line["response"]["body"].as_str().unwrap();
        let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let body = format!("[{}\n]", data.join("\n,\r\n"));
        line["target"] = target.into();
        line["response"]["headers"] = serde_json::json!([["content-type", "application/json"]]);
        line["response"]["body"] = body.into();
        line.to_string() + "\n"
    });
    fs::write(folder_of_lists.join("kite.jsonl"), lists.collect::<String>()).unwrap();
    let is_passed_on = |pair: &Pair| pair.name() == "gemini-gemini";
    let [own, lists] = ["events.jsonl", "kite.jsonl"]
        .map(|file| replay(&[folder_of_lists.join(file)], None, &[], is_passed_on));
    let measures = |run: &BetweenRun| run.tests[0].about.measures.clone();
    assert_eq!(findings(&lists), Vec::<String>::new());
    assert!(measures(&own).concat().contains("cache read told"), "{:?}", measures(&own));
    assert_eq!(measures(&own), measures(&lists));
    fs::remove_dir_all(&folder_of_lists).unwrap();
}

#[test]
fn a_session_without_its_texts_is_judged_alike() {
    let hidden = env::temp_dir().join(format!("conformance-hidden-sessions-{}", process::id()));
    fs::create_dir_all(&hidden).unwrap();
    let (sessions, _) = read_sessions(&[folder()], None).unwrap();
    for session in &sessions {
        let lines = session.hidden().lines();
        let file = hidden.join(format!("{}.jsonl", session.name));
        fs::write(&file, &lines).unwrap();
        let words = ["small boat", "garden", "library", "fly kites", "evening", "Where is"];
        let said = |lines: &str| words.iter().filter(|word| lines.contains(**word)).count();
        assert!(said(&session.lines()) > 0 && said(&lines) == 0, "{}", session.name);
    }
    let is_passed_on = |pair: &Pair| pair.front.api.name == pair.upstream.api.name;
    let [own, other] = [folder(), hidden.clone()].map(|folder| replay(&[folder], None, &[], is_passed_on));
    assert_eq!(findings(&other), Vec::<String>::new());
    let measures = |run: &BetweenRun| -> Vec<String> {
        let measures = |test: &BetweenTest| test.about.measures.join("; ");
        // The first change is shown with its text.
        let all = run.tests.iter().map(|test| format!("{}: {}", test.name, measures(test)));
        all.map(|all| all.split("first change").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(measures(&own), measures(&other));
    fs::remove_dir_all(&hidden).unwrap();
}

#[test]
fn each_wrong_translator_breaks_its_rule_alone() {
    let shown = SHOWN.iter().map(|(fault, ..)| *fault);
    let faults: BTreeSet<&str> = shown.chain(PLAYED.iter().map(|(fault, _)| *fault)).collect();
    let is_of_sessions = |rule: &&str| SESSION_GROUPS.contains(&catalogue::group(rule));
    // One needs a second provider.
    let all = gateway::via_faults().into_iter().filter(is_of_sessions);
    let all: BTreeSet<&str> = all.filter(|rule| *rule != "session/reasoning-home").collect();
    assert_eq!(faults, all);
    let mut problems = Vec::new();
    let replayed = SHOWN.iter().map(|(fault, session, pairs)| {
        let run = replay(&[folder()], Some(fault), &[session], |pair| pairs.contains(&&*pair.name()));
        assert_eq!(run.tests.len(), pairs.len(), "{fault}");
        (fault, run)
    });
    let played = PLAYED.iter().map(|(fault, with)| (fault, replay(&[], Some(fault), &[with], |_| true)));
    for (fault, run) in replayed.chain(played) {
        assert!(!run.tests.is_empty(), "{fault}");
        for test in &run.tests {
            let found: BTreeSet<&str> = test.findings.iter().map(|finding| &*finding.rule).collect();
            if found != BTreeSet::from([*fault]) {
                let found: Vec<String> =
                    test.findings.iter().map(|it| format!("\n    {}: {}", it.rule, it.message)).collect();
                problems.push(format!("{fault} in {}: {}", test.name, found.concat()));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
