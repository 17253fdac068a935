//! Bodies of scenarios, with all placeholders replaced.

use catalogue::Scenario;
use serde_json::Value;
use spec::Api;

use super::given::{Given, give};
use super::marks::{PLACEHOLDER, mark};
use super::previous::{PreviousResponse, carried, is_previous_output};
use super::seed::Seed;

/// Values that a run puts into all scenarios.
#[derive(Debug, Clone, Copy)]
pub struct RequestContext<'a> {
    /// The model.
    pub model: &'a str,
    /// Given resources.
    pub given: &'a Given,
    /// Number of the request among concurrent ones.
    pub number: usize,
    /// The seed of the words of this run.
    pub seed: &'a Seed,
}

pub(super) fn body(
    scenario: &Scenario,
    api: &Api,
    context: &RequestContext<'_>,
    before: Option<&PreviousResponse>,
    is_twin: bool,
) -> String {
    let input = api.request.input;
    let text = context.seed.fill(scenario.request, scenario);
    let text = text.replace(PLACEHOLDER, &mark(context.number));
    let Ok(mut request) = serde_json::from_str::<Value>(&text) else { return text };
    context.seed.address(&mut request);
    if let Some(before) = before {
        for name in api.session.iter().flat_map(|names| [names.previous, names.target]) {
            if request.get(name).is_some_and(|id| id == "previous") {
                request[name] = before.id.clone().into();
            }
        }
        if let Some(Value::Array(entries)) = request.get_mut(input) {
            *entries =
                std::mem::take(entries)
                    .into_iter()
                    .flat_map(|entry| {
                        if is_previous_output(&entry) { carried(before, &entry, api) } else { vec![entry] }
                    })
                    .collect();
        }
    }
    let last = request.get_mut(input).and_then(|input| last_text(input, api));
    if let (Some(kilobytes), Some(text)) = (scenario.fill, last) {
        let bytes = usize::try_from(kilobytes).unwrap_or_default().saturating_mul(1000);
        let times = bytes / text.len().max(1);
        *text = text.repeat(times + 1);
    }
    give(&mut request, context.given);
    if let Some(phrase) = context.seed.phrase(scenario).filter(|_| !scenario.operation.is_aside()) {
        add_phrase(&mut request, api, &phrase);
    }
    with_model(request, context.model, is_twin)
}

fn last_text<'v>(input: &'v mut Value, api: &Api) -> Option<&'v mut String> {
    let text = match input {
        Value::Array(entries) => entries.last_mut()?.pointer_mut(api.request.text?)?,
        text => text,
    };
    if let Value::String(text) = text { Some(text) } else { None }
}

fn add_phrase(request: &mut Value, api: &Api, phrase: &str) {
    let (Value::Object(members), Some(instructions)) = (request, api.request.instructions) else { return };
    match members.get_mut(instructions) {
        None => drop(members.insert(instructions.to_owned(), phrase.into())),
        Some(Value::String(text)) => text.extend([" ", phrase]),
        Some(_) => {}
    }
}

/// Returns a request body with `default` replaced by the model under test.
pub fn filled(request: &str, model: &str) -> String {
    let Ok(mut request) = serde_json::from_str::<Value>(request) else { return request.to_owned() };
    if let Value::Object(members) = &mut request {
        members.entry("model").or_insert_with(|| "default".into());
    }
    with_model(request, model, false)
}

fn with_model(mut request: Value, model: &str, is_twin: bool) -> String {
    if let Value::Object(members) = &mut request {
        if let Some(named) = members.get_mut("model").filter(|named| *named == "default") {
            *named = model.into();
        }
        if is_twin {
            members.shift_remove("stream");
        }
    }
    request.to_string()
}
