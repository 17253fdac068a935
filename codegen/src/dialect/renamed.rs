//! A copy of a dialect with other names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Dialect;
use crate::formats::Aside;

/// Other names for the events of a dialect and for members of their payloads.
#[derive(Debug, Clone, Copy)]
pub struct Renaming {
    /// The name of the dialect, and of its API.
    pub dialect: &'static str,
    /// Scopes, with their new names.
    pub scopes: &'static [(&'static str, &'static str)],
    /// Returns the name of an event or of a client's message.
    pub event: fn(&str) -> String,
    /// Slots, with the new names of their members.
    pub slots: &'static [(&'static str, &'static str)],
}

impl Dialect {
    /// Returns a copy of the dialect with other names. Tests check the same streams in both: findings must not
    /// depend on names.
    ///
    /// # Errors
    ///
    /// Fails if an event is not valid under its new name.
    pub fn renamed(&self, renaming: &Renaming) -> Result<Self, String> {
        let Renaming { dialect, scopes, event: rename, slots } = *renaming;
        let mut renamed = self.clone();
        dialect.clone_into(&mut renamed.name);
        dialect.clone_into(&mut renamed.file.api);
        renamed.lineage.insert(0, self.name.clone());
        renamed.events = BTreeMap::new();
        for (name, event) in &self.events {
            let mut file = event.file.clone();
            let new = rename(name);
            file["$id"] = new.clone().into();
            rename_payload(&mut file, &new, slots);
            let mut lifecycle = event.lifecycle.clone();
            for effect in lifecycle.effects_mut() {
                if let Some((_, scope)) = scopes.iter().find(|(old, _)| *old == effect.scope) {
                    (*scope).clone_into(&mut effect.scope);
                }
            }
            file["x-lifecycle"] = serde_json::to_value(&lifecycle).map_err(|error| error.to_string())?;
            renamed.take(&format!("events/{new}.json"), file).map_err(|fault| fault.to_string())?;
        }
        let file = &mut renamed.file;
        for (slot, member) in slots {
            file.envelope.0.insert((*slot).to_owned(), format!("/{member}"));
        }
        for name in std::iter::once(&mut file.error).chain(&mut file.framing.create) {
            *name = rename(name);
        }
        for Aside { message, accepted, pending, failed } in
            file.framing.steer.iter_mut().chain(&mut file.framing.inject)
        {
            for name in [message, accepted, failed].into_iter().chain(pending) {
                *name = rename(name);
            }
        }
        Ok(renamed)
    }
}

/// Renames an event in the schema of its payload, and the members of its slots.
fn rename_payload(schema: &mut Value, event: &str, slots: &[(&str, &str)]) {
    for branch in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        rename_payload(branch, event, slots);
    }
    let new_name = |name: &str| slots.iter().find(|(slot, _)| *slot == name).map(|(_, member)| *member);
    if let Some(constant) = schema.pointer_mut("/properties/type/const") {
        *constant = event.into();
    }
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let renamed = |(name, value): (String, Value)| (new_name(&name).map_or(name, str::to_owned), value);
        *members = std::mem::take(members).into_iter().map(renamed).collect();
    }
    for required in schema.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(member) = required.as_str().and_then(new_name) {
            *required = member.into();
        }
    }
}
