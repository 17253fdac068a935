//! The numbers of operators. The values of labels are known words: rules, clients, outcomes, names of upstreams.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::judge::Judged;
use crate::lost::Lost;
use crate::outcome::Turn;

type Labels<const COUNT: usize> = [(&'static str, String); COUNT];
type Counters<const COUNT: usize> = Family<Labels<COUNT>, Counter>;
type Times = Family<Labels<1>, Histogram, Scale>;

#[derive(Debug, Clone)]
struct Scale;

impl MetricConstructor<Histogram> for Scale {
    fn new_metric(&self) -> Histogram {
        Histogram::new([0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0])
    }
}

/// The numbers of a tap. Copies count together.
#[derive(Debug, Clone)]
pub struct Metrics {
    streams: Counters<3>,
    findings: Counters<2>,
    clients: Counters<1>,
    first: Times,
    gap: Times,
    keep_alives: Counters<1>,
    usage_missing: Counters<1>,
    tokens: Counters<2>,
    /// The tokens of the answers that count what was read from a cache: those, and all of the input.
    cache: Counters<2>,
    cache_read: Family<Labels<1>, Gauge<f64, AtomicU64>>,
    checked: Counter,
    dropped: Counters<1>,
    evidence: Gauge<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            streams: Counters::default(),
            findings: Counters::default(),
            clients: Counters::default(),
            first: Times::new_with_constructor(Scale),
            gap: Times::new_with_constructor(Scale),
            keep_alives: Counters::default(),
            usage_missing: Counters::default(),
            tokens: Counters::default(),
            cache: Counters::default(),
            cache_read: Family::default(),
            checked: Counter::default(),
            dropped: Counters::default(),
            evidence: Gauge::default(),
        }
    }
}

impl Metrics {
    /// An exchange was judged.
    pub fn count(&self, upstream: &str, judged: &Judged) {
        self.checked.inc();
        for finding in &judged.report.findings {
            let labels = [("rule", finding.rule.to_string()), ("level", finding.level.keyword().to_owned())];
            self.findings.get_or_create(&labels).inc_by(finding.count);
        }
        for client in &judged.broken {
            self.clients.get_or_create(&[("client", client.clone())]).inc();
        }
        for turn in &judged.turns {
            self.turn(upstream, judged.api.name, turn);
        }
        for (kind, count) in ["comment", "event"].into_iter().zip(judged.keep_alives) {
            if count > 0 {
                self.keep_alives.get_or_create(&[("kind", kind.to_owned())]).inc_by(count);
            }
        }
    }

    fn turn(&self, upstream: &str, api: &str, turn: &Turn) {
        let outcome = turn.outcome.name().to_owned();
        let labels = [("api", api.to_owned()), ("upstream", upstream.to_owned()), ("outcome", outcome)];
        self.streams.get_or_create(&labels).inc();
        let api = || api.to_owned();
        for (times, time) in [(&self.first, turn.first), (&self.gap, turn.gap)] {
            if let Some(time) = time {
                times.get_or_create(&[("api", api())]).observe(time.as_secs_f64());
            }
        }
        if let Some((cached, all)) = turn.cache {
            self.cache_reads(&api(), cached, all);
        }
        match turn.tokens {
            Some(tokens) => {
                let cached = turn.cache.map(|(cached, _)| cached);
                let counts = [("input", tokens.input), ("cached", cached), ("output", tokens.output)];
                for (kind, count) in counts {
                    if let Some(count) = count {
                        self.tokens.get_or_create(&[("api", api()), ("kind", kind.to_owned())]).inc_by(count);
                    }
                }
            }
            None if turn.outcome.has_usage() => {
                self.usage_missing.get_or_create(&[("api", api())]).inc();
            }
            None => {}
        }
    }

    fn cache_reads(&self, api: &str, cached: u64, all: u64) {
        let [cached, all] = [("cached", cached), ("all", all)].map(|(part, count)| {
            let counter = self.cache.get_or_create(&[("api", api.to_owned()), ("part", part.to_owned())]);
            counter.inc_by(count) + count
        });
        if all > 0 {
            #[expect(clippy::cast_precision_loss, reason = "it is a ratio")]
            self.cache_read.get_or_create(&[("api", api.to_owned())]).set(cached as f64 / all as f64);
        }
    }

    pub(crate) fn lost(&self, why: Lost) {
        self.dropped.get_or_create(&[("reason", why.name().to_owned())]).inc();
    }

    /// The number of exchanges that were judged.
    pub fn checked(&self) -> u64 {
        self.checked.get()
    }

    /// The number of exchanges that were not judged for a reason.
    pub fn dropped(&self, why: Lost) -> u64 {
        self.dropped.get_or_create(&[("reason", why.name().to_owned())]).get()
    }

    pub(crate) fn evidence(&self, bytes: u64) {
        self.evidence.set(bytes);
    }

    /// All of them in the format of `OpenMetrics`, which Prometheus reads.
    pub fn text(&self) -> String {
        let mut registry = Registry::with_prefix("conformance");
        registry.register("streams", "Exchanges by outcome", self.streams.clone());
        registry.register("findings", "Findings by rule", self.findings.clone());
        registry.register("clients_broken", "Exchanges that break a client", self.clients.clone());
        registry.register_with_unit(
            "first_event",
            "Time to the first bytes",
            Unit::Seconds,
            self.first.clone(),
        );
        registry.register_with_unit(
            "gap",
            "Longest time between two chunks",
            Unit::Seconds,
            self.gap.clone(),
        );
        registry.register("keepalive", "Comments and events that keep open", self.keep_alives.clone());
        registry.register(
            "usage_missing",
            "Complete answers without token counts",
            self.usage_missing.clone(),
        );
        registry.register("tokens", "Tokens as the answers count them", self.tokens.clone());
        let cache_read = "Part of the input tokens that came from a cache";
        registry.register("cache_read_ratio", cache_read, self.cache_read.clone());
        registry.register("checked", "Exchanges that were judged", self.checked.clone());
        registry.register("dropped", "Exchanges that were not judged", self.dropped.clone());
        registry.register_with_unit("evidence", "Size of the evidence", Unit::Bytes, self.evidence.clone());
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
