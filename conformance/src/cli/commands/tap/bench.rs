//! State that the judges of a tap share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use results::CaptureReport;
use results::text::visible;
use tap::{Evidence, Judge, Judged, Metrics, Otlp, Passed};

use crate::cli::flags::dialect::DialectRules;
use crate::cli::message::note;

/// Maximum number of reports that are kept for a command.
const REPORTS: usize = 10_000;

#[derive(Debug)]
pub(super) struct Bench {
    rules: Mutex<DialectRules>,
    version: AtomicU64,
    metrics: Metrics,
    pub(super) evidence: Option<Evidence>,
    otlp: Option<Otlp>,
    /// The rules with a finding that was reported, by upstream.
    reported: Mutex<BTreeSet<(Arc<str>, String)>>,
    /// The number of exchanges by outcome.
    outcomes: Mutex<BTreeMap<&'static str, u64>>,
    /// When exchanges began, and their reports, for a command.
    reports: Option<Mutex<Vec<(SystemTime, CaptureReport)>>>,
}

impl Bench {
    pub(super) fn new(
        rules: &DialectRules,
        metrics: &Metrics,
        evidence: Option<Evidence>,
        otlp: Option<Otlp>,
        is_for_command: bool,
    ) -> Self {
        Self {
            rules: Mutex::new(rules.clone()),
            version: AtomicU64::default(),
            metrics: metrics.clone(),
            evidence,
            otlp,
            reported: Mutex::default(),
            outcomes: Mutex::default(),
            reports: is_for_command.then(Mutex::default),
        }
    }

    /// Exchanges that are judged from now on are judged by these rules.
    pub(super) fn set_rules(&self, rules: DialectRules) {
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = rules;
        self.version.fetch_add(1, Ordering::Release);
    }

    pub(super) fn judge(bench: &Arc<Self>, draws: bool) -> impl FnMut(Passed) + use<> {
        let bench = Arc::clone(bench);
        let mut made: Option<(u64, Judge)> = None;
        move |passed| {
            let version = bench.version.load(Ordering::Acquire);
            let fresh = || {
                let rules = bench.rules.lock().unwrap_or_else(PoisonError::into_inner);
                (version, Judge::new(rules.checking(draws)))
            };
            let (_, judge) = match made.take() {
                Some(current @ (of, _)) if of == version => made.insert(current),
                _ => made.insert(fresh()),
            };
            if let Some(judged) = judge.judge(&passed) {
                bench.take(&passed, judged);
            }
        }
    }

    fn take(&self, passed: &Passed, judged: Judged) {
        self.metrics.count(&passed.upstream, &judged);
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        *outcomes.entry(judged.outcome().name()).or_default() += 1;
        drop(outcomes);
        if let Some(otlp) = &self.otlp {
            otlp.count(passed, &judged);
        }
        if let Some(problem) = self.evidence.as_ref().and_then(|evidence| evidence.add(passed, &judged).err())
        {
            note(&format!("note: the evidence cannot be written: {problem}"));
        }
        if let Some(reports) = &self.reports {
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            if reports.len() < REPORTS {
                reports.push((passed.began, judged.report));
            }
            return;
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in &judged.report.findings {
            if reported.insert((Arc::clone(&passed.upstream), finding.rule.to_string())) {
                let (level, rule) = (finding.level.keyword(), visible(&finding.rule));
                note(&format!(
                    "{}: {level} {rule}: {}",
                    visible(&passed.upstream),
                    visible(&finding.message)
                ));
            }
        }
    }

    pub(super) fn outcomes(&self) -> Vec<String> {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect()
    }

    /// In the order of their requests. Each gets its number, as most have the same URL.
    pub(super) fn reports(&self) -> Option<Vec<CaptureReport>> {
        let reports = self.reports.as_ref()?;
        let mut reports = std::mem::take(&mut *reports.lock().unwrap_or_else(PoisonError::into_inner));
        reports.sort_by_key(|(began, _)| *began);
        let numbered = reports.into_iter().zip(1..).map(|((_, report), number)| CaptureReport {
            name: format!("{}#{number}", report.name),
            ..report
        });
        Some(numbered.collect())
    }
}
