//! A dialect as the tests see it: its model, its generated validator, and the judge of both.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use codegen::dialect::{self, Dialect};
use codegen::schema::{Registry, Schema};
use serde_json::{Map, Value, json};
use spec::Verdict;

use crate::corpus;
use crate::instances::{Instance, Instances};

/// A dialect and all that is known of it.
#[derive(Debug)]
pub struct Suite {
    /// The generated dialect.
    pub ours: &'static spec::Dialect,
    /// The source that it was generated from.
    pub model: Dialect,
    /// The one that it extends.
    base: Option<Dialect>,
    /// Made when it is first asked, as that takes long.
    judge: OnceLock<jsonschema::Validator>,
}

/// The schema kind to check a value with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    /// An event.
    Event,
    /// A named type.
    Type,
}

/// A valid value to start from.
#[derive(Debug, Clone)]
pub struct Seed {
    /// The event or type.
    pub name: String,
    /// Which of both.
    pub kind: As,
    /// Its text.
    pub text: String,
    /// Its origin.
    pub from: String,
}

/// A place that the judge is not content with.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// JSON pointer.
    pub pointer: String,
    /// The keyword of JSON Schema.
    pub keyword: String,
}

impl Suite {
    /// Loads a dialect of the repository by its name.
    pub fn load(name: &str) -> Self {
        let ours = spec::DIALECTS.iter().find(|dialect| dialect.name == name);
        let ours = ours.unwrap_or_else(|| panic!("{name}: the build has no such dialect"));
        let load = |name: &str| {
            dialect::load(&corpus::repository().join("spec"), name).unwrap_or_else(|error| panic!("{error}"))
        };
        let model = load(name);
        let base = model.file.extends.as_deref().map(load);
        Self { ours, model, base, judge: OnceLock::new() }
    }

    /// Returns the examples of the schema files and the events of the goldens.
    pub fn seeds(&self) -> Vec<Seed> {
        let examples = self.model.events.values().flat_map(|event| {
            event.examples.iter().map(|example| Seed {
                name: event.name.clone(),
                kind: As::Event,
                text: example.to_string(),
                from: format!("{}, examples of {}", self.model.name, event.name),
            })
        });
        let family = self.model.name.split('@').next().unwrap_or_default();
        let goldens = self.of_streams(&corpus::repository().join("spec/apis/responses/goldens").join(family));
        examples.chain(goldens).collect()
    }

    /// Returns the recorded events that are the dialect's own; none without a corpus.
    pub fn recorded(&self) -> Vec<Seed> {
        let own: BTreeSet<&str> = self.own().map(|(_, name, _)| name).collect();
        let mut recorded = corpus::recordings().map(|folder| self.of_streams(&folder)).unwrap_or_default();
        recorded.retain(|seed| own.contains(&*seed.name));
        recorded
    }

    /// Returns values around the events and types that the dialect does not share with the one that it extends, where
    /// the others are tried.
    pub fn around(&self) -> impl Iterator<Item = (As, &str, Instance)> {
        let instances = Instances::new(self.model.registry());
        self.own().flat_map(move |(kind, name, schema)| {
            // If only a type inside differs, the values around it are tried, and these are mostly those of the base.
            let step = if self.in_base(name) == Some(schema) { 10 } else { 1 };
            instances.around(schema).into_iter().step_by(step).map(move |around| (kind, name, around))
        })
    }

    /// Returns the events and types that differ from those of the dialect that it extends, or refer to such types.
    fn own(&self) -> impl Iterator<Item = (As, &str, &Schema)> {
        let events = self.model.events.values().map(|event| (As::Event, &*event.name, &event.schema));
        let types = self.model.types.iter().map(|(name, schema)| (As::Type, &**name, schema));
        events.chain(types).filter(|(_, name, schema)| {
            let mut referred = self.reachable(schema).into_iter();
            self.in_base(name) != Some(schema)
                || referred.any(|name| self.in_base(name) != self.model.types.get(name))
        })
    }

    fn in_base(&self, name: &str) -> Option<&Schema> {
        let base = self.base.as_ref()?;
        base.types.get(name).or_else(|| base.events.get(name).map(|event| &event.schema))
    }

    /// Returns the types that a schema refers to, directly and through others.
    fn reachable<'s>(&'s self, schema: &'s Schema) -> BTreeSet<&'s str> {
        let (mut found, mut next) = (BTreeSet::new(), vec![schema]);
        while let Some(schema) = next.pop() {
            let mut names = Vec::new();
            Registry::references(schema, &mut names);
            let known = names.iter().filter_map(|name| self.model.types.get_key_value(name));
            next.extend(known.filter(|(name, _)| found.insert(name.as_str())).map(|(_, schema)| schema));
        }
        found
    }

    fn of_streams(&self, folder: &Path) -> Vec<Seed> {
        let events = corpus::events(folder).into_iter();
        let seeds = events.map(|event| Seed {
            name: event.event_type(),
            kind: As::Event,
            from: event.file.display().to_string(),
            text: event.data,
        });
        seeds.filter(|seed| self.model.events.contains_key(&seed.name)).collect()
    }

    /// Returns the verdict of the generated validator.
    pub fn ours(&self, kind: As, name: &str, text: &str) -> Verdict {
        match kind {
            As::Event => self.ours.check_event(name, text),
            As::Type => self.ours.check_type(name, text),
        }
    }

    /// Returns the value in the form that the judge validates: as the member of an object that names its type.
    pub fn subject(&self, name: &str, text: &str) -> serde_json::Result<Value> {
        serde_json::from_str(&format!("{{{name:?}:{text}}}"))
    }

    fn judge(&self) -> &jsonschema::Validator {
        self.judge.get_or_init(|| judge(&self.model))
    }

    /// Returns whether the judge accepts the value.
    pub fn accepts(&self, subject: &Value) -> bool {
        self.judge().is_valid(subject)
    }

    /// Returns the errors that the judge reports for the value.
    pub fn complaints(&self, subject: &Value) -> Vec<Complaint> {
        let complaint = |error: jsonschema::ValidationError<'_>| {
            let pointer = error.instance_path().as_str();
            // The first segment is the name of the event or type, which needs no escapes.
            let pointer = pointer.get(1..).and_then(|rest| rest.find('/').map(|at| &rest[at..]));
            Complaint {
                pointer: pointer.unwrap_or_default().to_owned(),
                keyword: error.kind().keyword().to_owned(),
            }
        };
        self.judge().iter_errors(subject).map(complaint).collect()
    }
}

/// Returns one validator for the whole dialect: for an object with a member for each event and type.
fn judge(model: &Dialect) -> jsonschema::Validator {
    let names = model.events.keys().chain(model.types.keys());
    let definitions: Map<String, Value> =
        names.filter_map(|name| Some((name.clone(), model.definition(name)?))).collect();
    let members: Map<String, Value> =
        definitions.keys().map(|name| (name.clone(), json!({ "$ref": format!("#/$defs/{name}") }))).collect();
    let schema = json!({ "properties": members, "$defs": definitions });
    let options = jsonschema::draft202012::options().should_validate_formats(false);
    options.build(&schema).unwrap_or_else(|error| panic!("{}: {error}", model.name))
}
