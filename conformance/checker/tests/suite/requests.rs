//! Rules that compare a response with its request: what they allow. What they report is in the violations of their pages.

use checker::{Checker, Exchange, Request};
use recordings::goldens::golden;

/// Returns the rules that a golden breaks as the response to a request with these settings, beside its conversation.
fn broken(id: &str, settings: &str) -> Vec<String> {
    broken_by(id, &format!(r#"{{"messages":[],"stream":true,{settings}}}"#))
}

fn broken_by(id: &str, request: &str) -> Vec<String> {
    let golden = golden(id).expect(id);
    let mut checker = Checker::new(spec::dialect(golden.dialect).expect("a dialect"));
    let request = Request { method: "POST".into(), body: Some(request.into()), ..Request::default() };
    checker.exchange(&Exchange { status: Some(200), request: Some(request), ..Exchange::default() });
    checker.push(golden.bytes);
    checker.finish();
    checker.into_findings().0.iter().map(|finding| finding.rule.to_string()).collect()
}

/// Fails for each golden that breaks a rule as the response to a request.
fn allows(cases: &[(&str, &str)]) {
    for (id, settings) in cases {
        assert_eq!(broken(id, settings), [""; 0], "{id} with {settings}");
    }
}

#[test]
fn messages_that_do_what_was_asked_are_good() {
    let weather = r#""tools":[{"name":"get_weather","input_schema":{}},{"name":"get_time"}]"#;
    let with = |choice: &str| format!(r#"{weather},"tool_choice":{choice}"#);
    allows(&[
        ("anthropic/tool-use", weather),
        ("anthropic/tool-use", &with(r#"{"type":"any"}"#)),
        (
            "anthropic/tool-use",
            &with(r#"{"type":"tool","name":"get_weather","disable_parallel_tool_use":true}"#),
        ),
        ("anthropic/parallel-tool-use", &with(r#"{"type":"auto","disable_parallel_tool_use":false}"#)),
        // The name of a tool in a set of tools is not known.
        ("anthropic/tool-use", r#""tools":[{"type":"mcp_toolset","mcp_server_name":"a"}]"#),
        ("anthropic/text", &with(r#"{"type":"none"}"#)),
        // A tool of the server is a tool, too.
        ("anthropic/server-tool", &with(r#"{"type":"any"}"#)),
        ("anthropic/refusal", &with(r#"{"type":"any"}"#)),
        ("anthropic/max-tokens", &with(r#"{"type":"tool","name":"get_time"}"#)),
        ("anthropic/max-tokens", r#""max_tokens":8"#),
        ("anthropic/text", r#""max_tokens":10"#),
        ("anthropic/stop-sequence", r#""stop_sequences":["six","four"]"#),
        ("anthropic/stop-sequence-at-once", r#""stop_sequences":["four"]"#),
        ("anthropic/thinking", r#""thinking":{"type":"enabled","budget_tokens":1024}"#),
        ("anthropic/redacted-thinking", r#""thinking":{"type":"enabled","budget_tokens":1024}"#),
        ("anthropic/text", r#""thinking":{"type":"enabled","budget_tokens":1024}"#),
        ("anthropic/text-before-thinking", r#""thinking":{"type":"adaptive"}"#),
        ("anthropic/thinking-omitted", r#""thinking":{"type":"adaptive","display":"omitted"}"#),
        // Some models think by default.
        ("anthropic/thinking", r#""model":"claude-sonnet-5""#),
        ("anthropic/text", r#""model":"claude-sonnet-latest""#),
        ("anthropic/max-tokens", r#""output_config":{"format":{"type":"json_schema","schema":{}}}"#),
        ("anthropic/text", r#""output_config":{"effort":"low","format":null}"#),
        ("bedrock/text", r#""stream":false"#),
    ]);
}

#[test]
fn completions_that_do_what_was_asked_are_good() {
    let weather = r#""tools":[{"type":"function","function":{"name":"get_weather"}}]"#;
    let with = |choice: &str| format!(r#"{weather},"tool_choice":{choice}"#);
    let usage = r#""stream_options":{"include_usage":true}"#;
    let named = r#"{"type":"function","function":{"name":"get_weather"}}"#;
    let cases: [(&str, &str); 22] = [
        ("chat/tool-call", &with("\"required\"")),
        ("chat/forced-tool-call", &with(named)),
        ("chat/forced-tool-call", &with("\"required\"")),
        ("chat/parallel-tool-calls", &with("\"auto\"")),
        ("chat/tool-call", &format!(r#"{weather},"parallel_tool_calls":false"#)),
        ("chat/text", &with("\"none\"")),
        ("chat/refusal", &with("\"required\"")),
        ("chat/length", &with(named)),
        ("chat/two-choices", &format!(r#""n":2,{usage}"#)),
        ("chat/text", r#""n":null"#),
        ("chat/usage", &format!(r#""max_completion_tokens":4,"max_tokens":1,{usage}"#)),
        (
            "chat/tool-call-cut",
            &format!(r#""tools":[{{"function":{{"name":"write_file"}}}}],"max_tokens":16,{usage}"#),
        ),
        ("chat/text", r#""stop":"green""#),
        ("chat/logprobs", r#""logprobs":true"#),
        ("chat/tool-call", &format!(r#""logprobs":true,{weather}"#)),
        ("chat/audio", &format!(r#""modalities":["text","audio"],{usage}"#)),
        ("chat/text", r#""model":"GPT-5.4""#),
        ("chat/refusal", r#""response_format":{"type":"json_object"}"#),
        ("chat/tool-call", &format!(r#""response_format":{{"type":"json_object"}},{weather}"#)),
        ("chat/length", r#""response_format":{"type":"json_object"}"#),
        ("azure-chat/text", r#""model":"our-deployment""#),
        ("mistral/tool-calls", r#""tools":[{"function":{"name":"get_weather"}}],"tool_choice":"any""#),
    ];
    allows(&cases);
}

#[test]
fn what_is_no_request_breaks_nothing() {
    for (id, kept) in [
        ("anthropic/tool-use", r#"{"kind":"json","sha256":"00"}"#),
        ("chat/usage", "[1]"),
        ("chat/usage", ""),
    ] {
        assert_eq!(broken_by(id, kept), [""; 0], "{id} with {kept}");
    }
}

#[test]
fn several_choices_share_a_limit() {
    let settings =
        |limit: u32| format!(r#""n":2,"max_tokens":{limit},"stream_options":{{"include_usage":true}}"#);
    assert_eq!(broken("chat/two-choices", &settings(4)), [""; 0]);
    assert_eq!(broken("chat/two-choices", &settings(3)), ["usage/within-limit"]);
    assert_eq!(
        broken("chat/two-choices", r#""stream_options":{"include_usage":true}"#),
        ["completion/choices-asked"]
    );
}

#[test]
fn a_completion_that_failed_owes_nothing() {
    assert_eq!(broken("chat/error", r#""n":2,"stream_options":{"include_usage":true}"#), [""; 0]);
}
