//! The reference gateway over HTTP.

use std::time::Duration;

use conformance::gateway::{self, Embedded, McpServer, Settings, WireFault};
use serde_json::{Value, json};
use spec::Dialect;

use crate::http::{self, Answer};

fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("the build has it")
}

/// Sends a request without headers of its own.
fn ask(gateway: &Embedded, method: &str, path: &str, body: &str) -> Answer {
    http::ask(gateway.address(), method, &format!("/v1{path}"), "", body)
}

fn post(gateway: &Embedded, request: &Value) -> Answer {
    ask(gateway, "POST", "/responses", &request.to_string())
}

/// Sends a request of an API.
fn post_to(gateway: &Embedded, dialect: &Dialect, request: &Value) -> Answer {
    ask(gateway, "POST", dialect.api.path, &request.to_string())
}

fn start(settings: Settings) -> Embedded {
    Embedded::start(settings).unwrap()
}

fn openai() -> Settings {
    Settings::new(dialect("openai"))
}

fn hello() -> Value {
    json!({"model": "reference-1", "input": "[[say Hëllo|, wor|ld.]]", "stream": true})
}

#[test]
fn all_apis_are_spoken_on_one_port() {
    let beside = vec![dialect("anthropic"), dialect("chat")];
    let gateway = start(Settings { beside, ..openai() });
    let models = ask(&gateway, "GET", "/models", "").json();
    assert_eq!(models.pointer("/data/0/object"), Some(&json!("model")), "without a header of another API");
    for (name, said) in [
        ("openai", "/output/0/content/0/text"),
        ("anthropic", "/content/0/text"),
        ("chat", "/choices/0/message/content"),
    ] {
        let dialect = dialect(name);
        let of = |input: &str| gateway::request(input, dialect.api);
        let stream = post_to(&gateway, dialect, &of("Use the word plum."));
        assert_eq!((stream.status(), stream.broken(dialect)), (200, vec![]), "{name}");
        assert_ne!(stream.text(), post_to(&gateway, dialect, &of("Use the word plum.")).text(), "ids differ");
        let mut whole = of("Use the word plum.");
        whole["stream"] = json!(false);
        let whole = post_to(&gateway, dialect, &whole);
        assert_eq!(whole.broken(dialect), Vec::<String>::new(), "{name}");
        assert!(whole.head.contains("request-id: req_"), "{}", whole.head);
        assert_eq!(whole.json().pointer(said), Some(&json!("plum: Hello, world.")), "{name}");
        let mut unknown = of("Hello");
        unknown["model"] = json!("no-such-model");
        for (request, status) in [
            (of("[[error 429]]"), 429),
            (of("[[error 500]]"), 500),
            (of("[[error 401]]"), 401),
            (unknown, 404),
            (json!([]), 400),
            (json!({}), 400),
        ] {
            let refused = post_to(&gateway, dialect, &request);
            assert_eq!(
                (refused.status(), refused.broken(dialect)),
                (status, vec![]),
                "{name}: {}",
                refused.text()
            );
        }
    }
}

#[test]
fn tokens_are_counted_as_in_a_message() {
    let gateway = start(Settings::new(dialect("anthropic")));
    let mut request = gateway::request("Hello, how are you?", dialect("anthropic").api);
    request["stream"] = json!(false);
    let message = post_to(&gateway, dialect("anthropic"), &request).json();
    request.as_object_mut().unwrap().retain(|name, _| ["model", "messages"].contains(&name.as_str()));
    let count = ask(&gateway, "POST", "/messages/count_tokens", &request.to_string()).json();
    assert_eq!(count["input_tokens"], message["usage"]["input_tokens"]);
    assert_eq!(ask(&gateway, "POST", "/messages/count_tokens", "{}").status(), 400);
}

#[test]
fn tokens_are_counted_where_the_path_names_the_model() {
    let gateway = start(Settings::new(dialect("gemini")));
    let request = gateway::request("Hello, how are you?", dialect("gemini").api);
    let response = post_to(&gateway, dialect("gemini"), &request);
    let contents = json!({"contents": request["contents"]});
    let at = "/models/gemini-2.5-flash:countTokens";
    for body in [contents.clone(), json!({"generateContentRequest": contents})] {
        let count = ask(&gateway, "POST", at, &body.to_string()).json();
        let told = format!("\"promptTokenCount\":{}", count["totalTokens"]);
        assert!(response.text().contains(&told), "{count}");
    }
    let beside = json!({"contents": contents["contents"], "extra": {"contents": [{"parts": [{"text": "more ".repeat(50)}]}]}});
    let [alone, beside] =
        [contents.clone(), beside].map(|body| ask(&gateway, "POST", at, &body.to_string()).json());
    assert_eq!(alone, beside);
    assert_eq!(ask(&gateway, "POST", at, "{}").status(), 400);
    let no_json = ask(&gateway, "POST", at, "no");
    assert!(no_json.status() == 400 && no_json.text().contains("is not JSON"), "{}", no_json.text());
    let unknown = ask(&gateway, "POST", "/models/no-such-model:countTokens", &contents.to_string());
    assert_eq!(unknown.status(), 404);
}

