//! The events of a dialect by scope.

use spec::Dialect;
use spec::table::{EventInfo, Role, Scope};

/// A dialect, and which events it has in each scope.
#[derive(Debug)]
pub(crate) struct Protocol {
    pub(crate) dialect: &'static Dialect,
    scopes: Vec<ScopeEvents>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScopeEvents {
    pub(crate) opens: bool,
    pub(crate) closes: bool,
}

impl Protocol {
    pub(super) fn of(dialect: &'static Dialect) -> Self {
        let scopes = Scope::ALL.iter().map(|scope| ScopeEvents::of(dialect, *scope)).collect();
        Self { dialect, scopes }
    }

    pub(crate) fn scope_events(&self, scope: Scope) -> ScopeEvents {
        self.scopes[scope as usize]
    }
}

impl ScopeEvents {
    fn of(dialect: &Dialect, scope: Scope) -> Self {
        let effects = || dialect.effects().filter(|effect| effect.scope == scope);
        Self {
            opens: effects().any(|effect| effect.role == Role::Open),
            closes: effects().any(EventInfo::ends_scope),
        }
    }
}
