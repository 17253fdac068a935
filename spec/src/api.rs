//! What the dialects of an API have in common.

use crate::words::Content;

include!(concat!(env!("OUT_DIR"), "/apis.rs"));

/// An API: its scopes, and the two outer levels of its streams.
#[derive(Debug)]
pub struct Api {
    /// Its name, that of a folder under `spec/apis`.
    pub name: &'static str,
    /// Its name, for people.
    pub title: &'static str,
    /// Path of its main operation, behind the version.
    pub path: &'static str,
    /// How its recordings are recognised.
    pub signature: Signature,
    /// The words for the state of the root.
    pub status: StatusWords,
    /// The places of the token counts of the root.
    pub usage: UsagePlaces,
    /// The member of the root's value that lists the containers.
    pub list: &'static str,
    /// The outermost scope.
    pub root: Scope,
    /// The child of the root that contains most other scopes.
    pub container: Scope,
    /// The value of the root.
    pub snapshot: Slot,
    /// The index of a container, in its own events and in those of its descendants.
    pub index: Slot,
    /// The id of a container, in events of its descendants.
    pub id: Option<Slot>,
    /// The calls that a client answers.
    pub call: Option<CallPlaces>,
    /// The properties of all scopes, including those of other APIs.
    pub(crate) scopes: [ScopeInfo; Scope::COUNT],
}

/// What only events and bodies of an API begin with.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// The types of events.
    pub event: &'static str,
    /// The member `object` of bodies.
    pub object: &'static str,
}

/// The words for the state of the root, in events (as phases) and in the member of its value.
#[derive(Debug, Clone, Copy)]
pub struct StatusWords {
    /// The member.
    pub member: &'static str,
    /// It has ended as it should.
    pub completed: &'static str,
    /// It was cut off.
    pub incomplete: &'static str,
    /// It has failed.
    pub failed: &'static str,
}

/// The place of a token count: a member of the object with the counts, or of an object in that member.
pub type CountPlace = (&'static str, Option<&'static str>);

/// The places of the token counts of the root.
#[derive(Debug, Clone, Copy)]
pub struct UsagePlaces {
    /// The member of the root's value that holds the object.
    pub member: &'static str,
    /// All tokens of the input.
    pub input: CountPlace,
    /// Those that were cached.
    pub cached: CountPlace,
    /// All tokens of the output.
    pub output: CountPlace,
    /// Those of reasoning.
    pub reasoning: CountPlace,
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
    /// Place of its final value in the value that closes its parent.
    pub in_parent: Option<&'static str>,
    /// Place of its final value in the terminal response.
    pub in_response: Option<&'static str>,
    /// What it contributes to the answer.
    pub content: Option<Content>,
    /// Its phases, in order.
    pub phases: &'static [&'static str],
    /// The phases that end it.
    pub ends: &'static [&'static str],
    /// Whether its phases withdraw text that was streamed.
    pub withdraws: bool,
}

impl Api {
    /// Returns whether a path is that of the API's main operation, or of another one below it.
    pub fn has_path(&self, path: &str) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        path.match_indices(self.path).any(|(at, _)| path.get(at + self.path.len()..).is_some_and(below))
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

impl ScopeInfo {
    /// Returns the properties of a scope that an API does not have.
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
            in_parent: None,
            in_response: None,
            content: None,
            phases: &[],
            ends: &[],
            withdraws: false,
        }
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
