//! What must be true of a dialect before tables are made of it, whoever wrote its files.

use std::collections::BTreeMap;

use super::Dialect;
use crate::formats::ApiFile;
use crate::schema::{Additional, Schema};

/// Maximum number of schemas that are tried for one value.
const MOST_BRANCHES: usize = 1024;

/// Maximum number of types that refer to each other without a value in between.
const LONGEST_CHAIN: usize = 32;

/// The number of schemas that are tried for a value of each type, if it is known.
type Weights<'d> = BTreeMap<&'d str, usize>;

impl Dialect {
    /// Fails if types refer to each other without end, or if the API lacks a scope or a value that files name. An error has
    /// the file, and the problem.
    ///
    /// # Errors
    ///
    /// Fails on the first problem.
    pub fn is_sound(&self, api: &ApiFile) -> Result<(), (String, String)> {
        let mut weights = Weights::new();
        for (name, schema) in &self.types {
            self.ends(schema, &mut weights).map_err(|message| (format!("types/{name}.json"), message))?;
        }
        for event in self.events.values() {
            let failed = |message| (format!("events/{}.json", event.name), message);
            self.ends(&event.schema, &mut weights).map_err(failed)?;
            let mut effects = event.lifecycle.effects().iter();
            if let Some(effect) = effects.find(|effect| !api.scopes.contains_key(&effect.scope)) {
                let known = listed(api.scopes.keys());
                let scope = &effect.scope;
                return Err(failed(format!(
                    "at /x-lifecycle: there is no scope \"{scope}\"; there are: {known}"
                )));
            }
        }
        match self.file.envelope.0.keys().find(|slot| !api.slots.contains_key(*slot)) {
            None => Ok(()),
            Some(slot) => {
                let known = listed(api.slots.keys());
                let message = format!("[envelope]: there is no value \"{slot}\"; there are: {known}");
                Err(("dialect.toml".to_owned(), message))
            }
        }
    }

    /// Fails if a value of the schema, or a value in it, has no end of schemas.
    fn ends<'d>(&'d self, schema: &'d Schema, weights: &mut Weights<'d>) -> Result<(), String> {
        self.weight(schema, weights, &mut Vec::new())?;
        match schema {
            Schema::Array(array) => self.ends(&array.items, weights),
            Schema::Object(object) => {
                let typed =
                    if let Additional::Typed(values) = &object.additional { Some(values) } else { None };
                let mut values = object.properties.iter().map(|property| &property.schema).chain(typed);
                values.try_for_each(|value| self.ends(value, weights))
            }
            Schema::Nullable(inner) => self.ends(inner, weights),
            Schema::Union(branches) => branches.iter().try_for_each(|branch| self.ends(branch, weights)),
            _ => Ok(()),
        }
    }

    /// Returns the number of schemas that are tried for a value. `around` are the types that are being looked at.
    fn weight<'d>(
        &'d self,
        schema: &'d Schema,
        weights: &mut Weights<'d>,
        around: &mut Vec<&'d str>,
    ) -> Result<usize, String> {
        let weight = match schema {
            Schema::Nullable(inner) => self.weight(inner, weights, around)?,
            Schema::Union(branches) => {
                let mut sum = 0_usize;
                for branch in branches {
                    sum = sum.saturating_add(self.weight(branch, weights, around)?);
                }
                sum
            }
            Schema::Ref(name) => {
                if let Some(known) = weights.get(name.as_str()) {
                    return Ok(*known);
                }
                let Some(target) = self.types.get(name) else { return Ok(1) };
                if around.contains(&name.as_str()) || around.len() >= LONGEST_CHAIN {
                    let chain = around.join(" -> ");
                    return Err(format!(
                        "these types refer to each other without a value in between: {chain} -> {name}"
                    ));
                }
                around.push(name);
                let weight = self.weight(target, weights, around)?;
                around.pop();
                weights.insert(name, weight);
                weight
            }
            _ => 1,
        };
        if weight > MOST_BRANCHES {
            return Err(format!("{weight} schemas for one value; at most {MOST_BRANCHES} are supported"));
        }
        Ok(weight)
    }
}

fn listed<'n>(names: impl Iterator<Item = &'n String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}
