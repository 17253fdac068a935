//! Damages of good streams are found, at the level that fits their effect on clients.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use catalogue::Level;
use conformance::Checker;
use serde_json::{Value, json};
use tests::corpus;

/// The data of the events of a stream.
type Stream = Vec<Value>;

/// Damages a stream, if it has what the damage is about.
type Edit = fn(&mut Stream) -> Option<()>;

const MUST: &[(&str, &str, Edit)] = &[
    ("response/created-first", "without response.created", |all| drop_first(all, "response.created")),
    ("response/created-once", "response.created in the middle", |all| {
        let again = all.first()?.clone();
        all.insert(4.min(all.len() - 1), again);
        Some(())
    }),
    ("response/terminal-last", "a delta after the end", |all| {
        let late = all.iter().find(|event| kind(event).contains("delta"))?.clone();
        all.push(late);
        Some(())
    }),
    ("wire/done-last", "[DONE] before the end", |all| {
        all.insert(all.len() - 1, json!("[DONE]"));
        Some(())
    }),
    ("response/id-constant", "another response id at the end", |all| {
        set(end(all)?, "/response/id", "resp_x")
    }),
    ("response/id-constant", "another response id in progress", |all| {
        set(first(all, "response.in_progress")?, "/response/id", "resp_x")
    }),
    ("response/error-agrees", "completed with an error", |all| {
        completed(all)?["response"]["error"] = json!({"code": "server_error", "message": "x"});
        Some(())
    }),
    ("response/error-agrees", "failed without an error", |all| {
        all.retain(|event| kind(event) != "error");
        set(first(all, "response.failed")?, "/response/error", Value::Null)
    }),
    ("response/usage-details-within", "negative usage", |all| {
        set(end(all)?, "/response/usage/input_tokens", -5)?;
        set(end(all)?, "/response/usage/total_tokens", -5)
    }),
    ("response/named", "an empty response id", |all| {
        set_all(all, "/response/id", &json!(""));
        Some(())
    }),
    ("summary/before-open", "a summary part never added", |all| drop_first(all, SUMMARY_ADDED)),
    ("summary/reopened", "a summary part added twice", |all| twice(all, SUMMARY_ADDED)),
    ("summary/parent-closed-first", "a summary text done after its part", |all| swap(all, SUMMARY_DONE)),
    ("summary/deltas-joined", "a summary delta lost", |all| {
        drop_first(all, "response.reasoning_summary_text.delta")
    }),
    ("summary/equals-item", "another summary in the item", |all| {
        set(item_done(all, "reasoning")?, "/item/summary/0/text", "x")?;
        set(entry(all, "reasoning")?, "/summary/0/text", "x")
    }),
    ("summary/equals-item", "summary parts swapped", |all| {
        item_done(all, "reasoning")?
            .pointer_mut("/item/summary")?
            .as_array_mut()
            .filter(|all| all.len() > 1)?
            .reverse();
        entry(all, "reasoning")?["summary"].as_array_mut()?.reverse();
        Some(())
    }),
    ("summary/equals-item", "summary indices from 1", |all| {
        let is_any = all.iter().any(|event| event.get("summary_index").is_some());
        add_one_to_all(all, "summary_index");
        is_any.then_some(())
    }),
    ("call/after-close", "arguments done twice", |all| twice(all, ARGUMENTS_DONE)),
    ("call/parent-closed-first", "arguments done after their item", |all| swap(all, ARGUMENTS_DONE)),
    ("call/identity-kept", "another name in the arguments", |all| {
        first(all, ARGUMENTS_DONE)?["name"] = json!("other_name");
        Some(())
    }),
    ("call/equals-item", "other arguments in the item", |all| {
        set(item_done(all, "function_call")?, "/item/arguments", r#"{"x":1}"#)?;
        set(entry(all, "function_call")?, "/arguments", r#"{"x":1}"#)
    }),
    ("call/equals-item", "another input in the item", |all| {
        set(item_done(all, "custom_tool_call")?, "/item/input", "x")?;
        set(entry(all, "custom_tool_call")?, "/input", "x")
    }),
    ("call/arguments-joined", "an input delta twice", |all| {
        twice(all, "response.custom_tool_call_input.delta")
    }),
    ("call/wrong-parent", "arguments of a message", |all| {
        let at = all.iter().position(|event| kind(event) == "response.content_part.added")?;
        let (id, index) = (all[at]["item_id"].clone(), all[at]["output_index"].clone());
        let late = json!({"type": "response.function_call_arguments.delta", "sequence_number": 0, "item_id": id,
            "output_index": index, "delta": "{"});
        all.insert(at + 1, late);
        Some(())
    }),
    ("item/starts-empty", "arguments when the call is added", |all| {
        let whole = item_done(all, "function_call")?["item"]["arguments"].clone();
        set(item_added(all, "function_call")?, "/item/arguments", whole)
    }),
    ("part/type-stable", "another type when the part is done", |all| {
        let part = &mut first(all, "response.content_part.done")?["part"];
        *part = json!({"type": "refusal", "refusal": part.get("text")?.clone()});
        Some(())
    }),
    ("output/equals-items", "another call_id at the end", |all| {
        set(entry(all, "function_call")?, "/call_id", "x")
    }),
    ("output/equals-items", "another name at the end", |all| set(entry(all, "function_call")?, "/name", "x")),
    ("output/equals-items", "annotations lost at the end", |all| {
        let list = entry(all, "message")?.pointer_mut("/content/0/annotations")?;
        let had_any = list.as_array().is_some_and(|list| !list.is_empty());
        *list = json!([]);
        had_any.then_some(())
    }),
    ("output/equals-items", "another url at the end", |all| {
        set(entry(all, "message")?, "/content/0/annotations/0/url", "https://example.org/x")
    }),
    ("output/equals-items", "an action lost at the end", |all| {
        entry(all, "web_search_call")?.as_object_mut()?.remove("action").map(drop)
    }),
    ("output/text-kept", "other code at the end", |all| {
        set(entry(all, "code_interpreter_call")?, "/code", "x")
    }),
    ("output/ids-kept", "ids swapped at the end", |all| {
        let output = end(all)?.pointer_mut("/response/output")?.as_array_mut().filter(|all| all.len() > 1)?;
        let (one, other) = (output[0]["id"].clone(), output[1]["id"].clone());
        (output[0]["id"], output[1]["id"]) = (other, one);
        Some(())
    }),
    ("output/types-in-order", "the output reversed", |all| {
        let output = end(all)?.pointer_mut("/response/output")?.as_array_mut()?;
        (output.first()?["type"] != output.last()?["type"]).then(|| output.reverse())
    }),
    ("output/at-its-index", "output indices from 1", |all| {
        let has_items = all.iter().any(|event| event.get("output_index").is_some());
        add_one_to_all(all, "output_index");
        has_items.then_some(())
    }),
    ("output/count-agrees", "reasoning lost at the end", |all| {
        let output = end(all)?.pointer_mut("/response/output")?.as_array_mut()?;
        let has_no_text = |item: &Value| {
            item["type"] == "reasoning"
                && item["summary"] == json!([])
                && item.get("content").is_none_or(|content| *content == json!([]))
        };
        let at = output.iter().position(has_no_text)?;
        output.remove(at);
        Some(())
    }),
    ("output/count-agrees", "the last item twice at the end", |all| {
        let output = end(all)?.pointer_mut("/response/output")?.as_array_mut()?;
        let last = output.last()?.clone();
        output.push(last);
        Some(())
    }),
    ("item/never-closed", "no item done", |all| {
        item_done(all, "message").is_some().then_some(())?;
        all.retain(|event| kind(event) != "response.output_item.done");
        Some(())
    }),
    ("item/has-id", "empty item ids", |all| {
        (all.iter().filter(|event| kind(event) == "response.output_item.added").count() == 1).then_some(())?;
        for event in &mut *all {
            let _ = ["/item/id", "/item_id", "/response/output/0/id"].map(|at| set(event, at, ""));
        }
        Some(())
    }),
];

const SHOULD: &[(&str, &str, Edit)] = &[
    ("wire/done-last", "[DONE] twice", |all| {
        all.extend([json!("[DONE]"), json!("[DONE]")]);
        Some(())
    }),
    ("response/named", "an empty model", |all| {
        set_all(all, "/response/model", &json!(""));
        Some(())
    }),
    ("output/ids-kept", "a new id at the end", |all| set(entry(all, "message")?, "/id", "msg_x")),
    ("output/equals-items", "encrypted content lost at the end", |all| {
        entry(all, "reasoning")?
            .as_object_mut()?
            .remove("encrypted_content")
            .filter(|was| !was.is_null())
            .map(drop)
    }),
    ("part/equals-item", "other annotations in the item", |all| {
        set(item_done(all, "message")?, "/item/content/0/annotations/0/url", "https://example.org/x")?;
        set(entry(all, "message")?, "/content/0/annotations/0/url", "https://example.org/x")
    }),
    ("text/has-deltas", "a refusal without deltas", |all| {
        let before = all.len();
        all.retain(|event| kind(event) != "response.refusal.delta");
        (all.len() < before).then_some(())
    }),
    ("call/name-declared", "an undeclared custom tool", |all| {
        let is_declared = all.first()?.pointer("/response/tools/0/type")? == "custom";
        set(item_added(all, "custom_tool_call")?, "/item/name", "x")?;
        set(item_done(all, "custom_tool_call")?, "/item/name", "x")?;
        set(entry(all, "custom_tool_call")?, "/name", "x").filter(|()| is_declared)
    }),
    ("tool/phases-complete", "no web search in progress", |all| {
        drop_first(all, "response.web_search_call.in_progress")
    }),
    ("tool/phases-complete", "no web search searching", |all| {
        drop_first(all, "response.web_search_call.searching")
    }),
    ("tool/phases-complete", "no web search completed", |all| {
        drop_first(all, "response.web_search_call.completed")
    }),
    ("tool/phases-complete", "no file search searching", |all| {
        drop_first(all, "response.file_search_call.searching")
    }),
    ("tool/phases-complete", "no code interpreted", |all| {
        drop_first(all, "response.code_interpreter_call.interpreting")
    }),
    ("tool/phases-complete", "no code in progress", |all| {
        drop_first(all, "response.code_interpreter_call.in_progress")
    }),
    ("tool/status-agrees", "a search that completed, but has failed", |all| {
        set(item_done(all, "web_search_call")?, "/item/status", "failed")?;
        set(entry(all, "web_search_call")?, "/status", "failed")
    }),
    ("request/tool-calls-within-limit", "more calls than max_tool_calls", |all| {
        entry(all, "web_search_call")?;
        set_all(all, "/response/max_tool_calls", &json!(0));
        Some(())
    }),
    ("request/format-kept", "text that is no JSON object", |all| {
        asks_for(all, &json!({"type": "json_object"}))
    }),
    ("request/format-kept", "text that is no JSON", |all| {
        asks_for(
            all,
            &json!({"type": "json_schema", "name": "x", "strict": true, "schema": {"type": "object"}}),
        )
    }),
    ("schema/type-known", "an item of an unknown type", |all| {
        set(item_added(all, "web_search_call")?, "/item/type", "moon_search_call")?;
        set(item_done(all, "web_search_call")?, "/item/type", "moon_search_call")?;
        set(entry(all, "web_search_call")?, "/type", "moon_search_call")?;
        all.retain(|event| !kind(event).starts_with("response.web_search_call."));
        Some(())
    }),
];

const MAY: &[(&str, &str, Edit)] = &[
    ("text/no-model-markup", "<think> in the text", |all| in_text(all, "<think>Hm.</think>")),
    ("text/no-model-markup", "<tool_call> in the text", |all| in_text(all, "<tool_call>{}</tool_call>")),
    ("text/no-model-markup", "harmony in the text", |all| in_text(all, "<|channel|>analysis<|message|>")),
    ("call/arguments-json", "a key twice in the arguments", |all| {
        let whole = item_done(all, "function_call")?["item"]["arguments"].as_str()?.to_owned();
        let rest = whole.trim_start_matches('{').to_owned();
        arguments(all, &format!(r#"{{"zz":1,"zz":2,{rest}"#)).filter(|()| rest.len() > 3)
    }),
    ("response/times-in-seconds", "the year 2100", |all| {
        for event in &mut *all {
            set(event, "/response/created_at", 4_102_444_800_u64);
            if kind(event) == "response.completed" {
                set(event, "/response/completed_at", 4_102_444_801_u64);
            }
        }
        Some(())
    }),
];

const SUMMARY_ADDED: &str = "response.reasoning_summary_part.added";
const SUMMARY_DONE: &str = "response.reasoning_summary_text.done";
const ARGUMENTS_DONE: &str = "response.function_call_arguments.done";

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}

fn first<'s>(all: &'s mut Stream, name: &str) -> Option<&'s mut Value> {
    all.iter_mut().find(|event| kind(event) == name)
}

fn end(all: &mut Stream) -> Option<&mut Value> {
    all.last_mut()
}

fn completed(all: &mut Stream) -> Option<&mut Value> {
    first(all, "response.completed")
}

fn item_added<'s>(all: &'s mut Stream, of: &str) -> Option<&'s mut Value> {
    all.iter_mut().find(|event| kind(event) == "response.output_item.added" && event["item"]["type"] == of)
}