#[test]
fn a_blocked_prompt_has_one_answer() {
    let dialect = dialect("gemini");
    let gateway = start(Settings::new(dialect));
    let mut request = gateway::request("[[block]]", dialect.api);
    request["generationConfig"] = json!({"candidateCount": 3});
    let blocked = post_to(&gateway, dialect, &request);
    assert_eq!(blocked.broken(dialect), Vec::<String>::new());
    assert_eq!(blocked.text().matches("promptFeedback").count(), 1, "{}", blocked.text());
}

#[test]
fn what_an_api_has_no_way_to_say_is_refused() {
    for (name, input) in [
        ("anthropic", "[[image 1]]"),
        ("chat", "[[web_search tides]]"),
        ("chat", "[[say ]]"),
        ("openai", "[[say A]][[pause]]"),
    ] {
        let dialect = dialect(name);
        let gateway = start(Settings::new(dialect));
        let refused = post_to(&gateway, dialect, &gateway::request(input, dialect.api));
        assert_eq!((refused.status(), refused.broken(dialect)), (400, vec![]), "{name} {input}");
        assert!(refused.text().contains("has no way to say this"), "{}", refused.text());
    }
}

#[test]
fn requests_are_refused_with_the_right_error() {
    for name in ["openai", "open-responses", "eugpt"] {
        let dialect = dialect(name);
        let gateway = start(Settings::new(dialect));
        let refused = [
            ("{", 400, "invalid_json"),
            ("[]", 400, "invalid_json"),
            (r#"{"input":"Hello"}"#, 400, "missing_required_parameter"),
            (r#"{"model":"unknown-model","input":"Hello"}"#, 404, "model_not_found"),
            (r#"{"model":"m","input":"[[error 429]]"}"#, 429, "rate_limit_exceeded"),
            (r#"{"model":"m","input":"[[error 500]]","stream":true}"#, 500, "server_error"),
            (r#"{"model":"m","input":"[[error 401]]"}"#, 401, "invalid_api_key"),
        ];
        for (body, status, code) in refused {
            let answer = ask(&gateway, "POST", "/responses", body);
            assert_eq!(
                (answer.status(), answer.json()["error"]["code"].as_str()),
                (status, Some(code)),
                "{body}"
            );
            assert_eq!(answer.broken(dialect), Vec::<&str>::new(), "{body}");
        }
        if dialect.root("request").is_some() {
            for (body, param) in [
                (r#"{"model":"m","input":"Hello","max_output_tokens":1}"#, "max_output_tokens"),
                (r#"{"model":"m","input":"Hello","temperature":"hot"}"#, "temperature"),
            ] {
                let answer = ask(&gateway, "POST", "/responses", body);
                assert_eq!((answer.status(), answer.json()["error"]["param"].as_str()), (400, Some(param)));
            }
            // Clients leave `strict` out, and name a function by all means.
            let tool = json!({"type": "function", "name": "f", "parameters": {"type": "object"}});
            let asked = json!({"model": "m", "input": "[[call f {}]]", "tools": [tool]});
            assert_eq!(post(&gateway, &asked).status(), 200, "{name}");
            let nameless = json!({"model": "m", "input": "Hello", "tools": [{"type": "function"}]});
            let refused = post(&gateway, &nameless).json();
            assert_eq!(refused["error"]["message"], "tools.0 lacks property \"name\".", "{name}");
        }
        assert_eq!(ask(&gateway, "GET", "/nowhere", "").status(), 404);
        assert_eq!(ask(&gateway, "GET", "/responses", "").status(), 405);
    }
}

#[test]
fn several_rules_are_broken_on_the_wire() {
    for name in ["openai", "open-responses"] {
        let dialect = dialect(name);
        let several = ["text/deltas-joined", "sequence/by-one"];
        let rules = several.iter().map(|id| catalogue::rule(id).unwrap()).collect();
        let gateway = start(Settings { rules, ..Settings::new(dialect) });
        let mut broken = post(&gateway, &hello()).broken(dialect);
        broken.sort_unstable();
        assert_eq!(broken, ["sequence/by-one", "text/deltas-joined"]);
        // A rule that cannot be broken alone is not broken.
        let other = json!({"model": "m", "input": "[[call f {}]]", "stream": true});
        assert_eq!(post(&gateway, &other).broken(dialect), ["sequence/by-one"]);
    }
}

#[test]
fn pace_and_pieces_change_nothing() {
    let whole = post(&start(openai()), &hello());
    for (pace, chunk) in [(3, None), (0, Some(1)), (1, Some(7)), (0, Some(100_000))] {
        let gateway = start(Settings { pace: Duration::from_millis(pace), chunk, ..openai() });
        assert_eq!(post(&gateway, &hello()).text(), whole.text(), "{pace} {chunk:?}");
    }
}

#[test]
fn texts_can_be_made_long() {
    for dialect in gateway::dialects() {
        let gateway = start(Settings { fragments: 990, ..Settings::new(dialect) });
        let deltas = |request: &Value| {
            let stream = post_to(&gateway, dialect, request);
            assert_eq!((stream.status(), stream.broken(dialect)), (200, vec![]), "{}", dialect.name);
            let texts = stream.text();
            let deltas = [
                "event: response.output_text.delta\n",
                "\"type\":\"text_delta\"",
                "\"delta\":{\"content\":",
                "{\"parts\":[{\"text\":",
            ];
            deltas.iter().map(|name| texts.matches(name).count()).sum::<usize>()
        };
        if dialect.name != "eugpt" {
            let hello = gateway::request("[[say Hëllo|, wor|ld.]]", dialect.api);
            assert_eq!(deltas(&hello), 990, "{}", dialect.name);
        }
        // Explicitly requested content does not change.
        for asked in ["[[say Hello|.]][[fail after 3]]", "[[say Hello|.]][[incomplete]]", "[[refuse]]"] {
            assert!(deltas(&gateway::request(asked, dialect.api)) < 10, "{asked}");
        }
    }
    let gateway = start(Settings { fragments: 990, ..openai() });
    let mut request = hello();
    request["max_output_tokens"] = json!(16);
    let text = post(&gateway, &request).text();
    assert!(text.contains("response.incomplete") && text.matches("output_text.delta").count() < 50, "{text}");
}

#[test]
fn transport_can_go_wrong() {
    let good = post(&start(openai()), &hello());
    let of = |fault: WireFault| post(&start(Settings { wire: vec![fault], ..openai() }), &hello());
    let cut = of(WireFault::Cut);
    assert!(good.text().starts_with(&cut.text()) && !cut.text().ends_with('\n'), "{}", cut.text());
    assert_eq!(of(WireFault::Crlf).text(), good.text().replace('\n', "\r\n"));
    assert_eq!(of(WireFault::SplitUtf8).text(), good.text());
    let huge = of(WireFault::HugeLine);
    assert!(huge.body.len() > 16 << 20);
    assert_eq!(huge.broken(dialect("openai")), Vec::<&str>::new());
    let html = of(WireFault::WrongContentType);
    assert_eq!(html.text(), good.text());
    assert_eq!(html.broken(dialect("openai")), ["wire/event-stream-content-type"]);
    let gzip = of(WireFault::Gzip);
    assert!(
        gzip.head.contains("content-encoding: gzip") && gzip.body.starts_with(&[0x1f, 0x8b]),
        "{}",
        gzip.head
    );
    assert_eq!(gzip.broken(dialect("openai")), Vec::<&str>::new());
    let error = of(WireFault::ErrorAsStream);
    assert!(error.head.contains("500") && error.head.contains("text/event-stream"), "{}", error.head);
    assert!(!error.broken(dialect("openai")).is_empty());
}

#[test]
fn mcp_servers_on_this_machine_are_really_asked() {
    let (gateway, notes) = (start(openai()), McpServer::start().unwrap());
    let ask_with = |url: &str| {
        let tool =
            json!({"type": "mcp", "server_label": "notes", "server_url": url, "require_approval": "never"});
        let request = json!({"model": "m", "input": "Search my notes.", "tools": [tool]});
        let answer = post(&gateway, &request);
        assert_eq!(answer.broken(dialect("openai")), Vec::<&str>::new());
        answer.json()["output"].clone()
    };
    let output = ask_with(&notes.url());
    assert_eq!(output[0]["tools"][0]["description"], "Searches the notes of the user for a word.");
    assert_eq!(output[1]["output"], "One note has the word migration.");
    // Servers on other machines are not contacted: their output is made up.
    assert_eq!(ask_with("https://mcp.example.com")[1]["output"], "One note: Migration");
    drop(notes);
    let output = ask_with("http://127.0.0.1:9/mcp");
    assert!(output[0]["error"].is_string() && output[1]["type"] == "message", "{output}");
}

#[test]
fn only_listed_models_are_served() {
    let gateway = start(Settings { models: vec!["m-1".to_owned()], ..openai() });
    for (model, status) in [("m-1", 200), ("m-2", 404), ("auto", 200)] {
        assert_eq!(post(&gateway, &json!({"model": model, "input": "Hello"})).status(), status, "{model}");
    }
}
