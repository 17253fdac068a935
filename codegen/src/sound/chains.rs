//! Types that refer to each other without end.

use std::collections::BTreeMap;

use super::report::SourcePlace;
use crate::dialect::Dialect;
use crate::schema::{Additional, Schema};

/// Maximum number of schemas that are tried for one value.
const MOST_BRANCHES: usize = 1024;

/// Maximum number of types that refer to each other without a value in between.
const LONGEST_CHAIN: usize = 32;

/// The number of schemas that are tried for a value of each type, if it is known.
type Weights<'d> = BTreeMap<&'d str, usize>;

impl Dialect {
    /// Types must not refer to each other without end. An error has the file, the reference in it, and the problem.
    pub(super) fn has_ends(&self) -> Result<(), (String, SourcePlace, String)> {
        let mut weights = Weights::new();
        let types = self.types.iter().map(|(name, schema)| (format!("types/{name}.json"), schema));
        let events = self.events.iter().map(|(name, event)| (format!("events/{name}.json"), &event.schema));
        for (file, schema) in types.chain(events) {
            self.ends(schema, &mut weights).map_err(|(place, message)| (file, place, message))?;
        }
        Ok(())
    }

    /// A value of the schema, and each value in it, must have an end of schemas.
    fn ends<'d>(
        &'d self,
        schema: &'d Schema,
        weights: &mut Weights<'d>,
    ) -> Result<(), (SourcePlace, String)> {
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

    /// The number of schemas that are tried for a value. `around` are the types that are being looked at.
    fn weight<'d>(
        &'d self,
        schema: &'d Schema,
        weights: &mut Weights<'d>,
        around: &mut Vec<&'d str>,
    ) -> Result<usize, (SourcePlace, String)> {
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
                    let message = format!(
                        "these types refer to each other without a value in between: {chain} -> {name}"
                    );
                    let first = around.first().map(|first| format!("\"../types/{first}.json\""));
                    return Err((first.map_or(SourcePlace::File, SourcePlace::Entry), message));
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
            let message = format!("{weight} schemas for one value; at most {MOST_BRANCHES} are supported");
            return Err((SourcePlace::File, message));
        }
        Ok(weight)
    }
}
