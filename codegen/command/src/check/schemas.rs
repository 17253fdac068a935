//! Checks that examples are valid and every type is used.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

use codegen::dialect::Dialect;
use codegen::schema::Registry;
use serde_json::Value;

use super::context::Context;
use super::report::{Report, SourcePlace};

pub(super) fn check<'c>(context: &'c Context, judges: &mut Judges<'c>, report: &mut Report) {
    for (name, dialect) in &context.dialects {
        examples(context, dialect, judges, report);
        let reached = dialect.reached(roots_of_all(dialect));
        for (of_type, file) in context.own_files(name, "types") {
            if !reached.contains(of_type.as_str()) {
                let message =
                    format!("the type {of_type} is unused: no event or root of the dialect refers to it");
                report.find(file, SourcePlace::File, message, "remove the file, or add the type to [roots]");
            }
        }
    }
}

fn examples<'c>(context: &Context, dialect: &'c Dialect, judges: &mut Judges<'c>, report: &mut Report) {
    let events = dialect.events.values().map(|event| ("events", &event.name, &event.file));
    let types = dialect.type_files.iter().map(|(name, file)| ("types", name, file));
    for (kind, name, json) in events.chain(types) {
        let file = context.owner(dialect, &format!("{kind}/{name}.json"));
        let id = json.get("$id").and_then(Value::as_str).unwrap_or_default();
        if id != name {
            let message = format!("`$id` is \"{id}\", but the file is named \"{name}\"");
            report.find(&file, SourcePlace::pointer("/$id"), message, "make them equal");
        }
        let examples = json.get("examples").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if kind == "events" && examples.is_empty() {
            report.find(
                &file,
                SourcePlace::File,
                "the event has no example",
                "add at least one under `examples`",
            );
        }
        for (index, example) in examples.iter().enumerate() {
            for fault in judges.faults(dialect, name, example) {
                let message = format!("the example is not valid in {}: {fault}", dialect.name);
                let help = "correct the example, or the schema by an erratum";
                report.find(&file, SourcePlace::pointer(format!("/examples/{index}")), message, help);
            }
        }
    }
}

fn roots_of_all(dialect: &Dialect) -> Vec<String> {
    let mut roots: Vec<String> = dialect.file.roots.values().cloned().collect();
    for event in dialect.events.values() {
        Registry::references(&event.schema, &mut roots);
    }
    roots
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: String,
    /// The required property that the object there lacks, if that is the fault.
    pub(super) lacks: Option<String>,
    text: String,
}

impl Fault {
    fn of(error: &jsonschema::ValidationError<'_>) -> Self {
        let lacks = match error.kind() {
            jsonschema::error::ValidationErrorKind::Required { property } => {
                property.as_str().map(str::to_owned)
            }
            _ => None,
        };
        Self { at: error.instance_path().to_string(), lacks, text: short(&error.to_string()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "at the root: {}", self.text),
            at => write!(f, "at {at}: {}", self.text),
        }
    }
}

/// Validators of the crate `jsonschema`, built on first use.
#[derive(Default)]
pub(super) struct Judges<'c> {
    /// One for each event or type of a dialect, or why there is none.
    of: BTreeMap<(&'c str, &'c str), Rc<Judge>>,
    /// The same by the text of its schema: dialects that extend another share most of them.
    built: HashMap<String, Rc<Judge>>,
}

type Judge = Result<jsonschema::Validator, String>;

impl<'c> Judges<'c> {
    /// None if the dialect does not have the event or type.
    pub(super) fn faults(&mut self, dialect: &'c Dialect, name: &str, value: &Value) -> Vec<Fault> {
        let Some(name) = named(dialect, name) else { return Vec::new() };
        let Self { of, built } = self;
        let judge = of.entry((&dialect.name, name)).or_insert_with(|| {
            let bundle = dialect.bundle(name).unwrap_or_default();
            Rc::clone(built.entry(bundle.to_string()).or_insert_with(|| {
                let built = jsonschema::validator_for(&bundle);
                Rc::new(built.map_err(|error| format!("the schema cannot be used: {error}")))
            }))
        });
        match &**judge {
            Ok(validator) => validator.iter_errors(value).map(|error| Fault::of(&error)).collect(),
            Err(error) => vec![Fault { at: String::new(), lacks: None, text: error.clone() }],
        }
    }
}

/// As the dialect owns it.
fn named<'c>(dialect: &'c Dialect, name: &str) -> Option<&'c str> {
    let event = dialect.events.get_key_value(name).map(|(name, _)| name.as_str());
    event.or_else(|| dialect.types.get_key_value(name).map(|(name, _)| name.as_str()))
}

fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text.to_owned(),
    }
}
