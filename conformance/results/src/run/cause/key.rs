//! The common part of the findings of one cause.

use checker::Finding;
use spec::table::{Role, Scope};
use spec::{Api, Dialect};

use super::layer::Layer;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<'f> {
    rule: &'f str,
    /// The kind of event, if the value is the event's own.
    event: Option<&'f str>,
    /// The place of the value in the response, or in the event.
    pointer: Option<String>,
    holder: Option<&'f str>,
    difference: String,
    /// The API, so that causes in streams of several are apart.
    api: &'f str,
}

pub(super) struct Places<'d> {
    dialect: &'d Dialect,
    /// Pointer to the response in an event, if any has it.
    snapshot: Option<String>,
}

/// Rules that demand the same of a stream and of a response that is not streamed: one stands for both.
const TWINS: &[(&str, &str)] = &[("schema/body-valid", "schema/event-valid")];

impl<'d> Places<'d> {
    pub(super) fn of(dialect: &'d Dialect) -> Self {
        Self { dialect, snapshot: dialect.snapshot_member().map(|member| format!("/{member}")) }
    }

    /// Wherever an event carries the value. `None` if it is the event's own.
    fn in_response(&self, finding: &Finding) -> Option<String> {
        let pointer = finding.pointer.as_deref()?;
        if finding.place.event == 0 {
            return Some(starred(pointer));
        }
        if let Some(rest) = self.snapshot.as_ref().and_then(|snapshot| inside(pointer, snapshot)) {
            return Some(starred(rest));
        }
        let info = self.dialect.event(finding.place.event_type.as_deref()?)?;
        if !matches!(info.role, Role::Open | Role::Close | Role::Point) {
            return None;
        }
        let rest = inside(pointer, info.value.filter(|value| !value.is_empty())?)?;
        Some(place(self.dialect.api, info.scope)? + &starred(rest))
    }

    /// The kind of an event is its scope.
    fn kind<'e>(&self, event: &'e str) -> &'e str {
        self.dialect.event(event).map_or(event, |info| info.level.name)
    }
}

/// With `*` for an index.
fn place(api: &Api, scope: Scope) -> Option<String> {
    let info = api.scope(scope);
    let pointer = match (info.in_response, info.in_parent, info.parent) {
        (Some(pointer), ..) => pointer.to_owned(),
        (None, Some(rest), Some(parent)) => place(api, parent)? + rest,
        _ => return None,
    };
    let is_index = |segment: &str| segment.starts_with('{');
    let segments = pointer.split('/').map(|segment| if is_index(segment) { "*" } else { segment });
    Some(segments.collect::<Vec<_>>().join("/"))
}

/// `None` unless the pointer leads into the holder.
fn inside<'p>(pointer: &'p str, holder: &str) -> Option<&'p str> {
    pointer.strip_prefix(holder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl<'f> Key<'f> {
    pub(super) fn of(finding: &'f Finding, places: Option<&Places<'_>>) -> Self {
        let carried = places.and_then(|places| places.in_response(finding));
        let event = finding.place.event_type.as_deref();
        let is_of_schema = Layer::of(&finding.rule) == Layer::Schema;
        let is_whole = finding.missing.is_none() && finding.pointer.as_deref().is_none_or(str::is_empty);
        let twin = TWINS.iter().find(|(rule, _)| carried.is_some() && *rule == finding.rule);
        Self {
            rule: twin.map_or(&finding.rule, |(_, twin)| twin),
            // At which event a rule about order is broken is chance.
            event: event
                .filter(|_| is_of_schema && carried.is_none())
                .map(|event| places.filter(|_| !is_whole).map_or(event, |places| places.kind(event))),
            pointer: carried.or_else(|| finding.pointer.as_deref().map(starred)),
            holder: finding.supply.as_ref().and_then(|supply| supply.holder.as_deref()),
            difference: difference(finding),
            api: &finding.api,
        }
    }

    pub(super) fn id(&self) -> String {
        let mut id = self.rule.to_owned();
        let difference = (self.rule.starts_with("schema/")).then_some(self.difference.as_str());
        for part in [self.event, self.pointer.as_deref(), self.holder, difference].into_iter().flatten() {
            let words = part.split(|character: char| !character.is_ascii_alphanumeric());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            if !words.is_empty() {
                id.push('.');
                id.extend(words.join("-").chars().take(60));
            }
        }
        id
    }
}

/// Returns a JSON pointer with `*` for every index.
pub fn starred(pointer: &str) -> String {
    let is_index = |segment: &str| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let segments = pointer.split('/').map(|segment| if is_index(segment) { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Without values of this stream.
fn difference(finding: &Finding) -> String {
    let text = |value: &Option<String>| value.as_deref().unwrap_or_default().to_owned();
    match &*finding.rule {
        Layer::FOREIGN | "schema/type-known" => text(&finding.actual),
        "schema/event-known" => text(&finding.expected),
        _ if finding.supply.is_some() => "missing".to_owned(),
        _ if finding.group() == "schema" => format!("{} {}", text(&finding.expected), finding.form),
        _ => format!("{} {}", text(&finding.missing), finding.form),
    }
}
