//! Goldens as clients receive them.

use std::collections::BTreeMap;
use std::rc::Rc;

use catalogue::Edit;
use recordings::goldens::Golden;
use recordings::violation;
use spec::Dialect;

use super::played::Played;

/// Goldens as they are read in a dialect, each read once.
#[derive(Default)]
pub(crate) struct Streams(BTreeMap<(&'static str, &'static str, &'static str), Rc<Played>>);

impl Streams {
    pub(crate) fn intact(
        &mut self,
        golden: &'static Golden,
        dialect: &'static Dialect,
    ) -> Option<Rc<Played>> {
        let key = (golden.dialect, golden.name, dialect.name);
        if let Some(known) = self.0.get(&key) {
            return Some(Rc::clone(known));
        }
        let read = Rc::new(Played::read(golden.bytes, dialect)?);
        self.0.insert(key, Rc::clone(&read));
        Some(read)
    }

    pub(crate) fn edited(
        &mut self,
        golden: &'static Golden,
        edits: &[Edit],
        dialect: &'static Dialect,
    ) -> Option<(Rc<Played>, Rc<Played>)> {
        let sound = self.intact(golden, dialect)?;
        if edits.is_empty() {
            return Some((Rc::clone(&sound), sound));
        }
        let edited = violation::edited(golden.format, golden.bytes, edits).ok()?;
        Some((sound, Rc::new(Played::read(&edited, dialect)?)))
    }
}
