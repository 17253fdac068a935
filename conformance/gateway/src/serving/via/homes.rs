//! Sealed reasoning goes only to the provider that issued it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use checker::sse;
use serde_json::{Map, Value};
use spec::Api;

/// Maximum number of seals that are remembered.
const MOST: usize = 1 << 16;
/// Blocks and items that are nothing without their seal.
const SEALED: [&str; 3] = ["thinking", "redacted_thinking", "reasoning"];
/// The members of seals.
const SEALS: [&str; 4] = ["signature", "encrypted_content", "thoughtSignature", "data"];

/// The models that issued the seals of streams, if another provider serves one of the models.
#[derive(Debug, Default)]
pub(super) struct Homes(Mutex<HashMap<String, String>>);

/// The stream of a model, as far as its seals are read.
pub(super) struct Learning {
    parser: sse::Parser,
    model: String,
}

impl Learning {
    pub(super) fn new(model: &str) -> Self {
        Self { parser: sse::Parser::default(), model: model.to_owned() }
    }
}

impl Homes {
    pub(super) fn learn(&self, learning: &mut Learning, bytes: &[u8]) {
        let Learning { parser, model } = learning;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parser.push(bytes, &mut |frame| {
            let data = frame.data.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok());
            each(&data.unwrap_or_default(), &mut |members| {
                for seal in SEALS.iter().filter_map(|name| members.get(*name)?.as_str()) {
                    if known.len() < MOST {
                        known.entry(seal.to_owned()).or_insert_with(|| model.clone());
                    }
                }
            });
        });
    }

    /// Seals of other models are taken out of a request. The result is whether it had any.
    pub(super) fn keep_out(&self, api: &Api, request: &mut Value) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let model = request["model"].as_str().unwrap_or_default().to_owned();
        let mut is_changed = false;
        let mut is_foreign = |members: &Map<String, Value>| -> Vec<&'static str> {
            let is_it = |name: &&&str| {
                let home = members.get(**name).and_then(Value::as_str).and_then(|seal| known.get(seal));
                home.is_some_and(|home| *home != model)
            };
            let names: Vec<_> = SEALS.iter().filter(is_it).copied().collect();
            is_changed |= !names.is_empty();
            names
        };
        if let Some(conversation) = request.get_mut(api.request.input) {
            without(conversation, &mut is_foreign);
        }
        is_changed
    }
}

fn without(value: &mut Value, is_foreign: &mut impl FnMut(&Map<String, Value>) -> Vec<&'static str>) {
    if let Value::Array(entries) = value {
        entries.retain(|entry| {
            let is_sealed = entry["type"].as_str().is_some_and(|kind| SEALED.contains(&kind));
            !(is_sealed && entry.as_object().is_some_and(|members| !is_foreign(members).is_empty()))
        });
        for entry in entries {
            without(entry, is_foreign);
        }
    } else if let Value::Object(members) = value {
        for name in is_foreign(members) {
            members.shift_remove(name);
        }
        members.values_mut().for_each(|member| without(member, is_foreign));
    }
}

fn each(value: &Value, found: &mut impl FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            found(members);
            members.values().for_each(|member| each(member, found));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| each(entry, found)),
        _ => {}
    }
}
