//! Requests of scenarios.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{SCENARIOS, Scenario};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use spec::table::Operation;

use super::crowd::{PLACEHOLDER, mark};
use super::facts::Facts;
use super::seed::Seed;
use results::{Judgement, UndecidedKind, Verdict};

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its method.
    pub method: Method,
    /// Path segments after `/responses`.
    pub path: Vec<String>,
    /// Query parameters.
    pub query: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Option<String>,
    /// Whether it requests a stream.
    pub wants_stream: bool,
    /// Number of events after which the client disconnects.
    pub cut_after: Option<usize>,
}

/// The previous response of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreviousResponse {
    /// Its id.
    pub id: String,
    /// Its output.
    pub output: Vec<Value>,
    /// Sequence number of its last event.
    pub last_number: Option<u64>,
}

impl PreviousResponse {
    /// Returns the response of a recording, if its id is valid in URLs.
    pub fn of(facts: &Facts) -> Option<Self> {
        let is_usable = |id: &String| !id.is_empty() && id.len() <= 4096 && !matches!(&**id, "." | "..");
        Some(Self {
            id: facts.response_id.clone().filter(is_usable)?,
            output: facts.output(),
            last_number: facts.numbers.map(|(_, last)| last),
        })
    }
}

/// Resources that only the owner of an endpoint can provide, such as the id of a vector store.
pub type Given = BTreeMap<String, String>;

/// Prefix of placeholders for given resources.
const GIVEN: &str = "given:";

impl Call {
    /// Returns the request for a response.
    pub fn create(body: String) -> Self {
        let wants_stream = spec::json::at(&body, "/stream") == Some("true");
        Self {
            method: Method::POST,
            path: Vec::new(),
            query: Vec::new(),
            body: Some(body),
            wants_stream,
            cut_after: None,
        }
    }

    /// Returns the request for the resource at the address itself.
    pub fn retrieve() -> Self {
        Self { wants_stream: false, ..Self::upgrade() }
    }

    /// Returns the request that HTTP becomes a WebSocket with.
    pub fn upgrade() -> Self {
        Self {
            method: Method::GET,
            path: Vec::new(),
            query: Vec::new(),
            body: None,
            wants_stream: true,
            cut_after: None,
        }
    }

    /// Returns the request of a scenario, which refers to the previous response if there is one, or that of its
    /// non-streaming twin.
    pub fn of(
        scenario: &Scenario,
        asked: &RequestContext<'_>,
        before: Option<&PreviousResponse>,
        is_twin: bool,
    ) -> Self {
        let nobody = || asked.seed.unknown_id(scenario);
        let id = || before.map_or_else(nobody, |before| before.id.clone());
        let bare = |method, path| Self {
            method,
            path,
            query: Vec::new(),
            body: None,
            wants_stream: false,
            cut_after: None,
        };
        match scenario.operation {
            Operation::Create => {
                let cut_after = scenario.cut_after.and_then(|count| usize::try_from(count).ok());
                Self { cut_after, ..Self::create(body(scenario, asked, before, is_twin)) }
            }
            Operation::Compact => {
                let body = body(scenario, asked, before, is_twin);
                Self { path: vec!["compact".to_owned()], ..Self::create(body) }
            }
            // WebSocket messages have no URL.
            Operation::Steer | Operation::Inject => {
                Self { wants_stream: true, ..Self::create(body(scenario, asked, before, is_twin)) }
            }
            Operation::Retrieve | Operation::Poll => bare(Method::GET, vec![id()]),
            Operation::Delete => bare(Method::DELETE, vec![id()]),
            Operation::Cancel => bare(Method::POST, vec![id(), "cancel".to_owned()]),
            Operation::InputItems => bare(Method::GET, vec![id(), "input_items".to_owned()]),
            Operation::Resume => {
                let mut call = bare(Method::GET, vec![id()]);
                call.query.push(("stream", "true".to_owned()));
                let last = before.and_then(|before| before.last_number);
                call.query.extend(last.map(|last| ("starting_after", last.to_string())));
                Self { wants_stream: true, ..call }
            }
        }
    }

