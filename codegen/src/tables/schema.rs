//! Tables that the validator compares values with: one for each object and union of a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::order::UsualOrder;
use super::watch::{WatchedPlace, watch};
use super::{
    EventMember, EventSchema, FirstByte, ListSchema, Member, MemberRules, NamedTable, NumberRules,
    ObjectName, ObjectSchema, Others, Schema as Built, SlotName, Table, TableName, Tag, TextPattern,
    TextRules, UnionSchema, Watch,
};
use crate::dialect::{Dialect, Event};
use crate::formats::{ApiFile, Lifecycle, Role};
use crate::names::{self, event_path, type_path};
use crate::schema::{Additional, Kind, Object, Pattern, Property, Range, Registry, Schema, StringRules};

type OfTypes = BTreeMap<String, Vec<NamedTable>>;
type OfEvents = Vec<(EventSchema, Vec<NamedTable>)>;

pub(super) fn tables(dialect: &Dialect, api: &ApiFile) -> Result<(OfTypes, OfEvents), String> {
    let mut builder = Builder {
        registry: dialect.registry(),
        order: UsualOrder::learn(dialect),
        noted: noted(dialect, api),
        tables: Vec::new(),
        taken: dialect.types.keys().map(|name| type_path(name)).collect(),
    };
    let (mut types, mut events) = (OfTypes::new(), OfEvents::new());
    for (name, schema) in &dialect.types {
        builder.table(&type_path(name), schema).map_err(|error| format!("types/{name}.json: {error}"))?;
        types.insert(name.clone(), std::mem::take(&mut builder.tables));
    }
    for event in dialect.events.values() {
        let outer = Outer {
            slots: slots(dialect, event, api),
            snapshot: snapshot(api),
            is_delta: event.lifecycle.has_role(Role::Delta),
            watch: watch(dialect, event, api),
            padding: &api.padding,
        };
        let schema = builder.event(event, &outer).map_err(|e| format!("events/{}.json: {e}", event.name))?;
        events.push((schema, std::mem::take(&mut builder.tables)));
    }
    Ok((types, events))
}

/// The slot of the value of an event.
const VALUE: &str = "value";

/// Properties of an object that is an event.
struct Outer<'a> {
    slots: Vec<(String, SlotName)>,
    /// The slot of the value of the root.
    snapshot: Option<SlotName>,
    /// Others like it follow.
    is_delta: bool,
    /// The places of its values, if some are inside of others.
    watch: Option<WatchedPlace>,
    /// The members of deltas that mean nothing.
    padding: &'a [String],
}

impl Outer<'_> {
    /// Returns the slot that receives the value of a member.
    fn slot(&self, property: &Property) -> Option<&SlotName> {
        self.slots.iter().find(|(member, _)| *member == property.name).map(|(_, slot)| slot)
    }

    /// Returns whether any other value of a member is valid, too, and has the same effect except for the text and the
    /// number. Ids and indices stay the same from one delta to the next. If texts are inside of other values, rules may
    /// be about any member but padding.
    fn may_vary(&self, property: &Property) -> bool {
        let takes_all = match &property.schema {
            Schema::String(rules) => *rules == StringRules::default(),
            Schema::Integer(range) => *range == Range::default(),
            _ => false,
        };
        let may_vary = match self.slot(property) {
            Some(SlotName(slot)) => slot == VALUE || slot == "sequence_number",
            None => self.watch.is_none() || self.padding.contains(&property.name),
        };
        self.is_delta && takes_all && may_vary
    }
}

fn slots(dialect: &Dialect, event: &Event, api: &ApiFile) -> Vec<(String, SlotName)> {
    let usual = api.slots.iter().map(|(slot, pointer)| {
        let pointer = dialect.file.envelope.0.get(slot).unwrap_or(pointer);
        (pointer.as_str(), slot.as_str())
    });
    let value = match &event.lifecycle {
        Lifecycle::Always(effect) => effect.value.as_deref(),
        Lifecycle::Listed(_) => None,
    };
    let value = value.map(|pointer| (pointer, VALUE));
    usual
        .chain(value)
        .filter_map(|(pointer, slot)| {
            let name = pointer.strip_prefix('/')?;
            Some((name.to_owned(), SlotName(slot.to_owned())))
        })
        .collect()
}

fn snapshot(api: &ApiFile) -> Option<SlotName> {
    api.outer.snapshot.clone().map(SlotName)
}

/// Returns the paths of the types of responses and of lifecycle values in events.
pub(crate) fn noted(dialect: &Dialect, api: &ApiFile) -> BTreeSet<String> {
    let registry = dialect.registry();
    let snapshot = snapshot(api);
    let mut noted = BTreeSet::new();
    for event in dialect.events.values() {
        let Schema::Object(object) = registry.resolve(&event.schema) else { continue };
        let slots = slots(dialect, event, api);
        let is_meant = |name: &str| {
            slots
                .iter()
                .any(|(member, slot)| member == name && (Some(slot) == snapshot.as_ref() || slot.0 == VALUE))
        };
        let mut rest: Vec<&Schema> =
            object.properties.iter().filter(|it| is_meant(&it.name)).map(|it| &it.schema).collect();
        while let Some(schema) = rest.pop() {
            match schema {
                Schema::Ref(name) if noted.insert(type_path(name)) => {
                    rest.extend(registry.get(name));
                }
                Schema::Nullable(inner) => rest.push(inner),
                Schema::Union(branches) => rest.extend(branches),
                _ => {}
            }
        }
    }
    noted
}

