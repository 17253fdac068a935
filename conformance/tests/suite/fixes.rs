//! No finding forbids what its fix asks for.

use std::collections::BTreeSet;

use conformance::{Finding, Rules, check, goldens, violation};

/// Words of fixes that take something away, or say where it belongs.
const LIMITING: [&str; 5] = ["remove", "drop", "leave", "no", "only"];

/// Returns what a finding forbids: `no X`.
fn forbidden(finding: &Finding) -> Option<&str> {
    finding.expected.as_deref()?.strip_prefix("no ")?.split(' ').next()
}

/// Returns streams of each dialect with each violation of its API, and with lines that some dialects require and others forbid.
fn streams(dialect: &spec::Dialect) -> Vec<Vec<u8>> {
    let of_api = |golden: &str| {
        let of = golden.split_once('/').and_then(|(of, _)| spec::dialect(of));
        of.is_some_and(|of| of.api.name == dialect.api.name)
    };
    let mut streams: Vec<Vec<u8>> = catalogue::rules_in_apis()
        .filter(|(_, own)| of_api(own.violation.golden))
        .map(|(_, own)| violation::apply(&own.violation).expect("a violation"))
        .collect();
    let own = goldens::GOLDENS.iter().filter(|golden| golden.dialect == dialect.name);
    for golden in own.filter(|golden| golden.bytes.ends_with(b"\n\n")) {
        let text = String::from_utf8_lossy(golden.bytes);
        streams.push(format!("{text}data: [DONE]\n\n").into_bytes());
        streams.push(text.replace("data: [DONE]\n\n", "").into_bytes());
        streams.push(text.replace("data: ", "id: 1\ndata: ").into_bytes());
    }
    streams
}

#[test]
fn no_fix_asks_for_what_is_forbidden() {
    let (mut judged, mut told) = (0, BTreeSet::new());
    for dialect in spec::DIALECTS {
        let rules = Rules::of(dialect);
        for stream in streams(dialect) {
            for finding in check("edited", &mut &*stream, None, &rules).findings {
                let Some((thing, fix)) = forbidden(&finding).zip(finding.fix()) else { continue };
                judged += 1;
                if fix.contains(thing) && !fix.split(' ').any(|word| LIMITING.contains(&word)) {
                    told.insert(format!("{} in {}: no {thing}, but: {fix}", finding.rule, dialect.name));
                }
            }
        }
    }
    assert!(told.is_empty(), "{told:#?}");
    assert!(judged > 100, "{judged} findings forbid something");
}
