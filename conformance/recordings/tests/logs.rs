//! Logs that programs wrote, or that follow their schemas: what is read from their rows, and what is found.

use std::fs;
use std::path::Path;

use catalogue::LOG_RULES;
use checker::RuleSets;
use recordings::Checking;
use results::CaptureReport;

fn check(text: &[u8]) -> CaptureReport {
    Checking::recognising(&RuleSets::all(), false).check("log".to_owned(), &mut &*text, None)
}

fn found(report: &CaptureReport) -> Vec<String> {
    let all = report.findings.iter();
    all.map(|finding| format!("{} {} x{}", finding.place.line, finding.rule, finding.count)).collect()
}

#[test]
fn rows_are_read_and_judged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    // The log, its rows, its answers, bodies of APIs among these, and findings: lines, rules, and how often.
    let samples: [(&str, &str, [u64; 3], &[&str]); 13] = [
        ("anthropic-batch.jsonl", "Anthropic batch result", [4, 2, 2], &["2 log/finish-recorded x1"]),
        ("claude-code.jsonl", "Claude Code transcript", [14, 3, 0], &[]),
        ("claude-code-cut.jsonl", "Claude Code transcript", [18, 4, 0], &["13 log/finish-recorded x2"]),
        ("claude-code-output.jsonl", "Claude Code output", [15, 1, 0], &[]),
        ("codex.jsonl", "Codex rollout", [20, 1, 0], &[]),
        ("codex-exec.jsonl", "Codex rollout", [9, 0, 0], &[]),
        (
            "helicone.jsonl",
            "Helicone export",
            [6, 5, 5],
            &["5 schema/body-valid x1", "4 log/first-token-timed x1", "5 log/finish-recorded x1"],
        ),
        (
            "langfuse.jsonl",
            "Langfuse export",
            [6, 4, 0],
            &["2 log/first-token-timed x1", "3 log/tokens-counted x1", "4 log/cost-counted x1"],
        ),
        (
            "langfuse.csv",
            "Langfuse export",
            [6, 4, 0],
            &["3 log/first-token-timed x1", "4 log/tokens-counted x1", "5 log/cost-counted x1"],
        ),
        ("litellm-payload.jsonl", "LiteLLM log", [8, 7, 7], &["2 log/tokens-counted x1"]),
        ("litellm-spend.jsonl", "LiteLLM log", [7, 7, 7], &["2 log/tokens-counted x1"]),
        ("opencode.json", "opencode export", [3, 2, 0], &[]),
        (
            "otlp.jsonl",
            "OpenTelemetry export",
            [5, 4, 0],
            &["1 log/finish-recorded x1", "1 log/tokens-counted x1", "2 log/times-ordered x1"],
        ),
    ];
    for (file, log, [rows, answers, bodies], findings) in samples {
        let text = fs::read(folder.join(file)).unwrap();
        let report = check(&text);
        assert_eq!(report.error, None, "{file}");
        let read = report.logs.get(log).unwrap_or_else(|| panic!("{file}: {:?}", report.logs));
        assert_eq!([read.rows, read.answers, report.bodies], [rows, answers, bodies], "{file}");
        assert_eq!((report.logs.len(), report.streams, report.unjudged), (1, 0, 0), "{file}");
        assert_eq!(found(&report), findings, "{file}");
    }
}

#[test]
fn each_rule_is_broken_by_its_violation_alone() {
    for rule in LOG_RULES {
        let report = check(rule.violation.as_bytes());
        let rules: Vec<&str> = report.findings.iter().map(|finding| &*finding.rule).collect();
        assert_eq!(rules, [rule.id], "{}", rule.violation);
        assert_eq!(report.findings[0].level, rule.level, "{}", rule.id);
        assert!(report.findings[0].fix().is_some_and(|fix| fix == rule.fix), "{}", rule.id);
    }
}

