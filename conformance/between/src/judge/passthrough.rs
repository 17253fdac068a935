//! The bytes of a gateway that passes an operation through.

use super::Turn;
use crate::evidence::Ended;
use crate::judge::parts::findings::{Findings, Problem};

pub(super) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    // Messages are no bytes of a request.
    if turn.client.upgrade == Some(101) {
        return;
    }
    let Some(request) = turn.requests.first() else { return };
    compare(findings, "request", &request.body, &turn.client.body, false);
    if let (Some(sent), Some(received)) = (turn.answer(), turn.response()) {
        let is_cut = turn.test.fault.is_some() || received.end == Ended::Left;
        // An error takes the place of a body that broke before anything was passed on.
        if is_cut && received.status >= 400 && sent.end != Ended::Complete {
            return;
        }
        let mut passed = received.body();
        if turn.test.silence().is_some() {
            passed = without_signs(&passed, &sent.body());
        }
        compare(findings, "response", &sent.body(), &passed, is_cut);
    }
}

/// The bytes of a response without what the gateway says of its own between two events.
fn without_signs(received: &[u8], sent: &[u8]) -> Vec<u8> {
    let (mut passed, mut rest) = (Vec::new(), sent);
    let mut block = Vec::new();
    for line in received.split_inclusive(|byte| *byte == b'\n') {
        block.extend_from_slice(line);
        if !is_blank(line) {
            continue;
        }
        let is_sign = |line: &&[u8]| is_blank(line) || line.starts_with(b":");
        let signs = block.split_inclusive(|byte| *byte == b'\n').take_while(is_sign).map(<[u8]>::len).sum();
        let own = [0, signs].into_iter().filter_map(|from| block.get(from..));
        if let Some(event) = own.filter(|own| !own.is_empty()).find(|own| rest.starts_with(own)) {
            passed.extend_from_slice(event);
            rest = rest.get(event.len()..).unwrap_or_default();
        }
        block.clear();
    }
    passed.append(&mut block);
    passed
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

fn compare(findings: &mut Findings<'_>, what: &str, upstream: &[u8], client: &[u8], is_cut: bool) {
    // Behind what a broken upstream sent, an error may follow.
    if upstream == client || is_cut && (upstream.starts_with(client) || client.starts_with(upstream)) {
        return;
    }
    let value = |bytes| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    let is_same_json = value(upstream).is_some() && value(upstream) == value(client);
    let kind = if is_same_json { "serialized again" } else { "changed" };
    let message = format!("the bytes of the {what} differ on both sides");
    let [upstream, client] = [upstream, client].map(String::from_utf8_lossy);
    findings.add(
        "passthrough/bytes",
        Problem::new(format!("{what}: {kind}"), message).between(&upstream, &client),
    );
}
