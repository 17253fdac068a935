//! Metrics and evidence.

use std::fs;

use recordings::goldens::golden;
use tap::{Evidence, Judge, Judges, Keep, Metrics, Passed};

use crate::scene::{Tapped, ask, post, response, upstream};

#[test]
fn what_passes_is_counted_and_kept_without_secrets() {
    let folder = std::env::temp_dir().join(format!("tap-{}", std::process::id()));
    let whole = golden("chat/text").unwrap().bytes;
    let half = &whole[..whole.len() / 2];
    let metrics = Metrics::default();
    // Two recordings exceed this.
    let evidence = Evidence::open(&folder, Keep::Findings, half.len() as u64 * 3, 20, &metrics).unwrap();
    let evidence = std::sync::Arc::new(evidence.with_session(Some("x-session".to_owned())));
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
