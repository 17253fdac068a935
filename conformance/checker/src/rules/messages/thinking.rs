//! Rules of the group `thinking`.

use spec::json;
use spec::table::Scope;

use super::{CUT_OFF, blocks};
use crate::engine::{Case, Node, Object};
use crate::rules::non_empty;

pub(in crate::rules) fn signed(case: &mut Case<'_>, message: &Node, _: &Object<'_>) {
    let Some(reason) = message.reason().filter(|_| !case.stream.has_gap) else { return };
    let stream = case.stream;
    let last = stream.items().next_back();
    let is_cut =
        |block: &Node| CUT_OFF.contains(&reason) && last.is_some_and(|last| std::ptr::eq(last, block));
    let unsigned: Vec<&Node> = blocks(case.stream, &["thinking"])
        .filter(|block| stream.children(block, Scope::Signature).next().is_none() && !is_cut(block))
        .collect();
    for block in unsigned {
        let name = case.name(block);
        case.fault_of_event("a signature_delta", "none", || format!("{name} has no signature"));
    }
}

pub(in crate::rules) fn signature_last(case: &mut Case<'_>, thinking: &Node) {
    let stream = case.stream;
    let Some(block) = stream.parent(thinking) else { return };
    if stream.children(block, Scope::Signature).next().is_some() {
        let name = case.name(block);
        case.expected("content_block_stop", || format!("{name} has thinking after its signature"));
    }
}

pub(in crate::rules) fn signature_not_empty(case: &mut Case<'_>, _: &Node, signature: &Object<'_>) {
    if signature.text() == "\"\"" {
        case.fault("/delta/signature", "a non-empty string", "\"\"", || "the signature is empty".to_owned());
    }
}

pub(in crate::rules) fn signature_in_its_delta(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let kind = case.record().and_then(|record| json::string_member(record.member("delta")?, "type"));
    if let Some(kind) = kind.filter(|kind| kind != "signature_delta") {
        case.fault("/delta/type", "\"signature_delta\"", &format!("{kind:?}"), || {
            format!("the signature is in a {kind}")
        });
    }
}

pub(in crate::rules) fn redacted_has_data(case: &mut Case<'_>, _: &Node, block: &Object<'_>) {
    non_empty(case, block, "/content_block", &["data"], |_| "the redacted thinking has no data".to_owned());
}
