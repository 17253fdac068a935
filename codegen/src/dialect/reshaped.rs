//! A copy of a dialect with one event type, whose values are nested and in lists.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::formats::{ApiFile, Effect, EventLine, Lifecycle, TypeRule};
use crate::schema::escape;

/// The type of the only event.
const EVENT: &str = "zap";

/// The list around each event.
const ENTRIES: &str = "/batch/*";

impl ApiFile {
    /// Returns a copy whose slots are in the entries of a list, except the number of the event.
    #[must_use]
    pub fn reshaped(&self) -> Self {
        let mut reshaped = self.clone();
        for (_, pointer) in reshaped.slots.iter_mut().filter(|(slot, _)| *slot != "sequence_number") {
            *pointer = format!("{ENTRIES}{pointer}");
        }
        reshaped
    }
}

impl Dialect {
    /// Returns a copy of the dialect with one event, in which what was an event is an entry of a list: its value is in
    /// the member `values`, under its type, and `true` if it has none. Tests check the same streams in both: findings
    /// must not depend on the shape of events.
    ///
    /// # Errors
    ///
    /// Fails if the event is not valid.
    pub fn reshaped(&self, name: &str) -> Result<Self, String> {
        let (mut effects, mut branches) = (Vec::new(), Vec::new());
        for event in self.events.values() {
            let Lifecycle::Always(effect) = &event.lifecycle else {
                return Err(format!("{} has a list of effects", event.name));
            };
            let value = format!("{ENTRIES}/values/{}", escape(&event.name));
            effects.push(Effect { name: Some(event.name.clone()), value: Some(value), ..effect.clone() });
            let member = effect.value.as_deref().and_then(|value| value.strip_prefix('/'));
            entries(&event.file, &event.name, member, &mut branches);
        }
        let file = json!({
            "$id": EVENT,
            "description": "Anything.",
            "x-lifecycle": Lifecycle::Listed(effects),
            "type": "object",
            "required": ["batch"],
            "properties": {
                "sequence_number": { "type": "integer" },
                "batch": { "type": "array", "items": { "anyOf": branches } },
            },
        });
        let mut reshaped = self.clone();
        name.clone_into(&mut reshaped.name);
        name.clone_into(&mut reshaped.file.api);
        reshaped.lineage.insert(0, self.name.clone());
        reshaped.events.clear();
        reshaped.take(&format!("events/{EVENT}.json"), file).map_err(|fault| fault.to_string())?;
        let file = &mut reshaped.file;
        file.envelope.0.clear();
        file.error = format!("{EVENT}/{}", file.error);
        let framing = &mut file.framing;
        framing.event_line = EventLine::None;
        framing.types = vec![TypeRule { has: None, is: None, name: EVENT.to_owned() }];
        (framing.websocket, framing.lanes) = (false, false);
        (framing.create, framing.steer, framing.inject) = (None, None, None);
        Ok(reshaped)
    }
}

fn entries(schema: &Value, event: &str, member: Option<&str>, branches: &mut Vec<Value>) {
    if let Some(inner) = schema.get("anyOf").and_then(Value::as_array) {
        for branch in inner {
            entries(branch, event, member, branches);
        }
        return;
    }
    let of = |keyword: &str| schema.get(keyword).cloned().unwrap_or_default();
    let (properties, required) = (of("properties"), of("required"));
    let mut properties = properties.as_object().cloned().unwrap_or_default();
    properties.shift_remove("sequence_number");
    let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let value = member.and_then(|member| properties.shift_remove(member));
    let is_required = member.is_none_or(|member| required.contains(&member));
    let needed: Vec<&str> = is_required.then_some(event).into_iter().collect();
    let values = Map::from_iter([(event.to_owned(), value.unwrap_or_else(|| json!({ "const": true })))]);
    properties
        .insert("values".to_owned(), json!({ "type": "object", "required": needed, "properties": values }));
    let kept = required.into_iter().filter(|name| *name != "sequence_number" && Some(*name) != member);
    let required: Vec<&str> = kept.chain(["values"]).collect();
    branches.push(json!({ "type": "object", "required": required, "properties": properties }));
}
