//! The result of a test.

use std::io;
use std::path::Path;

use results::{BetweenTest, Verdict};
use spec::Api;

use crate::evidence::{Evidence, Test};
use crate::folder;
use crate::judge::{Judged, judge};
use crate::moments::moments;

/// Judges a test by its recordings, and writes them to a folder if there is one.
pub(super) fn judged(test: &Test, evidence: &Evidence, out: Option<&Path>) -> io::Result<BetweenTest> {
    // Verdicts on what is recorded are the same when it is read again.
    let evidence = folder::recorded(test, evidence)?;
    let mut result = BetweenTest { moments: moments(&evidence), ..of_judged(test, judge(test, &evidence)) };
    if let Some(out) = out {
        result.files = folder::write(out, test, &evidence)?;
        result.hash = folder::hash_of(out, &result)?;
    }
    Ok(result)
}

fn of_judged(test: &Test, judged: Judged) -> BetweenTest {
    let verdict =
        if judged.findings.iter().any(|finding| finding.fails) { Verdict::Fail } else { Verdict::Pass };
    BetweenTest {
        verdict,
        stream: judged.outcome,
        findings: judged.findings,
        limits: judged.limits,
        ..result(test)
    }
}

pub(super) fn harness_error(test: &Test, reason: String) -> BetweenTest {
    BetweenTest { verdict: Verdict::HarnessError, reason, ..result(test) }
}

pub(super) fn other_upstream(test: &Test, api: &Api) -> String {
    let (title, wanted) = (api.title, test.upstream.api.title);
    format!(
        "the gateway sends requests of {title} to the upstream, but this pair needs {wanted}; configure it so, or pass --upstream {}",
        api.name
    )
}

/// Returns the result of a test before it is judged.
fn result(test: &Test) -> BetweenTest {
    BetweenTest {
        name: test.name.clone(),
        case: test.case.id.to_owned(),
        front: test.front.api.name.to_owned(),
        upstream: test.upstream.api.name.to_owned(),
        verdict: Verdict::Pass,
        reason: String::new(),
        stream: None,
        findings: Vec::new(),
        limits: Vec::new(),
        files: Vec::new(),
        hash: String::new(),
        moments: Vec::new(),
        expected: None,
        ms: 0,
    }
}
