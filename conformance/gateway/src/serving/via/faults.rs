//! Faults of the reference translator. Those of what it translates are in `translation`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue::BETWEEN_RULES;
use translation::Crowd;

/// Returns the faults of the reference translator: the rules of what passes through a gateway. It can break each of them.
pub fn via_faults() -> Vec<&'static str> {
    let mut all: Vec<&str> = BETWEEN_RULES.iter().map(|rule| rule.id).collect();
    all.sort_unstable();
    all
}

/// The fault of a translator, and what it remembers from one request to the next.
#[derive(Debug)]
pub(super) struct State {
    pub(super) rule: Option<String>,
    pub(super) crowd: Arc<Crowd>,
    /// Whether the next request is refused.
    is_blocked: AtomicBool,
}

impl State {
    pub(super) fn new(rule: Option<&str>) -> io::Result<Self> {
        if let Some(rule) = rule.filter(|rule| !via_faults().contains(rule)) {
            let problem = format!("no fault is named {rule:?}; there are {}", via_faults().join(", "));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let rule = rule.map(str::to_owned);
        Ok(Self { rule, crowd: Arc::default(), is_blocked: AtomicBool::new(false) })
    }

    pub(super) fn is_at(&self, rule: &str) -> bool {
        self.rule.as_deref() == Some(rule)
    }

    pub(super) fn failed(&self) {
        if self.is_at("fault/next") {
            self.is_blocked.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn refuses_next(&self) -> bool {
        self.is_blocked.swap(false, Ordering::SeqCst)
    }
}