fn refer(path: &str, target: &Schema) -> Built {
    let variant = match target {
        Schema::Object(_) => "Object",
        Schema::Union(_) => "Union",
        _ => "Named",
    };
    Built::Table(TableName { name: path.to_owned(), variant })
}

struct Builder<'d> {
    registry: Registry<'d>,
    order: UsualOrder,
    /// The paths of responses and lifecycle values in events.
    noted: BTreeSet<String>,
    /// The tables of the current type or event.
    tables: Vec<NamedTable>,
    taken: BTreeSet<String>,
}

impl Builder<'_> {
    fn table(&mut self, path: &str, schema: &Schema) -> Result<(), String> {
        let table = match schema {
            Schema::Object(object) => Table::Object(self.object(object, path)?),
            Schema::Union(branches) => Table::Union(self.union(branches, path)?),
            other => Table::Other(self.schema(other, path)?),
        };
        self.tables.push(NamedTable { name: path.to_owned(), table });
        Ok(())
    }

    fn event(&mut self, event: &Event, outer: &Outer<'_>) -> Result<EventSchema, String> {
        let path = self.fresh(&event_path(&event.name));
        let schema = self.registry.resolve(&event.schema);
        let watch = outer.watch.as_ref().map(|watch| self.watch(watch, None, &path)).transpose()?;
        let watch = watch.map(Box::new);
        // The values of slots are taken from their places, wherever these are.
        let slots: &[_] = if watch.is_some() { &[] } else { &outer.slots };
        let Schema::Object(object) = schema else {
            return Ok(EventSchema::Other(self.schema(schema, &path)?, slots.to_vec(), watch));
        };
        self.table(&path, schema)?;
        let members = self.order.members(&path, object).into_iter().map(|property| {
            let slot = outer.slot(property).filter(|_| watch.is_none()).cloned();
            let is_snapshot = slot.is_some() && slot == outer.snapshot;
            EventMember { slot, is_snapshot, varies: outer.may_vary(property) }
        });
        let (members, others_vary) = (members.collect(), outer.is_delta && watch.is_none());
        Ok(EventSchema::Object { schema: ObjectName(path), members, others_vary, watch })
    }

    fn watch(&mut self, place: &WatchedPlace, member: Option<&str>, path: &str) -> Result<Watch, String> {
        let schema = place.schema.as_ref().map(|schema| self.schema(schema, path)).transpose()?;
        let inner = place.inner.iter().map(|(name, place)| {
            let member = Some(name.as_str()).filter(|name| *name != "*");
            self.watch(place, member, path)
        });
        Ok(Watch {
            member: member.map(str::to_owned),
            inner: inner.collect::<Result<_, _>>()?,
            slot: place.slot.clone(),
            effects: place.effects.clone(),
            allows: place.allows.clone(),
            forbids: place.forbids.clone(),
            takes_any_text: place.takes_any_text,
            schema: schema.map(Box::new),
        })
    }

    fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// Objects and unions get tables of their own.
    fn schema(&mut self, schema: &Schema, path: &str) -> Result<Built, String> {
        Ok(match schema {
            Schema::Any => Built::Any,
            Schema::Null => Built::Null,
            Schema::Boolean => Built::Boolean,
            Schema::String(rules) if *rules == StringRules::default() => Built::String,
            Schema::String(rules) => Built::Text(Box::new(text_rules(rules))),
            Schema::Integer(range) => number(true, range),
            Schema::Number(range) => number(false, range),
            Schema::Const(Value::String(value)) => Built::Constant(value.clone()),
            Schema::Const(Value::Bool(value)) => Built::ConstantBoolean(*value),
            Schema::Const(other) => {
                return Err(format!("constant {other}: only strings and booleans are supported"));
            }
            Schema::Enum(values) => Built::OneOf(values.clone()),
            Schema::OpenEnum(values) => Built::Known(values.clone()),
            Schema::Array(array) => {
                let entries = self.schema(&array.items, &format!("{path}_item"))?;
                let (least, most) = (array.min_items, array.max_items);
                let (length, expected) = (length(least, most), limits("entries", least, most));
                Built::List(Box::new(ListSchema { entries, length, expected }))
            }
            Schema::Nullable(inner) => Built::Nullable(Box::new(self.schema(inner, path)?)),
            Schema::Ref(name) => {
                let target = self.registry.get(name).ok_or_else(|| format!("there is no type {name}"))?;
                refer(&type_path(name), target)
            }
            Schema::Object(_) | Schema::Union(_) => {
                let path = self.fresh(path);
                self.table(&path, schema)?;
                refer(&path, schema)
            }
        })
    }

    fn object(&mut self, object: &Object, path: &str) -> Result<ObjectSchema, String> {
        if object.properties.len() > 64 {
            return Err(format!("{} properties: validators support at most 64", object.properties.len()));
        }
        let (mut members, mut required) = (Vec::new(), 0_u64);
        for (place, property) in self.order.members(path, object).into_iter().enumerate() {
            let name = &property.name;
            let schema = self.schema(&property.schema, &format!("{path}_{}", names::snake(name)))?;
            required |= u64::from(property.required) << place;
            members.push(Member { name: name.clone(), schema });
        }
        let others = match &object.additional {
            Additional::Open => Others::Open,
            Additional::Closed => Others::Closed,
            Additional::Typed(schema) => Others::Typed(self.schema(schema, &format!("{path}_value"))?),
        };
        let is_limited = object.max_properties.is_some() || object.property_names.is_some();
        let limits = is_limited.then(|| {
            let names = object.property_names.as_ref().map(|rules| Box::new(text_rules(rules)));
            Box::new(MemberRules { most: object.max_properties.unwrap_or(u64::MAX), names })
        });
        Ok(ObjectSchema { members, required, others, limits, is_noted: self.noted.contains(path) })
    }

    fn union(&mut self, branches: &[Schema], path: &str) -> Result<UnionSchema, String> {
        let plan = self.registry.plan(branches);
        let mut schemas = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            schemas.push(self.schema(branch, &format!("{path}_{index}"))?);
        }
        let mut kinds = Vec::new();
        for (kind, candidates) in &plan.by_kind {
            let enough = candidates.iter().position(|&i| self.registry.takes_all(&branches[i], *kind));
            let candidates = enough.map_or(candidates.as_slice(), |at| &candidates[at..=at]);
            kinds.push((FirstByte::from(*kind), first_of(&schemas, candidates)));
        }
        let tag = plan.tag.as_ref().map(|tag| Tag {
            property: tag.property.clone(),
            values: tag.values.iter().map(|(value, _)| value.clone()).collect(),
            schemas: tag.values.iter().map(|(_, branch)| schemas[*branch].clone()).collect(),
        });
        if tag.is_none() && !plan.objects.is_empty() {
            kinds.push((FirstByte::from(Kind::Object), first_of(&schemas, &plan.objects)));
        }
        Ok(UnionSchema { kinds, tag, expected: in_words(&plan) })
    }
}

