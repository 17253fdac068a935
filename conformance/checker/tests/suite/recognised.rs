//! Checks of streams whose dialect is recognised.

use checker::{Checker, Exchange, Finding, Other, Request, RuleSets, Rules};
use recordings::goldens::GOLDENS;
use recordings::{Checking, check};

/// The dialect of every good recording is recognised as one of its API. If it is recognised as another one, that one
/// proves nothing against it.
#[test]
fn goldens_are_recognised() {
    let sets = RuleSets::all();
    let mut own = 0;
    for golden in GOLDENS {
        let name = format!("{}/{}", golden.dialect, golden.name);
        let report = Checking::recognising(&sets, false).check(
            name.clone(),
            &mut { golden.bytes },
            Some(golden.format),
        );
        let dialects = spec::DIALECTS.iter().filter(|dialect| golden.holds_for(dialect.name));
        let expected: Vec<_> = dialects.collect();
        assert!(!report.dialects.is_empty(), "{name}");
        for seen in &report.dialects {
            assert_eq!(seen.api, expected[0].api.name, "{name}: {}", seen.by);
            own += u64::from(expected.iter().any(|dialect| dialect.name == seen.dialect));
        }
    }
    assert!(own > 60, "{own} with their own dialect");
}

/// Recognition changes no finding: those of a stream are those of a check by the rules of its dialect.
#[test]
fn findings_are_those_of_the_dialect() {
    let sets = RuleSets::all();
    for golden in GOLDENS {
        let bytes = String::from_utf8_lossy(golden.bytes).replace("\"index\":0", "\"index\":7");
        let name = format!("{}/{}", golden.dialect, golden.name);
        let found = Checking::recognising(&sets, false).check(
            "a".to_owned(),
            &mut bytes.as_bytes(),
            Some(golden.format),
        );
        let [seen] = &*found.dialects else { panic!("{name}: {:?}", found.dialects) };
        let dialect = spec::dialect(&seen.dialect).expect("it is known");
        let stated = check("a", &mut bytes.as_bytes(), Some(golden.format), &Rules::of(dialect));
        let without = |mut finding: Finding| {
            finding.dialect = "".into();
            finding
        };
        let all: Vec<Finding> = found.findings.into_iter().map(without).collect();
        assert_eq!(
            (all, found.events, found.streams),
            (stated.findings, stated.events, stated.streams),
            "{name}"
        );
    }
}

/// The same bytes, cut anywhere, have the same findings; so have the frames before the first event.
#[test]
fn chunks_change_nothing() {
    let sets = RuleSets::all();
    let start = ": OPENROUTER PROCESSING\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n";
    for name in ["openrouter-chat/reasoning", "anthropic/tool-use", "openai/text"] {
        let golden = recordings::goldens::golden(name).expect("it is there");
        let text =
            start.to_owned() + &String::from_utf8_lossy(golden.bytes).replace("\"index\":0", "\"index\":7");
        let found = |size: usize| {
            let mut checker = Checker::recognising(&sets);
            let mut told = 0;
            for chunk in text.as_bytes().chunks(size) {
                told += checker.push(chunk).len();
            }
            told += checker.finish().len();
            assert_eq!(told, checker.findings().len(), "{name}: every finding is returned once");
            let dialect = checker.settled_dialect().map(|dialect| dialect.name);
            (dialect, checker.events(), checker.into_findings())
        };
        let whole = found(text.len());
        assert_eq!(whole.0, name.split('/').next(), "{name}");
        for size in [1, 7, 64, 1000] {
            assert_eq!(found(size), whole, "{name}: chunks of {size}");
        }
    }
}

#[test]
fn a_checker_recognises_each_stream_again() {
    let mut checker = Checker::recognising(&RuleSets::all());
    assert!(checker.settled_dialect().is_none());
    let request =
        Request { url: "https://api.groq.com/openai/v1/chat/completions".into(), ..Request::default() };
    checker.exchange(&Exchange { request: Some(request), ..Exchange::default() });
    checker.event(r#"{"object":"chat.completion.chunk","choices":[]}"#);
    assert_eq!(checker.settled_dialect().map(|dialect| dialect.name), Some("groq"));
    checker.reset();
    assert!(checker.settled_dialect().is_none());
    checker.event(r#"{"type":"message_start"}"#);
    assert_eq!(checker.findings()[0].api, "messages");
    // Without an event, nothing is known.
    checker.reset();
    checker.push(b": a comment\n\n");
    assert!(checker.finish().is_empty());
    assert!(checker.recognised().is_none());
}

/// The place of a type in the list of a dialect means nothing in that of another one.
#[test]
fn nothing_is_kept_for_a_stream_of_another_dialect() {
    let chunk = r#""object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]"#;
    let mut checker = Checker::recognising(&RuleSets::all());
    checker.push(
        format!("data: {{{chunk},\"x_groq\":{{}}}}\n\nevent: error\ndata: {{\"error\":{{}}}}\n\n").as_bytes(),
    );
    checker.finish();
    checker.reset();
    checker.push(format!("data: {{{chunk}}}\n\n").as_bytes());
    checker.finish();
    assert_eq!(checker.settled_dialect().map(|dialect| dialect.name), Some("chat"));
}

/// An event of an API that the suite does not check.
const OTHER: &str = r#"{"done":false,"created_at":"2026-08-01T10:00:00Z"}"#;

/// A stream of another API is not checked, unless an event of one that is checked follows, however late.
#[test]
fn an_event_of_a_checked_api_decides() {
    let own = r#"{"object":"chat.completion.chunk","choices":[]}"#;
    for before in [1, 200] {
        let mut checker = Checker::recognising(&RuleSets::all());
        for _ in 0..before {
            assert!(checker.event(OTHER).is_empty());
        }
        assert_eq!(checker.other().map(Other::name), Some("Ollama"));
        assert!(!checker.event(own).is_empty());
        assert_eq!(checker.settled_dialect().map(|dialect| dialect.name), Some("chat"));
    }
    let mut checker = Checker::recognising(&RuleSets::all());
    checker.event(OTHER);
    assert!(checker.finish().is_empty() && checker.recognised().is_none());
}

/// Frames without an event are kept up to a limit.
#[test]
fn not_everything_is_kept() {
    let mut checker = Checker::recognising(&RuleSets::all());
    for _ in 0..100 {
        checker.push(b"event: ping\ndata: {\"type\":\"ping\"}\n\n");
    }
    // Only one API has such events.
    assert_eq!(checker.settled_dialect().map(|dialect| dialect.name), Some("anthropic"));
    let mut checking = Checking::recognising(&RuleSets::all(), true);
    let endless = "data: {\"type\":\"ping\"}\n\n".repeat(100);
    let report = checking.check("a".to_owned(), &mut endless.as_bytes(), None);
    assert_eq!((report.events, report.streams), (100, 1));
}
