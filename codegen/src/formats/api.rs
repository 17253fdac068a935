//! `apis/<name>/api.toml`

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;
use super::exchange::{BodyShape, CallShape, EncryptedShape, ErrorShape, RequestShape, Route, SessionShape};
use super::signature::{Misnomers, Signature};
use super::{Effect, Operation, Published};

/// The common part of the dialects of an API: the levels of a stream, and the values that parsing an event extracts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApiFile {
    /// Its name, for people.
    pub title: String,
    /// Path of its main operation, behind the version. If it has the segment `{model}:...`, the path names the model and not
    /// the body, and another path asks for a response without a stream.
    pub path: String,
    /// That other path.
    pub path_of_body: Option<String>,
    /// The version in the path of an endpoint that is given without one.
    #[serde(default = "usual_version")]
    pub version: String,
    /// Its provider in OpenTelemetry's conventions for generative AI.
    pub provider: String,
    /// The operation of its requests there.
    #[serde(default = "usual_operation")]
    pub operation: String,
    /// JSON pointer to the id of the response, in bodies and in events.
    #[serde(default = "usual_id")]
    pub response_id: String,
    /// Bytes between two events that keep a connection open, and that its clients skip.
    #[serde(default = "usual_sign")]
    pub sign_of_life: String,
    /// How its events and bodies are recognised.
    pub signature: Signature,
    /// The requests of its operations.
    #[serde(default)]
    pub operations: BTreeMap<Operation, Route>,
    /// The common part of its requests.
    #[serde(default)]
    pub request: RequestShape,
    /// Its bodies that are roots of dialects.
    #[serde(default)]
    pub bodies: Vec<BodyShape>,
    /// Its errors.
    #[serde(default)]
    pub error: ErrorShape,
    /// The calls in its output.
    #[serde(default)]
    pub call: CallShape,
    /// The encrypted part of its output.
    pub encrypted: Option<EncryptedShape>,
    /// The messages of a WebSocket, if it has one.
    pub session: Option<SessionShape>,
    /// The features that an endpoint may support, and that scenarios need: name to description.
    #[serde(default)]
    pub features: BTreeMap<String, String>,
    /// The names that other APIs give to its properties.
    #[serde(default, rename = "misnomer")]
    pub misnomers: Vec<Misnomers>,
    /// Where documents have its events and bodies, for `codegen import`.
    #[serde(default)]
    pub published: Published,
    /// The words for the state of the root, if its value has one.
    #[serde(default)]
    pub status: StatusWords,
    /// The effects that come first, last, and at all.
    #[serde(default)]
    pub order: StreamOrder,
    /// Where a client finds why the root ended.
    pub stop: Option<Stop>,
    /// The token counts of the root.
    #[serde(default)]
    pub usage: Usage,
    /// The values that parsing an event extracts: name to JSON pointer, in which `*` is each entry of an array. If
    /// the pointer of an index is empty, events do not have it, and the values that open its scope are counted.
    pub slots: BTreeMap<String, String>,
    /// The members of events that mean nothing, such as random characters that hide the length of a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub padding: Vec<String>,
    /// The two outer levels.
    pub outer: Outer,
    /// The calls that a client answers.
    pub client_call: Option<Calls>,
    /// The scopes, by name.
    #[serde(rename = "scope")]
    pub scopes: BTreeMap<String, Scope>,
}

fn usual_version() -> String {
    "v1".to_owned()
}

fn usual_operation() -> String {
    "chat".to_owned()
}

fn usual_id() -> String {
    "/id".to_owned()
}

fn usual_sign() -> String {
    ": keep-alive\n\n".to_owned()
}

/// The two outer levels: the root, and its main container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outer {
    /// The scope without a parent.
    pub root: String,
    /// The slot of the value of the root, if an event has it.
    pub snapshot: Option<String>,
    /// The child of the root that contains most other scopes. Its key is one index.
    pub container: String,
    /// The slot with the id of a container, in events of its descendants.
    pub id: Option<String>,
    /// The member of events that holds a container.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub item: String,
    /// The members whose objects may have types of a vendor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensible: Vec<String>,
    /// The types of containers that clients use from the event that closes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_when_closed: Vec<String>,
    /// The event or value that opens the root.
    #[serde(default)]
    pub opens: RootOpening,
    /// The event, marker or close that ends the root.
    #[serde(default)]
    pub ends: RootEnd,
}

