//! The rules of each dialect that is recognised.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use catalogue::{Level, Rule};
use spec::{DIALECTS, Dialect};

use crate::Rules;
use crate::chosen::levels_of_logs;

/// The rules of every dialect, made when a stream is recognised as one of it.
///
/// ```
/// use checker::{Checker, RuleSets};
///
/// let mut checker = Checker::recognising(&RuleSets::all());
/// checker.push(b"event: message_start\ndata: {\"type\":\"message_start\"}\n\n");
/// assert_eq!(checker.recognised().map(|found| found.dialect.name), Some("anthropic"));
/// assert_eq!(checker.findings()[0].api, "messages");
/// ```
#[derive(Clone)]
pub struct RuleSets(Arc<Sets>);

struct Sets {
    made: Vec<OnceLock<Rules>>,
    levels: BTreeMap<String, Level>,
    is_wanted: Box<dyn Fn(&Rule) -> bool + Send + Sync>,
}

impl RuleSets {
    /// Returns all rules of each dialect.
    pub fn all() -> Self {
        Self::new(BTreeMap::new(), |_| true)
    }

    /// Returns the rules of each dialect that a predicate accepts, some of them with levels that a reader chose.
    pub fn new(
        levels: BTreeMap<String, Level>,
        is_wanted: impl Fn(&Rule) -> bool + Send + Sync + 'static,
    ) -> Self {
        let made = DIALECTS.iter().map(|_| OnceLock::new()).collect();
        Self(Arc::new(Sets { made, levels, is_wanted: Box::new(is_wanted) }))
    }

    /// Keeps the rules that a predicate accepts.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(&Rule) -> bool + Send + Sync + 'static) -> Self {
        let all = Arc::clone(&self.0);
        Self::new(self.0.levels.clone(), move |rule| (all.is_wanted)(rule) && is_wanted(rule))
    }

    /// The levels of rules about logs.
    pub fn of_logs(&self) -> BTreeMap<&'static str, Level> {
        levels_of_logs(&self.0.levels)
    }

    /// Returns the rules of a dialect.
    pub fn of(&self, dialect: &'static Dialect) -> &Rules {
        let Sets { made, levels, is_wanted } = &*self.0;
        let make = || Rules::with_levels(dialect, levels).only(|rule| is_wanted(rule));
        let at = DIALECTS.iter().position(|other| other.name == dialect.name).unwrap_or_default();
        made[at].get_or_init(make)
    }
}

impl fmt::Debug for RuleSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSets").field("levels", &self.0.levels).finish_non_exhaustive()
    }
}
