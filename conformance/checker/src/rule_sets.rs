//! The rules of each dialect that is recognised.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::{fmt, ptr};

use catalogue::{Level, Rule};
use spec::Dialect;

use crate::Rules;
use crate::chosen::levels_of_logs;

/// The rules of dialects, made when a stream is the first of one.
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
    /// By the address of the dialect: a folder can have a known name, and change while a program runs.
    made: Mutex<BTreeMap<usize, Arc<Rules>>>,
    levels: BTreeMap<String, Level>,
    is_wanted: Box<dyn Fn(&Rule) -> bool + Send + Sync>,
}

impl RuleSets {
    /// Returns all rules of each dialect, which a program makes once.
    pub fn all() -> Self {
        static ALL: LazyLock<RuleSets> = LazyLock::new(|| RuleSets::new(BTreeMap::new(), |_| true));
        ALL.clone()
    }

    /// Returns the rules of each dialect that a predicate accepts, some of them with levels that a reader chose.
    pub fn new(
        levels: BTreeMap<String, Level>,
        is_wanted: impl Fn(&Rule) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Sets { made: Mutex::default(), levels, is_wanted: Box::new(is_wanted) }))
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
    pub fn of(&self, dialect: &'static Dialect) -> Arc<Rules> {
        let Sets { made, levels, is_wanted } = &*self.0;
        let make = || Arc::new(Rules::with_levels(dialect, levels).only(|rule| is_wanted(rule)));
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(ptr::from_ref(dialect).addr()).or_insert_with(make))
    }
}

impl fmt::Debug for RuleSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSets").field("levels", &self.0.levels).finish_non_exhaustive()
    }
}
