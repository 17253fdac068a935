//! Recognises the API and the dialect of a stream. The signs are, by weight: its URL, its headers, its request, and the
//! first event that shows an API. Each dialect lists its own.

use std::borrow::Cow;
use std::fmt;

use spec::json::{Indexed, at, string, string_member};
use spec::table::{Fallback, Mark, Operation};
use spec::{APIS, Api, DIALECTS, Dialect, Verdict};

use crate::{Exchange, Frame, Headers};

/// The dialect of a stream, and why.
#[derive(Debug, Clone, Copy)]
pub struct Recognised {
    /// The dialect.
    pub dialect: &'static Dialect,
    api_by: Sign,
    /// The sign of the dialect among those with its API; none if it is the fallback.
    by: Option<Sign>,
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Nothing,
    /// The type of the first event, by its pattern.
    Type(&'static str),
    /// The first event or the body.
    Event(&'static Mark),
    /// The first event or the body is valid in no other API.
    Schema(&'static str),
    /// The body has an error with all that this API demands of it.
    Error,
    Comment(&'static str),
    Request(&'static Mark),
    Header(&'static str),
    Path(&'static str),
    Host(&'static str),
}

const URL: u8 = 4;

impl Sign {
    const fn weight(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Type(_) | Self::Event(_) | Self::Schema(_) | Self::Error | Self::Comment(_) => 1,
            Self::Request(_) => 2,
            Self::Header(_) => 3,
            Self::Path(_) | Self::Host(_) => URL,
        }
    }

    fn shows_api(self) -> bool {
        match self {
            Self::Event(mark) => mark.texts.iter().any(|(place, _)| *place == "/type"),
            _ => true,
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Type(pattern) => write!(f, "event {pattern}"),
            Self::Event(mark) => write!(f, "first event with {mark}"),
            Self::Schema(name) => write!(f, "schema of {name}"),
            Self::Error => f.write_str("body with an error"),
            Self::Comment(pattern) => write!(f, "comment {pattern}"),
            Self::Request(mark) => write!(f, "request with {mark}"),
            Self::Header(name) => write!(f, "header {name}"),
            Self::Path(path) => write!(f, "path {path}"),
            Self::Host(host) => write!(f, "host {host}"),
        }
    }
}

/// Lists the signs of the API and the dialect. The dialect's sign shows the API, too, unless that has a weightier sign.
impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api_by, Some(by)) = (self.api_by, self.by) else { return self.api_by.fmt(f) };
        let is_of_url = api_by.weight() == URL && by.weight() == URL;
        if is_of_url || api_by.weight() > by.weight() { write!(f, "{api_by}, {by}") } else { by.fmt(f) }
    }
}

/// Facts about a stream when its first event arrives.
pub(crate) struct Evidence<'e, 'f> {
    pub(crate) exchange: Option<&'e Exchange<'e>>,
    pub(crate) before: &'e [&'e Frame<'static>],
    pub(crate) first: Option<&'e First<'f>>,
    pub(crate) is_body: bool,
}

/// A frame with the object in it, whose members are found once for all signs.
pub(crate) struct First<'e> {
    frame: &'e Frame<'e>,
    object: Option<Indexed<'e>>,
}

impl<'e> First<'e> {
    /// A body that is a list is recognised by its first entry.
    pub(crate) fn of(frame: &'e Frame<'_>, is_body: bool) -> Self {
        let list = |data: &&str| is_body && data.trim_start().starts_with('[');
        let entry = |data: &'e str| {
            let list = Some(data).filter(list)?;
            spec::json::entries(list.trim())?.first().copied()
        };
        let data = frame.data.as_deref();
        Self { frame, object: data.map(|data| Indexed::new(entry(data).unwrap_or(data))) }
    }

    /// Such a frame says nothing about the dialect of its stream. Data that are not JSON are at fault in any dialect.
    pub(crate) fn is_silent(&self) -> bool {
        let Some(object) = self.object.as_ref().filter(|object| object.is_object()) else { return true };
        let event = || self.frame.event.as_deref().map(Cow::Borrowed);
        let name = object.at("/type").map_or_else(event, string);
        name.is_some_and(|name| crate::is_sign_of_life(&name))
    }

    pub(crate) fn is_event_of(&self, dialect: &'static Dialect) -> bool {
        let Some(object) = &self.object else { return false };
        let (data, signature) = (object.text(), &dialect.api.signature);
        let stated = string_member(data, "type");
        let name = stated.as_deref().or(self.frame.event.as_deref());
        let is_valid = || {
            let kind = name.or_else(|| dialect.type_by_members(data)).and_then(|name| dialect.event(name));
            kind.is_some_and(|event| matches!(dialect.check_event(event.name, data), Verdict::Valid))
        };
        spec::foreign_value(object).is_none()
            && (name.is_some_and(|name| signature.pattern(name).is_some())
                || signature.value(object).is_some()
                || !dialect.api.is_stream_of_bodies() && is_valid())
    }
}

impl Recognised {
    /// Recognises the dialect of an exchange before it has a response; none if nothing shows its API.
    pub fn of_request(exchange: &Exchange<'_>) -> Option<Self> {
        Evidence { exchange: Some(exchange), before: &[], first: None, is_body: false }.dialect()
    }
}

impl Evidence<'_, '_> {
    pub(crate) fn dialect(&self) -> Option<Recognised> {
        let asked = self.exchange.and_then(|exchange| exchange.request.as_ref()?.body.as_deref());
        let asked = asked.map(Indexed::new);
        let api = self.api(asked.as_ref());
        let is_of_api = |dialect: &&&'static Dialect| api.is_none_or(|(api, _)| api.name == dialect.api.name);
        // Of equals, the last is the greatest.
        let sign = |one: &&'static Dialect| Some((*one, self.sign(one, asked.as_ref())?));
        let signed = || DIALECTS.iter().rev().filter(is_of_api).filter_map(sign);
        let best = signed().max_by_key(|(one, sign)| (sign.weight(), one.lineage.len()));
        // A host can serve several APIs, and members of an unknown object mean nothing.
        let best = best.filter(|(one, sign)| {
            let is_of_one_api = || signed().all(|(other, _)| other.api.name == one.api.name);
            api.is_some() || !self.is_foreign() && sign.shows_api() && is_of_one_api()
        });
        match (api, best) {
            (api, Some((dialect, sign))) => {
                let api_by = api.map_or(Sign::Nothing, |(_, by)| by);
                Some(Recognised { dialect, api_by, by: Some(sign) })
            }
            (Some((api, api_by)), None) => {
                Some(Recognised { dialect: fallback(Some(api))?, api_by, by: None })
            }
            (None, None) => None,
        }
    }

    fn api(&self, asked: Option<&Indexed<'_>>) -> Option<(&'static Api, Sign)> {
        let apis = || APIS.iter().copied();
        let path = url_parts(self.url()).1;
        if let Some(api) = apis().find(|api| api.has_path(path)) {
            return Some((api, Sign::Path(api.path)));
        }
        let request = self.exchange.and_then(|exchange| exchange.request.as_ref());
        if let Some(request) = request {
            let header = |api: &Api| api.request.headers.iter().find(|(name, _)| has(&request.headers, name));
            if let Some((api, (name, _))) = apis().find_map(|api| Some((api, header(api)?))) {
                return Some((api, Sign::Header(name)));
            }
            let mark = |api: &Api| api.signature.request(asked?);
            if let Some((api, mark)) = apis().find_map(|api| Some((api, mark(api)?))) {
                return Some((api, Sign::Request(mark)));
            }
        }
        let first = self.first?;
        let object = first.object.as_ref()?;
        let data = object.text();
        let stated = string_member(data, "type");
        let name = stated.as_deref().or(first.frame.event.as_deref());
        if spec::foreign_value(object).is_some() {
            return None;
        }
        if let Some(name) = name
            && let Some((api, pattern)) = apis().find_map(|api| Some((api, api.signature.pattern(name)?)))
        {
            return Some((api, Sign::Type(pattern)));
        }
        if let Some((api, mark)) = apis().find_map(|api| Some((api, api.signature.value(object)?))) {
            return Some((api, Sign::Event(mark)));
        }
        let mut valid = apis().filter_map(|api| Some((api, Sign::Schema(self.valid_in(api, name, data)?))));
        if let Some(only) = valid.next().filter(|_| valid.next().is_none()) {
            return Some(only);
        }
        // Of equals, the last is the greatest.
        let most = apis().filter(|api| self.is_body && has_error(api, data));
        most.max_by_key(|api| api.error.required.len()).map(|api| (api, Sign::Error))
    }

    fn sign(&self, dialect: &'static Dialect, asked: Option<&Indexed<'_>>) -> Option<Sign> {
        let own = &dialect.signature;
        let (host, path) = url_parts(self.url());
        let host = || own.host(host?);
        let mut headers = self.exchange.into_iter().flat_map(|exchange| {
            let asked = exchange.request.iter().flat_map(|request| &request.headers);
            exchange.headers.iter().chain(asked)
        });
        let before = self.before.iter().flat_map(|frame| &frame.comments);
        let mut comments = before.chain(self.first.into_iter().flat_map(|first| &first.frame.comments));
        host()
            .map(Sign::Host)
            .or_else(|| own.path(path).map(Sign::Path))
            .or_else(|| headers.find_map(|(name, value)| own.header(name, value)).map(Sign::Header))
            .or_else(|| own.request(asked?).map(Sign::Request))
            .or_else(|| comments.find_map(|text| own.comment(text.trim())).map(Sign::Comment))
            .or_else(|| own.event(self.first?.object.as_ref()?).map(Sign::Event))
    }

    /// An event or type counts only if the data are valid as such. Where bodies are events, nothing in them is required.
    fn valid_in(&self, api: &'static Api, name: Option<&str>, data: &str) -> Option<&'static str> {
        let dialect = fallback(Some(api)).filter(|_| !api.is_stream_of_bodies())?;
        // Where types follow from members, data have none of their own.
        if name.is_some() && !dialect.framing.types.is_empty() {
            return None;
        }
        if let Some(event) = name
            .or_else(|| dialect.type_by_members(data))
            .and_then(|name| dialect.event(name))
            .filter(|_| !self.is_body)
        {
            return matches!(dialect.check_event(event.name, data), Verdict::Valid).then_some(event.name);
        }
        let root = dialect.root(api.body(data)?.root)?;
        matches!(dialect.check_type(root, data), Verdict::Valid).then_some(root)
    }

    fn url(&self) -> &str {
        let request = self.exchange.and_then(|exchange| exchange.request.as_ref());
        request.map(|request| &*request.url).unwrap_or_default()
    }

    /// Other APIs are known, and not checked.
    fn is_foreign(&self) -> bool {
        let (_, path) = url_parts(self.url());
        spec::foreign_at(path).is_some()
    }
}

/// Returns the dialect for recordings whose only known fact is the API, or not even that.
pub fn fallback(api: Option<&Api>) -> Option<&'static Dialect> {
    let mut of_api = DIALECTS.iter().copied().filter(|one| api.is_none_or(|api| api.name == one.api.name));
    let is_wanted = |one: &&Dialect| match api {
        Some(_) => one.fallback != Fallback::None,
        None => one.fallback == Fallback::Any,
    };
    // A build may lack it.
    of_api.clone().find(is_wanted).or_else(|| of_api.next())
}

/// Returns the APIs whose requests the body can be.
pub fn apis_of_request(body: &str) -> Vec<&'static Api> {
    let is_valid = |api: &&Api| {
        let dialect = fallback(Some(api));
        let root = dialect.and_then(|dialect| dialect.root(api.route(Operation::Create)?.request?));
        dialect.zip(root).is_some_and(|(dialect, root)| dialect.check_type(root, body) == Verdict::Valid)
    };
    APIS.iter().copied().filter(is_valid).collect()
}

fn has_error(api: &Api, body: &str) -> bool {
    let has =
        |error: &str, member: &&str| at(error, &format!("/{member}")).is_some_and(|it| it.starts_with('"'));
    api.error_in(body).is_some_and(|error| api.error.required.iter().all(|member| has(error, member)))
}

/// Returns the name of the API or format that an object belongs to, among those that the suite does not check, and of the
/// other APIs where one is meant.
pub fn other_than(own: Option<&Api>, frame: &Frame<'_>) -> Option<Other> {
    let data = frame.data.as_deref()?;
    let (stated, object) = (string_member(data, "type"), &Indexed::new(data));
    let name = stated.as_deref().or(frame.event.as_deref()).unwrap_or_default();
    let is_own = |api: &&Api| own.is_none_or(|own| own.name == api.name);
    let is_of = |api: &Api| api.signature.pattern(name).is_some() || api.signature.value(object).is_some();
    if let Some(api) = spec::foreign_value(object) {
        return Some(Other::Api(api.name));
    }
    if APIS.iter().copied().filter(is_own).any(is_of) {
        return None;
    }
    let api = spec::api_of_event(name, own).or_else(|| spec::api_of_value(object, own)).map(Other::Api);
    api.or_else(|| Some(Other::Format(spec::format_of(name, object)?.name)))
}

/// The API or format of a recording that is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// Another API.
    Api(&'static str),
    /// A format that holds no events and responses as they were sent.
    Format(&'static str),
}

impl Other {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api(name) | Self::Format(name) => name,
        }
    }
}

