//! Rules that compare a response with its request, in APIs whose tables say what a request asks for.

use spec::Api;
use spec::json;

use super::shape;
use crate::Frame;
use crate::engine::{Asked, Case, Chosen, Node, Object, Stream, short};

pub(super) fn of_whole<'c>(case: &Case<'c>) -> Option<&'c Asked> {
    let is_whole = case.stream.is_whole();
    case.head.asked.as_ref().filter(|_| is_whole)
}

/// A response that was cut off has not said all.
pub(super) fn is_complete(case: &Case<'_>, node: &Node) -> bool {
    node.reason().is_some_and(|reason| case.dialect().api.usual_stops.contains(&reason))
}

/// The client answers calls of the root, or of one of its containers.
fn calls<'s>(stream: &'s Stream, api: &Api, holder: &'s Node) -> Vec<&'s Node> {
    let Some(call) = api.client_call else { return Vec::new() };
    let is_call =
        |node: &&Node| call.types.is_empty() || node.kind().is_some_and(|kind| call.types.contains(&kind));
    if api.scope(call.scope).is_container {
        stream.items().filter(is_call).collect()
    } else {
        stream.children(holder, call.scope).filter(is_call).collect()
    }
}

fn called(asked: &Asked, call: &Node) -> Option<String> {
    asked.called(call.opening.get()?.text()).map(Into::into)
}

/// The quoted name of the tool.
fn title(asked: &Asked, call: &Node) -> String {
    called(asked, call).map_or_else(|| "a tool without a name".to_owned(), |name| format!("{name:?}"))
}

pub(super) fn offered(case: &mut Case<'_>, _: &Node, call: &Object<'_>) {
    let Some(asked) = &case.head.asked else { return };
    let (Some(tools), Some(name)) = (asked.tools(), asked.called(call.text())) else { return };
    if name.is_empty() || tools.contains(&*name) {
        return;
    }
    let list = tools.iter().map(|tool| format!("{tool:?}")).collect::<Vec<_>>().join(", ");
    let list = if list.is_empty() { "no call, as the request has no tools" } else { &*short(&list) };
    case.fault_of_event(list, &format!("{name:?}"), || {
        format!("{name:?} is called, but is not among the tools of the request")
    });
}

fn choice(api: &Api) -> &'static str {
    api.request.choice.map_or("the request", |choice| choice.member)
}

pub(super) fn none_chosen(case: &mut Case<'_>, holder: &Node, _: &Object<'_>) {
    let (stream, api) = (case.stream, case.dialect().api);
    let Some(asked) = case.head.asked.as_ref().filter(|asked| asked.chosen() == Chosen::None) else { return };
    if let Some(call) = calls(stream, api, holder).first() {
        let (title, choice) = (title(asked, call), choice(api));
        case.fault_of_event("no call", &title, || format!("{choice} is none, but {title} is called"));
    }
}

/// Only a complete response can lack the call that the request demands.
pub(super) fn any_chosen(case: &mut Case<'_>, holder: &Node, _: &Object<'_>) {
    let (stream, api) = (case.stream, case.dialect().api);
    let demands = of_whole(case).is_some_and(|asked| asked.chosen() == Chosen::Any);
    if demands && is_complete(case, holder) && calls(stream, api, holder).is_empty() {
        case.fault_of_event("at least one call", "none", || {
            format!("{} demands a call, but no tool is called", choice(api))
        });
    }
}

/// A complete response needs a call of the one tool that the request demands, and no other.
pub(super) fn one_chosen(case: &mut Case<'_>, holder: &Node) {
    let (stream, api) = (case.stream, case.dialect().api);
    let Some(asked) = of_whole(case).filter(|_| is_complete(case, holder)) else { return };
    let Chosen::One(forced) = asked.chosen() else { return };
    let calls = calls(stream, api, holder);
    let is_other = |call: &&&Node| called(asked, call).is_none_or(|name| name != forced);
    let expected = format!("a call of {forced:?} and no other");
    if let Some(other) = calls.iter().find(is_other) {
        let title = title(asked, other);
        case.fault_of_event(&expected, &title, || {
            format!("tool_choice demands {forced:?}, but {title} is called")
        });
    } else if calls.is_empty() {
        case.fault_of_event(&expected, "no call", || {
            format!("tool_choice demands {forced:?}, but it is not called")
        });
    }
}

pub(super) fn one_at_most(case: &mut Case<'_>, holder: &Node, _: &Object<'_>) {
    let (stream, api) = (case.stream, case.dialect().api);
    if !case.head.asked.as_ref().is_some_and(Asked::is_for_one_call) {
        return;
    }
    let count = calls(stream, api, holder).len();
    if count > 1 {
        case.fault_of_event("one call at most", &count.to_string(), || {
            format!("the request allows one call at most, but {count} tools are called")
        });
    }
}

/// The switch of a tool whose arguments fit its schema, and where tools have that schema.
const STRICT: &str = "/strict";
const SCHEMAS: [&str; 2] = ["/parameters", "/input_schema"];

