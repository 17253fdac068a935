//! The forms in which clients ask for the same.

use serde_json::{Value, json};
use translation::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Turn};

use super::dialects;
use super::table::{model, result, text, user};

fn read(api: &str, request: &Value) -> Question {
    let dialect = dialects().into_iter().find(|dialect| dialect.api.name == api).unwrap();
    Question::read(dialect.api, request)
}

fn responses(request: &Value) -> Question {
    read("responses", request)
}

fn messages(request: &Value) -> Question {
    read("messages", request)
}

fn chat(request: &Value) -> Question {
    read("chat", request)
}

fn image(media_type: &str, data: &str) -> Part {
    let [media_type, data] = [media_type, data].map(|text| Some(text.to_owned()));
    Part::Image(Image { url: None, media_type, data })
}

fn address(url: &str) -> Part {
    Part::Image(Image { url: Some(url.to_owned()), ..Image::default() })
}

fn call(id: &str, arguments: &str) -> Part {
    Part::Call(Call { id: id.to_owned(), name: "weather".to_owned(), arguments: arguments.to_owned() })
}

#[test]
fn instructions_stand_in_many_places() {
    let parts =
        |kind: &str| json!([{"type": kind, "text": "a"}, {"type": kind, "text": "b", "cache_control": {}}]);
    let said = ["a", "b", "c"];
    let request = json!({"input": [
        {"role": "developer", "content": parts("input_text")},
        {"role": "user", "content": "Hi"},
        {"type": "message", "role": "system", "content": "c"},
        {"role": "user", "content": [{"type": "input_text", "text": "there"}]},
    ]});
    let of_responses = responses(&request);
    let before = responses(&json!({"input": [{"role": "system", "content": "b"}], "instructions": "a"}));
    assert_eq!(before.instructions, ["a", "b"]);
    let of_messages = messages(&json!({
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "system", "content": [{"type": "text", "text": "c"}]},
            {"role": "user", "content": [{"type": "text", "text": "there", "cache_control": {"type": "ephemeral"}}]},
        ],
        "system": parts("text"),
    }));
    let of_chat = chat(&json!({"messages": [
        {"role": "system", "content": parts("text")},
        {"role": "user", "content": "Hi"},
        {"role": "developer", "content": "c"},
        {"role": "user", "content": ["there"]},
    ]}));
    for question in [of_responses, of_messages, of_chat] {
        assert_eq!(question.instructions, said);
        assert_eq!(question.turns, [user(vec![text("Hi"), text("there")])]);
        assert_eq!(question.others, [""; 0]);
    }
}

#[test]
fn images_are_the_same_in_every_form() {
    let data = "data:image/JPG;charset=x;base64,AAAA";
    let all = user(vec![
        image("image/jpeg", "AAAA"),
        address("https://e.org/a"),
        address("data:image/svg+xml,%3C"),
    ]);
    let of_responses = responses(&json!({"input": [{"role": "user", "content": [
        {"type": "input_image", "image_url": data, "detail": "auto"},
        {"type": "input_image", "image_url": {"url": "https://e.org/a"}},
        {"type": "input_image", "image_url": "data:image/svg+xml,%3C"},
    ]}]}));
    let of_chat = chat(&json!({"messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": data, "detail": "auto"}},
        {"type": "image_url", "image_url": "https://e.org/a"},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3C"}},
    ]}]}));
    let of_messages = messages(&json!({"messages": [{"role": "user", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://e.org/a"}},
        {"type": "image", "source": {"type": "url", "url": "data:image/svg+xml,%3C"}},
    ]}]}));
    for question in [of_responses, of_messages, of_chat] {
        assert_eq!(question.turns, std::slice::from_ref(&all));
        assert_eq!(question.others, [""; 0]);
    }
}

