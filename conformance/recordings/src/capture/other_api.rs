//! Detection of recordings of other APIs.

use spec::json::{self, Indexed};
use spec::{APIS, Api, api_of_event, api_of_value, foreign_at, format_of};

/// Also returns whether the URL belongs to the own API, or, without one, to any API of the suite.
pub(crate) fn at_url(url: &str, own: Option<&Api>) -> (Option<&'static str>, bool) {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let known = own.into_iter().chain(APIS.iter().copied()).find(|api| api.has_path(path));
    if let Some(api) = known {
        let is_own = own.is_none_or(|own| own.name == api.name);
        return (Some(api.title).filter(|_| !is_own), is_own);
    }
    (foreign_at(path).map(|api| api.name), false)
}

pub(super) fn is_known(url: &str) -> bool {
    let (other, is_own) = at_url(url, None);
    APIS.iter().any(|api| url.contains(api.path)) || is_own || other.is_some()
}

pub(super) fn is_body(text: &str) -> bool {
    let object = Indexed::new(text);
    APIS.iter().any(|api| api.signature.has_body(&object))
}

/// The type or the members show an API, or a format of logs.
pub(super) fn is_known_object(text: &str) -> bool {
    let (kind, object) = (json::string_member(text, "type").unwrap_or_default(), Indexed::new(text));
    api_of_event(&kind, None).or_else(|| api_of_value(&object, None)).is_some()
        || format_of(&kind, &object).is_some()
}

/// The API of the suite that has the event.
pub(crate) fn own_api(kind: &str, data: &str) -> Option<&'static Api> {
    let data = &Indexed::new(data);
    let has = |api: &&&Api| api.signature.pattern(kind).is_some() || api.signature.value(data).is_some();
    APIS.iter().find(has).copied()
}

#[cfg(test)]
mod tests {
    use spec::table::apis;

    use super::*;

    #[test]
    fn urls_tell_the_api() {
        let at_url = |url| at_url(url, Some(&apis::RESPONSES));
        assert_eq!(at_url("https://a.test/v1/responses?stream=true"), (None, true));
        assert_eq!(at_url("https://a.test/openai/responses/resp_1/"), (None, true));
        assert_eq!(at_url("/v1/messages"), (Some("Anthropic Messages"), false));
        assert_eq!(
            at_url("https://a.test/v1beta/models/m:streamGenerateContent?alt=sse"),
            (Some("Gemini generateContent"), false)
        );
        assert_eq!(at_url("https://a.test/v1/openai/chat/completions/"), (Some("Chat Completions"), false));
        assert_eq!(at_url("https://a.test/my/gateway"), (None, false));
    }
}
