//! The listed values that the events of a dialect can have.

use std::collections::BTreeSet;
use std::fmt;

use crate::json::{Member, ObjectSchema, RawString, Scan, Scanner, Schema};
use crate::table::Dialect;

/// A value that a schema lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedValue {
    /// Its member: the type of the nearest object that has one, or else of the event, and the pointer from there, in which
    /// `*` is each entry of an array.
    pub member: String,
    /// The value.
    pub value: &'static str,
}

impl fmt::Display for ListedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.member, self.value)
    }
}

/// The listed values that the events of a dialect can have.
#[derive(Debug)]
pub struct Enumerations {
    events: Vec<(&'static str, EnumeratedPlace)>,
    /// The objects that have a type, wherever they are.
    objects: Vec<EnumeratedPlace>,
}

#[derive(Debug, Default)]
struct EnumeratedPlace {
    values: Vec<ListedValue>,
    /// The types that objects can have there, each with the position of such an object.
    types: Vec<(&'static str, usize)>,
    /// The places inside of it, by member; `*` is each entry of an array.
    inner: Vec<(&'static str, Self)>,
}

/// The members with the type of an object.
const TYPE: [&str; 2] = ["type", "object"];

impl Enumerations {
    /// Finds the enumerations of a dialect. Members of a response that repeat the request are left out: their values are
    /// up to the client.
    pub fn of(dialect: &Dialect) -> Self {
        let mut reading = Reading {
            response: dialect.snapshot_member(),
            repeated: repeated(dialect),
            path: Vec::new(),
            open: Vec::new(),
            objects: Vec::new(),
        };
        let mut events = Vec::new();
        for event in dialect.events {
            let mut place = EnumeratedPlace::default();
            reading.read(&event.schema.schema(), event.name, &mut place);
            events.push((event.name, place));
        }
        let mut objects = Vec::new();
        while let Some(Typed { of_type, object, path }) = reading.objects.get(objects.len()) {
            let (of_type, object) = (*of_type, *object);
            reading.path = path.clone();
            let mut place = EnumeratedPlace::default();
            reading.members(object, of_type, &mut place);
            objects.push(place);
        }
        Self { events, objects }
    }

    /// Returns all of them.
    pub fn all(&self) -> BTreeSet<&ListedValue> {
        let of_events = self.events.iter().map(|(_, place)| place);
        let (mut due, mut all): (Vec<&EnumeratedPlace>, _) =
            (of_events.chain(&self.objects).collect(), BTreeSet::new());
        while let Some(place) = due.pop() {
            all.extend(&place.values);
            due.extend(place.inner.iter().map(|(_, inner)| inner));
        }
        all
    }

    /// Calls a function with those that an event has.
    pub fn each_of<'e>(&'e self, event: &str, data: &str, mut found: impl FnMut(&'e ListedValue)) {
        if let Some(place) = named(&self.events, event.as_bytes()) {
            // Faults of the text have been reported.
            let _ = self.find(&[place], &mut Scanner::new(data), &mut found);
        }
    }

    /// The value can be at any of the places.
    fn find<'e>(
        &'e self,
        places: &[&'e EnumeratedPlace],
        scanner: &mut Scanner<'_>,
        found: &mut dyn FnMut(&'e ListedValue),
    ) -> Scan<()> {
        let kind = scanner.peek();
        let is_too_deep = !scanner.descend();
        let inside = |places: &[&'e EnumeratedPlace], name: &[u8]| -> Vec<&'e EnumeratedPlace> {
            places.iter().filter_map(|place| named(&place.inner, name)).collect()
        };
        let read = match kind {
            _ if places.is_empty() || is_too_deep => scanner.skip(),
            b'"' => {
                let text = scanner.string()?.decoded();
                let values = places.iter().flat_map(|place| &place.values);
                values.filter(|known| known.value == text).for_each(found);
                Ok(())
            }
            b'{' => {
                let objects = self.objects_at(places, scanner)?;
                scanner.members(|scanner, name| self.find(&inside(&objects, name), scanner, found))
            }
            b'[' => {
                let entry = inside(places, b"*");
                scanner.entries(|scanner| self.find(&entry, scanner, found))
            }
            _ => scanner.skip(),
        };
        scanner.ascend();
        read
    }

    /// Objects of its type, or else objects that have none.
    fn objects_at<'e>(
        &'e self,
        places: &[&'e EnumeratedPlace],
        scanner: &Scanner<'_>,
    ) -> Scan<Vec<&'e EnumeratedPlace>> {
        let types = || places.iter().flat_map(|place| &place.types);
        for member in TYPE.iter().filter(|_| types().next().is_some()) {
            let Some(of_type) = scanner.member(member)?.map(RawString::decoded) else { continue };
            let known = types().filter(|(known, _)| *known == of_type);
            let objects: Vec<_> = known.filter_map(|(_, at)| self.objects.get(*at)).collect();
            if !objects.is_empty() {
                return Ok(objects);
            }
        }
        Ok(places.to_vec())
    }
}

/// If the request has them, the response repeats them.
fn repeated(dialect: &Dialect) -> Vec<&'static str> {
    let request = dialect.root("request").and_then(|name| dialect.schema_named(name));
    let Some(Schema::Object(object)) = request else { return Vec::new() };
    let names = object.members().map(|member| member.name);
    names.filter(|name| !dialect.api.request.decided.contains(name)).collect()
}

fn named<'p>(places: &'p [(&str, EnumeratedPlace)], name: &[u8]) -> Option<&'p EnumeratedPlace> {
    places.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, place)| place)
}