fn has(headers: &Headers<'_>, name: &str) -> bool {
    headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
}

fn url_parts(url: &str) -> (Option<&str>, &str) {
    let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let Some((_, rest)) = url.split_once("://") else { return (None, url) };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
    (Some(host).filter(|host| !host.is_empty()), path)
}

#[cfg(test)]
mod tests {
    use spec::table::apis;

    use super::*;
    use crate::Request;

    /// Returns the dialect, and what shows it.
    fn recognised(url: &str, headers: &[(&str, &str)], body: &str, first: &str) -> (&'static str, String) {
        let headers: Headers<'_> =
            headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let request = Request { url: url.into(), headers, body: Some(body.into()), ..Request::default() };
        let exchange = Exchange { request: Some(request), ..Exchange::default() };
        let frame = Frame { data: Some(first.into()), ..Frame::default() };
        let shown = First::of(&frame, false);
        let first = Some(&shown).filter(|_| !first.is_empty());
        let found = Evidence { exchange: Some(&exchange), before: &[], first, is_body: false }.dialect();
        found.map_or(("", String::new()), |found| (found.dialect.name, found.to_string()))
    }

    const CHUNK: &str = r#"{"object":"chat.completion.chunk","choices":[],"x_groq":{}}"#;
    const MESSAGE: &str = r#"{"type":"message_start","message":{"id":"msg_bdrk_1"}}"#;

