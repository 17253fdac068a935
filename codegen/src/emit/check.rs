//! Emits the validators: one function for each schema with a name, a body or branches.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::names;
use super::order::UsualOrder;
use super::shared::Shared;
use crate::dialect::{Dialect, Event};
use crate::formats::{Role, ScopesFile};
use crate::schema::{Additional, Kind, Object, Pattern, Property, Range, Registry, Schema, StringRules};

/// Emits the validators of a dialect, except those shared with another one, and two functions that return them by
/// name.
///
/// # Errors
///
/// Fails on a schema that validators do not support.
pub(super) fn emit(
    dialect: &Dialect,
    base: Option<&Dialect>,
    scopes: &ScopesFile,
) -> Result<TokenStream, String> {
    let order = UsualOrder::learn(dialect);
    let noted = noted(dialect, scopes);
    let shared = base.map(|base| {
        let others = self::noted(base, scopes);
        Shared::new(dialect, base, scopes, |name| {
            let function = type_function(name).to_string();
            noted.contains(&function) == others.contains(&function)
        })
    });
    let has_type = |name: &str| shared.as_ref().is_some_and(|shared| shared.types.contains(name));
    let has_event = |name: &str| shared.as_ref().is_some_and(|shared| shared.events.contains(name));
    let mut emitter =
        Emitter { registry: dialect.registry(), order, noted, functions: Vec::new(), taken: BTreeSet::new() };
    for name in dialect.types.keys() {
        emitter.taken.insert(type_function(name).to_string());
    }
    for (name, schema) in dialect.types.iter().filter(|(name, _)| !has_type(name)) {
        emitter.named(&type_function(name), schema).map_err(|error| format!("types/{name}.json: {error}"))?;
    }
    let (mut events, mut places) = (Vec::new(), Vec::new());
    for event in dialect.events.values() {
        let place = Literal::usize_unsuffixed(events.len());
        places.push((event.name.as_str(), quote!(#place)));
        if let Some(shared) = shared.as_ref().filter(|_| has_event(&event.name)) {
            events.push(shared.event(&event.name));
            continue;
        }
        let outer =
            Outer { slots: slots(dialect, event, scopes), is_delta: event.lifecycle.role == Role::Delta };
        let function =
            emitter.event(event, &outer).map_err(|e| format!("events/{}.json: {e}", event.name))?;
        events.push(quote!(#function));
    }
    let count = events.len();
    // Lookups go to the other dialect if it has all types of this one.
    let whole =
        shared.as_ref().filter(|it| it.base.types.keys().all(|name| dialect.types.contains_key(name)));
    let listed = dialect.types.keys().filter(|name| whole.is_none() || !has_type(name)).map(|name| {
        let function = type_function(name);
        (name.as_str(), quote!(Some(#function)))
    });
    let otherwise = whole.map_or_else(
        || quote!(None),
        |shared| {
            let path = shared.path();
            quote!(#path::check::named(name))
        },
    );
    let imports = shared.as_ref().map(|shared| {
        let (path, functions) = (shared.path(), shared.types.iter().map(|name| type_function(name)));
        quote!(pub(crate) use #path::check::{#(#functions),*};)
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
    let functions = emitter.functions;
    Ok(quote! {
        use crate::json::{Check, Checker, Members, Scan, TextPattern, TextRules, UNDECLARED};
        use crate::table::EventCheck;
        use crate::{Slot, View};
        #imports

        /// The validators of events, sorted by type.
        pub(crate) const EVENTS: [EventCheck; #count] = [#(#events),*];

        /// Returns the position of the validator of an event.
        pub(crate) fn place_of_event(event: &str) -> Option<usize> {
            #by_event
        }

        /// Returns the validator of a named type.
        pub(crate) fn named(name: &str) -> Option<Check> {
            #by_type
        }

        #(#functions)*
    })
}

/// Properties of an object that is an event.
#[derive(Default)]
struct Outer {
    slots: Vec<(String, Ident)>,
    /// Others like it follow.
    is_delta: bool,
}

impl Outer {
    /// Returns the check of a member's value, and the slot that receives it.
    fn call(&self, property: &Property, check: &TokenStream) -> TokenStream {
        let slot = self.slots.iter().find(|(member, _)| *member == property.name).map(|(_, slot)| slot);
        // Ids and indices stay the same from one delta to the next.
        let may_vary = slot.is_none_or(|slot| slot == "Value" || slot == "SequenceNumber");
        let takes_all = match &property.schema {
            Schema::String(rules) => *rules == StringRules::default(),
            Schema::Integer(range) => *range == Range::default(),
            _ => false,
        };
        let varying = quote!(|c| c.varying(#check));
        let check = if self.is_delta && may_vary && takes_all { &varying } else { check };
        match slot {
            Some(slot) => quote!(view.take(c, Slot::#slot, #check)),
            None => apply(check),
        }
    }
}

/// Returns the members of an event that have a slot, with the name of the slot.
fn slots(dialect: &Dialect, event: &Event, scopes: &ScopesFile) -> Vec<(String, Ident)> {
    let usual = scopes.slots.iter().map(|(slot, pointer)| {
        let pointer = dialect.file.envelope.0.get(slot).unwrap_or(pointer);
        (pointer.as_str(), slot.as_str())
    });
    let value = event.lifecycle.value.iter().map(|pointer| (pointer.as_str(), "value"));
    usual
        .chain(value)
        .filter_map(|(pointer, slot)| {
            let name = pointer.strip_prefix('/')?;
            Some((name.to_owned(), names::ident(&names::pascal(slot))))
        })
        .collect()
}

/// Returns the validators of the types of responses and of lifecycle values in events.
fn noted(dialect: &Dialect, scopes: &ScopesFile) -> BTreeSet<String> {
    let registry = dialect.registry();
    let mut noted = BTreeSet::new();
    for event in dialect.events.values() {
        let Schema::Object(object) = registry.resolve(&event.schema) else { continue };
        let slots = slots(dialect, event, scopes);
        let is_meant = |name: &str| {
            slots.iter().any(|(member, slot)| member == name && (slot == "Response" || slot == "Value"))
        };
        let mut rest: Vec<&Schema> =
            object.properties.iter().filter(|it| is_meant(&it.name)).map(|it| &it.schema).collect();
        while let Some(schema) = rest.pop() {
            match schema {
                Schema::Ref(name) if noted.insert(type_function(name).to_string()) => {
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

pub(super) fn type_function(name: &str) -> Ident {
    format_ident!("type_{}", names::snake(name))
}

pub(super) fn event_function(name: &str) -> String {
    format!("event_{}", names::snake(name))
}

struct Emitter<'d> {
    registry: Registry<'d>,
    order: UsualOrder,
    /// The validators of responses and lifecycle values in events.
    noted: BTreeSet<String>,
    functions: Vec<TokenStream>,
    taken: BTreeSet<String>,
}

impl Emitter<'_> {
    fn named(&mut self, function: &Ident, schema: &Schema) -> Result<(), String> {
        let path = function.to_string();
        let body = match schema {
            Schema::Object(object) => self.object(object, &path, &Outer::default())?,
            Schema::Union(branches) => self.union(branches, &path)?,
            other => {
                let check = self.check(other, &path)?;
                apply(&check)
            }
        };
        self.functions.push(quote! {
            pub(crate) fn #function(c: &mut Checker<'_>) -> Scan<()> { #body }
        });
        Ok(())
    }

    fn event(&mut self, event: &Event, outer: &Outer) -> Result<Ident, String> {
        let function = self.fresh(&event_function(&event.name));
        let body = match self.registry.resolve(&event.schema) {
            Schema::Object(object) => self.object(object, &function.to_string(), outer)?,
            other => {
                // In a union of objects, branches have no slots.
                let check = self.check(other, &function.to_string())?;
                let call = apply(&check);
                let members = outer.slots.iter().map(|(name, slot)| quote!((#name, Slot::#slot)));
                quote! { view.take_members(c, &[#(#members),*])?; #call }
            }
        };
        self.functions.push(quote! {
            fn #function<'a>(c: &mut Checker<'a>, view: &mut View<'a>) -> Scan<()> { #body }
        });
        Ok(function)
    }

    fn fresh(&mut self, wanted: &str) -> Ident {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        names::ident(&name)
    }

    /// Emits a function for an inline schema.
    fn inline(&mut self, schema: &Schema, path: &str) -> Result<TokenStream, String> {
        let function = self.fresh(path);
        self.named(&function, schema)?;
        Ok(quote!(#function))
    }

    /// Returns an expression that can be called with a checker.
    fn check(&mut self, schema: &Schema, path: &str) -> Result<TokenStream, String> {
        Ok(match schema {
            Schema::Any => quote!(Checker::any),
            Schema::Null => quote!(Checker::null),
            Schema::Boolean => quote!(Checker::boolean),
            Schema::String(rules) if *rules == StringRules::default() => quote!(Checker::string),
            Schema::String(rules) => {
                let rules = text_rules(rules);
                quote!(|c| c.text(#rules))
            }
            Schema::Integer(range) => number(true, range),
            Schema::Number(range) => number(false, range),
            Schema::Const(Value::String(value)) => quote!(|c| c.constant(#value)),
            Schema::Const(Value::Bool(value)) => quote!(|c| c.constant_boolean(#value)),
            Schema::Const(other) => {
                return Err(format!("constant {other}: only strings and booleans are supported"));
            }
            Schema::Enum(values) => quote!(|c| c.one_of(&[#(#values),*])),
            Schema::OpenEnum(values) => quote!(|c| c.known(&[#(#values),*])),
            Schema::Array(array) => {
                let entry = self.check(&array.items, &format!("{path}_item"))?;
                match (array.min_items, array.max_items) {
                    (None, None) => quote!(|c| c.array(#entry)),
                    (least, most) => {
                        let expected = limits("entries", least, most);
                        let least = Literal::u64_unsuffixed(least.unwrap_or(0));
                        let most = most
                            .map_or_else(|| quote!(u64::MAX), |n| Literal::u64_unsuffixed(n).into_token());
                        quote!(|c| c.array_of(#least, #most, #expected, #entry))
                    }
                }
            }
            Schema::Nullable(inner) => {
                let inner = self.check(inner, path)?;
                quote!(|c| c.nullable(#inner))
            }
            Schema::Ref(name) => {
                let function = type_function(name);
                quote!(#function)
            }
            Schema::Object(_) | Schema::Union(_) => self.inline(schema, path)?,
        })
    }

    fn object(&mut self, object: &Object, path: &str, outer: &Outer) -> Result<TokenStream, String> {
        if object.properties.len() > 64 {
            return Err(format!("{} properties: validators support at most 64", object.properties.len()));
        }
        let members = self.order.members(path, object);
        let (mut places, mut arms) = (Vec::new(), Vec::new());
        let mut required = 0_u64;
        for (place, property) in members.iter().enumerate() {
            let name = &property.name;
            let check = self.check(&property.schema, &format!("{path}_{}", names::snake(name)))?;
            required |= u64::from(property.required) << place;
            let call = outer.call(property, &check);
            let place = Literal::usize_unsuffixed(place);
            places.push((name.as_str(), quote!(#place)));
            arms.push(quote!(#place => #call,));
        }
        let otherwise = match &object.additional {
            Additional::Open if outer.is_delta => quote!(c.varying(Checker::any)),
            Additional::Open => quote!(c.any()),
            Additional::Closed => quote!(c.undeclared(name)),
            Additional::Typed(schema) => {
                let check = self.check(schema, &format!("{path}_value"))?;
                quote!(c.extra(name, #check))
            }
        };
        let read =
            if arms.is_empty() { otherwise } else { quote!(match place { #(#arms)* _ => #otherwise }) };
        let (count, counted) = object.max_properties.map_or_else(Default::default, |most| {
            let most = Literal::u64_unsuffixed(most);
            (quote!(let mut members = 0;), quote!(members += 1; c.at_most(members, #most);))
        });
        let names_within = object.property_names.as_ref().map(|rules| {
            let rules = text_rules(rules);
            quote!(c.name_within(name, #rules);)
        });
        let body = if counted.is_empty() && names_within.is_none() {
            read
        } else {
            quote!({ #counted #names_within #read })
        };
        let names = members.iter().map(|property| &property.name);
        let required = Literal::u64_unsuffixed(required);
        let (find, place) = if places.is_empty() {
            (quote!(|_| UNDECLARED), quote!(_))
        } else {
            let find = super::lookup_bytes(&quote!(name), places, &quote!(UNDECLARED));
            (quote!(|name| #find), quote!(place))
        };
        let by_name = names_within.is_some() || object.additional != Additional::Open;
        let name = if by_name { quote!(name) } else { quote!(_) };
        let (read_object, valid_by) = if self.noted.contains(path) {
            let function = names::ident(path);
            (quote!(noted_object), quote!(#function,))
        } else {
            (quote!(object), TokenStream::new())
        };
        Ok(quote! {
            #count
            c.#read_object(
                #valid_by
                Members { names: &[#(#names),*], required: #required },
                #find,
                |c, #place, #name| #body,
            )
        })
    }

    fn union(&mut self, branches: &[Schema], path: &str) -> Result<TokenStream, String> {
        let plan = self.registry.plan(branches);
        let mut checks = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            checks.push(self.check(branch, &format!("{path}_{index}"))?);
        }
        let mut arms = Vec::new();
        for (kind, candidates) in &plan.by_kind {
            let byte = first_byte(*kind);
            let enough = candidates.iter().position(|&i| self.registry.takes_all(&branches[i], *kind));
            let candidates = enough.map_or(candidates.as_slice(), |at| &candidates[at..=at]);
            let body = candidates_body(&checks, candidates);
            arms.push(quote!(#byte => #body,));
        }
        if let Some(tag) = &plan.tag {
            let property = &tag.property;
            let wanted = tag.values.iter().map(|(value, _)| value);
            let hits = tag.values.iter().map(|(value, branch)| {
                let call = apply(&checks[*branch]);
                (value.as_str(), call)
            });
            let wanted = quote!(&[#(#wanted),*]);
            let found = super::lookup(&quote!(value), hits, &quote!(c.no_branch(#property, tag, #wanted)));
            arms.push(quote! {
                b'{' => {
                    let tag = c.tag(#property)?;
                    let value = tag.as_deref().unwrap_or_default();
                    #found
                }
            });
        } else if !plan.objects.is_empty() {
            let body = candidates_body(&checks, &plan.objects);
            arms.push(quote!(b'{' => #body,));
        }
        let expected = in_words(&plan);
        Ok(quote! { match c.kind() { #(#arms)* _ => c.no_kind(#expected) } })
    }
}

/// Calls a check that may be a closure or a path.
fn apply(check: &TokenStream) -> TokenStream {
    let text = check.to_string();
    if text.starts_with("| c | ") { check.clone().into_iter().skip(3).collect() } else { quote!(#check(c)) }
}

fn candidates_body(checks: &[TokenStream], candidates: &[usize]) -> TokenStream {
    if let [only] = candidates {
        apply(&checks[*only])
    } else {
        let calls = candidates.iter().map(|&index| apply(&checks[index]));
        quote!(c.first_of(&[#(|c| #calls),*]))
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
    let mut kinds: Vec<&str> = plan
        .by_kind
        .iter()
        .map(|(kind, _)| match kind {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        })
        .collect();
    if !plan.objects.is_empty() {
        kinds.push("an object");
    }
    kinds.join(" or ")
}

fn number(integral: bool, range: &Range) -> TokenStream {
    if *range == Range::default() {
        return if integral { quote!(Checker::integer) } else { quote!(Checker::number) };
    }
    let limit = |value: Option<f64>, open: TokenStream| match value {
        Some(value) => Literal::f64_suffixed(value).into_token(),
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
    quote!(|c| c.number_in(#integral, #least, #most, #expected))
}

fn text_rules(rules: &StringRules) -> TokenStream {
    let mut words = Vec::new();
    if rules.min_length.is_some() || rules.max_length.is_some() {
        words.push(limits("characters", rules.min_length, rules.max_length));
    }
    let pattern = rules.pattern.as_ref().map_or_else(
        || quote!(None),
        |Pattern { source, prefix, class, count }| {
            words.push(format!("matching {source}"));
            let class = class.iter().map(|(low, high)| quote!((#low, #high)));
            let count = count.map_or_else(
                || quote!(None),
                |n| {
                    let n = Literal::u64_unsuffixed(n);
                    quote!(Some(#n))
                },
            );
            quote!(Some(TextPattern { prefix: #prefix, class: &[#(#class),*], count: #count }))
        },
    );
    let expected = format!("a string of {}", words.join(", "));
    let least = Literal::u64_unsuffixed(rules.min_length.unwrap_or(0));
    let most = rules.max_length.map_or_else(|| quote!(u64::MAX), |n| Literal::u64_unsuffixed(n).into_token());
    quote!(&TextRules { length: (#least, #most), pattern: #pattern, expected: #expected })
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

trait IntoToken {
    fn into_token(self) -> TokenStream;
}

impl IntoToken for Literal {
    fn into_token(self) -> TokenStream {
        proc_macro2::TokenTree::from(self).into()
    }
}