#[test]
fn calls_reasoning_and_outputs_have_many_forms() {
    let output = |id: &str, text: &str| {
        Part::Result(Output { id: id.to_owned(), text: text.to_owned(), is_error: false })
    };
    let thought = |seal: Option<&str>| Reasoning {
        text: "First, then".to_owned(),
        seal: seal.map(str::to_owned),
        ..Reasoning::default()
    };
    let sealed = Reasoning { seal: Some("eA==".to_owned()), is_redacted: true, ..Reasoning::default() };
    let of_responses = responses(&json!({"input": [
        {"type": "reasoning", "id": "rs_1", "summary": [
            {"type": "summary_text", "text": "First, "},
            {"type": "summary_text", "text": "then"},
        ]},
        {"type": "reasoning", "summary": [], "encrypted_content": "eA=="},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "Hm.", "annotations": []},
            {"type": "refusal", "refusal": "No."},
        ]},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "weather", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "sun"},
            {"type": "input_text", "text": "ny\n"},
        ]},
    ]}));
    let named = Reasoning { id: Some("rs_1".to_owned()), ..thought(None) };
    assert_eq!(
        of_responses.turns,
        [
            model(vec![
                Part::Reasoning(named),
                Part::Reasoning(sealed.clone()),
                text("Hm."),
                Part::Refusal("No.".to_owned()),
                call("a", "{}"),
            ]),
            user(vec![result("a")]),
        ]
    );
    let of_messages = messages(&json!({"messages": [
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "First, then", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "eA=="},
            {"type": "text", "text": "Hm.", "citations": null},
        ]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "weather", "input": {"b": 1, "a": 2}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "sunny\n"}]},
            {"type": "tool_result", "tool_use_id": "b"},
        ]},
    ]}));
    assert_eq!(
        of_messages.turns,
        [
            model(vec![
                Part::Reasoning(thought(Some("c2ln"))),
                Part::Reasoning(sealed),
                text("Hm."),
                call("a", r#"{"b":1,"a":2}"#),
            ]),
            user(vec![result("a"), output("b", "")]),
        ]
    );
    let of_chat = chat(&json!({"messages": [
        {"role": "assistant", "content": "", "reasoning_content": "First, then", "refusal": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": {"b": 1}}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "sunny\n"}]},
        {"role": "assistant", "content": null, "function_call": {"name": "weather", "arguments": "{}"}},
        {"role": "function", "name": "weather", "content": "x"},
        {"role": "user", "content": "Go on."},
    ]}));
    assert_eq!(
        of_chat.turns,
        [
            model(vec![Part::Reasoning(thought(None)), call("a", r#"{"b":1}"#)]),
            user(vec![result("a")]),
            model(vec![call("weather", "{}")]),
            user(vec![output("weather", "x"), text("Go on.")]),
        ]
    );
    for question in [of_responses, of_messages, of_chat] {
        assert_eq!(question.others, [""; 0]);
    }
}

#[test]
fn choices_of_tools_have_many_forms() {
    let one = || Choice::One("weather".to_owned());
    for (request, choice) in [
        (json!("auto"), Choice::Free),
        (json!("none"), Choice::None),
        (json!("required"), Choice::Any),
        (json!("any"), Choice::Any),
        (json!({"type": "function", "name": "weather"}), one()),
        (json!({"type": "function", "function": {"name": "weather"}}), one()),
    ] {
        let request = json!({"tool_choice": request, "parallel_tool_calls": false});
        for question in [responses(&request), chat(&request)] {
            assert_eq!((question.choice, question.is_one_call), (choice.clone(), true), "{request}");
            assert_eq!(question.others, [""; 0], "{request}");
        }
    }
    for (choice, expected) in
        [("auto", Choice::Free), ("any", Choice::Any), ("none", Choice::None), ("tool", one())]
    {
        let request =
            json!({"tool_choice": {"type": choice, "name": "weather", "disable_parallel_tool_use": true}});
        let question = messages(&request);
        assert_eq!((question.choice, question.is_one_call), (expected, true), "{request}");
    }
    let of_responses =
        responses(&json!({"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}}));
    let of_chat =
        chat(&json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}}));
    for question in [of_responses, of_chat] {
        assert_eq!((question.choice, question.others), (Choice::Any, vec!["tool_choice".to_owned()]));
    }
}

#[test]
fn limits_stops_efforts_and_users_have_many_forms() {
    assert_eq!(chat(&json!({"max_tokens": 5})).limit, Some(5));
    assert_eq!(chat(&json!({"max_tokens": 5, "max_completion_tokens": 6})).limit, Some(6));
    assert_eq!(chat(&json!({"stop": "END"})).stops, ["END"]);
    assert_eq!(chat(&json!({"stop": ["a", "b"]})).stops, ["a", "b"]);
    assert_eq!(chat(&json!({"n": 1})).choices, None);
    assert_eq!(chat(&json!({"n": 3})).choices, Some(3));
    assert_eq!(chat(&json!({"reasoning": {"effort": "low"}})).effort.as_deref(), Some("low"));
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": true}});
    let schema = Format::Schema { name: "a".to_owned(), schema: json!({"type": "object"}) };
    assert_eq!(chat(&json!({"response_format": format})).format, schema);
    for (thinking, config, effort) in [
        (json!({"type": "disabled"}), json!({"effort": "low"}), "none"),
        (json!({"type": "enabled", "budget_tokens": 1024}), Value::Null, "low"),
        (json!({"type": "enabled", "budget_tokens": 4095}), Value::Null, "medium"),
        (json!({"type": "enabled", "budget_tokens": 31999}), Value::Null, "high"),
        (json!({"type": "enabled", "budget_tokens": 1024}), json!({"effort": "max"}), "max"),
        (json!({"type": "adaptive"}), json!({"effort": "low"}), "low"),
        (json!({"type": "adaptive"}), Value::Null, "high"),
        (Value::Null, json!({"effort": "xhigh"}), "xhigh"),
    ] {
        let request = json!({"thinking": thinking, "output_config": config});
        assert_eq!(messages(&request).effort.as_deref(), Some(effort), "{request}");
    }
    assert_eq!(messages(&json!({"metadata": {"user_id": "u"}})).user.as_deref(), Some("u"));
    for name in ["user", "safety_identifier"] {
        assert_eq!(responses(&json!({name: "u"})).user.as_deref(), Some("u"));
    }
    assert_eq!(responses(&json!({"user": "u", "safety_identifier": "v"})).others, ["safety_identifier"]);
}

#[test]
fn members_without_counterpart_have_one_name_in_all_apis() {
    let silent = json!({"store": true, "metadata": {"a": "b"}, "stream_options": {"include_usage": true}, "seed": null,
        "prompt_cache_key": "k", "presence_penalty": 0.0, "logprobs": false, "service_tier": "auto", "n": 1});
    assert_eq!(chat(&silent).others, [""; 0]);
    let of_chat = chat(&json!({
        "seed": 1,
        "verbosity": "low",
        "logprobs": true,
        "tools": [{"type": "function", "function": {"name": "a", "strict": true}}, {"type": "custom", "custom": {"name": "b"}}],
        "messages": [{"role": "user", "name": "Ann", "content": [{"type": "file", "file": {}}, {"type": "input_audio"}]}],
    }));
    assert_eq!(
        of_chat.others,
        [
            "seed",
            "verbosity",
            "logprobs",
            "tools.strict",
            "tools.custom",
            "content.file",
            "content.audio",
            "messages.name"
        ]
    );
    let of_responses = responses(&json!({
        "previous_response_id": "r",
        "text": {"verbosity": "low"},
        "include": ["message.output_text.logprobs", "reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "a", "parameters": null, "strict": true}, {"type": "web_search"}],
        "input": [
            {"role": "user", "content": [{"type": "input_file"}, {"type": "input_image", "file_id": "f"}, {"type": "input_image", "image_url": "u", "detail": "high"}]},
            {"type": "item_reference", "id": "i"},
        ],
    }));
    assert_eq!(
        of_responses.others,
        [
            "previous_response_id",
            "verbosity",
            "logprobs",
            "tools.strict",
            "tools.web_search",
            "content.file",
            "image.file_id",
            "image.detail",
            "input.item_reference"
        ]
    );
    let of_messages = messages(&json!({
        "top_k": 4,
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, {"name": "a", "input_schema": {}, "strict": true}],
        "messages": [{"role": "user", "content": [
            {"type": "document"},
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image"}]},
        ]}],
    }));
    assert_eq!(
        of_messages.others,
        ["top_k", "tools.web_search", "tools.strict", "content.file", "result.image"]
    );
    let bare = json!({"type": "object", "properties": {}});
    for question in [of_chat, of_responses, of_messages] {
        assert_eq!(question.tools.iter().map(|tool| &tool.parameters).collect::<Vec<_>>(), [&bare]);
    }
}

#[test]
fn hostile_requests_are_read_in_bounds() {
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|number| (format!("{number}{}", "é".repeat(1000)), json!(1))).collect();
    let odd = json!([null, 1, "x", [], {}, [[]], {"type": 1}, {"type": "text"}, {"role": []}, {"role": "user", "content": 5}]);
    let names = [
        "model",
        "messages",
        "input",
        "tools",
        "tool_choice",
        "thinking",
        "reasoning",
        "text",
        "include",
        "stop",
        "system",
        "instructions",
        "metadata",
        "output_config",
        "response_format",
        "max_tokens",
        "stream",
        "user",
        "functions",
    ];
    for api in ["responses", "messages", "chat"] {
        let question = read(api, &Value::Object(many.clone()));
        assert_eq!(question.others.len(), 64);
        assert!(question.others.iter().all(|name| name.chars().count() <= 64));
        for name in names {
            for value in odd.as_array().unwrap().iter().chain([&odd]) {
                let question = read(api, &json!({name: value}));
                let roles: Vec<Role> = question.turns.iter().map(|turn: &Turn| turn.role).collect();
                assert!(roles.windows(2).all(|pair| pair.first() != pair.last()), "{name} {value}");
                for dialect in dialects() {
                    assert!(question.write(dialect.api).is_object());
                }
            }
        }
    }
}