    /// Returns its URL, given that of `/responses`.
    pub fn url(&self, responses: &Url) -> Url {
        let mut url = responses.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(&self.path);
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

/// Returns the request body of a scenario, with all placeholders replaced.
fn body(
    scenario: &Scenario,
    asked: &RequestContext<'_>,
    before: Option<&PreviousResponse>,
    is_twin: bool,
) -> String {
    let text = asked.seed.fill(scenario.request, scenario);
    let text = text.replace(PLACEHOLDER, &mark(asked.number));
    let Ok(mut request) = serde_json::from_str::<Value>(&text) else { return text };
    if let Some(before) = before {
        for name in ["previous_response_id", "response_id"] {
            if request.get(name).is_some_and(|id| id == "previous") {
                request[name] = before.id.clone().into();
            }
        }
        if let Some(Value::Array(entries)) = request.get_mut("input") {
            *entries = std::mem::take(entries)
                .into_iter()
                .flat_map(
                    |entry| if is_previous_output(&entry) { carried(before, &entry) } else { vec![entry] },
                )
                .collect();
        }
    }
    if let (Some(kilobytes), Some(Value::String(text))) = (scenario.fill, request.get_mut("input")) {
        let bytes = usize::try_from(kilobytes).unwrap_or_default().saturating_mul(1000);
        let times = bytes / text.len().max(1);
        *text = text.repeat(times + 1);
    }
    give(&mut request, asked.given);
    if let Some(phrase) = asked.seed.phrase(scenario).filter(|_| !scenario.operation.is_aside()) {
        add_phrase(&mut request, &phrase);
    }
    let mut body = with_model(request, asked.model, is_twin);
    if scenario.malformed {
        body.pop();
    }
    body
}

/// Adds the words of this run to the instructions, which responses echo.
fn add_phrase(request: &mut Value, phrase: &str) {
    let Value::Object(members) = request else { return };
    match members.get_mut("instructions") {
        None => drop(members.insert("instructions".to_owned(), phrase.into())),
        Some(Value::String(text)) => text.extend([" ", phrase]),
        Some(_) => {}
    }
}

/// Replaces placeholders with given resources.
fn give(value: &mut Value, given: &Given) {
    match value {
        Value::String(text) => {
            if let Some(given) = text.strip_prefix(GIVEN).and_then(|name| given.get(name)) {
                text.clone_from(given);
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| give(entry, given)),
        Value::Object(members) => members.values_mut().for_each(|member| give(member, given)),
        _ => {}
    }
}

/// Returns the resources that a request needs.
fn needs(request: &str) -> impl Iterator<Item = &str> {
    request.split('"').filter_map(|text| text.strip_prefix(GIVEN))
}

/// Returns the verdict on a scenario that cannot be sent, as it needs a missing resource.
pub fn not_given(scenario: &Scenario, given: &Given) -> Option<Judgement> {
    let missing = needs(scenario.request).find(|name| !given.contains_key(*name))?;
    let flag = format!("--given {missing}=...");
    let reason = format!("it needs {flag}");
    Some(Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotGiven, reason).with_detail(flag))
}

/// Returns the names of all resources.
pub fn wanted() -> BTreeSet<&'static str> {
    SCENARIOS.iter().flat_map(|scenario| needs(scenario.request)).collect()
}

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

/// Returns whether an input is replaced by the previous output.
pub(super) fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == "previous_output")
}