struct Reading {
    /// The member of events with the response; none if they are it.
    response: Option<&'static str>,
    /// The members of the response that repeat the request.
    repeated: Vec<&'static str>,
    /// The members around the schema at hand.
    path: Vec<&'static str>,
    /// The objects around it.
    open: Vec<*const ObjectSchema>,
    objects: Vec<Typed>,
}

struct Typed {
    of_type: &'static str,
    object: &'static ObjectSchema,
    path: Vec<&'static str>,
}

impl Reading {
    fn read(&mut self, schema: &Schema, name: &str, place: &mut EnumeratedPlace) {
        match *schema {
            Schema::OneOf(values) | Schema::Known(values) => {
                for value in values {
                    let value = ListedValue { member: name.to_owned(), value };
                    if !place.values.contains(&value) {
                        place.values.push(value);
                    }
                }
            }
            Schema::Nullable(inner) | Schema::Named(inner) => self.read(inner, name, place),
            #[cfg(feature = "folders")]
            Schema::Later(table) => table.get().into_iter().for_each(|schema| self.read(schema, name, place)),
            Schema::FirstOf(schemas) => schemas.iter().for_each(|schema| self.read(schema, name, place)),
            Schema::Union(union) => {
                let of_tag = union.tag.iter().flat_map(|tag| tag.schemas);
                let of_kinds = union.kinds.iter().map(|(_, schema)| schema);
                of_kinds.chain(of_tag).for_each(|schema| self.read(schema, name, place));
            }
            Schema::List(list) => self.inside("*", &list.entries, name, place),
            Schema::Object(object) => match object.constant(&TYPE) {
                Some(of_type) => {
                    let known = self.objects.iter().position(|known| std::ptr::eq(known.object, object));
                    let at = known.unwrap_or_else(|| {
                        self.objects.push(Typed { of_type, object, path: self.path.clone() });
                        self.objects.len() - 1
                    });
                    if !place.types.contains(&(of_type, at)) {
                        place.types.push((of_type, at));
                    }
                }
                None if self.open.contains(&std::ptr::from_ref(object)) => {}
                None => {
                    self.open.push(object);
                    self.members(object, name, place);
                    self.open.pop();
                }
            },
            _ => {}
        }
    }

    fn members(&mut self, object: &'static ObjectSchema, name: &str, place: &mut EnumeratedPlace) {
        let is_response = self.path == self.response.as_slice();
        for Member { name: member, schema } in object.members() {
            if !is_response || !self.repeated.contains(member) {
                self.inside(member, schema, name, place);
            }
        }
    }

    fn inside(&mut self, member: &'static str, schema: &Schema, name: &str, place: &mut EnumeratedPlace) {
        let at = place.inner.iter().position(|(known, _)| *known == member);
        let mut inner = at.map(|at| place.inner.swap_remove(at).1).unwrap_or_default();
        self.path.push(member);
        self.read(schema, &format!("{name}/{member}"), &mut inner);
        self.path.pop();
        if !(inner.values.is_empty() && inner.types.is_empty() && inner.inner.is_empty()) {
            place.inner.push((member, inner));
        }
    }
}
