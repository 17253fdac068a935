//! The rules to check, and the level of each.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::{fmt, ptr};

use catalogue::{LOG_RULES, Level, Rule, TestRule};
use spec::Dialect;

use crate::engine::{Bound, Plan};
use crate::rules::hooks;

/// Rules of a dialect, all or some.
///
/// ```
/// use checker::{Dialect, Level, Rule, Rules};
///
/// let dialect: &'static Dialect = checker::spec::dialect("openai").unwrap();
/// let is_required = |rule: &Rule| checker::level(rule, dialect) == Level::Must;
/// let rules = Rules::of(dialect).only(is_required);
/// assert!(rules.iter().any(|rule| rule.id == "response/one-terminal"));
/// assert!(rules.iter().all(is_required));
/// ```
#[derive(Debug, Clone)]
pub struct Rules {
    /// Sorted by id.
    chosen: Vec<Bound>,
    changed: Vec<ChangedLevel>,
    /// The levels of rules about logs, which are the same in all dialects.
    of_logs: BTreeMap<&'static str, Level>,
    plan: Arc<Plan>,
}

/// A rule whose level the reader changed.
#[derive(Debug, Clone, Copy)]
pub struct ChangedLevel {
    /// The rule.
    pub rule: &'static Rule,
    /// Its level in the dialect.
    pub usual: Level,
    /// The level that the reader chose.
    pub level: Level,
}

impl ChangedLevel {
    /// Returns whether the rule is a MUST that no longer has to hold.
    pub fn lowers_must(&self) -> bool {
        self.usual == Level::Must && self.level < Level::Must
    }
}

impl Rules {
    /// Returns all rules that apply to a dialect.
    pub fn of(dialect: &'static Dialect) -> Self {
        RuleSets::all().of(dialect).as_ref().clone()
    }

    /// Returns all rules that apply to a dialect, some of them with the levels that a reader chose. Levels of rules that
    /// are not defined for the dialect have no effect.
    ///
    /// ```
    /// use checker::{Level, Rules};
    ///
    /// let openai = checker::spec::dialect("openai").unwrap();
    /// let rules = Rules::with_levels(openai, &[("wire/no-id-line".to_owned(), Level::Off)].into());
    /// assert!(rules.iter().all(|rule| rule.id != "wire/no-id-line"));
    /// assert_eq!(rules.changed()[0].usual, Level::Should);
    /// ```
    pub fn with_levels(dialect: &'static Dialect, levels: &BTreeMap<String, Level>) -> Self {
        let mut changed = Vec::new();
        let bound = |rule: &'static Rule| {
            let usual = level(rule, dialect);
            let wanted = levels.get(rule.id).filter(|level| **level != usual && rule.applies_to(dialect));
            let is_recorded = usual < rule.level;
            let Some(level) = wanted.copied() else {
                return Bound { rule, level: usual, is_chosen: false, is_recorded };
            };
            changed.push(ChangedLevel { rule, usual, level });
            Bound { rule, level, is_chosen: true, is_recorded }
        };
        let chosen: Vec<Bound> =
            catalogue::RULES.iter().map(bound).filter(|bound| bound.level != Level::Off).collect();
        Self { plan: Plan::new(dialect, &chosen, hooks), chosen, changed, of_logs: levels_of_logs(levels) }
    }

    /// Keeps the rules that a predicate accepts.
    #[must_use]
    pub fn only(mut self, mut wanted: impl FnMut(&Rule) -> bool) -> Self {
        let before = self.chosen.len();
        self.chosen.retain(|bound| wanted(bound.rule));
        self.changed.retain(|changed| wanted(changed.rule));
        if self.chosen.len() < before {
            self.plan = Plan::new(self.plan.dialect(), &self.chosen, hooks);
        }
        self
    }

    /// Returns the rules.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.chosen.iter().map(|bound| bound.rule)
    }

    /// Returns the level of a rule among them; `Off` if it is not.
    pub fn level(&self, rule: &Rule) -> Level {
        let at = self.chosen.binary_search_by(|bound| bound.rule.id.cmp(rule.id));
        at.map_or(Level::Off, |at| self.chosen[at].level)
    }

    /// The levels of rules about logs.
    pub const fn of_logs(&self) -> &BTreeMap<&'static str, Level> {
        &self.of_logs
    }

    /// Returns the rules whose level differs from the dialect's. They include rules that are turned off.
    pub fn changed(&self) -> &[ChangedLevel] {
        &self.changed
    }

    /// Returns the dialect of the rules.
    pub fn dialect(&self) -> &'static Dialect {
        self.plan.dialect()
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }
}

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
        let place = ptr::from_ref(dialect).addr();
        let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&place) {
            return Arc::clone(known);
        }
        // The predicate runs without the lock.
        let own = Rules::with_levels(dialect, levels).only(|rule| is_wanted(rule));
        Arc::clone(lock().entry(place).or_insert_with(|| Arc::new(own)))
    }
}

impl fmt::Debug for RuleSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSets").field("levels", &self.0.levels).finish_non_exhaustive()
    }
}

fn levels_of_logs(chosen: &BTreeMap<String, Level>) -> BTreeMap<&'static str, Level> {
    let level = |rule: &TestRule| chosen.get(rule.id).copied().unwrap_or(rule.level);
    LOG_RULES.iter().map(|rule| (rule.id, level(rule))).collect()
}

/// Returns the level of a rule in a dialect.
pub fn level(rule: &Rule, dialect: &Dialect) -> Level {
    if rule.applies_to(dialect) {
        dialect.rule_level(rule.id).unwrap_or_else(|| rule.level_in(dialect))
    } else {
        Level::Off
    }
}
