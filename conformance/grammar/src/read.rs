//! The steps of a stream that is checked.

use checker::{Observer, Seen, SeenEffect};
use spec::Slot;
use spec::table::Role;

use crate::kinds;
use crate::step::{Key, Move, Step};

/// Collects what each event of a stream does, in order.
#[derive(Debug, Default)]
pub struct Steps(pub Vec<Move>);

impl Observer for Steps {
    fn record(&mut self, seen: &Seen<'_>) {
        if seen.record.known.is_some() {
            self.0.push(seen.effects().filter_map(|effect| step(&effect)).collect());
        }
    }
}

pub(crate) fn step(effect: &SeenEffect<'_>) -> Option<Step> {
    let value = effect.view.raw(Slot::Value).filter(|_| effect.info.role == Role::Open);
    let kind = value.and_then(|value| spec::json::string_member(value, "type"));
    let kind = kind.and_then(|kind| kinds::known(&kind));
    Some(Step { effect: effect.info, key: key_of(effect)?, kind })
}

/// `None` if the effect lacks an index.
pub(crate) fn key_of(effect: &SeenEffect<'_>) -> Option<Key> {
    let mut slots = effect.info.level.key.iter();
    slots.try_fold(Key::default(), |key, slot| Some(key.child(effect.view.raw(*slot)?.parse().ok()?)))
}
