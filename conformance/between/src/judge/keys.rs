//! Keys that are seen where they do not belong.

use crate::evidence::{Evidence, Exchanged, KeyPlace, RunKey, Test};
use crate::judge::parts::findings::{Findings, Problem};

pub(super) fn judge(findings: &mut Findings<'_>, test: &Test, evidence: &Evidence) {
    let is_request = |place| matches!(place, KeyPlace::RequestHeaders | KeyPlace::RequestBody);
    let seen = |exchanges: &[Exchanged], key| {
        exchanges
            .iter()
            .flat_map(|it| &it.keys)
            .filter(|it| it.key == key)
            .map(|it| it.place)
            .collect::<Vec<_>>()
    };
    if !test.declared.passes_key {
        for place in seen(&evidence.upstream, RunKey::Client).into_iter().filter(|place| is_request(*place)) {
            let place = words(place);
            let message = format!("the key of the client is in the {place} to the upstream");
            findings.add("keys/client", Problem::new(place, message));
        }
    }
    let mut places = seen(&evidence.client, RunKey::Upstream);
    places.extend(seen(evidence.after.as_slice(), RunKey::Upstream));
    for place in places.into_iter().filter(|place| !is_request(*place)) {
        let place = words(place);
        let message = format!("the key for the upstream is in the {place} to the client");
        findings.add("keys/upstream", Problem::new(place, message));
    }
}

const fn words(place: KeyPlace) -> &'static str {
    match place {
        KeyPlace::RequestHeaders => "headers of the request",
        KeyPlace::RequestBody => "body of the request",
        KeyPlace::ResponseHeaders => "headers of the response",
        KeyPlace::ResponseBody => "body of the response",
    }
}