words! {
    /// The event or value that opens the root.
    pub enum RootOpening = Event {
        /// An event of the role `open`, if the dialect has one.
        Event,
        /// The first event of the stream, of any type.
        FirstEvent,
    }

    /// The event, marker or close that ends the root.
    pub enum RootEnd = Event {
        /// An event of the role `terminal`.
        Event,
        /// The marker `[DONE]`; the end of the stream in dialects that do not require the marker.
        Done,
        /// The end of the stream.
        Close,
    }
}

/// The calls that a client answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The scope of a call.
    pub scope: String,
    /// The `type`s of its value that are calls; any if empty.
    #[serde(default)]
    pub types: Vec<String>,
    /// JSON pointer to the id of the call, in the value that opens it.
    pub id: String,
    /// JSON pointer to the name of what is called.
    pub name: String,
}

/// The words for the state of the root, in events (as phases) and in the member of its value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatusWords {
    /// The member.
    pub member: String,
    /// It has ended as it should.
    pub completed: String,
    /// It was cut off.
    pub incomplete: String,
    /// It has failed.
    pub failed: String,
    /// The types of containers that can be incomplete although the root continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

/// The demands on a stream that keeps every rule, besides those that its scopes make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StreamOrder {
    /// The scopes, and phases of the root, that come before all else in what is around them.
    pub first: Vec<String>,
    /// The scopes after which nothing comes in what is around them.
    pub last: Vec<String>,
    /// The scopes of which one is in each occurrence that can contain it, and the phases that the root has before it
    /// ends: one of each list.
    pub needed: Vec<Vec<String>>,
    /// The scopes that end before another scope, or begin before a phase, of what is around them: name to name.
    pub before: BTreeMap<String, String>,
    /// The types of containers that answer one before them, and its type. The first containers of a stream may answer
    /// containers of the stream before it.
    pub answers: BTreeMap<String, String>,
    /// The member with the id of what is answered.
    pub answers_by: String,
    /// Why a root ends in which one is not answered.
    pub unanswered: String,
}

/// Where a client finds why the root ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The scope whose values have it.
    pub scope: String,
    /// The member of these values.
    pub member: String,
    /// The words of a response that is complete: by itself, with a call of the client, and with containers that are not
    /// answered.
    pub usual: Vec<String>,
}

/// The token counts of the root: JSON pointers of one or two segments into the object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// The member of the root's value that holds the object.
    pub member: String,
    /// JSON pointers to the object in events. A count in a later event replaces an earlier count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// All tokens of the input.
    pub input: String,
    /// Those that were cached.
    pub cached: String,
    /// Those that were written to the cache.
    pub written: String,
    /// Two parts of these.
    pub written_parts: [String; 2],
    /// All tokens of the output.
    pub output: String,
    /// Those of reasoning.
    pub reasoning: String,
    /// Whether they are counted beside the output, and not in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_reasoning_apart: bool,
    /// All tokens.
    pub total: String,
}

/// A level of a stream that opens, receives values and closes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its description, in a sentence.
    pub description: String,
    /// The scope of another API that it is like: the rules about that one judge it, too.
    pub like: Option<String>,
    /// The parent scope; only the root has none.
    pub parent: Option<String>,
    /// The slots that identify one among its siblings, the outermost first.
    #[serde(default)]
    pub key: Vec<String>,
    /// The `type`s of the parent that can contain it; any if empty.
    #[serde(default)]
    pub of: Vec<String>,
    /// The meaning of its value for a client.
    pub content: Option<Content>,
    /// Place of its final value in the value that closes its parent.
    pub in_parent: Option<String>,
    /// Place of its final value in the terminal response.
    pub in_response: Option<String>,
    /// Its places in the value of its parent, in a body that is not a stream; by default those above. Dialects have one
    /// of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_body: Vec<String>,
    /// Its phases, in order; the last ones can be alternatives.
    #[serde(default)]
    pub phases: Vec<String>,
    /// The phases of the root that may begin more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeatable: Vec<String>,
    /// The phases that end it.
    #[serde(default)]
    pub ends: Vec<String>,
    /// Whether its phases withdraw text that was streamed: open texts are incompletely known from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdraws: bool,
    /// Whether rules look at it after its parent was closed, so that it is kept until the root ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// Whether only one is open at a time among its siblings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
    /// The phase of its parent from which on none is open, and none opens.
    pub until: Option<String>,
    /// The place in an entry of a list that lets the entry close it again.
    pub again: Option<String>,
    /// The phase that it has reached when the root ends, although no event closes it. Values may follow the phase, and it may
    /// begin again.
    pub complete: Option<String>,
}

