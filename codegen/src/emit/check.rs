//! Emits the schemas as tables, one for each object and union, with which values are compared.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use serde_json::Value;

use super::names::{self, event_path, type_path};
use super::order::UsualOrder;
use super::shared::Shared;
use super::tables::{option, option_text};
use crate::dialect::{Dialect, Event};
use crate::formats::{ApiFile, Lifecycle, Role};
use crate::schema::{
    Additional, Kind, Object, Pattern, Property, Range, Registry, Schema, StringRules, first_segment,
    leads_somewhere, schema_at, takes_any_text, unescape,
};

/// Emits the tables of a dialect, except those shared with another one, and two functions that find them by name.
///
/// # Errors
///
/// Fails on a schema that validators do not support.
pub(super) fn emit(dialect: &Dialect, base: Option<&Dialect>, api: &ApiFile) -> Result<TokenStream, String> {
    let order = UsualOrder::learn(dialect);
    let noted = noted(dialect, api);
    let shared = base.map(|base| {
        let others = self::noted(base, api);
        Shared::new(dialect, base, api, |name| {
            let path = type_path(name);
            noted.contains(&path) == others.contains(&path)
        })
    });
    let has_type = |name: &str| shared.as_ref().is_some_and(|shared| shared.types.contains(name));
    let has_event = |name: &str| shared.as_ref().is_some_and(|shared| shared.events.contains(name));
    let mut emitter =
        Emitter { registry: dialect.registry(), order, noted, tables: Vec::new(), taken: BTreeSet::new() };
    for name in dialect.types.keys() {
        emitter.taken.insert(type_path(name));
    }
    for (name, schema) in dialect.types.iter().filter(|(name, _)| !has_type(name)) {
        emitter.table(&type_path(name), schema).map_err(|error| format!("types/{name}.json: {error}"))?;
    }
    let (mut events, mut places) = (Vec::new(), Vec::new());
    for event in dialect.events.values() {
        let place = Literal::usize_unsuffixed(events.len());
        places.push((event.name.as_str(), quote!(#place)));
        if let Some(shared) = shared.as_ref().filter(|_| has_event(&event.name)) {
            events.push(shared.event(&event.name));
            continue;
        }
        let outer = Outer {
            slots: slots(dialect, event, api),
            snapshot: snapshot(api),
            is_delta: event.lifecycle.has_role(Role::Delta),
            watch: watch(dialect, event, api),
            padding: &api.padding,
        };
        events.push(emitter.event(event, &outer).map_err(|e| format!("events/{}.json: {e}", event.name))?);
    }
    let count = events.len();
    // Lookups go to the other dialect if it has all types of this one.
    let whole =
        shared.as_ref().filter(|it| it.base.types.keys().all(|name| dialect.types.contains_key(name)));
    let listed = dialect.types.iter().filter(|(name, _)| whole.is_none() || !has_type(name));
    let listed = listed.map(|(name, schema)| {
        let schema = refer(name, schema);
        (name.as_str(), quote!(Some(#schema)))
    });
    let otherwise = whole.map(Shared::path);
    let otherwise = otherwise.map_or_else(|| quote!(None), |path| quote!(#path::check::named(name)));
    let imports = shared.as_ref().map(|shared| {
        let (path, tables) = (shared.path(), shared.types.iter().map(|name| table_ident(&type_path(name))));
        quote!(pub(crate) use #path::check::{#(#tables),*};)
    });
    let by_event = match &shared {
        Some(shared) if shared.base.events.keys().eq(dialect.events.keys()) => {
            let path = shared.path();
            quote!(#path::check::place_of_event(event))
        }
        _ => {
            let found = super::lookup(&quote!(event), places, &quote!(return None));
            quote!(Some(#found))
        }
    };
    let by_type = super::lookup(&quote!(name), listed, &otherwise);
    let tables = emitter.tables;
    Ok(quote! {
        use crate::event::{EventMember, EventSchema, Watch};
        use crate::json::{
            ListSchema, Member, MemberRules, NumberRules, ObjectSchema, Others, Schema, Tag, TextPattern,
            TextRules, UnionSchema,
        };
        use crate::Slot;
        #imports

        /// The schemas of events, sorted by type.
        pub(crate) const EVENTS: [EventSchema; #count] = [#(#events),*];

        /// Returns the position of the schema of an event.
        pub(crate) fn place_of_event(event: &str) -> Option<usize> {
            #by_event
        }

        /// Returns the schema with a name.
        pub(crate) fn named(name: &str) -> Option<Schema> {
            #by_type
        }

        #(#tables)*
    })
}

/// Properties of an object that is an event.
struct Outer<'a> {
    slots: Vec<(String, Ident)>,
    /// The slot of the value of the root.
    snapshot: Option<Ident>,
    /// Others like it follow.
    is_delta: bool,
    /// The places of its values, if some are inside of others.
    watch: Option<Place>,
    /// The members of deltas that mean nothing.
    padding: &'a [String],
}

impl Outer<'_> {
    /// Returns the slot that receives the value of a member.
    fn slot(&self, property: &Property) -> Option<&Ident> {
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
            Some(slot) => slot == "Value" || slot == "SequenceNumber",
            None => self.watch.is_none() || self.padding.contains(&property.name),
        };
        self.is_delta && takes_all && may_vary
    }
}

/// Returns the members of an event that have a slot, with the name of the slot.
fn slots(dialect: &Dialect, event: &Event, api: &ApiFile) -> Vec<(String, Ident)> {
    let usual = api.slots.iter().map(|(slot, pointer)| {
        let pointer = dialect.file.envelope.0.get(slot).unwrap_or(pointer);
        (pointer.as_str(), slot.as_str())
    });
    let value = match &event.lifecycle {
        Lifecycle::Always(effect) => effect.value.as_deref(),
        Lifecycle::Listed(_) => None,
    };
    let value = value.map(|pointer| (pointer, "value"));
    usual
        .chain(value)
        .filter_map(|(pointer, slot)| {
            let name = pointer.strip_prefix('/')?;
            Some((name.to_owned(), names::ident(&names::pascal(slot))))
        })
        .collect()
}

/// A place in an event, with those inside of it.
#[derive(Default)]
struct Place {
    slot: Option<Ident>,
    effects: Vec<usize>,
    /// The effects of the value around it that need it.
    allows: Vec<usize>,
    /// Whether it is a text, and any other one would be valid.
    takes_any_text: bool,
    /// The schema of its value, if any other value of it means the same for the lifecycle.
    schema: Option<Schema>,
    /// By member, or `*`.
    inner: Vec<(String, Self)>,
}

impl Place {
    /// Returns the place at a JSON pointer, which is added if it is new.
    fn at(&mut self, pointer: &str) -> &mut Self {
        let Some((segment, rest)) = first_segment(pointer) else { return self };
        let name = unescape(segment);
        let known = self.inner.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or_else(|| {
            self.inner.push((name, Self::default()));
            self.inner.len() - 1
        });
        self.inner[at].1.at(rest)
    }

    fn expression(
        &self,
        member: Option<&str>,
        path: &str,
        emitter: &mut Emitter<'_>,
    ) -> Result<TokenStream, String> {
        let Self { slot, effects, allows, takes_any_text, schema, inner } = self;
        let member = option_text(member);
        let slot = option(slot.as_ref().map(|slot| quote!(Slot::#slot)));
        let schema = schema.as_ref().map(|schema| emitter.schema(schema, path)).transpose()?;
        let schema = option(schema.map(|schema| quote!(&#schema)));
        let inner = inner.iter().map(|(name, place)| {
            let member = Some(name.as_str()).filter(|name| *name != "*");
            place.expression(member, path, emitter)
        });
        let inner = inner.collect::<Result<Vec<_>, _>>()?;
        Ok(quote! {
            Watch {
                member: #member,
                slot: #slot,
                effects: &[#(#effects),*],
                allows: &[#(#allows),*],
                takes_any_text: #takes_any_text,
                schema: #schema,
                inner: &[#(#inner),*],
            }
        })
    }
}

/// The slot of log probabilities, which accompany a text.
const LOGPROBS: &str = "logprobs";

/// Returns the places of an event's values, if one of them is inside of another value, or if the event has a list of
/// effects.
fn watch(dialect: &Dialect, event: &Event, api: &ApiFile) -> Option<Place> {
    let is_there = |pointer: &str| leads_somewhere(dialect.registry(), &event.schema, pointer);
    let slots =
        api.slots.iter().map(|(slot, pointer)| (slot, dialect.file.envelope.0.get(slot).unwrap_or(pointer)));
    let slots: Vec<_> = slots.filter(|(_, pointer)| is_there(pointer)).collect();
    let effects = event.lifecycle.effects();
    let mut pointers =
        slots.iter().map(|(_, pointer)| *pointer).chain(effects.iter().filter_map(|it| it.value.as_ref()));
    let is_inside = |pointer: &String| pointer.matches('/').count() > 1;
    if matches!(event.lifecycle, Lifecycle::Always(_)) && !pointers.any(is_inside) {
        return None;
    }
    let mut whole = Place::default();
    for (slot, pointer) in slots {
        let place = whole.at(pointer);
        place.slot = Some(names::ident(&names::pascal(slot)));
        if slot == LOGPROBS {
            place.schema = schema_at(dialect.registry(), &event.schema, pointer).cloned();
        }
    }
    for (nth, effect) in effects.iter().enumerate() {
        if effect.value.is_none() && matches!(event.lifecycle, Lifecycle::Always(_)) {
            continue;
        }
        let pointer = effect.value.as_deref().unwrap_or_default();
        let value = whole.at(pointer);
        value.effects.push(nth);
        value.takes_any_text = takes_any_text(dialect.registry(), &event.schema, pointer);
        if let Some(member) = &effect.when {
            value.at(&format!("/{member}")).allows.push(nth);
        }
    }
    Some(whole)
}

fn snapshot(api: &ApiFile) -> Option<Ident> {
    api.outer.snapshot.as_ref().map(|slot| names::ident(&names::pascal(slot)))
}

/// Returns the paths of the types of responses and of lifecycle values in events.
fn noted(dialect: &Dialect, api: &ApiFile) -> BTreeSet<String> {
    let registry = dialect.registry();
    let snapshot = snapshot(api);
    let mut noted = BTreeSet::new();
    for event in dialect.events.values() {
        let Schema::Object(object) = registry.resolve(&event.schema) else { continue };
        let slots = slots(dialect, event, api);
        let is_meant = |name: &str| {
            slots
                .iter()
                .any(|(member, slot)| member == name && (Some(slot) == snapshot.as_ref() || slot == "Value"))
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

/// Returns the name of the table for a path.
pub(super) fn table_ident(path: &str) -> Ident {
    format_ident!("{}", path.to_uppercase())
}

/// Returns the schema that a name refers to.
fn refer(name: &str, target: &Schema) -> TokenStream {
    let (table, variant) = (table_ident(&type_path(name)), variant(target));
    quote!(Schema::#variant(&#table))
}

/// Returns how other schemas refer to a table of a schema.
fn variant(schema: &Schema) -> Ident {
    match schema {
        Schema::Object(_) => format_ident!("Object"),
        Schema::Union(_) => format_ident!("Union"),
        _ => format_ident!("Named"),
    }
}

struct Emitter<'d> {
    registry: Registry<'d>,
    order: UsualOrder,
    /// The paths of responses and lifecycle values in events.
    noted: BTreeSet<String>,
    tables: Vec<TokenStream>,
    taken: BTreeSet<String>,
}

impl Emitter<'_> {
    /// Emits the table of a schema.
    fn table(&mut self, path: &str, schema: &Schema) -> Result<Ident, String> {
        let (of_type, table) = match schema {
            Schema::Object(object) => (quote!(ObjectSchema), self.object(object, path)?),
            Schema::Union(branches) => (quote!(UnionSchema), self.union(branches, path)?),
            other => (quote!(Schema), self.schema(other, path)?),
        };
        let name = table_ident(path);
        self.tables.push(quote! { pub(crate) static #name: #of_type = #table; });
        Ok(name)
    }

    fn event(&mut self, event: &Event, outer: &Outer<'_>) -> Result<TokenStream, String> {
        let path = self.fresh(&event_path(&event.name));
        let schema = self.registry.resolve(&event.schema);
        let watch = outer.watch.as_ref().map(|watch| watch.expression(None, &path, self)).transpose()?;
        let watch = option(watch.map(|watch| quote!(&#watch)));
        // The values of slots are taken from their places, wherever these are.
        let slots: &[_] = if outer.watch.is_some() { &[] } else { &outer.slots };
        let Schema::Object(object) = schema else {
            let schema = self.schema(schema, &path)?;
            let slots = slots.iter().map(|(name, slot)| quote!((#name, Slot::#slot)));
            return Ok(quote!(EventSchema::Other(#schema, &[#(#slots),*], #watch)));
        };
        let table = self.table(&path, schema)?;
        let members = self.order.members(&path, object);
        let members = members.iter().map(|property| {
            let slot = outer.slot(property).filter(|_| outer.watch.is_none());
            let is_snapshot = slot.is_some_and(|slot| Some(slot) == outer.snapshot.as_ref());
            let slot = option(slot.map(|slot| quote!(Slot::#slot)));
            let varies = outer.may_vary(property);
            quote!(EventMember { slot: #slot, is_snapshot: #is_snapshot, varies: #varies })
        });
        let others_vary = outer.is_delta && outer.watch.is_none();
        Ok(quote! {
            EventSchema::Object {
                schema: &#table,
                members: &[#(#members),*],
                others_vary: #others_vary,
                watch: #watch,
            }
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

    /// Returns a schema as an expression. Objects and unions get tables of their own.
    fn schema(&mut self, schema: &Schema, path: &str) -> Result<TokenStream, String> {
        Ok(match schema {
            Schema::Any => quote!(Schema::Any),
            Schema::Null => quote!(Schema::Null),
            Schema::Boolean => quote!(Schema::Boolean),
            Schema::String(rules) if *rules == StringRules::default() => quote!(Schema::String),
            Schema::String(rules) => {
                let rules = text_rules(rules);
                quote!(Schema::Text(#rules))
            }
            Schema::Integer(range) => number(true, range),
            Schema::Number(range) => number(false, range),
            Schema::Const(Value::String(value)) => quote!(Schema::Constant(#value)),
            Schema::Const(Value::Bool(value)) => quote!(Schema::ConstantBoolean(#value)),
            Schema::Const(other) => {
                return Err(format!("constant {other}: only strings and booleans are supported"));
            }
            Schema::Enum(values) => quote!(Schema::OneOf(&[#(#values),*])),
            Schema::OpenEnum(values) => quote!(Schema::Known(&[#(#values),*])),
            Schema::Array(array) => {
                let entries = self.schema(&array.items, &format!("{path}_item"))?;
                let (least, most) = (array.min_items, array.max_items);
                let expected = limits("entries", least, most);
                let length = length(least, most);
                quote!(Schema::List(&ListSchema { entries: #entries, length: #length, expected: #expected }))
            }
            Schema::Nullable(inner) => {
                let inner = self.schema(inner, path)?;
                quote!(Schema::Nullable(&#inner))
            }
            Schema::Ref(name) => {
                let target = self.registry.get(name).ok_or_else(|| format!("there is no type {name}"))?;
                refer(name, target)
            }
            Schema::Object(_) | Schema::Union(_) => {
                let path = self.fresh(path);
                let (table, variant) = (self.table(&path, schema)?, variant(schema));
                quote!(Schema::#variant(&#table))
            }
        })
    }

    fn object(&mut self, object: &Object, path: &str) -> Result<TokenStream, String> {
        if object.properties.len() > 64 {
            return Err(format!("{} properties: validators support at most 64", object.properties.len()));
        }
        let properties = self.order.members(path, object);
        let (mut members, mut required) = (Vec::new(), 0_u64);
        for (place, property) in properties.iter().enumerate() {
            let name = &property.name;
            let schema = self.schema(&property.schema, &format!("{path}_{}", names::snake(name)))?;
            required |= u64::from(property.required) << place;
            members.push(quote!(Member { name: #name, schema: #schema }));
        }
        let others = match &object.additional {
            Additional::Open => quote!(Others::Open),
            Additional::Closed => quote!(Others::Closed),
            Additional::Typed(schema) => {
                let schema = self.schema(schema, &format!("{path}_value"))?;
                quote!(Others::Typed(#schema))
            }
        };
        let is_limited = object.max_properties.is_some() || object.property_names.is_some();
        let limits = option(is_limited.then(|| {
            let most = most(object.max_properties);
            let names = option(object.property_names.as_ref().map(text_rules));
            quote!(&MemberRules { most: #most, names: #names })
        }));
        let required = Literal::u64_unsuffixed(required);
        let is_noted = self.noted.contains(path);
        Ok(quote! {
            ObjectSchema::new(&[#(#members),*], #required, #others, #limits, #is_noted)
        })
    }

    fn union(&mut self, branches: &[Schema], path: &str) -> Result<TokenStream, String> {
        let plan = self.registry.plan(branches);
        let mut schemas = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            schemas.push(self.schema(branch, &format!("{path}_{index}"))?);
        }
        let mut kinds = Vec::new();
        for (kind, candidates) in &plan.by_kind {
            let byte = first_byte(*kind);
            let enough = candidates.iter().position(|&i| self.registry.takes_all(&branches[i], *kind));
            let candidates = enough.map_or(candidates.as_slice(), |at| &candidates[at..=at]);
            let schema = first_of(&schemas, candidates);
            kinds.push(quote!((#byte, #schema)));
        }
        let tag = plan.tag.as_ref().map(|tag| {
            let property = &tag.property;
            let values = tag.values.iter().map(|(value, _)| value);
            let schemas = tag.values.iter().map(|(_, branch)| &schemas[*branch]);
            quote!(Tag { property: #property, values: &[#(#values),*], schemas: &[#(#schemas),*] })
        });
        if tag.is_none() && !plan.objects.is_empty() {
            let schema = first_of(&schemas, &plan.objects);
            kinds.push(quote!((b'{', #schema)));
        }
        let (tag, expected) = (option(tag), in_words(&plan));
        Ok(quote! { UnionSchema { kinds: &[#(#kinds),*], tag: #tag, expected: #expected } })
    }
}

fn first_of(schemas: &[TokenStream], candidates: &[usize]) -> TokenStream {
    if let [only] = candidates {
        schemas[*only].clone()
    } else {
        let schemas = candidates.iter().map(|&index| &schemas[index]);
        quote!(Schema::FirstOf(&[#(#schemas),*]))
    }
}

fn first_byte(kind: Kind) -> TokenStream {
    match kind {
        Kind::Null => quote!(b'n'),
        Kind::Boolean => quote!(b't'),
        Kind::Number => quote!(b'0'),
        Kind::String => quote!(b'"'),
        Kind::Array => quote!(b'['),
        Kind::Object => quote!(b'{'),
    }
}

fn in_words(plan: &crate::schema::UnionPlan) -> String {
    let objects = (!plan.objects.is_empty()).then_some(Kind::Object);
    let kinds = plan.by_kind.iter().map(|(kind, _)| *kind).chain(objects);
    kinds.map(Kind::in_words).collect::<Vec<_>>().join(" or ")
}

fn number(integral: bool, range: &Range) -> TokenStream {
    if *range == Range::default() {
        return if integral { quote!(Schema::Integer) } else { quote!(Schema::Number) };
    }
    let limit = |value: Option<f64>, open: TokenStream| match value {
        Some(value) => Literal::f64_suffixed(value).into_token_stream(),
        None => open,
    };
    let (least, most) =
        (limit(range.minimum, quote!(f64::NEG_INFINITY)), limit(range.maximum, quote!(f64::INFINITY)));
    let kind = if integral { "an integer" } else { "a number" };
    let expected = match (range.minimum, range.maximum) {
        (Some(low), Some(high)) => format!("{kind} from {low} to {high}"),
        (Some(low), None) => format!("{kind} of at least {low}"),
        (None, Some(high)) => format!("{kind} of at most {high}"),
        (None, None) => kind.to_owned(),
    };
    quote! {
        Schema::NumberIn(&NumberRules {
            is_integral: #integral,
            minimum: #least,
            maximum: #most,
            expected: #expected,
        })
    }
}

fn text_rules(rules: &StringRules) -> TokenStream {
    let mut words = Vec::new();
    if rules.min_length.is_some() || rules.max_length.is_some() {
        words.push(limits("characters", rules.min_length, rules.max_length));
    }
    let pattern = option(rules.pattern.as_ref().map(|Pattern { source, prefix, class, count }| {
        words.push(format!("matching {source}"));
        let class = class.iter().map(|(low, high)| quote!((#low, #high)));
        let count = option(count.map(|count| Literal::u64_unsuffixed(count).into_token_stream()));
        quote!(TextPattern { prefix: #prefix, class: &[#(#class),*], count: #count })
    }));
    let expected = format!("a string of {}", words.join(", "));
    let length = length(rules.min_length, rules.max_length);
    quote!(&TextRules { length: #length, pattern: #pattern, expected: #expected })
}

fn length(least: Option<u64>, longest: Option<u64>) -> TokenStream {
    let (least, most) = (Literal::u64_unsuffixed(least.unwrap_or(0)), most(longest));
    quote!((#least, #most))
}

fn most(limit: Option<u64>) -> TokenStream {
    limit.map_or_else(|| quote!(u64::MAX), |limit| Literal::u64_unsuffixed(limit).into_token_stream())
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