fn item_done<'s>(all: &'s mut Stream, of: &str) -> Option<&'s mut Value> {
    all.iter_mut().find(|event| kind(event) == "response.output_item.done" && event["item"]["type"] == of)
}

/// Returns the first entry of the final output of a type.
fn entry<'s>(all: &'s mut Stream, of: &str) -> Option<&'s mut Value> {
    let output = end(all)?.pointer_mut("/response/output")?.as_array_mut()?;
    output.iter_mut().find(|item| item["type"] == of)
}

/// Sets a value, if there is one.
fn set(event: &mut Value, at: &str, value: impl Into<Value>) -> Option<()> {
    *event.pointer_mut(at)? = value.into();
    Some(())
}

/// Sets a value in all events that have it.
fn set_all(all: &mut Stream, at: &str, value: &Value) {
    for found in all.iter_mut().filter_map(|event| event.pointer_mut(at)) {
        *found = value.clone();
    }
}

fn add_one_to_all(all: &mut Stream, name: &str) {
    for number in all.iter_mut().filter_map(|event| event.get_mut(name)) {
        *number = number.as_u64().map_or(Value::Null, |number| (number + 1).into());
    }
}

fn drop_first(all: &mut Stream, name: &str) -> Option<()> {
    let at = all.iter().position(|event| kind(event) == name)?;
    all.remove(at);
    Some(())
}