pub(super) fn strict_arguments(case: &mut Case<'_>, call: &Node, arguments: &str) {
    let Some(asked) = of_whole(case) else { return };
    let Some(name) = called(asked, call) else { return };
    let misfit =
        asked.strict_schema(&name, STRICT, &SCHEMAS).and_then(|schema| shape::misfit(schema, arguments));
    if let Some(misfit) = misfit {
        let expected = format!("arguments that fit the schema of {name:?}, which is strict");
        case.fault_of_event(&expected, &short(arguments), || {
            format!("the arguments of {name:?} do not fit its strict schema: {misfit}")
        });
    }
}

/// The model should have stopped before this text.
pub(super) fn text_before_stop(case: &mut Case<'_>, node: &Node) {
    let Some(asked) = &case.head.asked else { return };
    let Some(text) = node.whole_text(case.stream.has_gap) else { return };
    if let Some(stop) = asked.stops().into_iter().find(|stop| text.contains(&**stop)) {
        let name = case.name(node);
        let expected = format!("a text that ends before {stop:?}");
        case.fault_of_event(&expected, &short(&format!("{text:?}")), || {
            format!("{name} contains {stop:?}, at which the request stops the model")
        });
    }
}

/// The limit is for each of a number of answers.
pub(super) fn within_limit(case: &mut Case<'_>, pointer: &str, used: Option<f64>, answers: f64) {
    let Some((member, limit)) = case.head.asked.as_ref().and_then(Asked::limit) else { return };
    let Some(used) = used.filter(|used| *used > limit * answers) else { return };
    case.fault(pointer, &format!("at most {}", limit * answers), &used.to_string(), || {
        format!("{used} output tokens are counted, but {member} is {limit}")
    });
}

/// A response that uses all tokens of its limit ends for that reason, and the reverse.
pub(super) fn limit_reached(case: &mut Case<'_>, used: Option<f64>, reason: &str, because_of_it: &str) {
    let Some((member, limit)) = case.head.asked.as_ref().and_then(Asked::limit) else { return };
    let Some(used) = used.filter(|used| *used <= limit) else { return };
    if (used < limit) == (reason != because_of_it) {
        return;
    }
    if used < limit {
        case.fault_of_event(&format!("{limit} output tokens"), &used.to_string(), || {
            format!("the reason is {reason:?}, but {used} of {limit} tokens of {member} are used")
        });
    } else {
        case.fault_of_event(&format!("{because_of_it:?}"), &format!("{reason:?}"), || {
            format!("all {limit} tokens of {member} are used, but the reason is {reason:?}")
        });
    }
}

/// A name without a date stands for those with one, and servers name the file of a model.
pub(super) fn model(case: &mut Case<'_>, pointer: &str, model: &str) {
    let Some(asked) = case.head.asked.as_ref().and_then(Asked::model) else { return };
    let family = asked.strip_suffix("-latest").or_else(|| asked.strip_suffix("-0")).unwrap_or(&asked);
    if !model.is_empty() && !model.to_ascii_lowercase().contains(&family.to_ascii_lowercase()) {
        case.fault(pointer, &format!("{asked:?}, or a version of it"), &format!("{model:?}"), || {
            format!("the request is for the model {asked:?}, and the response is by {model:?}")
        });
    }
}

pub(super) fn stream(case: &mut Case<'_>) {
    if case.head.asks_stream == Some(false) && case.stream.events == 0 {
        case.fault_of_event("one body of JSON", "a stream", || {
            "the response is a stream, but the request does not have `stream: true`".to_owned()
        });
    }
}

pub(super) fn body(case: &mut Case<'_>, body: &Frame<'_>) {
    let api = case.dialect().api;
    let is_response =
        api.body(body.data.as_deref().unwrap_or_default()).is_some_and(|it| Some(it.root) == api.root_body());
    let is_error =
        case.head.is_refusal() || body.data.as_deref().is_some_and(|body| api.error_in(body).is_some());
    if case.head.asks_stream == Some(true) && is_response && !is_error {
        case.fault_of_event("a stream of events", "one body of JSON", || {
            "the request has `stream: true`, but the response is one body of JSON".to_owned()
        });
    }
}

/// As far as it matters to clients: some complete a text that was cut.
pub(super) fn no_object(text: &str) -> &'static str {
    let text = text.trim();
    let mut scanner = json::Scanner::new(text);
    match scanner.skip().and_then(|()| scanner.end()) {
        _ if text.is_empty() => "blank",
        Ok(()) => "other-value",
        Err(_) if scanner.problem() == json::Problem::TrailingText => "two",
        Err(_) if scanner.offset() >= text.len() || scanner.problem() == json::Problem::UnclosedString => {
            "cut"
        }
        Err(_) => "broken",
    }
}

pub(super) fn is_json(text: &str, is_object: bool) -> bool {
    if is_object {
        json::members(text).is_some()
    } else {
        serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }
}

pub(super) fn json(case: &mut Case<'_>, text: &str, is_object: bool) {
    if !is_json(if is_object { text.trim() } else { text }, is_object) {
        let expected = if is_object { "a JSON object, as text" } else { "JSON, as text" };
        case.fault_of_event(expected, &short(&format!("{text:?}")), || {
            "the request demands JSON, but the text of the answer is not JSON".to_owned()
        });
    }
}