fn first_of(schemas: &[Built], candidates: &[usize]) -> Built {
    if let [only] = candidates {
        schemas[*only].clone()
    } else {
        Built::FirstOf(candidates.iter().map(|&index| schemas[index].clone()).collect())
    }
}

fn in_words(plan: &crate::schema::UnionPlan) -> String {
    let objects = (!plan.objects.is_empty()).then_some(Kind::Object);
    let kinds = plan.by_kind.iter().map(|(kind, _)| *kind).chain(objects);
    kinds.map(Kind::in_words).collect::<Vec<_>>().join(" or ")
}

fn number(integral: bool, range: &Range) -> Built {
    let kind = if integral { "an integer" } else { "a number" };
    let expected = match (range.minimum, range.maximum) {
        (None, None) => return if integral { Built::Integer } else { Built::Number },
        (Some(low), Some(high)) => format!("{kind} from {low} to {high}"),
        (Some(low), None) => format!("{kind} of at least {low}"),
        (None, Some(high)) => format!("{kind} of at most {high}"),
    };
    Built::NumberIn(Box::new(NumberRules {
        is_integral: integral,
        minimum: range.minimum.unwrap_or(f64::NEG_INFINITY),
        maximum: range.maximum.unwrap_or(f64::INFINITY),
        expected,
    }))
}

fn text_rules(rules: &StringRules) -> TextRules {
    let mut words = Vec::new();
    if rules.min_length.is_some() || rules.max_length.is_some() {
        words.push(limits("characters", rules.min_length, rules.max_length));
    }
    let pattern = rules.pattern.as_ref().map(|Pattern { source, prefix, class, count }| {
        words.push(format!("matching {source}"));
        let count = count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        TextPattern { prefix: prefix.clone(), class: class.clone(), count }
    });
    let expected = format!("a string of {}", words.join(", "));
    TextRules { length: length(rules.min_length, rules.max_length), pattern, expected }
}

fn length(least: Option<u64>, most: Option<u64>) -> (u64, u64) {
    (least.unwrap_or(0), most.unwrap_or(u64::MAX))
}

fn limits(unit: &str, least: Option<u64>, most: Option<u64>) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least > most => {
            "a length that is impossible: omit the property".to_owned()
        }
        (Some(least), Some(most)) => format!("{least} to {most} {unit}"),
        (Some(least), None) => format!("at least {least} {unit}"),
        (_, Some(most)) => format!("at most {most} {unit}"),
        (None, None) => format!("any number of {unit}"),
    }
}
