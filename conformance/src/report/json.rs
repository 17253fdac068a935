//! Findings for programs.

use serde::Serialize;
use spec::catalogue::Level;

use super::run::Run;

/// The version of the format. It rises when a member goes away or changes its meaning.
pub const VERSION: u32 = 1;

/// A run, as JSON.
///
/// An object with `version`, `suite`, `dialect`, `failed` and `captures`. Each capture has `name`,
/// `format`, `streams`, `events`, `bodies`, `omitted`, `error` and `findings`; each finding `rule`,
/// `level`, `message`, `exchange`, `frame`, `event`, `event_type`, `sequence_number`, `time_ms`, `line`,
/// `bytes` (`[from, to]`), `pointer`, `expected`, `actual` and `count`. What is not known is null.
pub fn json(run: &Run) -> String {
    let captures = run.captures.iter().map(|capture| Capture {
        name: &capture.name,
        format: capture.format.map(crate::capture::Format::name),
        streams: capture.streams,
        events: capture.events,
        bodies: capture.bodies,
        findings: (capture.findings.iter())
            .map(|located| Finding::of(located.exchange.as_deref(), &located.finding))
            .collect(),
        omitted: capture.omitted,
        error: capture.error.as_deref(),
    });
    let report = Report {
        version: VERSION,
        suite: env!("CARGO_PKG_VERSION"),
        dialect: run.dialect.name,
        failed: run.has_failed(),
        captures: captures.collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Report<'r> {
    version: u32,
    suite: &'r str,
    dialect: &'r str,
    failed: bool,
    captures: Vec<Capture<'r>>,
}

#[derive(Serialize)]
struct Capture<'r> {
    name: &'r str,
    format: Option<&'r str>,
    streams: u64,
    events: u64,
    bodies: u64,
    findings: Vec<Finding<'r>>,
    omitted: u64,
    error: Option<&'r str>,
}

#[derive(Serialize)]
struct Finding<'r> {
    rule: &'r str,
    level: &'r str,
    message: &'r str,
    exchange: Option<&'r str>,
    frame: u64,
    event: u64,
    event_type: Option<&'r str>,
    sequence_number: Option<u64>,
    time_ms: Option<u128>,
    line: u64,
    bytes: [u64; 2],
    pointer: Option<&'r str>,
    expected: Option<&'r str>,
    actual: Option<&'r str>,
    count: u64,
}

impl<'r> Finding<'r> {
    fn of(exchange: Option<&'r str>, finding: &'r crate::engine::Finding) -> Self {
        Self {
            rule: finding.rule,
            level: level_name(finding.level),
            message: &finding.message,
            exchange,
            frame: finding.frame,
            event: finding.event,
            event_type: finding.event_type.as_deref(),
            sequence_number: finding.sequence_number,
            time_ms: finding.time.map(|time| time.as_millis()),
            line: finding.line,
            bytes: [finding.bytes.start, finding.bytes.end],
            pointer: finding.pointer.as_deref(),
            expected: finding.expected.as_deref(),
            actual: finding.actual.as_deref(),
            count: finding.count,
        }
    }
}

/// The name of a level in our formats.
pub(crate) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::May => "may",
        Level::Off => "off",
    }
}
