//! Metrics for OpenTelemetry: OTLP over HTTP as JSON, with the names of its conventions for generative AI.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::judge::Judged;
use crate::lost::Lost;
use crate::metrics::Metrics;
use crate::outcome::{Outcome, Turn};
use crate::passed::{Passed, in_words};
use crate::proxy::connector;

/// The time between two exports.
const INTERVAL: Duration = Duration::from_secs(15);
/// Maximum time of an export.
const LIMIT: Duration = Duration::from_secs(10);
/// The path of metrics, behind the address of a collector.
const PATH: &str = "/v1/metrics";
/// Maximum number of names of models in labels. Clients choose these names.
const MODELS: usize = 100;
/// The name of all other models.
const OTHER: &str = "_OTHER";
/// The buckets that the conventions ask for.
const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

const DURATION: &str = "gen_ai.client.inference.duration";
const FIRST_CHUNK: &str = "gen_ai.client.inference.time_to_first_chunk";
const INPUT: &str = "gen_ai.client.inference.usage.input_tokens";
const CACHED: &str = "gen_ai.client.inference.usage.cache_read.input_tokens";
const OUTPUT: &str = "gen_ai.client.inference.usage.output_tokens";
const FINDINGS: &str = "conformance.findings";
const CLIENTS: &str = "conformance.clients_broken";
const DROPPED: &str = "conformance.dropped";
/// The unit of each metric, and whether it is a histogram.
const METRICS: [(&str, &str, bool); 8] = [
    (DURATION, "s", true),
    (FIRST_CHUNK, "s", true),
    (INPUT, "{token}", false),
    (CACHED, "{token}", false),
    (OUTPUT, "{token}", false),
    (FINDINGS, "{finding}", false),
    (CLIENTS, "{exchange}", false),
    (DROPPED, "{exchange}", false),
];

