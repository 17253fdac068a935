//! Rules, arranged by what they are about.

use std::sync::Arc;

use catalogue::{DecidedBy, Family, Level, NativeRule, Rule};
use spec::Dialect;
use spec::table::{EventInfo, EventLine, Role, Scope};

use super::hooks::{Hooks, Native};
use super::relation::{Places, Step, carried, collected};

/// A rule, and how binding it is here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) rule: &'static Rule,
    pub(crate) level: Level,
}

/// What is to be done with every event of a dialect.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) dialect: &'static Dialect,
    /// The rule that is in charge of a structural family in a scope.
    structure: Vec<[Option<Bound>; FAMILIES]>,
    /// What the dialect has in a scope.
    scopes: Vec<ScopeEvents>,
    /// What relations do with an event, by its place in the dialect's list.
    pub(super) steps: Vec<Vec<Step>>,
    /// Rules with a relation.
    pub(super) relations: Vec<Bound>,
    /// Where occurrences of a scope stand in what closes that which they lie in.
    pub(super) places: Vec<Places>,
    /// Those that compare what lies in something with what closes it, by scope.
    pub(super) carried: Vec<Vec<usize>>,
    /// Those of them that gather what lies in something in a list, by the scope of that.
    pub(super) collected: Vec<Vec<(Scope, usize)>>,
    /// Rules with code of their own.
    pub(crate) hooks: Hooks,
    /// Of each event, whether it is a delta that no rule is asked about but those which look at every event.
    pub(super) is_fragment: Vec<bool>,
}

const FAMILIES: usize = Family::ALL.len();

/// Which events a dialect has in a scope.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScopeEvents {
    /// One that opens it.
    pub(crate) opens: bool,
    /// One that closes it, and nothing may come after.
    pub(crate) closes: bool,
}

impl Plan {
    /// Arranges rules for a dialect. When those with code of their own are asked, `natives` says.
    pub(crate) fn new(
        dialect: &'static Dialect,
        rules: &[Bound],
        natives: fn(NativeRule) -> &'static [Native],
    ) -> Arc<Self> {
        let scopes = Scope::ALL.iter().map(|scope| ScopeEvents::of(dialect, *scope)).collect();
        let mut structure = vec![[None; FAMILIES]; Scope::ALL.len()];
        let mut relations = Vec::new();
        let mut hooks = Hooks::default();
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
        let steps = dialect.events.iter().map(|event| Step::all_of(event, &relations)).collect();
        let carried = carried(&relations);
        let collected = collected(&relations, &carried);
        let places = Scope::ALL.iter().map(|scope| Places::of(*scope)).collect();
        let is_fragment = |(event, steps): (&EventInfo, &Vec<Step>)| {
            dialect.framing.event_line == EventLine::EqualsType
                && event.role == Role::Delta
                && steps.is_empty()
                && hooks.fragment.of(event.scope).is_empty()
                && hooks.event.is_empty()
        };
        let is_fragment = dialect.events.iter().zip(&steps).map(is_fragment).collect();
        Arc::new(Self {
            dialect,
            structure,
            scopes,
            steps,
            relations,
            places,
            carried,
            collected,
            hooks,
            is_fragment,
        })
    }

    /// The rule that is in charge of a family in a scope.
    pub(super) fn structural(&self, family: Family, scope: Scope) -> Option<Bound> {
        self.structure[scope as usize][family as usize]
    }

    /// Which events the dialect has in a scope.
    pub(crate) fn scope_events(&self, scope: Scope) -> ScopeEvents {
        self.scopes[scope as usize]
    }
}

impl ScopeEvents {
    fn of(dialect: &Dialect, scope: Scope) -> Self {
        let events = || dialect.events.iter().filter(|event| event.scope == scope);
        Self {
            opens: events().any(|event| event.role == Role::Open),
            closes: events().any(EventInfo::ends_scope),
        }
    }
}
