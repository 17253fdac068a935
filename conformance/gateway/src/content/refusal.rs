//! Why requests are refused.

use serde_json::{Map, Value};
use spec::Dialect;
use spec::json::Actual;

use super::ask::Ask;
use super::plan::{Ending, ResponsePlan};
use super::problem::Problem;
use super::speech::speech;
use super::{conversation, text};

/// Returns why a request is refused, if it is.
pub fn refusal(request: &Value, dialect: &Dialect) -> Option<Problem> {
    if !request.is_object() {
        return Some(Problem::invalid("invalid_json", "The body of the request is not a JSON object.", None));
    }
    let problem = conversation::unserved(request, dialect.api).or_else(|| invalid(request, dialect));
    if problem.is_some() {
        return problem;
    }
    let wanted = Ask::read(request, dialect.api).directives().status;
    wanted.map(Problem::of_status)
}

/// Returns why a request is invalid, if it is.
pub fn invalid(request: &Value, dialect: &Dialect) -> Option<Problem> {
    let problem = dialect.root("request").and_then(|root| refused(&with_usual(request), dialect, root));
    if problem.is_some() {
        return problem;
    }
    if text(request, "model").is_none() {
        let message = "The request has no model.";
        return Some(Problem::invalid("missing_required_parameter", message, Some("model")));
    }
    let input = dialect.api.request.input;
    if request.get(input).is_some_and(|input| input.to_string().len() > MAX_INPUT_BYTES) {
        let message = "The input exceeds the context window of the model.";
        return Some(Problem::invalid("context_length_exceeded", message, Some(input)));
    }
    let unmatched =
        || conversation::unmatched(request, dialect.api).filter(|_| dialect.api.session.is_none());
    conversation::misshapen(request, dialect.api).or_else(unmatched)
}

/// Refuses a plan with content that the API has no way to say.
pub(crate) fn unsaid(plan: &ResponsePlan, dialect: &Dialect) -> Option<Problem> {
    let speech = speech(dialect.api);
    let ends = match plan.ending {
        Ending::Paused => speech.pauses,
        Ending::Blocked => speech.blocks,
        _ => true,
    };
    let is_said = ends && plan.items.iter().all(|item| conversation::can_say(item, speech));
    let message = || format!("{} has no way to say this.", dialect.api.title);
    (!is_said).then(|| Problem::invalid("unsupported_value", message(), Some(dialect.api.request.input)))
}

/// The reason, if the body does not match.
pub(crate) fn refused(body: &Value, dialect: &Dialect, root: &str) -> Option<Problem> {
    let verdict = dialect.check_type(root, &body.to_string());
    let fault = verdict.faults().first()?;
    let param = fault.pointer.trim_start_matches('/').replace('/', ".");
    let message = if fault.actual == Actual::Nothing {
        format!("{} lacks {}.", if param.is_empty() { "The request" } else { &param }, fault.kind)
    } else {
        format!("{} is {}, but should be {}.", param, fault.actual, fault.kind)
    };
    Some(Problem::invalid("invalid_value", message, Some(&param)))
}

/// Maximum size of the input, as JSON.
const MAX_INPUT_BYTES: usize = 2_000_000;

/// Without a list, all models are served except reserved names.
pub(crate) fn unserved(request: &Value, models: &[String]) -> Option<Problem> {
    let model = text(request, "model")?;
    let is_served = match models {
        [] => !is_reserved(model),
        models => model == "auto" || model.starts_with("fault:") || models.iter().any(|other| other == model),
    };
    let message = || format!("There is no model {model:?}.");
    (!is_served).then(|| Problem::not_found("model_not_found", message(), Some("model")))
}

/// All keys are known except reserved names.
pub(crate) fn unknown_key(key: &str) -> Option<Problem> {
    is_reserved(key)
        .then(|| Problem { message: "The key is not known.".to_owned(), ..Problem::of_status(401) })
}

/// Reserved names stand for things that do not exist.
fn is_reserved(name: &str) -> bool {
    name.starts_with("no-such-") || name.starts_with("unknown-")
}

/// Adds members that a published schema requires, although endpoints accept requests without them, as published
/// examples are: `strict` of functions, and `detail` of images.
fn with_usual(request: &Value) -> Value {
    let mut request = request.clone();
    add_detail(&mut request);
    let tools = request.get_mut("tools").and_then(Value::as_array_mut);
    let functions = tools.into_iter().flatten().filter_map(Value::as_object_mut);
    let is_function = |tool: &&mut Map<String, Value>| {
        tool.contains_key("name") && tool.get("type").is_some_and(|kind| kind == "function")
    };
    for tool in functions.filter(is_function) {
        tool.entry("strict").or_insert(Value::Bool(true));
    }
    request
}

fn add_detail(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(add_detail),
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == "input_image") {
                members.entry("detail").or_insert("auto".into());
            }
            members.values_mut().for_each(add_detail);
        }
        _ => {}
    }
}
