//! Requests of scenarios.

use catalogue::Scenario;
use gateway::without_path;
use reqwest::{Method, Url};
use spec::Api;
use spec::table::Operation;

use super::body::{RequestContext, body};
use super::previous::PreviousResponse;

/// The segment of a route that stands for the id of a response.
const ID: &str = "{id}";

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// Its method.
    pub method: Method,
    /// The path segments in place of the API's, if these have to name a model.
    pub at: Vec<String>,
    /// Path segments behind the API's path.
    pub path: Vec<String>,
    /// Query parameters.
    pub query: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Option<String>,
    /// Whether it requests a stream.
    pub wants_stream: bool,
    /// Whether it has a key that no endpoint knows.
    pub has_unknown_key: bool,
    /// Number of events after which the client disconnects.
    pub cut_after: Option<usize>,
}

impl Call {
    /// The request for a response, whose body lacks the members that are in the path.
    pub fn create(api: &Api, body: String) -> Self {
        let wants_stream = spec::json::at(&body, "/stream") == Some("true");
        let query = api.route(Operation::Create).filter(|_| wants_stream).map(|route| route.query);
        let query = query.into_iter().flatten().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let call = Self { method: Method::POST, wants_stream, query, ..Self::default() };
        let Some(Ok(request)) = api.names_model().then(|| serde_json::from_str(&body)) else {
            return Self { body: Some(body), ..call };
        };
        let (at, request) = without_path(api, request);
        Self { at, body: Some(request.to_string()), ..call }
    }

    /// Returns the request for the resource at the address itself.
    pub fn retrieve() -> Self {
        Self::default()
    }

    /// Returns the request that upgrades HTTP to a WebSocket.
    pub fn upgrade() -> Self {
        Self { wants_stream: true, ..Self::default() }
    }

    /// Returns the request of a scenario or of its non-streaming twin. It refers to the previous response if there is
    /// one.
    pub fn of(
        scenario: &Scenario,
        api: &Api,
        context: &RequestContext<'_>,
        before: Option<&PreviousResponse>,
        is_twin: bool,
    ) -> Self {
        let nobody = || context.seed.unknown_id(scenario, api);
        let id = || before.map_or_else(nobody, |before| before.id.clone());
        let Some(route) = api.route(scenario.operation) else {
            return Self::create(api, body(scenario, api, context, before, is_twin));
        };
        let mut call = match route.request {
            Some(_) => Self::create(api, body(scenario, api, context, before, is_twin)),
            None => Self::retrieve(),
        };
        if scenario.malformed {
            call.body.as_mut().map(String::pop);
        }
        let segments = route.path.split('/').filter(|segment| !segment.is_empty());
        call.has_unknown_key = scenario.unknown_key;
        call.path.extend(segments.map(|segment| if segment == ID { id() } else { segment.to_owned() }));
        if scenario.operation != Operation::Create {
            call.query.extend(route.query.iter().map(|(name, value)| (*name, (*value).to_owned())));
        }
        let last = before.and_then(|before| before.last_number);
        call.query.extend(route.after.zip(last).map(|(name, last)| (name, last.to_string())));
        if let Some(method) = route.method {
            call.method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
        }
        // A message on a WebSocket has no method, and its response is a stream.
        call.wants_stream |= route.method.is_none() || scenario.operation == Operation::Resume;
        if scenario.operation == Operation::Create {
            call.cut_after = scenario.cut_after.and_then(|count| usize::try_from(count).ok());
        }
        call
    }

