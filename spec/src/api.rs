//! The common part of the dialects of an API.

use std::fmt::Write as _;

use crate::json;
use crate::words::{
    BodyShape, CallShape, Choice, Content, EncryptedShape, ErrorCodes, ErrorShape, ForeignApi, ForeignFormat,
    Mark, Misnomers, ModelList, Offers, Operation, RequestShape, ResultShape, Route, SessionShape, Signature,
    StatusWords, StreamOrder, Switch, Trigger, TurnShape,
};

include!(concat!(env!("OUT_DIR"), "/apis.rs"));

/// The model, in a path.
const MODEL: &str = "{model}";

/// An API: its scopes, and the two outer levels of its streams.
#[derive(Debug)]
pub struct Api {
    /// Its name, like the name of its folder under `spec/apis`.
    pub name: &'static str,
    /// Its name, for people.
    pub title: &'static str,
    /// Path of its main operation, behind the version.
    pub path: &'static str,
    /// The path of a response without a stream, if it is another one.
    pub path_of_body: Option<&'static str>,
    /// The version in the path of an endpoint that is given without one.
    pub version: &'static str,
    /// Its provider in OpenTelemetry's conventions for generative AI.
    pub provider: &'static str,
    /// The operation of its requests there.
    pub operation: &'static str,
    /// JSON pointer to the id of the response, in bodies and in events.
    pub response_id: &'static str,
    /// Bytes between two events that keep a connection open, and that its clients skip.
    pub sign_of_life: &'static str,
    /// How its events and bodies are recognised.
    pub signature: Signature,
    /// The requests of its operations.
    pub operations: &'static [(Operation, Route)],
    /// The common part of its requests.
    pub request: RequestShape,
    /// Its bodies that are roots of dialects.
    pub bodies: &'static [BodyShape],
    /// Its errors.
    pub error: ErrorShape,
    /// The calls in its output.
    pub call: CallShape,
    /// The messages of a WebSocket, if it has one.
    pub session: Option<SessionShape>,
    /// The encrypted part of its output.
    pub encrypted: Option<EncryptedShape>,
    /// The names that other APIs give to its properties.
    pub misnomers: &'static [Misnomers],
    /// The words for the state of the root.
    pub status: StatusWords,
    /// The effects that come first, last, and at all in a stream.
    pub order: StreamOrder,
    /// Where a client finds why the root ended: a member of the values of a scope.
    pub stop: Option<(Scope, &'static str)>,
    /// The words there of a response that is complete.
    pub usual_stops: &'static [&'static str],
    /// The places of the token counts of the root.
    pub usage: UsagePlaces,
    /// The member of the root's value that lists the containers.
    pub list: &'static str,
    /// The outermost scope.
    pub root: Scope,
    /// The child of the root that contains most other scopes.
    pub container: Scope,
    /// The value of the root, if an event has it.
    pub snapshot: Option<Slot>,
    /// The index of a container, in its own events and in events of its descendants.
    pub index: Slot,
    /// The id of a container, in events of its descendants.
    pub id: Option<Slot>,
    /// The calls that a client answers.
    pub client_call: Option<CallPlaces>,
    /// The member of events that holds a container.
    pub item: &'static str,
    /// The members whose objects may have types of a vendor.
    pub extensible: &'static [&'static str],
    /// The types of containers that clients use from the event that closes them.
    pub used_when_closed: &'static [&'static str],
    /// Whether the first event opens the root, regardless of its type.
    pub first_event_opens: bool,
    /// Whether the marker `[DONE]` or the end of the stream ends the root, and no event.
    pub marker_ends: bool,
    /// The places of its slots in events: JSON pointers, in which `*` is each entry of an array.
    pub slots: &'static [(Slot, &'static str)],
    /// The members of events that mean nothing, such as random characters that hide the length of a text.
    pub padding: &'static [&'static str],
    /// The properties of all scopes, including scopes of other APIs.
    pub(crate) scopes: [ScopeInfo; Scope::COUNT],
}

/// The place of a token count: a member of the object with the counts, or of an object in that member.
pub type CountPlace = (&'static str, Option<&'static str>);

/// The places of the token counts of the root.
#[derive(Debug, Clone, Copy)]
pub struct UsagePlaces {
    /// The member of the root's value that holds the object.
    pub member: &'static str,
    /// JSON pointers to the object in events. A count in a later event replaces an earlier count.
    pub events: &'static [&'static str],
    /// All tokens of the input.
    pub input: CountPlace,
    /// Those that were cached.
    pub cached: CountPlace,
    /// Those that were written to the cache.
    pub written: CountPlace,
    /// Two parts of these.
    pub written_parts: [CountPlace; 2],
    /// All tokens of the output.
    pub output: CountPlace,
    /// Those of reasoning.
    pub reasoning: CountPlace,
    /// Whether they are counted beside the output, and not in it.
    pub is_reasoning_apart: bool,
    /// All tokens.
    pub total: CountPlace,
}

