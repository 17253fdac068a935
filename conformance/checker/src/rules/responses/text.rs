//! Rules of the group `text`.

use spec::json;
use spec::table::Slot;

use crate::engine::Case;
use crate::engine::{Node, Object, same};
use crate::rules::logprobs::misspelled;

pub(in crate::rules) fn has_deltas(case: &mut Case<'_>, node: &Node) {
    if node.fragments != 0 || node.partial || case.stream.has_gap {
        return;
    }
    let Some(whole) = node.whole_text(false).filter(|whole| !whole.is_empty()) else { return };
    let Some(pointer) = case.info().and_then(|info| info.value) else { return };
    let what = node.level.name.replace('_', " ");
    let expected = format!("deltas of the {what} before it");
    let actual = format!("{} characters and no delta", whole.chars().count());
    case.fault(pointer, &expected, &actual, || format!("no delta was sent before the final {what}"));
}

pub(in crate::rules) fn logprobs_joined(case: &mut Case<'_>, node: &Node, _: &Object<'_>) {
    let stated = case.record().and_then(|record| record.view.raw(Slot::Logprobs)).and_then(json::entries);
    if node.logprobs.is_empty() || node.partial || case.stream.has_gap {
        return;
    }
    let Some(stated) = stated else { return };
    let joined: Vec<&str> = node.logprobs.iter().filter_map(|list| json::entries(list)).flatten().collect();
    let is_same =
        stated.len() == joined.len() && stated.iter().zip(&joined).all(|(one, other)| same(one, other));
    if !is_same {
        let (expected, actual) =
            (format!("the {} tokens of the deltas", joined.len()), stated.len().to_string());
        case.fault("/logprobs", &expected, &actual, || {
            "the log probabilities differ from those of the deltas".to_owned()
        });
    }
}

pub(in crate::rules) fn logprobs_spell_delta(case: &mut Case<'_>, _: &Node) {
    let Some(record) = case.record() else { return };
    let tokens = record.view.raw(Slot::Logprobs);
    let (Some(tokens), Some(delta)) = (tokens, record.view.string(Slot::Value)) else { return };
    let delta = json::decode(delta.raw).0;
    if let Some(spelled) = misspelled([tokens].into_iter(), &delta) {
        case.fault("/logprobs", &format!("tokens that join to {delta:?}"), &format!("{spelled:?}"), || {
            format!("the tokens join to {spelled:?}, but the delta is {delta:?}")
        });
    }
}
