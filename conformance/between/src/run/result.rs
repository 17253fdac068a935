//! The result of a test.

use std::io;
use std::path::Path;

use results::{BetweenTest, OfPair, Verdict};
use spec::Api;

use crate::evidence::{Evidence, Exchanged, Response, Test};
use crate::folder;
use crate::judge::judge;
use crate::moments::moments;
use crate::upstream::UNSERVED;

/// Also writes the recordings to a folder if there is one.
pub(crate) fn judged(test: &Test, evidence: &Evidence, out: Option<&Path>) -> io::Result<BetweenTest> {
    // Verdicts on what is recorded are the same when it is read again.
    let evidence = folder::recorded(test, evidence)?;
    let moments = moments(&evidence);
    let mut result = judge(test, &evidence).of_test(result(test));
    result.about.moments = moments;
    if let Some(out) = out {
        result.files = folder::write(out, test, &evidence)?;
        result.hash = folder::hash_of(out, &result)?;
    }
    Ok(result)
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

/// The gateway gives up, as the upstream does not serve what it asks besides.
pub(super) fn says_unserved(exchange: &Exchanged) -> bool {
    let body = exchange.response.as_ref().map(Response::body).unwrap_or_default();
    String::from_utf8_lossy(&body).contains(UNSERVED)
}

pub(super) fn unserved() -> String {
    "the gateway asks the upstream for something that the suite does not serve, and gives up: see the requests that no test \
     accounts for, and turn that off"
        .to_owned()
}

pub(crate) fn result(test: &Test) -> BetweenTest {
    let about = OfPair {
        case: test.case.id.to_owned(),
        front: test.front.api.name.to_owned(),
        upstream: test.upstream.api.name.to_owned(),
        ..OfPair::default()
    };
    BetweenTest { name: test.name.clone(), about, ..BetweenTest::default() }
}