/// The calls that a client answers.
#[derive(Debug, Clone, Copy)]
pub struct CallPlaces {
    /// The scope of a call.
    pub scope: Scope,
    /// The `type`s of its value that are calls; any if empty.
    pub types: &'static [&'static str],
    /// JSON pointer to the id of the call, in the value that opens it.
    pub id: &'static str,
    /// JSON pointer to the name of what is called.
    pub name: &'static str,
}

/// The properties of a scope in an API.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ScopeInfo {
    /// The scope.
    pub scope: Scope,
    /// Its name; empty if the API does not have it.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Whether it is the outermost scope.
    pub is_root: bool,
    /// Whether it is the child of the root that contains most other scopes.
    pub is_container: bool,
    /// The parent scope.
    pub parent: Option<Scope>,
    /// The values that identify one among its siblings, the outermost first.
    pub key: &'static [Slot],
    /// The part of the key that its parent does not have.
    pub own_index: Option<Slot>,
    /// The `type`s of the parent that can contain it; any if empty.
    pub of: &'static [&'static str],
    /// The meaning of its value for a client.
    pub content: Option<Content>,
    /// Place of its final value in the value that closes its parent.
    pub in_parent: Option<&'static str>,
    /// Place of its final value in the terminal response.
    pub in_response: Option<&'static str>,
    /// Its places in the value of its parent, in a body. Dialects have one of them.
    pub in_body: &'static [&'static str],
    /// Its phases, in order.
    pub phases: &'static [&'static str],
    /// The phases of the root that may begin more than once.
    pub repeatable: &'static [&'static str],
    /// The phases that end it.
    pub ends: &'static [&'static str],
    /// Whether its phases withdraw text that was streamed.
    pub withdraws: bool,
    /// Whether rules look at it after its parent was closed.
    pub kept: bool,
    /// Whether only one is open at a time among its siblings.
    pub exclusive: bool,
    /// The phase of its parent from which on none is open, and none opens.
    pub until: Option<&'static str>,
    /// The place in an entry of a list that lets the entry close it again.
    pub again: Option<&'static str>,
    /// The phase that it has reached when the root ends, although no event closes it.
    pub complete: Option<&'static str>,
}

/// The APIs that the suite serves and calls, and not only judges in recordings.
pub fn spoken() -> impl DoubleEndedIterator<Item = &'static Api> {
    APIS.iter().copied().filter(|api| !api.operations.is_empty())
}