fn twice(all: &mut Stream, name: &str) -> Option<()> {
    let at = all.iter().position(|event| kind(event) == name)?;
    all.insert(at, all[at].clone());
    Some(())
}

/// Swaps an event with the next one.
fn swap(all: &mut Stream, name: &str) -> Option<()> {
    let at = all.iter().position(|event| kind(event) == name)?;
    (at + 1 < all.len()).then(|| all.swap(at, at + 1))
}

/// Sets the format that the request asked for.
fn asks_for(all: &mut Stream, format: &Value) -> Option<()> {
    let is_text = completed(all)?.pointer("/response/text/format/type")? == "text";
    (!all.iter().any(|event| kind(event).starts_with("response.refusal"))).then_some(())?;
    let messages =
        completed(all)?["response"]["output"].as_array()?.iter().filter(|item| item["type"] == "message");
    (messages.count() == 1).then_some(())?;
    let text = entry(all, "message")?.pointer("/content/0/text")?.as_str()?.to_owned();
    (is_text && !text.is_empty() && serde_json::from_str::<Value>(&text).is_err()).then_some(())?;
    set_all(all, "/response/text/format", format);
    Some(())
}

/// Prepends to the first text, consistently.
fn in_text(all: &mut Stream, text: &str) -> Option<()> {
    let at = all.iter().position(|event| kind(event) == "response.output_text.delta")?;
    (all[at]["logprobs"] == json!([])).then_some(())?;
    let is_first = |event: &Value| {
        (event["item_id"] == all[at]["item_id"] || event["item"]["id"] == all[at]["item_id"])
            && event.get("content_index").is_none_or(|index| *index == 0)
    };
    let others: Vec<usize> = (0..all.len()).filter(|at| is_first(&all[*at])).collect();
    let id = all[at]["item_id"].clone();
    prepend(&mut all[at]["delta"], text)?;
    for at in others {
        let place = match kind(&all[at]) {
            "response.output_text.done" => "/text",
            "response.content_part.done" => "/part/text",
            "response.output_item.done" => "/item/content/0/text",
            _ => continue,
        };
        prepend(all[at].pointer_mut(place)?, text)?;
    }
    let output = end(all)?.pointer_mut("/response/output")?.as_array_mut()?;
    let item = output.iter_mut().find(|item| item["id"] == id)?;
    (item["content"][0]["annotations"] == json!([])).then_some(())?;
    prepend(&mut item["content"][0]["text"], text)
}

