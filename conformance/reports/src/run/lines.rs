//! The lines of JSON of a run, which `check` prints while it reads.

use results::{CaptureReport, Faults, Finding, Run};
use serde::Serialize;
use serde_json::json;

use crate::sheet::line;

/// A finding, with the members of a finding of the JSON report.
#[derive(Serialize)]
struct OfFinding<'r> {
    recording: &'r str,
    #[serde(flatten)]
    finding: &'r Finding,
}

/// Returns the lines of a recording: its findings, and the recording, with members as in the JSON report.
pub fn ndjson_of_recording(capture: &CaptureReport) -> String {
    let path = capture.path();
    let recording = &*path;
    let findings = capture.findings.iter().map(|finding| line("finding", &OfFinding { recording, finding }));
    let CaptureReport { format, streams, events, bodies, dialects, error, .. } = capture;
    let Faults { errors, warnings, notes } = capture.faults();
    let mut of = json!({
        "name": recording,
        "format": format,
        "streams": streams,
        "events": events,
        "bodies": bodies,
        "errors": errors,
        "warnings": warnings,
        "notes": notes,
    });
    if !dialects.is_empty() {
        of["dialects"] = json!(dialects);
    }
    for (name, count) in
        [("unjudged", capture.unjudged), ("omitted", capture.omitted), ("lost", capture.lost)]
    {
        if count > 0 {
            of[name] = count.into();
        }
    }
    if let Some(error) = error {
        of["error"] = error.as_str().into();
    }
    findings.chain([line("recording", &of)]).collect()
}

/// The last line.
pub fn ndjson_of_run(run: &Run) -> String {
    let Run { version, suite, dialect, outcome, fail_on, totals, .. } = run;
    let mut of = json!({ "version": version, "suite": suite, "dialect": dialect, "outcome": outcome, "fail_on": fail_on });
    if !run.levels.is_empty() {
        of["levels"] = json!(run.levels);
    }
    of["totals"] = json!(totals);
    line("run", &of)
}

#[cfg(test)]
mod tests {
    use catalogue::Level;
    use checker::Rules;
    use recordings::check;
    use serde_json::Value;

    use super::*;
    use crate::{Form, Style, render};

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
        let text = render(&run, Form::Ndjson, Level::Should, Style::Plain.into());
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
