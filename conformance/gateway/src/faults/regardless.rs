//! Responses that do not do what the request asks for.

use std::collections::BTreeSet;
use std::time::Duration;

use catalogue::{Edit, Rule, RuleInApi};
use checker::{Asked, Exchange, Request, Rules};
use recordings::capture::{End, Recorder};
use serde_json::Value;
use spec::Dialect;

use crate::content::speech::{example, request};
use crate::faults::violation::{broken_in, respond};
use crate::rendering::wire::Wire;

/// Returns the rules of a dialect that compare a response with its request and that can be broken, with the settings of a
/// request for that.
pub fn request_faults(rules: &Rules) -> Vec<(&'static Rule, Value)> {
    let bound = |rule: &&'static Rule| rules.iter().any(|bound| bound.id == rule.id);
    let about = catalogue::RULES.iter().filter(bound).filter_map(|rule| {
        regardless(&request_about(rule, rules.dialect())?, rule, rules)?;
        Some((rule, settings(rule.in_dialect(rules.dialect()))?))
    });
    about.collect()
}

/// Only some rules need settings in the request of their violation.
fn settings(own: &RuleInApi) -> Option<Value> {
    let mut settings = own.violation.edits.iter().find_map(|edit| match edit {
        Edit::Request(request) => serde_json::from_str::<Value>(request).ok(),
        _ => None,
    })?;
    // The conversation is empty there.
    let is_said = |_: &String, value: &mut Value| value.as_array().is_none_or(|entries| !entries.is_empty());
    settings.as_object_mut()?.retain(is_said);
    Some(settings)
}

/// Returns a request that the rule is about, with the settings of its violation.
pub fn request_about(rule: &Rule, dialect: &Dialect) -> Option<Value> {
    let mut request = request("Hello, how are you?", dialect.api);
    let settings = settings(rule.in_dialect(dialect))?;
    for (name, value) in settings.as_object()? {
        request[name.as_str()] = value.clone();
    }
    Some(request)
}

impl Wire {
    /// Returns the rules of a dialect that it breaks as the response to a request.
    pub fn broken_for(&self, request: &Value, rules: &Rules) -> Vec<&'static str> {
        let recorder = Recorder::new();
        let mut recording = recorder.begin(&Exchange {
            status: Some(self.status),
            headers: vec![("content-type".into(), self.content_type.as_str().into())],
            request: Some(Request {
                method: "POST".into(),
                url: format!("http://localhost/v1{}", rules.dialect().api.path).into(),
                headers: Vec::new(),
                body: Some(request.to_string().into()),
            }),
            ..Exchange::default()
        });
        recording += &recorder.chunk(Duration::ZERO, &self.body);
        recording += &recorder.end(Duration::ZERO, End::Closed);
        broken_in(recording.as_bytes(), None, rules)
    }
}

/// The function that examples call.
const CALLED: &str = "get_weather";

/// Functions of the request, or the one in the examples.
fn offered(request: &Value, dialect: &Dialect) -> Vec<String> {
    let asked = Asked::read(&request.to_string(), dialect.api);
    let names = asked.as_ref().and_then(Asked::tools).into_iter().flatten();
    names.cloned().chain([CALLED.to_owned()]).collect()
}

/// Returns a response that breaks only a rule about this request: one like the golden of the rule, whatever was asked.
pub fn regardless(request: &Value, rule: &'static Rule, rules: &Rules) -> Option<Wire> {
    let own = rule.in_dialect(rules.dialect());
    settings(own)?;
    let violation = &own.violation;
    let mut other = example(violation.golden)?;
    let is_stream = request.get("stream") == Some(&Value::Bool(true));
    let edits: Vec<Edit> =
        violation.edits.iter().filter(|edit| !matches!(edit, Edit::Request(_))).copied().collect();
    let usual = other["model"].clone();
    let models = [request.get("model")?.clone(), usual];
    let names = offered(request, rules.dialect());
    let ways = models.iter().flat_map(|model| [(model, is_stream), (model, !is_stream)]);
    let ways = ways.flat_map(|way| names.iter().map(move |name| (way, name)));
    let mut tried = BTreeSet::new();
    ways.into_iter().find_map(|((model, streams), name)| {
        other["model"] = model.clone();
        other["stream"] = Value::Bool(streams);
        let calling = other.to_string().replace(&format!("call {CALLED}"), &format!("call {name}"));
        if !tried.insert(calling.clone()) {
            return None;
        }
        let unedited = respond(&serde_json::from_str(&calling).ok()?, rules.dialect());
        let wire = Wire::read(&unedited.edited(&edits, 0)?, &unedited)?;
        let broken = wire.broken_for(request, rules);
        let is_meant = |id: &&str| *id == rule.id || violation.also.contains(id);
        (broken.contains(&rule.id) && broken.iter().all(is_meant)).then_some(wire)
    })
}
