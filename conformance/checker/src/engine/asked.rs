//! Settings of a request, by the table of its API.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;
use spec::table::RequestShape;
use spec::{Api, json};

use super::view::{Object, number};

/// Settings of a request: its members, without the conversation.
#[derive(Debug)]
pub struct Asked {
    settings: Object<'static>,
    shape: &'static RequestShape,
    /// The names of the tools, computed for the first call; none if a tool may have others.
    tools: OnceLock<Option<BTreeSet<String>>>,
}

/// The tools that the model must call.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen<'a> {
    /// It chooses, or the choice is not known.
    Free,
    /// None.
    None,
    /// At least one.
    Any,
    /// The one with this name.
    One(Cow<'a, str>),
}

/// Maximum number of texts before which a model stops. APIs allow a few.
const MOST_STOPS: usize = 64;

impl Asked {
    /// Reads the body of a request. Returns `None` if its API says nothing of settings, or if it is not a request.
    pub fn read(request: &str, api: &'static Api) -> Option<Self> {
        Self::of(&Object::new(request), &api.request)
    }

    /// `None` if the API says nothing of settings, or if the body is not a request.
    pub(super) fn of(request: &Object<'_>, shape: &'static RequestShape) -> Option<Self> {
        shape.offers?;
        request.value(shape.input)?;
        let is_setting = |name: &str| name != shape.input && Some(name) != shape.instructions;
        let mut settings = String::from("{");
        for (name, value) in request.members().filter(|(name, _)| is_setting(name)) {
            let comma = if settings.len() > 1 { "," } else { "" };
            settings.extend([comma, "\"", name, "\":", value]);
        }
        settings.push('}');
        Some(Self { settings: Object::new(&settings).into_owned(), shape, tools: OnceLock::new() })
    }

    pub(crate) fn value(&self, member: &str) -> Option<&str> {
        self.settings.value(member)
    }

    pub(crate) fn at(&self, pointer: &str) -> Option<&str> {
        let member = pointer.strip_prefix('/')?;
        let (member, rest) = member.split_at(member.find('/').unwrap_or(member.len()));
        json::at(self.value(member)?, rest).filter(|value| *value != "null")
    }

    /// A member, or the value at a pointer.
    fn setting(&self, place: &str) -> Option<&str> {
        if place.starts_with('/') { self.at(place) } else { self.value(place) }
    }

    pub(crate) fn is_on(&self, pointer: &str) -> bool {
        self.at(pointer) == Some("true")
    }

