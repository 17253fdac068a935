//! Requests of APIs whose path says what others have in the body: the model, and whether a stream is asked for. Some have two
//! names for a member.

use axum::http::Uri;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use spec::Api;
use spec::table::Operation;

const MODEL: &str = "model";
const STREAM: &str = "stream";

/// The pattern of the path for a router, which takes the model and the verb as one segment.
pub(crate) fn pattern(api: &Api) -> String {
    match api.path.split_once('{') {
        Some((before, _)) => format!("{before}{{call}}"),
        None => api.path.to_owned(),
    }
}

/// The body of a request, with what its path says.
pub fn with_path(api: &Api, path: &str, request: Value) -> Value {
    let mut request =
        if api.request.opaque.is_empty() { request } else { renamed(request, api.request.opaque) };
    if let (Some((model, is_stream)), Value::Object(members)) = (api.asked_at(path), &mut request) {
        members.insert(MODEL.to_owned(), percent_decode_str(model).decode_utf8_lossy().into());
        members.insert(STREAM.to_owned(), is_stream.into());
    }
    request
}

/// The body of a request to count tokens, with the model that its path names, unless the path asks for something else. A request
/// for a response can be a member of it.
pub(crate) fn to_count(api: &Api, path: &str, mut request: Value) -> Option<Value> {
    let (before, _) = api.path.split_once('{')?;
    let rest = path.get(path.rfind(before)? + before.len()..)?;
    let model = rest.strip_suffix(api.route(Operation::Count)?.path)?;
    request = renamed(request, api.request.opaque);
    let has_input = |value: &Value| value.get(api.request.input).is_some();
    let inner = request.as_object().filter(|_| !has_input(&request));
    if let Some(inner) = inner.and_then(|all| all.values().find(|value| has_input(value))) {
        request = inner.clone();
    }
    if let Value::Object(members) = &mut request {
        members.insert(MODEL.to_owned(), percent_decode_str(model).decode_utf8_lossy().into());
    }
    Some(request)
}

/// Whether a request gets its stream as a list, as its query does not ask for events.
pub fn wants_list(api: &Api, uri: &Uri) -> bool {
    let query = percent_decode_str(uri.query().unwrap_or_default()).decode_utf8_lossy();
    api.lists_at(uri.path(), &query)
}

/// The segments of the path of a request, none if it is the same for all requests, and the body without what they say.
pub fn without_path(api: &Api, mut request: Value) -> (Vec<String>, Value) {
    let Some(members) = request.as_object_mut().filter(|_| api.names_model()) else {
        return (Vec::new(), request);
    };
    let is_stream = members.shift_remove(STREAM) == Some(Value::Bool(true));
    let model = members.shift_remove(MODEL);
    let at = api.path_for(model.as_ref().and_then(Value::as_str).unwrap_or_default(), is_stream);
    (at, request)
}

/// Members with underscores, as in Protocol Buffers, get their names of JSON.
fn renamed(value: Value, opaque: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let name = camel(&name);
                let is_opaque = opaque.contains(&name.as_str());
                (name, if is_opaque { value } else { renamed(value, opaque) })
            });
            Value::Object(members.collect())
        }
        Value::Array(entries) => entries.into_iter().map(|entry| renamed(entry, opaque)).collect(),
        other => other,
    }
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut name, part| {
        let mut letters = part.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_has_what_it_takes_from_the_body() {
        let [gemini, chat] = ["gemini", "chat"].map(|name| spec::dialect(name).unwrap().api);
        let whole = json!({"contents": [], "model": "a/b", "stream": true});
        let (at, body) = without_path(gemini, whole.clone());
        assert_eq!(
            (&*at, &body),
            (&["models", "a/b:streamGenerateContent"].map(str::to_owned)[..], &json!({"contents": []}))
        );
        for path in
            ["/v1beta/models/a%2Fb:streamGenerateContent?alt=sse", "/x/models/a%2Fb:streamGenerateContent"]
        {
            assert_eq!(with_path(gemini, path, body.clone()), whole, "{path}");
        }
        let twin = with_path(gemini, "/v1beta/models/m:generateContent", body.clone());
        assert_eq!(twin, json!({"contents": [], "model": "m", "stream": false}));
        for path in ["/v1beta/models/m:countTokens", "/v1beta/models", "/v1/messages"] {
            assert_eq!(with_path(gemini, path, body.clone()), body, "{path}");
        }
        assert_eq!(without_path(chat, whole.clone()), (Vec::new(), whole));
        let parts = |name: &str| json!({"parts": [{name: {"args": {"my_city": 1}}}]});
        let [sent, read] = [("function_call", "system_instruction"), ("functionCall", "systemInstruction")]
            .map(|(call, told)| json!({"contents": [parts(call)], told: {"parts": []}}));
        assert_eq!(with_path(gemini, "", sent.clone()), read);
        assert_eq!(with_path(chat, "", sent.clone()), sent);
    }
}