fn prepend(to: &mut Value, text: &str) -> Option<()> {
    *to = format!("{text}{}", to.as_str()?).into();
    Some(())
}

/// Replaces the arguments of the first call, consistently.
fn arguments(all: &mut Stream, text: &str) -> Option<()> {
    let id = item_done(all, "function_call")?["item"]["id"].clone();
    let mut is_sent = false;
    for event in all.iter_mut().filter(|event| event["item_id"] == id) {
        match kind(event) {
            "response.function_call_arguments.delta" => {
                event["delta"] = if is_sent { "" } else { text }.into();
                is_sent = true;
            }
            ARGUMENTS_DONE => event["arguments"] = text.into(),
            _ => {}
        }
    }
    item_done(all, "function_call")?["item"]["arguments"] = text.into();
    entry(all, "function_call")?["arguments"] = text.into();
    completed(all).map(drop).filter(|()| is_sent)
}

/// Returns a stream as server-sent events, renumbered.
fn written(all: &Stream) -> String {
    let mut text = String::new();
    for (number, event) in all.iter().enumerate() {
        if event == "[DONE]" {
            text.push_str("data: [DONE]\n\n");
            continue;
        }
        let mut event = event.clone();
        event["sequence_number"] = number.into();
        let _ = write!(text, "event: {}\ndata: {event}\n\n", kind(&event));
    }
    text
}

