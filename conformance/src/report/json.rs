//! Findings for programs.

use serde::Serialize;
use spec::catalogue::Level;

use super::run::Run;

/// The version of the format. It rises when a member goes away or changes its meaning.
pub const VERSION: u32 = 1;

/// A run, as JSON.
///
/// An object with `version`, `suite`, `dialect`, `failed` and `captures`. Each capture has `name`,
/// `format`, `streams`, `events`, `bodies`, `unjudged`, `omitted`, `error` and `findings`; each finding
/// `rule`, `level`, `message`, `exchange`, `frame`, `event`, `event_type`, `sequence_number`, `time_ms`,
/// `line`, `bytes` (`[from, to]`), `pointer`, `expected`, `actual`, `related` and `count`. What is related
/// has a `label`, and its own `frame` to `bytes`. What is not known is null.
pub fn json(run: &Run) -> String {
    let captures = run.captures.iter().map(|capture| Capture {
        name: &capture.name,
        format: capture.format.map(crate::capture::Format::name),
        streams: capture.streams,
        events: capture.events,
        bodies: capture.bodies,
        unjudged: capture.unjudged,
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

/// A run of the checks.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Report<'r> {
    /// Version of this format.
    version: u32,
    /// Version of the suite.
    suite: &'r str,
    /// The dialect that was checked against.
    dialect: &'r str,
    /// Whether a rule failed.
    failed: bool,
    /// What was checked, in order.
    captures: Vec<Capture<'r>>,
}

/// One recording.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Capture<'r> {
    /// Its path, or `-`.
    name: &'r str,
    /// Its format; null when it could not be told.
    format: Option<&'r str>,
    /// Streams in it.
    streams: u64,
    /// Events in it.
    events: u64,
    /// Answers in it that are no stream.
    bodies: u64,
    /// How many of these no rule reads: they are neither a response nor an error.
    unjudged: u64,
    /// What breaks a rule.
    findings: Vec<Finding<'r>>,
    /// Findings beyond those that are listed.
    omitted: u64,
    /// Why it, or the rest of it, could not be read.
    error: Option<&'r str>,
}

/// A place, or several alike, where a rule is broken.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding<'r> {
    /// The rule, `group/name`.
    rule: &'r str,
    /// How binding it is: must, should or may.
    level: &'r str,
    /// What is wrong.
    message: &'r str,
    /// The exchange of the recording, when it holds several.
    exchange: Option<&'r str>,
    /// Number of the frame in the stream.
    frame: u64,
    /// Number of the event in the stream.
    event: u64,
    /// Type of the event.
    event_type: Option<&'r str>,
    /// Its sequence number.
    sequence_number: Option<u64>,
    /// When it came, in milliseconds since the stream began.
    time_ms: Option<u128>,
    /// Line of the recording.
    line: u64,
    /// From which byte to which.
    bytes: [u64; 2],
    /// JSON pointer into the event.
    pointer: Option<&'r str>,
    /// What should stand there.
    expected: Option<&'r str>,
    /// What stands there.
    actual: Option<&'r str>,
    /// Another event, which explains it.
    related: Option<Related<'r>>,
    /// How many places are alike.
    count: u64,
}

/// An event that explains a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Related<'r> {
    /// What it has to do with it.
    label: &'r str,
    /// Number of the frame in the stream.
    frame: u64,
    /// Number of the event in the stream.
    event: u64,
    /// Type of the event.
    event_type: Option<&'r str>,
    /// Its sequence number.
    sequence_number: Option<u64>,
    /// When it came, in milliseconds since the stream began.
    time_ms: Option<u128>,
    /// Line of the recording.
    line: u64,
    /// From which byte to which.
    bytes: [u64; 2],
}

impl<'r> Related<'r> {
    fn of(related: &'r crate::engine::Related) -> Self {
        let spot = &related.spot;
        Self {
            label: related.label,
            frame: spot.frame,
            event: spot.event,
            event_type: spot.event_type.as_deref(),
            sequence_number: spot.sequence_number,
            time_ms: spot.time.map(|time| time.as_millis()),
            line: spot.line,
            bytes: [spot.bytes.start, spot.bytes.end],
        }
    }
}

impl<'r> Finding<'r> {
    fn of(exchange: Option<&'r str>, finding: &'r crate::engine::Finding) -> Self {
        Self {
            rule: finding.rule,
            level: level_name(finding.level),
            message: &finding.message,
            exchange,
            frame: finding.spot.frame,
            event: finding.spot.event,
            event_type: finding.spot.event_type.as_deref(),
            sequence_number: finding.spot.sequence_number,
            time_ms: finding.spot.time.map(|time| time.as_millis()),
            line: finding.spot.line,
            bytes: [finding.spot.bytes.start, finding.spot.bytes.end],
            pointer: finding.pointer.as_deref(),
            expected: finding.expected.as_deref(),
            actual: finding.actual.as_deref(),
            related: finding.related.as_ref().map(Related::of),
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

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::super::run::check;
    use super::*;
    use crate::engine::Rules;

    /// The published schema of the format says what the types say. A change of it that takes something
    /// away needs a new [`VERSION`].
    #[test]
    fn report_schema_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/report.schema.json");
        let text = format!("{:#}\n", schemars::schema_for!(Report<'static>).as_value());
        if env::var_os("BLESS").is_some() {
            fs::write(path, &text).unwrap();
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == text,
            "docs/report.schema.json is stale: BLESS=1 cargo test -p conformance report_schema"
        );
    }

    #[test]
    fn reports_are_as_their_schema_says() {
        let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").unwrap();
        let created = "data: {\"type\":\"response.created\",\"sequence_number\":0}\n\n";
        let recording =
            format!("{created}{created}data: {{\"type\":\"response.output_text.delta\",\"delta\":1}}\n\n");
        let rules = Rules::of(dialect);
        let captures = vec![check("a.sse", &mut recording.as_bytes(), None, &rules)];
        let run = Run { dialect, rules, captures };
        let report: serde_json::Value = serde_json::from_str(&json(&run)).unwrap();
        let findings = report["captures"][0]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["rule"] == "schema/event-valid"), "{report:#}");
        assert!(findings.iter().any(|finding| finding["related"]["line"] == 1), "{report:#}");
        let schema = schemars::schema_for!(Report<'static>);
        jsonschema::validate(schema.as_value(), &report).unwrap();
    }
}
