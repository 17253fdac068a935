//! The parts of an `OpenAPI` document that an import reads.

use codegen::schema::unescape;
use serde_json::{Map, Value};

use super::pointer::Pointer;
use super::schemas::{Result, fail};

pub(super) type Located<'d> = (Pointer, &'d Value);

/// An `OpenAPI` document with named schemas.
pub(super) struct Document<'d> {
    root: &'d Value,
    schemas: &'d Map<String, Value>,
    variant: Option<String>,
}

impl<'d> Document<'d> {
    /// With a `variant` such as `Beta`, paths end in `?beta=true` and names begin with `Beta`.
    pub(super) fn new(root: &'d Value, variant: Option<&str>) -> Result<Self> {
        let missing = |place: Pointer, expected: &str| fail(&place, "no such value", expected);
        if !root.get("openapi").and_then(Value::as_str).is_some_and(|version| version.starts_with("3.")) {
            let expected = "the version of an OpenAPI 3 document, as in \"3.1.0\"";
            return Err(missing(Pointer::root().at("openapi"), expected));
        }
        let place = Pointer::root().at("components").at("schemas");
        let schemas = root.pointer("/components/schemas").and_then(Value::as_object);
        let schemas = schemas.ok_or_else(|| missing(place, "an object of named schemas"))?;
        Ok(Self { root, schemas, variant: variant.map(str::to_owned) })
    }

    pub(super) fn title(&self) -> String {
        let text = |pointer| self.root.pointer(pointer).and_then(Value::as_str);
        let title = text("/info/title").unwrap_or("untitled");
        text("/info/version").map_or_else(|| title.to_owned(), |version| format!("{title} {version}"))
    }

    pub(super) fn operation(&self, path: &str, keys: &[&str]) -> Option<Located<'d>> {
        let path = match &self.variant {
            None => path.to_owned(),
            Some(variant) => format!("{path}?{}=true", variant.to_lowercase()),
        };
        let start = (Pointer::root().at("paths").at(&path), self.root.get("paths")?.get(&path)?);
        keys.iter().try_fold(start, |(place, value), key| Some((place.at(key), value.get(key)?)))
    }

    pub(super) fn variant_schema(&self, name: &str) -> Option<Located<'d>> {
        let name = format!("{}{name}", self.variant.as_deref().unwrap_or_default());
        Some((Pointer::named(&name), self.schema(&name)?))
    }

    pub(super) fn schema(&self, name: &str) -> Option<&'d Value> {
        self.schemas.get(name)
    }

    pub(super) fn referred(&self, from: &Pointer, name: &str) -> Result<&'d Value> {
        let found = || format!("a reference to \"{name}\", which the document does not define");
        let expected = "the name of a schema under #/components/schemas";
        self.schema(name).ok_or_else(|| fail(from, found(), expected))
    }

    pub(super) fn follow(&self, (place, schema): &Located<'d>) -> Result<Located<'d>> {
        match schema.get("$ref") {
            None => Ok((place.clone(), schema)),
            Some(target) => {
                let name = reference(place, target)?;
                let found = self.referred(place, &name)?;
                self.follow(&(Pointer::named(&name), found))
            }
        }
    }
}

pub(super) fn reference(place: &Pointer, target: &Value) -> Result<String> {
    target
        .as_str()
        .and_then(|text| text.strip_prefix("#/components/schemas/"))
        .filter(|name| !name.contains('/'))
        .map(unescape)
        .ok_or_else(|| {
            let expected =
                "\"#/components/schemas/<Name>\"; bundle external references into the document first";
            fail(&place.at("$ref"), format!("the reference {target}"), expected)
        })
}