    /// Returns which tools the model must call.
    pub fn chosen(&self) -> Chosen<'_> {
        let Some(choice) = self.shape.choice else { return Chosen::Free };
        let Some(raw) = self.setting(choice.member) else { return Chosen::Free };
        let Some(word) = json::string(raw).or_else(|| json::string_member(raw, "type")) else {
            return Chosen::Free;
        };
        let is_in = |words: &[&str]| words.contains(&&*word);
        if is_in(choice.none) {
            return Chosen::None;
        }
        if is_in(choice.any) {
            return Chosen::Any;
        }
        let name = || first_text(raw, choice.names);
        let name = if is_in(choice.one) { name() } else { None };
        name.map_or(Chosen::Free, Chosen::One)
    }

    /// Returns the names of the tools that the model may call, unless a tool may provide others.
    pub fn tools(&self) -> Option<&BTreeSet<String>> {
        let offered = || {
            let offers = self.shape.offers?;
            let Some(list) = self.value(offers.list) else { return Some(BTreeSet::new()) };
            let name = |tool: &str| first_text(tool, offers.names).map(Cow::into_owned);
            let tools = json::entries(list)?;
            let Some(inner) = offers.inner else { return tools.into_iter().map(name).collect() };
            let declared = tools.into_iter().map(|tool| json::at(tool, inner).and_then(json::entries));
            declared.collect::<Option<Vec<_>>>()?.into_iter().flatten().map(name).collect()
        };
        let callable = || {
            let mut names: BTreeSet<String> = offered()?;
            if let Some(allowed) = self.allowed() {
                names.retain(|name| allowed.iter().any(|allowed| allowed == name));
            }
            Some(names)
        };
        self.tools.get_or_init(callable).as_ref()
    }

    /// The names to which a choice limits the tools.
    fn allowed(&self) -> Option<Vec<Cow<'_, str>>> {
        let place = self.shape.choice?.allowed.filter(|_| self.chosen() == Chosen::Any)?;
        let names: Vec<_> = json::entries(self.at(place)?)?.into_iter().filter_map(json::string).collect();
        (!names.is_empty()).then_some(names)
    }

    /// Calls have the name where tools have it.
    pub(crate) fn called<'t>(&self, call: &'t str) -> Option<Cow<'t, str>> {
        first_text(call, self.shape.offers?.names)
    }

    pub(crate) fn strict_schema(&self, name: &str, switch: &str, places: &[&str]) -> Option<&str> {
        let offers = self.shape.offers?;
        let holder = |tool, pointer: &str| json::at(tool, pointer.strip_suffix("/name")?);
        let is_it = |tool: &&str| first_text(tool, offers.names).is_some_and(|it| it == name);
        let tool = json::entries(self.value(offers.list)?)?.into_iter().find(is_it)?;
        let holder = offers.names.iter().find_map(|pointer| holder(tool, pointer))?;
        json::at(holder, switch).filter(|is_on| *is_on == "true")?;
        places.iter().find_map(|pointer| json::at(holder, pointer))
    }

    /// Returns whether the model may make one call at most.
    pub fn is_for_one_call(&self) -> bool {
        let is_set = |at: &str, is: bool| self.at(at) == Some(if is { "true" } else { "false" });
        self.shape.one_call.is_some_and(|switch| is_set(switch.at, switch.is))
    }

    /// Returns the texts before which the model stops.
    pub fn stops(&self) -> Vec<Cow<'_, str>> {
        let Some(raw) = self.shape.stops.and_then(|place| self.setting(place)) else { return Vec::new() };
        let texts = json::entries(raw).unwrap_or_else(|| vec![raw]);
        let texts = texts.into_iter().take(MOST_STOPS).filter_map(json::string);
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Returns the maximum number of output tokens, with the name of the setting.
    pub fn limit(&self) -> Option<(&'static str, f64)> {
        self.shape.limits.iter().find_map(|member| Some((*member, number(self.value(member)?)?)))
    }

    pub(crate) fn model(&self) -> Option<Cow<'_, str>> {
        json::string(self.value(self.shape.model?)?)
    }
}

/// The value of a setting in a request: of a member, or at a pointer.
pub fn setting_in<'r>(request: &'r Value, place: &str) -> Option<&'r Value> {
    if place.starts_with('/') { request.pointer(place) } else { request.get(place) }
}

/// The tools in a list of a request. Its entries have lists of them at a pointer, if one is given.
pub fn tools_in<'r>(
    request: &'r Value,
    list: &str,
    inner: Option<&'static str>,
) -> impl Iterator<Item = &'r Value> + use<'r> {
    let entries = |value: Option<&'r Value>| value.and_then(Value::as_array).into_iter().flatten();
    let within = move |entry: &'r Value| match inner {
        None => std::slice::from_ref(entry).iter(),
        Some(inner) => entry.pointer(inner).and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter(),
    };
    entries(request.get(list)).flat_map(within)
}