type Labels = Vec<(&'static str, String)>;

/// A sum or a histogram since the start.
#[derive(Debug, Default)]
struct Point {
    count: u64,
    sum: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

#[derive(Debug, Default)]
struct Points {
    points: BTreeMap<(&'static str, Labels), Point>,
    models: BTreeSet<String>,
}

impl Points {
    fn add(&mut self, name: &'static str, labels: Labels, count: u64) {
        self.points.entry((name, labels)).or_default().count += count;
    }

    fn turn(&mut self, mut labels: Labels, turn: &Turn, is_stream: bool) {
        if let Some(model) = turn.model.clone() {
            labels.push(("gen_ai.request.model", self.model(model)));
        }
        let with = |name, value: &str| [labels.clone(), vec![(name, value.to_owned())]].concat();
        let has_failed = !matches!(turn.outcome, Outcome::Complete | Outcome::Incomplete);
        let of_operation = if has_failed { with("error.type", turn.outcome.name()) } else { labels.clone() };
        self.observe(DURATION, of_operation, turn.took);
        if let Some(first) = turn.first.filter(|_| is_stream) {
            self.observe(FIRST_CHUNK, labels.clone(), first);
        }
        let tokens = turn.tokens.unwrap_or_default();
        // The input of the conventions has what was cached.
        let input = turn.cache.map(|(_, all)| all).or(tokens.input);
        let of_tokens = || with("gen_ai.token.modality", "unknown");
        self.add(INPUT, of_tokens(), input.unwrap_or(0));
        self.add(OUTPUT, of_tokens(), tokens.output.unwrap_or(0));
        if let Some((cached, _)) = turn.cache {
            self.add(CACHED, of_tokens(), cached);
        }
    }

    fn observe(&mut self, name: &'static str, labels: Labels, time: Duration) {
        let (point, seconds) = (self.points.entry((name, labels)).or_default(), time.as_secs_f64());
        point.count += 1;
        point.sum += seconds;
        point.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
    }

    fn model(&mut self, name: String) -> String {
        if !self.models.contains(&name) && self.models.len() >= MODELS {
            return OTHER.to_owned();
        }
        self.models.insert(name.clone());
        name
    }
}

/// An exporter to a collector. Copies count together.
#[derive(Debug, Clone)]
pub struct Otlp {
    url: Uri,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    began: SystemTime,
    metrics: Metrics,
    points: Arc<Mutex<Points>>,
}

impl Otlp {
    /// Exports to a collector at this URL. The path of metrics is added unless the URL ends with it.
    ///
    /// # Errors
    ///
    /// If the URL has no host, or the certificate authorities of the system cannot be read.
    pub fn new(url: &Uri, metrics: &Metrics) -> io::Result<Self> {
        let path = url.path().trim_end_matches('/');
        let path = if path.ends_with(PATH) { path.to_owned() } else { format!("{path}{PATH}") };
        let mut parts = url.clone().into_parts();
        parts.path_and_query = Some(path.parse().map_err(io::Error::other)?);
        let url = Uri::from_parts(parts).map_err(io::Error::other)?;
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector(false)?);
        let (metrics, points) = (metrics.clone(), Arc::default());
        Ok(Self { url, client, began: SystemTime::now(), metrics, points })
    }

    /// An exchange that was judged.
    pub fn count(&self, passed: &Passed, judged: &Judged) {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let mut labels: Labels = vec![
            ("gen_ai.operation.name", judged.api.operation.to_owned()),
            ("gen_ai.provider.name", judged.api.provider.to_owned()),
        ];
        let url: Option<Uri> = passed.url.parse().ok();
        if let Some(host) = url.as_ref().and_then(Uri::host) {
            labels.push(("server.address", host.to_owned()));
        }
        for turn in &judged.turns {
            points.turn(labels.clone(), turn, judged.report.streams > 0);
        }
        for finding in &judged.report.findings {
            let rule = ("conformance.rule", finding.rule.to_string());
            let level = ("conformance.level", finding.level.keyword().to_owned());
            points.add(FINDINGS, vec![rule, level], finding.count);
        }
        for client in &judged.broken {
            points.add(CLIENTS, vec![("conformance.client", client.clone())], 1);
        }
    }

    /// As long as it is polled, metrics are exported. A failure is reported once until an export succeeds.
    pub async fn run(&self, report: impl Fn(&str)) {
        let mut has_failed = false;
        loop {
            tokio::time::sleep(INTERVAL).await;
            let failure = self.export().await.err();
            if let Some(failure) = failure.as_ref().filter(|_| !has_failed) {
                report(&failure.to_string());
            }
            has_failed = failure.is_some();
        }
    }

    /// One export.
    ///
    /// # Errors
    ///
    /// If the collector does not take it.
    pub async fn export(&self) -> io::Result<()> {
        let mut request = Request::new(Full::from(self.body(SystemTime::now()).to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let failed = |why: String| io::Error::other(format!("{}: {why}", self.url));
        match timeout(LIMIT, self.client.request(request)).await {
            Ok(Ok(response)) if response.status().is_success() => Ok(()),
            Ok(Ok(response)) => Err(failed(format!("status {}", response.status().as_u16()))),
            Ok(Err(error)) => Err(failed(in_words(&error))),
            Err(_) => Err(failed("no response".to_owned())),
        }
    }

    fn body(&self, now: SystemTime) -> Value {
        let [began, now] = [self.began, now]
            .map(|time| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string());
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        for why in Lost::ALL {
            let count = self.metrics.dropped(why);
            if count > 0 {
                let labels = vec![("conformance.reason", why.name().to_owned())];
                points.points.entry((DROPPED, labels)).or_default().count = count;
            }
        }
        let metric = |(name, unit, is_histogram): (&str, &str, bool)| {
            let of_name = points.points.iter().filter(|((of, _), _)| *of == name);
            let data: Vec<Value> = of_name
                .map(|((_, labels), point)| {
                    let mut data = json!({ "attributes": attributes(labels), "startTimeUnixNano": began, "timeUnixNano": now });
                    if is_histogram {
                        data["count"] = point.count.to_string().into();
                        data["sum"] = point.sum.into();
                        data["bucketCounts"] = point.buckets.iter().map(ToString::to_string).collect();
                        data["explicitBounds"] = BOUNDS.to_vec().into();
                    } else {
                        data["asInt"] = point.count.to_string().into();
                    }
                    data
                })
                .collect();
            let mut of_kind = json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": data });
            if !is_histogram {
                of_kind["isMonotonic"] = true.into();
            }
            let kind = if is_histogram { "histogram" } else { "sum" };
            (!data.is_empty()).then(|| json!({ "name": name, "unit": unit, kind: of_kind }))
        };
        let metrics: Vec<Value> = METRICS.into_iter().filter_map(metric).collect();
        let version = env!("CARGO_PKG_VERSION");
        let service = vec![("service.name", SERVICE.to_owned()), ("service.version", version.to_owned())];
        let scope = json!({ "name": SERVICE, "version": version });
        json!({ "resourceMetrics": [{
            "resource": { "attributes": attributes(&service) },
            "scopeMetrics": [{ "scope": scope, "metrics": metrics }],
        }] })
    }
}

const SERVICE: &str = "conformance-tap";
/// Counts since the start.
const CUMULATIVE: u8 = 2;

fn attributes(labels: &Labels) -> Vec<Value> {
    labels.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_added_once() {
        for url in ["http://a.test", "http://a.test/", "http://a.test/v1/metrics"] {
            let otlp = Otlp::new(&url.parse().unwrap(), &Metrics::default()).unwrap();
            assert_eq!(otlp.url, "http://a.test/v1/metrics");
        }
    }

    #[test]
    fn clients_do_not_choose_how_many_models_there_are() {
        let mut points = Points::default();
        let names: BTreeSet<_> = (0..MODELS + 9).map(|name| points.model(name.to_string())).collect();
        assert_eq!(names.len(), MODELS + 1);
        assert_eq!(
            (points.model("0".to_owned()), points.model("new".to_owned())),
            ("0".to_owned(), OTHER.to_owned())
        );
    }

    #[test]
    fn times_are_in_the_buckets_up_to_their_bounds() {
        let mut points = Points::default();
        for time in [10, 11, 90_000] {
            points.observe(DURATION, Vec::new(), Duration::from_millis(time));
        }
        let point = &points.points[&(DURATION, Vec::new())];
        assert_eq!((point.count, point.buckets[0], point.buckets[1], point.buckets[14]), (3, 1, 1, 1));
    }
}
