//! Metrics and evidence.

use std::fs;

use recordings::goldens::golden;
use tap::{Evidence, Judge, Judges, Limits, Metrics, Passed};

use crate::scene::{Tapped, ask, post, response, upstream};

#[test]
fn what_passes_is_counted_and_kept_without_secrets() {
    let folder = std::env::temp_dir().join(format!("tap-{}", std::process::id()));
    let whole = golden("chat/text").unwrap().bytes;
    let half = &whole[..whole.len() / 2];
    let metrics = Metrics::default();
    // Two recordings exceed this.
    let (most_bytes, session) = (half.len() as u64 * 3, Some("x-session".to_owned()));
    let limits = Limits { most_bytes, session, ..Limits::default() };
    let evidence = std::sync::Arc::new(Evidence::open(&folder, limits, &metrics).unwrap());
    let make = {
        let (metrics, evidence) = (metrics.clone(), std::sync::Arc::clone(&evidence));
        move || {
            let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
            let mut judge = Judge::new(recordings::Checking::recognising(&rules, false));
            let (metrics, evidence) = (metrics.clone(), std::sync::Arc::clone(&evidence));
            move |passed: Passed| {
                let judged = judge.judge(&passed).unwrap();
                metrics.count(&passed.upstream, &judged);
                evidence.add(&passed, &judged).unwrap();
            }
        }
    };
    let (judges, queue) = Judges::start(1, 1 << 20, &metrics, make).unwrap();
    let (address, _) = upstream(response("200 OK", "text/event-stream", half));
    let mut tapped = Tapped::with(address, metrics, judges, queue, 1.0);
    let request =
        String::from_utf8(post("/v1/chat/completions?key=sk-secret", "{\"model\":\"m-1\"}")).unwrap();
    let request = request.replacen("\r\n", "\r\nX-Session: s-1\r\n", 1);
    for _ in 0..3 {
        ask(tapped.address, request.as_bytes());
    }
    tapped.end();
    let text = tapped.metrics.text();
    for line in [
        "conformance_streams_total{api=\"chat\",upstream=\"one\",outcome=\"truncated\"} 3",
        "conformance_checked_total 3",
        "conformance_first_event_seconds_count{api=\"chat\"} 3",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.lines().any(|line| line.starts_with("conformance_findings_total{rule=")), "{text}");
    let index = fs::read_to_string(folder.join("index.ndjson")).unwrap();
    let lines: Vec<serde_json::Value> =
        index.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["session"], &lines[0]["model"]), (&"s-1".into(), &"m-1".into()));
    // The oldest is removed.
    let kept: Vec<String> = lines
        .iter()
        .filter_map(|line| fs::read_to_string(folder.join(line["path"].as_str().unwrap())).ok())
        .collect();
    assert!(!kept.is_empty() && kept.len() < 3, "{} are kept", kept.len());
    assert!(kept.iter().chain([&index]).all(|text| !text.contains("sk-secret")), "{index}");
    // `check` judges the recording as the tap did.
    let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
    let mut checking = recordings::Checking::recognising(&rules, false);
    let again = checking.check("again".to_owned(), &mut kept[0].as_bytes(), None);
    let rules: Vec<&str> = again.findings.iter().map(|finding| &*finding.rule).collect();
    assert_eq!(serde_json::json!(rules), lines[0]["rules"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tokens_from_a_cache_are_a_part_of_the_input() {
    for (api, usage, reads) in [
        ("chat", r#"{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4}}"#, Some((4, 10))),
        ("chat", r#"{"prompt_tokens":10}"#, None),
        ("responses", r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":0}}"#, Some((0, 10))),
        // These count the parts of the input apart.
        (
            "messages",
            r#"{"input_tokens":10,"cache_read_input_tokens":30,"cache_creation_input_tokens":5}"#,
            Some((30, 45)),
        ),
        ("gemini", r#"{"promptTokenCount":10,"cachedContentTokenCount":5}"#, Some((5, 10))),
        ("interactions", r#"{"total_input_tokens":10,"total_cached_tokens":5}"#, Some((5, 10))),
    ] {
        let api = *spec::APIS.iter().find(|known| known.name == api).unwrap();
        let usage: serde_json::Value = serde_json::from_str(usage).unwrap();
        let tokens = checker::Counts::of(api, &usage).unwrap();
        assert_eq!(tokens.reads(api), reads, "{usage}");
    }
}

#[test]
fn the_ratio_of_cached_tokens_is_that_of_all_answers() {
    let usage = r#""prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens":1,"total_tokens":11"#;
    let whole = String::from_utf8(golden("chat/text").unwrap().bytes.to_vec()).unwrap();
    let chunk = whole.lines().find(|line| line.starts_with("data: {")).unwrap();
    let at = chunk.find("\"choices\"").unwrap();
    let chunk = format!("{}\"choices\":[],\"usage\":{{{usage}}}}}", &chunk[..at]);
    let body = whole.replace("data: [DONE]", &format!("{chunk}\n\ndata: [DONE]"));
    let (address, _) = upstream(response("200 OK", "text/event-stream", body.as_bytes()));
    let (mut tapped, judged) = Tapped::judging(address, true);
    (0..2).for_each(|_| drop(ask(tapped.address, &post("/v1/chat/completions", "{}"))));
    tapped.end();
    for judged in &*judged.lock().unwrap() {
        tapped.metrics.count("one", judged);
    }
    let text = tapped.metrics.text();
    assert!(text.contains("conformance_cache_read_ratio{api=\"chat\"} 0.4\n"), "{text}");
    assert!(text.contains("conformance_tokens_total{api=\"chat\",kind=\"cached\"} 8\n"), "{text}");
}
