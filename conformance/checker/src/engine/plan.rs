//! Rules, arranged by the moment when they are called.

use std::sync::Arc;

use catalogue::{DecidedBy, Family, NativeRule};
use spec::table::{EventInfo, EventLine, Role, Scope};
use spec::{Api, Dialect};

use super::bound::Bound;
use super::hooks::{Hooks, Native};
use super::protocol::Protocol;
use super::relation::{Places, Step, carried, collected};

/// The actions for each event of a dialect.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) protocol: Protocol,
    /// The rule for a structural family in a scope.
    structure: Vec<[Option<Bound>; FAMILIES]>,
    /// Steps of relations for an effect of an event, by its number.
    pub(super) steps: Vec<Vec<Step>>,
    /// Steps of relations for an item of a body.
    pub(super) steps_of_body: Vec<Step>,
    pub(super) relations: Vec<Bound>,
    /// Position of a scope's values in the value that closes their parent.
    pub(super) places: Vec<Places>,
    /// Relations that compare a scope's values with the value that closes their parent, by scope.
    pub(super) carried: Vec<Vec<usize>>,
    /// Relations of these that collect values in a list, by the scope of the parent.
    pub(super) collected: Vec<Vec<(Scope, usize)>>,
    /// The scopes that may not be open from a phase of their parent on.
    pub(super) limited: Vec<Scope>,
    pub(crate) hooks: Hooks,
    /// Whether the event or effect can be a delta that needs no other rules than the previous one.
    pub(super) is_fragment: Vec<bool>,
}

const FAMILIES: usize = Family::ALL.len();

impl Plan {
    /// `natives` returns when rules with code are called.
    pub(crate) fn new(
        dialect: &'static Dialect,
        rules: &[Bound],
        natives: fn(NativeRule) -> &'static [Native],
    ) -> Arc<Self> {
        let mut structure = vec![[None; FAMILIES]; Scope::ALL.len()];
        let mut relations = Vec::new();
        let mut hooks = Hooks::new(dialect.api);
        for bound in rules {
            match bound.rule.decided_by {
                DecidedBy::Structure(families) => {
                    for scope in bound.rule.scopes {
                        for family in families {
                            structure[*scope as usize][*family as usize] = Some(*bound);
                        }
                    }
                }
                DecidedBy::Relation(_) => relations.push(*bound),
                DecidedBy::Code(native) => hooks.add(*bound, natives(native)),
            }
        }
        let steps = dialect.effects().map(|effect| Step::all_of(dialect.api, effect, &relations)).collect();
        let opens_items = |event: &&'static EventInfo| event.level.is_container && event.role == Role::Open;
        let opening = dialect.effects().find(opens_items);
        let steps_of_body =
            opening.map(|event| Step::all_of_body(dialect.api, event, &relations)).unwrap_or_default();
        let carried = carried(&relations);
        let collected = collected(dialect.api, &relations, &carried);
        let places = Scope::ALL.iter().map(|scope| Places::of(dialect.api.scope(*scope))).collect();
        let is_fragment = |(event, steps): (_, &Vec<Step>)| is_fragment(dialect, event, steps, &hooks);
        let is_fragment = dialect.effects().zip(&steps).map(is_fragment).collect();
        Arc::new(Self {
            protocol: Protocol::of(dialect),
            structure,
            steps,
            steps_of_body,
            relations,
            places,
            carried,
            collected,
            limited: dialect.api.scopes().filter(|it| it.until.is_some()).map(|it| it.scope).collect(),
            hooks,
            is_fragment,
        })
    }

    pub(crate) fn api(&self) -> &'static Api {
        self.dialect().api
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.protocol.dialect
    }

    /// Only some dialects repeat the type in the `event:` field.
    pub(super) fn event_line(&self, event: &EventInfo) -> Option<&'static str> {
        (self.dialect().framing.event_line == EventLine::EqualsType).then_some(event.name)
    }

    pub(super) fn structural(&self, family: Family, scope: Scope) -> Option<Bound> {
        self.structure[scope as usize][family as usize]
    }
}

/// Such a delta equals the previous one except for its text, its sequence number, and members that mean nothing. Rules
/// say no more of it.
fn is_fragment(dialect: &Dialect, event: &EventInfo, steps: &[Step], hooks: &Hooks) -> bool {
    let is_delta =
        |effect: &EventInfo| effect.role == Role::Delta && hooks.fragment.of(effect.scope).is_empty();
    let (is_list, is_of_list) = (!event.effects.is_empty(), event.effect.is_some());
    let is_settled = if is_list || is_of_list {
        let padding: Vec<String> = dialect.api.padding.iter().map(|member| format!("/{member}")).collect();
        let texts = event.effects.iter().chain([event]).filter(|effect| effect.role == Role::Delta);
        let varying = texts.filter_map(|effect| effect.value).chain(padding.iter().map(String::as_str));
        let varying: Vec<&str> = varying.collect();
        steps.iter().all(|step| step.is_settled_by_the_last(&varying))
    } else {
        // Any member without a meaning for the lifecycle may vary.
        steps.is_empty()
    };
    let framing = dialect.framing.event_line;
    let is_framed = matches!(framing, EventLine::EqualsType | EventLine::None | EventLine::Forbidden);
    let can_be_one = if is_list { event.effects.iter().any(is_delta) } else { is_delta(event) };
    is_framed && hooks.event.is_empty() && is_settled && can_be_one
}