/// The rows are right but for one member each, which makes them innocent.
#[test]
fn nobody_innocent_is_accused() {
    let langfuse = |members: &str| {
        format!(
            "{{\"id\":\"1\",\"traceId\":\"t\",\"type\":\"GENERATION\",\"startTime\":\"2026-11-29T10:00:00Z\",{members}}}\n"
        )
    };
    let message = |id: &str, stop: &str, more: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u\",\"sessionId\":\"s\"{more},\"message\":{{\"id\":\"{id}\",\"type\":\"message\",\
             \"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"a\"}}],\"stop_reason\":{stop},\"usage\":{{\"output_tokens\":1}}}}}}\n"
        )
    };
    for (why, rows) in [
        ("the call failed", langfuse(r#""level":"ERROR","output":"Hel","usageDetails":{"output":0}"#)),
        ("there is no text", langfuse(r#""output":null,"usageDetails":{"output":0}"#)),
        ("nothing was counted", langfuse(r#""output":"Hello""#)),
        ("the column was not exported", langfuse(r#""output":"Hello","modelParameters":{"stream":true}"#)),
        ("it was not streamed", langfuse(r#""output":"Hello","completionStartTime":null"#)),
        ("clocks differ a little", langfuse(r#""output":"Hello","endTime":"2026-11-29T09:59:59.95Z""#)),
        (
            "the answer came from a cache",
            r#"{"id":"1","call_type":"acompletion","cache_hit":"True","completion_tokens":5,"response_cost":0}"#.to_owned(),
        ),
        ("no row has a stop reason", message("a", "null", "") + &message("b", "null", "")),
        ("another row of the message has it", message("a", "null", "") + &message("a", "\"end_turn\"", "")),
        (
            "it is the client's own message",
            message("a", "null", ",\"isApiErrorMessage\":true") + &message("b", "\"end_turn\"", ""),
        ),
    ] {
        let report = check(rows.as_bytes());
        assert_eq!(found(&report), Vec::<String>::new(), "{why}: {rows}");
        assert_eq!(report.logs.values().map(|log| log.rows).sum::<u64>(), rows.lines().count() as u64, "{why}");
    }
}

#[test]
fn secrets_beside_a_value_are_not_shown() {
    let secret = "sk-47110815";
    let rows = LOG_RULES.iter().flat_map(|rule| rule.violation.lines());
    let rows = rows.map(|row| format!("{{\"api_key\":\"{secret}\",{}\n", &row.replace("Hel", secret)[1..]));
    let rows = rows.collect::<Vec<_>>().concat();
    let report = check(rows.as_bytes());
    assert!(report.findings.len() >= LOG_RULES.len(), "{:?}", found(&report));
    let shown = serde_json::to_string(&report).unwrap();
    assert!(!shown.contains("4711"), "{shown}");
}

#[test]
fn hostile_rows_are_counted() {
    let deep = format!("{{\"traceId\":1,\"type\":\"GENERATION\",\"output\":{}", "[".repeat(100_000));
    let nested =
        (0..12).fold("1".to_owned(), |inner, _| serde_json::to_string(&format!("[{inner}]")).unwrap());
    let wide = format!(
        "{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{}]}}]}}]}}",
        "{\"attributes\":{}},".repeat(20_000).trim_end_matches(',')
    );
    for (row, rows) in [
        (deep, None),
        (format!("{{\"call_type\":\"a\",\"response\":{nested},\"completion_tokens\":1e999}}"), Some(1)),
        ("{\"call_type\":[],\"response\":[],\"status\":{},\"startTime\":true,\"id\":7}".to_owned(), Some(1)),
        (wide, Some(20_000)),
    ] {
        let report = check(row.as_bytes());
        let read: u64 = report.logs.values().map(|log| log.rows).sum();
        assert_eq!(rows.unwrap_or(read), read, "{row:.100}");
        assert_eq!(found(&report), Vec::<String>::new(), "{row:.100}");
    }
    // Of answers in several rows, only so many are kept.
    let row = |at: u64| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{at}\",\"type\":\"message\",\"content\":[{{\"text\":\"a\"}}]}}}}\n"
        )
    };
    let many: String = (0..10_100).map(row).collect();
    assert_eq!(check(many.as_bytes()).logs["Claude Code transcript"].answers, 10_100);
}