fn first_text<'t>(value: &'t str, pointers: &[&str]) -> Option<Cow<'t, str>> {
    pointers.iter().find_map(|pointer| json::string(json::at(value, pointer)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(dialect: &spec::Dialect, request: &str) -> Option<Asked> {
        Asked::of(&Object::new(request), &dialect.api.request)
    }

    fn messages(settings: &str) -> Asked {
        asked(&spec::anthropic::DIALECT, &format!(r#"{{"messages":[],{settings}}}"#)).unwrap()
    }

    fn chat(settings: &str) -> Asked {
        asked(&spec::chat::DIALECT, &format!(r#"{{{settings},"messages":[]}}"#)).unwrap()
    }

    #[test]
    fn what_a_recorder_keeps_instead_is_no_request() {
        let kept = r#"{"kind":"json","path":"bodies/1","sha256":"00"}"#;
        assert!(asked(&spec::anthropic::DIALECT, kept).is_none());
        assert!(asked(&spec::chat::DIALECT, r#"{"messages":null}"#).is_none());
        assert!(asked(&spec::openai::DIALECT, r#"{"input":"Hi","messages":[]}"#).is_none());
        let asked = chat(r#""n":2,"a\u0062":1"#);
        assert_eq!(
            (asked.value("n"), asked.value("messages"), asked.value("ab")),
            (Some("2"), None, Some("1"))
        );
    }

    #[test]
    fn choices_of_all_apis_are_read() {
        let one = |name: &'static str| Chosen::One(name.into());
        assert_eq!(messages(r#""tool_choice":{"type":"none"}"#).chosen(), Chosen::None);
        assert_eq!(messages(r#""tool_choice":{"type":"any"}"#).chosen(), Chosen::Any);
        assert_eq!(messages(r#""tool_choice":{"type":"tool","name":"f"}"#).chosen(), one("f"));
        assert_eq!(messages(r#""tool_choice":{"type":"tool"}"#).chosen(), Chosen::Free);
        assert_eq!(chat(r#""tool_choice":"none""#).chosen(), Chosen::None);
        assert_eq!(chat(r#""tool_choice":"required""#).chosen(), Chosen::Any);
        let named = r#""tool_choice":{"function":{"name":"f"},"type":"function"}"#;
        assert_eq!(chat(named).chosen(), one("f"));
        for free in [r#""n":1"#, r#""tool_choice":"auto""#, r#""tool_choice":{"type":"allowed_tools"}"#] {
            assert_eq!(chat(free).chosen(), Chosen::Free, "{free}");
        }
    }

    #[test]
    fn tools_are_known_only_when_all_are_named() {
        let names = |asked: &Asked| asked.tools().map(|names| names.iter().cloned().collect::<Vec<_>>());
        let bash = r#"{"type":"bash_20250124","name":"bash"}"#;
        assert_eq!(names(&messages(&format!(r#""tools":[{bash}]"#))), Some(vec!["bash".to_owned()]));
        assert_eq!(names(&messages(&format!(r#""tools":[{bash},{{"type":"mcp_toolset"}}]"#))), None);
        assert_eq!(names(&messages(r#""max_tokens":1"#)), Some(Vec::new()));
        let tools = chat(r#""tools":[{"type":"function","function":{"name":"f"}},{"custom":{"name":"c"}}]"#);
        assert_eq!(names(&tools), Some(vec!["c".to_owned(), "f".to_owned()]));
        let limited = |mode: &str| {
            let config = format!(r#"{{"mode":"{mode}","allowedFunctionNames":["g"]}}"#);
            let tools = r#"[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}]"#;
            let request = format!(
                r#"{{"contents":[],"tools":{tools},"toolConfig":{{"functionCallingConfig":{config}}}}}"#
            );
            names(&asked(&spec::gemini::DIALECT, &request).unwrap())
        };
        assert_eq!(limited("ANY"), Some(vec!["g".to_owned()]));
        assert_eq!(limited("AUTO"), Some(vec!["f".to_owned(), "g".to_owned()]));
    }

    #[test]
    fn limits_and_stops_are_read() {
        let asked =
            chat(r#""max_tokens":9,"max_completion_tokens":8,"stop":"a","parallel_tool_calls":false"#);
        assert_eq!(asked.limit(), Some(("max_completion_tokens", 8.0)));
        assert_eq!(asked.stops(), ["a"]);
        assert!(asked.is_for_one_call() && !chat(r#""parallel_tool_calls":true"#).is_for_one_call());
        let asked = messages(
            r#""stop_sequences":["a","",1,"b"],"tool_choice":{"type":"any","disable_parallel_tool_use":true}"#,
        );
        assert_eq!(asked.stops(), ["a", "b"]);
        assert!(asked.is_for_one_call() && asked.limit().is_none());
    }
}
