//! The grammar of a dialect.

use std::collections::BTreeSet;

use spec::Dialect;
use spec::table::{EventInfo, Role, Scope, ScopeInfo};

use crate::step::Nesting;
use crate::templates::Templates;

/// What may follow what in the streams of a dialect.
#[derive(Debug)]
pub struct Grammar {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The effects that the goldens have.
    pub(crate) effects: Vec<&'static EventInfo>,
    /// The values that the goldens have.
    pub(crate) nestings: BTreeSet<Nesting>,
    pub(crate) templates: Templates,
}

impl Grammar {
    /// Creates the grammar of a dialect.
    pub fn of(dialect: &'static Dialect) -> Self {
        let templates = Templates::of(dialect);
        let is_list = |event: &EventInfo| !event.effects.is_empty();
        let has = |event: &&'static EventInfo| !is_list(event) && templates.has(event);
        Self {
            dialect,
            effects: dialect.effects().filter(has).collect(),
            nestings: templates.nestings.clone(),
            templates,
        }
    }

    /// Returns the events of the dialect that no golden has: streams with them are not made.
    pub fn unseen(&self) -> impl Iterator<Item = &'static EventInfo> {
        let is_known = |event: &EventInfo| self.effects.iter().any(|known| known.number == event.number);
        self.dialect.effects().filter(move |event| event.effects.is_empty() && !is_known(event))
    }

    /// Returns the properties of a scope.
    pub(crate) fn level(&self, scope: Scope) -> &'static ScopeInfo {
        self.dialect.api.scope(scope)
    }

    pub(crate) fn opens(&self, scope: Scope) -> bool {
        self.effects.iter().any(|effect| effect.scope == scope && effect.role == Role::Open)
    }

    /// Returns whether an event ends a scope.
    pub(crate) fn ends(&self, scope: Scope) -> bool {
        self.effects.iter().any(|effect| effect.scope == scope && effect.ends_scope())
    }
}
