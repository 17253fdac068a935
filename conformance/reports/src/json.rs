//! A run as JSON.

use std::io::{self, BufWriter, Write};

use results::text::EscapedJson;
use serde::Serialize;

/// Piece by piece. `docs/report.schema.json` describes the report of a run.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write_json(report: &impl Serialize, out: impl Write) -> io::Result<()> {
    // Serializers write a few bytes at a time.
    let mut out = BufWriter::new(EscapedJson(out));
    serde_json::to_writer_pretty(&mut out, report)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Returns a report as JSON, like [`write_json`].
pub fn json(report: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let written = write_json(report, &mut bytes);
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;
    use checker::Rules;
    use recordings::check;
    use results::Run;

    /// The published schema matches the types. An incompatible change requires a new version.
    #[test]
    fn report_schema_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
        let text = format!("{:#}\n", schemars::schema_for!(Run).as_value());
        if env::var_os("BLESS").is_some() {
            fs::write(path, &text).unwrap();
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == text,
            "docs/report.schema.json is stale: BLESS=1 cargo test -p reports report_schema"
        );
    }

    #[test]
    fn reports_are_as_their_schema_says_and_can_be_read_again() {
        let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").unwrap();
        let created = "data: {\"type\":\"response.created\",\"sequence_number\":0}\n\n";
        let recording =
            format!("{created}{created}data: {{\"type\":\"response.output_text.delta\",\"delta\":1}}\n\n");
        let rules = Rules::of(dialect);
        let captures = vec![check("a.sse", &mut recording.as_bytes(), None, &rules)];
        let run = Run::new(&rules, captures, None);
        let text = json(&run);
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let findings = report["captures"][0]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["rule"] == "schema/event-valid"), "{report:#}");
        assert!(findings.iter().any(|finding| finding["related"]["line"] == 1), "{report:#}");
        let schema = schemars::schema_for!(Run);
        jsonschema::validate(schema.as_value(), &report).unwrap();
    }
}