/// Returns the findings in a stream.
fn findings(text: &str) -> BTreeSet<(Level, String)> {
    let mut checker = Checker::new(corpus::dialect("openai"));
    checker.push(text.as_bytes());
    checker.finish();
    checker.findings().iter().map(|found| (found.level, found.rule.to_string())).collect()
}

/// Returns good streams: goldens, and recordings if there are any.
fn good() -> Vec<Stream> {
    let goldens = corpus::repository().join("spec/apis/responses/goldens/openai");
    let mut all = streams(&goldens);
    if let Some(recordings) = corpus::recordings() {
        all.extend(streams(&recordings.join("real/openai")));
    }
    all.retain(|stream| findings(&written(stream)).is_empty());
    all
}

fn streams(folder: &Path) -> Vec<Stream> {
    let mut streams: Vec<(std::path::PathBuf, Stream)> = Vec::new();
    for event in corpus::events(folder) {
        let data = serde_json::from_str(&event.data).expect("an event");
        match streams.last_mut() {
            Some((file, stream)) if *file == event.file => stream.push(data),
            _ => streams.push((event.file, vec![data])),
        }
    }
    streams.into_iter().map(|(_, stream)| stream).collect()
}

#[test]
fn damages_are_found_at_the_level_of_their_effect() {
    let good = good();
    assert!(good.len() > 15, "{} streams", good.len());
    let (mut wrong, mut made) = (String::new(), 0);
    for (level, damages) in [(Level::Must, MUST), (Level::Should, SHOULD), (Level::May, MAY)] {
        for (rule, name, edit) in damages {
            let damaged = good.iter().filter_map(|stream| {
                let mut stream = stream.clone();
                edit(&mut stream).map(|()| stream)
            });
            let damaged: Vec<Stream> = damaged.take(6).collect();
            let found: Vec<_> = damaged.iter().map(|stream| findings(&written(stream))).collect();
            made += found.len();
            let is_found = |found: &&BTreeSet<(Level, String)>| {
                found.contains(&(level, (*rule).to_owned())) && found.iter().all(|(other, _)| *other <= level)
            };
            let hits = found.iter().filter(is_found).count();
            if hits == 0 || hits < found.len() {
                let _ = wrong
                    .write_str(&format!("{name}: {hits} of {}, {rule} {level:?}: {found:?}\n", found.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "of {made} damaged streams:\n{wrong}");
}

#[test]
fn names_may_be_escaped() {
    let name = regex::Regex::new(r#""([a-z_]+)":"#).expect("a pattern");
    let escaped = |found: &regex::Captures<'_>| {
        let units: Vec<String> = found[1].bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        format!("\"{}\":", units.concat())
    };
    for stream in good().into_iter().take(30) {
        let text = written(&stream);
        let last = text.rfind("data: ").expect("an event");
        let end = text[..last].to_owned() + &name.replace_all(&text[last..], escaped);
        assert_eq!(findings(&end), BTreeSet::new(), "{end}");
    }
}

/// Ids of the final output that were replaced, as some servers do, hide neither a lost message nor another call id.
#[test]
fn items_are_known_by_their_texts() {
    let mut stream = good().into_iter().find(|stream| {
        let types: Vec<_> =
            stream.iter().filter(|event| kind(event) == "response.output_item.done").collect();
        types.len() > 1 && types.iter().any(|event| event["item"]["type"] == "function_call")
    });
    let stream = stream.as_mut().expect("a stream with calls");
    let output = stream.last_mut().and_then(|end| end.pointer_mut("/response/output")?.as_array_mut());
    let output = output.expect("an output");
    for item in output.iter_mut() {
        item["id"] = format!("x_{}", item["id"]).into();
    }
    let call = output.iter_mut().find(|item| item["type"] == "function_call").expect("a call");
    call["call_id"] = json!("x");
    let message = json!({"id": "msg_blank", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "\n\n", "annotations": [], "logprobs": []}]});
    let index = output.len();
    let at = stream.len() - 1;
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let about = json!({"item_id": "msg_blank", "output_index": index, "content_index": 0});
    let event = |name: &str, more: Value| {
        let mut event = about.clone();
        event["type"] = json!(name);
        for (name, value) in more.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        event
    };
    let mut added = message.clone();
    (added["content"], added["status"]) = (json!([]), json!("in_progress"));
    let more = [
        json!({"type": "response.output_item.added", "output_index": index, "item": added}),
        event("response.content_part.added", json!({"part": part("")})),
        event("response.output_text.delta", json!({"delta": "\n\n", "logprobs": []})),
        event("response.output_text.done", json!({"text": "\n\n", "logprobs": []})),
        event("response.content_part.done", json!({"part": part("\n\n")})),
        json!({"type": "response.output_item.done", "output_index": index, "item": message}),
    ];
    stream.splice(at..at, more);
    let found = findings(&written(stream));
    let expected = [
        (Level::Should, "output/count-agrees"),
        (Level::Should, "output/ids-kept"),
        (Level::Must, "output/equals-items"),
    ];
    assert_eq!(found, expected.map(|(level, rule)| (level, rule.to_owned())).into());
}
