//! A run as lines of JSON: one for each finding, one for each recording, and one for the run.

use results::text::escaped_json;
use results::{
    CaptureReport, DialectSeen, FailOn, Finding, Format, LevelChange, Outcome, Run, Totals, is_default,
};
use serde::Serialize;

/// A line of the format.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Line<'r> {
    /// A finding, with the members of a finding of the JSON report.
    Finding {
        /// The name of its recording.
        recording: &'r str,
        #[serde(flatten)]
        finding: &'r Finding,
    },
    /// A recording, after its findings, with members of a recording of the JSON report.
    Recording {
        name: &'r str,
        format: Option<Format>,
        streams: u64,
        events: u64,
        bodies: u64,
        /// Numbers of violations, by level.
        errors: u64,
        warnings: u64,
        notes: u64,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        dialects: &'r [DialectSeen],
        #[serde(skip_serializing_if = "is_default")]
        unjudged: u64,
        #[serde(skip_serializing_if = "is_default")]
        omitted: u64,
        #[serde(skip_serializing_if = "is_default")]
        lost: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'r str>,
    },
    /// The run, at the end.
    Run {
        version: u32,
        suite: &'r str,
        dialect: &'r str,
        outcome: Outcome,
        fail_on: FailOn,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        levels: &'r [LevelChange],
        totals: &'r Totals,
    },
}

/// Returns the lines of a run.
pub fn ndjson(run: &Run) -> String {
    let recordings: String = run.captures.iter().map(ndjson_of_recording).collect();
    recordings + &ndjson_of_run(run)
}

/// Returns the lines of a recording: its findings, and the recording.
pub fn ndjson_of_recording(capture: &CaptureReport) -> String {
    let path = capture.path();
    let name = &*path;
    let findings = capture.findings.iter().map(|finding| Line::Finding { recording: name, finding });
    let faults = capture.faults();
    let recording = Line::Recording {
        name,
        format: capture.format,
        streams: capture.streams,
        events: capture.events,
        bodies: capture.bodies,
        errors: faults.errors,
        warnings: faults.warnings,
        notes: faults.notes,
        dialects: &capture.dialects,
        unjudged: capture.unjudged,
        omitted: capture.omitted,
        lost: capture.lost,
        error: capture.error.as_deref(),
    };
    findings.chain([recording]).map(|line| text(&line)).collect()
}

/// Returns the last line.
pub fn ndjson_of_run(run: &Run) -> String {
    let Run { version, suite, dialect, outcome, fail_on, levels, totals, .. } = run;
    text(&Line::Run {
        version: *version,
        suite,
        dialect,
        outcome: *outcome,
        fail_on: *fail_on,
        levels,
        totals,
    })
}

fn text(line: &Line<'_>) -> String {
    escaped_json(&serde_json::to_string(line).unwrap_or_default()).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use checker::Rules;
    use recordings::check;
    use serde_json::Value;

    use super::*;

    fn run() -> Run {
        let rules = Rules::of(spec::dialect("openai").unwrap());
        let broken = "data: {\"type\":\"response.created\",\"sequence_number\":0}\n\n";
        let golden = recordings::goldens::golden("openai/text").unwrap();
        let captures = vec![
            check("broken.sse", &mut broken.as_bytes(), None, &rules),
            check("good.sse", &mut { golden.bytes }, None, &rules),
            check("junk", &mut "hello".as_bytes(), None, &rules),
        ];
        Run::new(&rules, captures, None)
    }

    #[test]
    fn every_finding_and_every_recording_has_a_line() {
        let run = run();
        let text = ndjson(&run);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
        let findings = of("finding");
        assert_eq!(findings.len(), run.captures[0].findings.len());
        for (line, finding) in findings.iter().zip(&run.captures[0].findings) {
            assert_eq!(line["recording"], "broken.sse");
            assert_eq!(&serde_json::from_value::<Finding>((*line).clone()).unwrap(), finding);
        }
        let names: Vec<&Value> = of("recording").iter().map(|line| &line["name"]).collect();
        assert_eq!(names, ["broken.sse", "good.sse", "junk"]);
        assert!(of("recording")[2]["error"].as_str().is_some_and(|error| error.contains("not recognized")));
        assert_eq!(lines.last().unwrap()["outcome"], "failed");
        assert_eq!(of("run").len(), 1);
        // A clean recording is one short line.
        let clean = text.lines().find(|line| line.contains("good.sse")).unwrap();
        assert!(clean.len() < 160, "{clean}");
    }
}