    #[test]
    fn the_path_of_the_url_shows_the_api_and_the_host_the_dialect() {
        let of = |url| recognised(url, &[], "", "");
        assert_eq!(of("https://a.test/v1/messages"), ("anthropic", "path /messages".to_owned()));
        assert_eq!(of("https://api.groq.com/openai/v1/chat/completions").0, "groq");
        assert_eq!(of("https://user:key@a.openai.azure.com:443/openai/responses?api-version=1").0, "azure");
        assert_eq!(of("https://a.openai.azure.com/openai/deployments/d/chat/completions").0, "azure-chat");
        assert_eq!(of("/v1/responses/resp_1/input_items"), ("openai", "path /responses".to_owned()));
        let vertex =
            "https://eu-aiplatform.googleapis.com/v1/projects/p/publishers/anthropic/models/m:rawPredict";
        assert_eq!(of(vertex).0, "vertex");
        // A host of several APIs, and one that serves an API that is not checked.
        assert_eq!(of("https://api.openai.com/v1/unknown").0, "");
        assert_eq!(of("https://bedrock-runtime.eu.amazonaws.com/model/m/converse-stream").0, "");
    }

    #[test]
    fn headers_count_more_than_the_request_and_that_more_than_the_event() {
        let version = [("Anthropic-Version", "2023-06-01")];
        let of_chat = r#"{"messages":[],"stream_options":{}}"#;
        assert_eq!(recognised("https://a.test/x", &version, of_chat, CHUNK).0, "anthropic");
        assert_eq!(recognised("https://a.test/x", &[], of_chat, MESSAGE).0, "chat");
        assert_eq!(recognised("https://a.test/x", &[("x-groq-region", "r")], of_chat, "").0, "groq");
        assert_eq!(recognised("https://a.test/x", &[("x-groq-region", "r")], "", "").0, "groq");
        assert_eq!(
            recognised("/chat/completions", &version, "", MESSAGE),
            ("chat", "path /chat/completions".into())
        );
        let of_vertex = r#"{"messages":[],"anthropic_version":"vertex-2023-10-16"}"#;
        let shown = "request with anthropic_version vertex-*".to_owned();
        assert_eq!(recognised("", &[], of_vertex, MESSAGE), ("vertex", shown));
        let of_responses = recognised("", &[], r#"{"model":"m","input":"x"}"#, "");
        assert_eq!(of_responses, ("openai", "request with input".to_owned()));
    }

    #[test]
    fn the_first_event_shows_both() {
        let of = |first| recognised("", &[], "", first);
        assert_eq!(of(CHUNK), ("groq", "first event with x_groq".to_owned()));
        assert_eq!(of(MESSAGE).0, "bedrock");
        assert_eq!(of(r#"{"type":"response.created"}"#), ("openai", "event response.*".to_owned()));
        assert_eq!(
            of(r#"{"type":"codex.rate_limits"}"#),
            ("codex", "first event with type codex.*".to_owned())
        );
        let azure = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[]}"#;
        assert_eq!(of(azure).0, "azure-chat");
        // An error is that of the API in which it is valid.
        let error = |event| of(event).0;
        assert_eq!(
            error(r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#),
            "anthropic"
        );
        assert_eq!(
            error(r#"{"type":"error","code":null,"message":"m","param":null,"sequence_number":0}"#),
            "openai"
        );
        // Members of an object that belongs to no API mean nothing.
        assert_eq!(of(r#"{"x_groq":{}}"#).0, "");
        assert_eq!(of(r#"{"type":"log"}"#).0, "");
        // Events of the Realtime API have the names of others, and an id.
        assert_eq!(of(r#"{"type":"response.created","event_id":"event_1"}"#).0, "");
        assert_eq!(of(r#"{"object":"text_completion","choices":[{"delta":{}}]}"#).0, "chat");
        assert_eq!(of(r#"{"object":"text_completion","choices":[{"text":"a"}]}"#).0, "");
    }

    #[test]
    fn frames_that_show_nothing_are_known() {
        let is_silent = |event: Option<&'static str>, data: Option<&'static str>| {
            let frame =
                Frame { event: event.map(Into::into), data: data.map(Into::into), ..Frame::default() };
            First::of(&frame, false).is_silent()
        };
        for (event, data) in [
            (None, None),
            (Some("ping"), Some("{}")),
            (None, Some(r#"{"type":"ping"}"#)),
            (None, Some("[DONE]")),
            (None, Some(r#"{"type":"#)),
        ] {
            assert!(is_silent(event, data), "{event:?} {data:?}");
        }
        assert!(!is_silent(None, Some("{}")));
    }

    #[test]
    fn objects_tell_the_api() {
        let other = |own, event: Option<&str>, data: &str| {
            let frame = Frame {
                data: Some(data.to_owned().into()),
                event: event.map(|name| name.to_owned().into()),
                ..Frame::default()
            };
            other_than(own, &frame).map(Other::name)
        };
        let of = |event, data: &str| other(Some(&apis::RESPONSES), event, data);
        assert_eq!(of(None, r#"{"type":"message_start","message":{}}"#), Some("Anthropic Messages"));
        assert_eq!(
            of(None, r#"{"type":"message","role":"assistant","stop_reason":null}"#),
            Some("Anthropic Messages")
        );
        assert_eq!(of(None, r#"{"id":"c","object":"chat.completion.chunk"}"#), Some("Chat Completions"));
        assert_eq!(of(None, r#"{"choices":[{"delta":{}}]}"#), Some("Chat Completions"));
        let azure = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[]}"#;
        assert_eq!(of(None, azure), Some("Chat Completions"));
        let mcp = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        assert_eq!(of(Some("message"), mcp), Some("MCP"));
        assert_eq!(of(None, r#"{"candidates":[]}"#), Some("Gemini generateContent"));
        assert_eq!(of(None, r#"{"type":"session.created","session":{}}"#), Some("the Realtime API"));
        let run = r#"{"id":"run_1","object":"thread.run"}"#;
        assert_eq!(of(Some("thread.run.created"), run), Some("the Assistants API"));
        let ollama = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{},"done":false}"#;
        assert_eq!(of(None, ollama), Some("Ollama"));
        // An unknown event may be a fault in our API.
        for data in
            [r#"{"type":"response.created"}"#, r#"{"object":"response"}"#, r#"{"type":"ping"}"#, "[]", "x"]
        {
            assert_eq!(of(None, data), None, "{data}");
        }
        assert_eq!(of(Some("response.created"), "{}"), None);
        assert_eq!(of(None, r#"{"type":"log","level":"info"}"#), Some("application log"));
        // Of the APIs of the suite, none is another one.
        let of_any = |data: &str| other(None, None, data);
        let gemini = r#"{"candidates":[]}"#;
        for data in
            [azure, r#"{"type":"message_start"}"#, r#"{"object":"response"}"#, r#"{"choices":[]}"#, gemini]
        {
            assert_eq!(of_any(data), None, "{data}");
        }
        let step = r#"{"event_type":"step.start","index":0}"#;
        assert_eq!((of_any(mcp), of_any(step)), (Some("MCP"), None));
    }
}