/// Returns the replacement of `previous_output`: all items, with a result for each call if one is given. Encrypted
/// reasoning is sent without its plain text, which requests do not allow.
fn carried(before: &PreviousResponse, entry: &Value) -> Vec<Value> {
    let mut carried = before.output.clone();
    for item in carried.iter_mut().filter_map(Value::as_object_mut) {
        if item.get("encrypted_content").is_some_and(Value::is_string) {
            item.shift_remove("content");
        }
    }
    let calls = before.output.iter().filter(|item| item.get("type").is_some_and(|it| it == "function_call"));
    let result = |call: &Value| {
        let (call_id, output) = (call.get("call_id")?, entry.get("call_output")?);
        Some(json!({"type": "function_call_output", "call_id": call_id, "output": output}))
    };
    carried.extend(calls.filter_map(result));
    carried
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

#[cfg(test)]
mod tests {
    use super::*;

    static NONE: Given = Given::new();
    const ASKED: RequestContext<'static> =
        RequestContext { model: "m", given: &NONE, number: 1, seed: &Seed::NONE };

    fn scenario(operation: Operation, request: &'static str) -> Scenario {
        Scenario { operation, request, ..*catalogue::scenario("text/hello").unwrap() }
    }

    fn call(operation: Operation, request: &'static str) -> Call {
        let before = PreviousResponse {
            id: "a/../b?c".to_owned(),
            output: vec![1.into(), 2.into()],
            last_number: Some(4),
        };
        Call::of(&scenario(operation, request), &ASKED, Some(&before), false)
    }

    #[test]
    fn requests_are_filled_in() {
        let before = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
        let of = |request| scenario(Operation::Create, request);
        let request =
            of(r#"{"model":"default","input":"a","previous_response_id":"previous","stream":true}"#);
        let twin = Call::of(&request, &ASKED, Some(&before), true);
        assert_eq!(
            twin.body.as_deref(),
            Some(r#"{"model":"m","input":"a","previous_response_id":"resp_1"}"#)
        );
        assert!(!twin.wants_stream && Call::of(&request, &ASKED, Some(&before), false).wants_stream);
        assert_eq!(body(&of(r#"{"model":"other"}"#), &ASKED, None, false), r#"{"model":"other"}"#);
        let carried = call(Operation::Create, r#"{"input":[0,{"type":"previous_output"},3]}"#);
        assert_eq!(carried.body.as_deref(), Some(r#"{"input":[0,1,2,3]}"#));
        let thought = json!({"type": "reasoning", "content": [], "encrypted_content": "x"});
        let thought = PreviousResponse { output: vec![thought], ..PreviousResponse::default() };
        let next = of(r#"{"model":"m","input":[{"type":"previous_output"}]}"#);
        assert_eq!(
            body(&next, &ASKED, Some(&thought), false),
            r#"{"model":"m","input":[{"type":"reasoning","encrypted_content":"x"}]}"#
        );
        let call = json!({"type": "function_call", "call_id": "c"});
        let called = PreviousResponse { output: vec![call], ..PreviousResponse::default() };
        let round = of(r#"{"model":"m","input":[{"type":"previous_output","call_output":"Rain"}]}"#);
        assert_eq!(
            body(&round, &ASKED, Some(&called), false),
            r#"{"model":"m","input":[{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"Rain"}]}"#
        );
        let given = Given::from([("store".to_owned(), "vs_1".to_owned())]);
        let asked = RequestContext { given: &given, ..ASKED };
        let needy = of(r#"{"model":"m","tools":[{"ids":["given:store","given:other"]}]}"#);
        assert_eq!(needs(needy.request).collect::<Vec<_>>(), ["store", "other"]);
        let missing = not_given(&needy, &given).unwrap();
        assert_eq!((&*missing.reason, &*missing.detail), ("it needs --given other=...", "--given other=..."));
        assert_eq!(
            body(&needy, &asked, None, false),
            r#"{"model":"m","tools":[{"ids":["vs_1","given:other"]}]}"#
        );
        let marked = RequestContext { number: 7, ..ASKED };
        let said = body(&of(r#"{"model":"m","input":"Say {mark}."}"#), &marked, None, false);
        assert_eq!(said, format!(r#"{{"model":"m","input":"Say {}."}}"#, mark(7)));
        let malformed = Scenario { malformed: true, ..of(r#"{"model":"m"}"#) };
        assert_eq!(body(&malformed, &ASKED, None, false), r#"{"model":"m""#);
        let long = Scenario { fill: Some(1), ..of(r#"{"model":"m","input":"abc"}"#) };
        assert!(body(&long, &ASKED, None, false).len() > 1000);
        assert_eq!((filled("[", "m"), filled("{}", "m")), ("[".to_owned(), r#"{"model":"m"}"#.to_owned()));
    }

    #[test]
    fn operations_have_their_addresses() {
        let responses = Url::parse("http://a.test/v1/responses?k=1").unwrap();
        let told = |operation, request| {
            let call = call(operation, request);
            format!("{} {}", call.method, call.url(&responses))
        };
        let id = "a%2F..%2Fb%3Fc";
        for (operation, expected) in [
            (Operation::Retrieve, format!("GET http://a.test/v1/responses/{id}?k=1")),
            (Operation::Delete, format!("DELETE http://a.test/v1/responses/{id}?k=1")),
            (Operation::Cancel, format!("POST http://a.test/v1/responses/{id}/cancel?k=1")),
            (Operation::InputItems, format!("GET http://a.test/v1/responses/{id}/input_items?k=1")),
            (
                Operation::Resume,
                format!("GET http://a.test/v1/responses/{id}?k=1&stream=true&starting_after=4"),
            ),
        ] {
            assert_eq!(told(operation, ""), expected);
        }
        assert_eq!(told(Operation::Compact, "{}"), "POST http://a.test/v1/responses/compact?k=1");
        let lonely = scenario(Operation::Retrieve, "");
        let nobody = Call::of(&lonely, &ASKED, None, false);
        assert_eq!(nobody.path, [Seed::NONE.unknown_id(&lonely)]);
    }
}
