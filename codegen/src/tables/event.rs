//! The properties of events.

use super::{EventInfo, EventPlace, ScopeLevel, ScopeName};
use crate::dialect::{Dialect, Event};
use crate::formats::{ApiFile, Effect, Lifecycle, Role};

pub(super) fn events(dialect: &Dialect, api: &ApiFile) -> Vec<EventInfo> {
    let mut number = 0;
    let rows = dialect.events.values().enumerate().map(|(place, event)| {
        let rows = Rows { event, place, api, api_name: &dialect.file.api };
        let row = rows.of_event(number);
        number += 1 + row.effects.len();
        row
    });
    rows.collect()
}

struct Rows<'d> {
    event: &'d Event,
    place: usize,
    api: &'d ApiFile,
    api_name: &'d str,
}

impl Rows<'_> {
    /// An event with its effect, or with the effects of a list and as a point in the scope around all of them.
    fn of_event(&self, number: usize) -> EventInfo {
        match &self.event.lifecycle {
            Lifecycle::Always(effect) => self.row(effect, false, number, Vec::new()),
            Lifecycle::Listed(effects) => {
                let rows = (number + 1..).zip(effects);
                let rows = rows.map(|(number, effect)| self.row(effect, true, number, Vec::new())).collect();
                let mut around = Effect::new(self.api.around(effects).to_owned(), Role::Point);
                around.early = effects.iter().all(|effect| effect.early);
                self.row(&around, false, number, rows)
            }
        }
    }

    fn row(&self, effect: &Effect, is_listed: bool, number: usize, effects: Vec<EventInfo>) -> EventInfo {
        let identity =
            self.api.scopes.get(&effect.scope).map_or(&*effect.scope, |it| it.identity(&effect.scope));
        let scope = ScopeName { name: effect.scope.clone(), identity: identity.to_owned() };
        EventInfo {
            name: self.event.name.clone(),
            description: self.event.description.clone(),
            number,
            effect: is_listed.then(|| effect.name().to_owned()),
            level: ScopeLevel { api: self.api_name.to_owned(), scope: scope.clone() },
            scope,
            role: effect.role,
            value: effect.value.clone(),
            when: effect.when.clone(),
            beside: effect.beside.clone(),
            unless: effect.unless.clone(),
            phase: effect.phase.clone(),
            early: effect.early,
            effects,
            schema: EventPlace(self.place),
        }
    }
}