words! {
    /// The meaning of the value of a scope for a client, in any API.
    pub enum Content {
        /// An entry of the output.
        Item,
        /// One of several answers, of which clients show the first.
        Choice,
        /// A part of an entry.
        Part,
        /// Text for the user.
        Text,
        /// The text of a refusal.
        Refusal,
        /// Reasoning, or a summary of it.
        Reasoning,
        /// The input of a call, in JSON or not.
        Arguments,
    }
}

impl Scope {
    /// Returns its name in the list of all APIs.
    pub fn identity<'s>(&'s self, name: &'s str) -> &'s str {
        self.like.as_deref().unwrap_or(name)
    }
}

impl ApiFile {
    /// Returns the slot of the index that is the key of a container.
    pub fn index(&self) -> &str {
        let container = self.scopes.get(&self.outer.container);
        container.and_then(|scope| scope.key.first()).map_or("value", String::as_str)
    }

    /// Returns a scope and those around it, from the inside.
    pub fn with_parents<'a>(&'a self, scope: &'a str) -> impl Iterator<Item = &'a str> {
        let parent = |name: &&'a str| self.scopes.get(*name)?.parent.as_deref();
        // A cycle is a finding of the checks.
        std::iter::successors(Some(scope), parent).take(self.scopes.len().max(1))
    }

    /// Returns the innermost scope around all effects that is the same for all values of an event: no part of its key is
    /// in a list. An event whose effects do not take place is a point in it.
    pub fn around<'a>(&'a self, effects: &'a [Effect]) -> &'a str {
        let mut around: Option<Vec<&str>> = None;
        for effect in effects {
            let own: Vec<&str> = self.with_parents(&effect.scope).collect();
            around = Some(match around {
                None => own,
                Some(mut common) => {
                    common.retain(|scope| own.contains(scope));
                    common
                }
            });
        }
        let is_listed = |slot: &String| self.slots.get(slot).is_some_and(|pointer| pointer.contains("/*"));
        let is_same = |scope: &&str| self.scopes.get(*scope).is_some_and(|it| !it.key.iter().any(is_listed));
        // Others than the outer levels have no events of this role without an index of their own.
        let is_outer = |scope: &&str| [&self.outer.root, &self.outer.container].iter().any(|it| it == scope);
        around.into_iter().flatten().filter(is_outer).find(is_same).unwrap_or(&self.outer.root)
    }

    /// Returns the places of a scope in the value of its parent, in a body.
    pub fn places_in_body<'a>(&self, scope: &'a Scope) -> Vec<&'a str> {
        if !scope.in_body.is_empty() {
            return scope.in_body.iter().map(String::as_str).collect();
        }
        let is_of_root = scope.parent.as_ref() == Some(&self.outer.root);
        let usual = if is_of_root { &scope.in_response } else { &scope.in_parent };
        usual.as_deref().into_iter().collect()
    }

    /// Returns the member of the root's value that lists the containers.
    pub fn list(&self) -> &str {
        let place = self.scopes.get(&self.outer.container).and_then(|scope| scope.in_response.as_deref());
        place.and_then(|place| place.strip_prefix('/')?.split('/').next()).unwrap_or_default()
    }

    /// Returns the description of a feature, with its route if it has one.
    pub fn described(&self, feature: &str, description: &str) -> String {
        let is_it = |route: &&Route| route.feature.as_deref() == Some(feature);
        let Some(route) = self.operations.values().find(is_it) else { return description.to_owned() };
        format!("{description}: {}", route.line(&self.path))
    }

    /// Returns a copy with other names of events and of scopes, each like the one that it was.
    #[must_use]
    pub fn renamed(&self, names: &[(&str, &str)], event: fn(&str) -> String) -> Self {
        let new = |name: &str| {
            let found = names.iter().find(|(old, _)| *old == name);
            found.map_or(name, |(_, new)| *new).to_owned()
        };
        let mut renamed = self.clone();
        renamed.signature.events = self.signature.events.iter().map(|pattern| event(pattern)).collect();
        renamed.outer.root = new(&self.outer.root);
        renamed.outer.container = new(&self.outer.container);
        if let Some(call) = &mut renamed.client_call {
            call.scope = new(&call.scope);
        }
        if let Some(stop) = &mut renamed.stop {
            stop.scope = new(&stop.scope);
        }
        let scopes = self.scopes.iter().map(|(name, scope)| {
            let mut scope = scope.clone();
            scope.parent = scope.parent.as_deref().map(new);
            let like = Some(name.clone()).filter(|name| new(name) != **name);
            scope.like = scope.like.or(like);
            (new(name), scope)
        });
        renamed.scopes = scopes.collect();
        renamed
    }
}