impl Api {
    /// Whether a path leads to the API's main operation, or to one below it.
    pub fn has_path(&self, path: &str) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        path.match_indices(self.path).any(|(at, _)| path.get(at + self.path.len()..).is_some_and(below))
            || self.signature.path(path).is_some()
    }

    /// Returns the query parameters of its requests whose values are not secret.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let of_routes = self
            .operations
            .iter()
            .flat_map(|(_, route)| route.query.iter().map(|(name, _)| *name).chain(route.after));
        of_routes.chain(self.request.parameters.iter().copied())
    }

    /// Whether a path is the path of the API's main operation, or ends with it.
    pub fn is_at(&self, path: &str) -> bool {
        path.ends_with(self.path) || self.names_model() && self.signature.path(path).is_some()
    }

    /// Whether its path names the model, and its body does not.
    pub fn names_model(&self) -> bool {
        self.path.contains(MODEL)
    }

    /// The model, and whether a stream is asked for, as the path of a request says them.
    pub fn asked_at<'p>(&self, path: &'p str) -> Option<(&'p str, bool)> {
        let (before, verb) = self.path.split_once(MODEL)?;
        let path = path.split('?').next().unwrap_or_default();
        let rest = path.get(path.rfind(before)? + before.len()..)?;
        let of_body = self.path_of_body.and_then(|path| path.split_once(MODEL)).map(|(_, verb)| verb);
        let is_of_body = || Some((rest.strip_suffix(of_body?)?, false));
        rest.strip_suffix(verb).map(|model| (model, true)).or_else(is_of_body)
    }

    /// Whether a request gets its stream as a list, as its query does not ask for events.
    pub fn lists_at(&self, path: &str, query: &str) -> bool {
        let asked = self.route(Operation::Create).map_or(&[][..], |route| route.query);
        let has =
            |name: &str, value: &str| query.split('&').any(|own| own.split_once('=') == Some((name, value)));
        self.asked_at(path).is_some_and(|(_, is_stream)| is_stream)
            && !asked.iter().all(|(name, value)| has(name, value))
    }

    /// The segments of the path of a request for a response of this model.
    pub fn path_for(&self, model: &str, is_stream: bool) -> Vec<String> {
        let path = self.path_of_body.filter(|_| !is_stream).unwrap_or(self.path);
        path.split('/').skip(1).map(|segment| segment.replace(MODEL, model)).collect()
    }

    /// Returns the request of an operation.
    pub fn route(&self, operation: Operation) -> Option<&'static Route> {
        self.operations.iter().find(|(of, _)| *of == operation).map(|(_, route)| route)
    }

    /// Returns the request of an operation in words, such as `GET /responses/{id}`.
    pub fn route_line(&self, operation: Operation) -> String {
        let route = self.route(operation);
        let Some((route, method)) = route.and_then(|route| Some((route, route.method?))) else {
            return format!("a WebSocket of {}", self.path);
        };
        let mut line = format!("{method} {}{}", self.path, route.path);
        for (at, (name, value)) in route.query.iter().enumerate() {
            let _ = write!(line, "{}{name}={value}", if at == 0 { '?' } else { '&' });
        }
        line
    }

    /// Returns the error in a body, if it is not null.
    pub fn error_in<'b>(&self, body: &'b str) -> Option<&'b str> {
        json::at(body, &format!("/{}", self.error.member)).filter(|error| *error != "null")
    }

    /// Returns the root of dialects that is the type of the value of the root, as a body.
    pub fn root_body(&self) -> Option<&'static str> {
        self.route(Operation::Create)?.answer
    }

    /// Whether a body is an event, or a list of events: no root of dialects is its type.
    pub const fn is_stream_of_bodies(&self) -> bool {
        self.bodies.is_empty() && !self.signature.untyped.is_empty()
    }

    /// Returns the shape of a body that is a root of dialects.
    pub fn body(&self, json: &str) -> Option<&'static BodyShape> {
        let object = json::Indexed::new(json);
        self.bodies.iter().find(|body| body.mark.fits_in(&object))
    }

    /// Returns the properties of a scope.
    pub const fn scope(&self, scope: Scope) -> &ScopeInfo {
        &self.scopes[scope as usize]
    }

    /// Returns the properties of its scopes.
    pub fn scopes(&self) -> impl Iterator<Item = &ScopeInfo> {
        self.scopes.iter().filter(|scope| !scope.name.is_empty())
    }

    /// Returns a scope and those around it, from the inside.
    pub fn with_parents(&self, scope: Scope) -> impl Iterator<Item = Scope> {
        std::iter::successors(Some(scope), |scope| self.scope(*scope).parent)
    }
}

/// A key that no endpoint knows: requests have it that must be refused. It is no secret.
pub const UNKNOWN_KEY: &str = "no-such-key";

impl RequestShape {
    /// Returns the headers that carry this key.
    pub fn with_key(&self, key: &str) -> impl Iterator<Item = (&'static str, String)> {
        self.keys.iter().map(move |(name, value)| (*name, value.replace("{key}", key)))
    }
}

impl ScopeInfo {
    #[allow(dead_code, reason = "the only API has all scopes")]
    pub(crate) const fn none(scope: Scope) -> Self {
        Self {
            scope,
            name: "",
            description: "",
            is_root: false,
            is_container: false,
            parent: None,
            key: &[],
            own_index: None,
            of: &[],
            content: None,
            in_parent: None,
            in_response: None,
            in_body: &[],
            phases: &[],
            repeatable: &[],
            ends: &[],
            withdraws: false,
            kept: false,
            exclusive: false,
            until: None,
            again: None,
            complete: None,
        }
    }

    /// Returns whether a value of a type can contain it.
    pub fn can_be_in(&self, kind: Option<&str>) -> bool {
        self.of.is_empty() || kind.is_some_and(|kind| self.of.contains(&kind))
    }

    /// Returns its name in messages.
    pub fn noun(&self) -> String {
        self.name.replace('_', " ")
    }
}

impl Slot {
    /// Returns the default member of an event for the slot.
    pub fn name(self) -> &'static str {
        Self::USUAL.iter().find(|(_, slot)| *slot == self).map_or("value", |(name, _)| name)
    }
}
