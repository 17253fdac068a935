//! The grammar of a dialect.

use std::collections::BTreeSet;

use spec::Dialect;
use spec::table::{EventInfo, Role, Scope, ScopeInfo};

use crate::step::{Key, around};
use crate::templates::Templates;

/// The order of events in the streams of a dialect.
#[derive(Debug)]
pub struct Grammar {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The effects that the goldens have.
    pub(crate) effects: Vec<&'static EventInfo>,
    /// The scopes that one of them opens.
    opened: BTreeSet<Scope>,
    /// The scopes that one of them ends.
    ended: BTreeSet<Scope>,
    pub(crate) templates: Templates,
}

impl Grammar {
    /// Creates the grammar of a dialect.
    pub fn of(dialect: &'static Dialect) -> Self {
        let templates = Templates::of(dialect);
        let is_list = |event: &EventInfo| !event.effects.is_empty();
        let has = |event: &&'static EventInfo| !is_list(event) && templates.has(event);
        let effects: Vec<_> = dialect.effects().filter(has).collect();
        let scopes = |of: fn(&EventInfo) -> bool| {
            effects.iter().filter(|effect| of(effect)).map(|effect| effect.scope).collect()
        };
        let opened = scopes(|effect| effect.role == Role::Open);
        let ended = scopes(EventInfo::ends_scope);
        Self { dialect, effects, opened, ended, templates }
    }

    pub(crate) fn level(&self, scope: Scope) -> &'static ScopeInfo {
        self.dialect.api.scope(scope)
    }

    pub(crate) fn around(&self, scope: Scope, key: Key) -> Option<(Scope, Key)> {
        around(self.dialect.api, scope, key)
    }

    pub(crate) fn answered(&self, kind: Option<&str>) -> Option<&'static str> {
        let mut answers = self.dialect.api.order.answers.iter();
        answers.find(|(answer, _)| Some(*answer) == kind).map(|(_, answered)| *answered)
    }

    pub(crate) fn opens(&self, scope: Scope) -> bool {
        self.opened.contains(&scope)
    }

    pub(crate) fn ends(&self, scope: Scope) -> bool {
        self.ended.contains(&scope)
    }
}