    /// Its URL, below the API's main operation.
    pub fn url(&self, main: &Url) -> Url {
        let mut url = main.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            for _ in &self.at {
                path.pop();
            }
            path.extend(self.at.iter().chain(&self.path));
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

pub(super) fn wants_stream(scenario: &Scenario, is_twin: bool) -> bool {
    let is_stream = match scenario.operation {
        Operation::Create => spec::json::at(scenario.request, "/stream") == Some("true"),
        operation => operation == Operation::Resume || operation.is_aside(),
    };
    is_stream && !is_twin && scenario.status.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::body::filled;
    use super::super::given::{Given, needs, not_given};
    use super::super::marks::mark;
    use super::super::seed::Seed;
    use super::*;

    static NONE: Given = Given::new();
    const ASKED: RequestContext<'static> =
        RequestContext { model: "m", given: &NONE, number: 1, seed: &Seed::NONE };

    fn api() -> &'static Api {
        spec::dialect("openai").unwrap().api
    }

    fn scenario(operation: Operation, request: &'static str) -> Scenario {
        Scenario { operation, request, ..*catalogue::scenario("text/hello").unwrap() }
    }

    fn call(operation: Operation, request: &'static str) -> Call {
        let before = PreviousResponse {
            id: "a/../b?c".to_owned(),
            output: vec![1.into(), 2.into()],
            last_number: Some(4),
        };
        Call::of(&scenario(operation, request), api(), &ASKED, Some(&before), false)
    }

    #[test]
    fn requests_are_filled_in() {
        let before = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
        let of = |request| scenario(Operation::Create, request);
        let request =
            of(r#"{"model":"default","input":"a","previous_response_id":"previous","stream":true}"#);
        let twin = Call::of(&request, api(), &ASKED, Some(&before), true);
        assert_eq!(
            twin.body.as_deref(),
            Some(r#"{"model":"m","input":"a","previous_response_id":"resp_1"}"#)
        );
        assert!(!twin.wants_stream && Call::of(&request, api(), &ASKED, Some(&before), false).wants_stream);
        assert_eq!(body(&of(r#"{"model":"other"}"#), api(), &ASKED, None, false), r#"{"model":"other"}"#);
        let carried = call(Operation::Create, r#"{"input":[0,{"type":"previous_output"},3]}"#);
        assert_eq!(carried.body.as_deref(), Some(r#"{"input":[0,1,2,3]}"#));
        let thought = json!({"type": "reasoning", "content": [], "encrypted_content": "x"});
        let thought = PreviousResponse { output: vec![thought], ..PreviousResponse::default() };
        let next = of(r#"{"model":"m","input":[{"type":"previous_output"}]}"#);
        assert_eq!(
            body(&next, api(), &ASKED, Some(&thought), false),
            r#"{"model":"m","input":[{"type":"reasoning","encrypted_content":"x"}]}"#
        );
        let call = json!({"type": "function_call", "call_id": "c"});
        let called = PreviousResponse { output: vec![call], ..PreviousResponse::default() };
        let round = of(r#"{"model":"m","input":[{"type":"previous_output","call_output":"Rain"}]}"#);
        assert_eq!(
            body(&round, api(), &ASKED, Some(&called), false),
            r#"{"model":"m","input":[{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"Rain"}]}"#
        );
        let given = Given::from([("store".to_owned(), "vs_1".to_owned())]);
        let context = RequestContext { given: &given, ..ASKED };
        let needy = of(r#"{"model":"m","tools":[{"ids":["given:store","given:other"]}]}"#);
        assert_eq!(needs(needy.request).collect::<Vec<_>>(), ["store", "other"]);
        let missing = not_given(&needy, &given).unwrap();
        assert_eq!((&*missing.reason, &*missing.detail), ("it needs --given other=...", "--given other=..."));
        assert_eq!(
            body(&needy, api(), &context, None, false),
            r#"{"model":"m","tools":[{"ids":["vs_1","given:other"]}]}"#
        );
        let marked = RequestContext { number: 7, ..ASKED };
        let said = body(&of(r#"{"model":"m","input":"Say {mark}."}"#), api(), &marked, None, false);
        assert_eq!(said, format!(r#"{{"model":"m","input":"Say {}."}}"#, mark(7)));
        let malformed = Scenario { malformed: true, ..of(r#"{"model":"m"}"#) };
        let malformed = Call::of(&malformed, api(), &ASKED, None, false);
        assert_eq!(malformed.body.as_deref(), Some(r#"{"model":"m""#));
        let long = Scenario { fill: Some(1), ..of(r#"{"model":"m","input":"abc"}"#) };
        assert!(body(&long, api(), &ASKED, None, false).len() > 1000);
        assert_eq!((filled("[", "m"), filled("{}", "m")), ("[".to_owned(), r#"{"model":"m"}"#.to_owned()));
    }

    #[test]
    fn a_path_can_name_the_model() {
        let api = spec::dialect("gemini").unwrap().api;
        let base = Url::parse("http://a.test/v1beta/models/%7Bmodel%7D:streamGenerateContent?k=1").unwrap();
        let hello = catalogue::scenario_in("text/hello", spec::dialect("gemini").unwrap()).unwrap();
        let sent = |is_twin, model| {
            let context = RequestContext { model, ..ASKED };
            let call = Call::of(hello, api, &context, None, is_twin);
            assert!(
                !call
                    .body
                    .as_deref()
                    .is_some_and(|body| body.contains("\"model\"") || body.contains("stream"))
            );
            (call.url(&base).to_string(), call.wants_stream)
        };
        let stream = "http://a.test/v1beta/models/m:streamGenerateContent?k=1&alt=sse";
        assert_eq!(sent(false, "m"), (stream.to_owned(), true));
        let body = "http://a.test/v1beta/models/a%2Fb:generateContent?k=1";
        assert_eq!(sent(true, "a/b"), (body.to_owned(), false));
    }

    #[test]
    fn operations_have_their_addresses() {
        let responses = Url::parse("http://a.test/v1/responses?k=1").unwrap();
        let request_line = |operation, request| {
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
            assert_eq!(request_line(operation, ""), expected);
        }
        assert_eq!(request_line(Operation::Compact, "{}"), "POST http://a.test/v1/responses/compact?k=1");
        let lonely = scenario(Operation::Retrieve, "");
        let nobody = Call::of(&lonely, api(), &ASKED, None, false);
        assert_eq!(nobody.path, [Seed::NONE.unknown_id(&lonely, api())]);
    }
}
