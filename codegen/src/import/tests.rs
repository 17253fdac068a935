use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::formats::{ApiFile, Published};

use super::{ImportRequest, Imported, Laying, has_events, import, into_folder};

/// Returns a document with one event, `thing.done`, that has `schema` as its property `value`.
fn document(schema: &Value, schemas: &Value) -> Value {
    let mut document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Things", "version": "1" },
        "paths": { "/responses": { "post": { "responses": { "200": { "content": {
            "text/event-stream": { "schema": { "oneOf": [{ "$ref": "#/components/schemas/ThingDone" }] } }
        } } } } } },
        "components": { "schemas": {
            "ThingDone": {
                "type": "object",
                "title": "Done",
                "required": ["type"],
                "properties": { "value": schema, "type": { "type": "string", "enum": ["thing.done"] } }
            }
        } }
    });
    if let (Value::Object(all), Value::Object(more)) =
        (&mut document["components"]["schemas"], schemas.clone())
    {
        all.extend(more);
    }
    document
}

/// The API whose documents these are.
static API: LazyLock<ApiFile> =
    LazyLock::new(|| toml::from_str(include_str!("../../../spec/apis/responses/api.toml")).unwrap());

fn request() -> ImportRequest {
    ImportRequest { published: API.published.clone(), ..ImportRequest::default() }
}

fn laying() -> Laying<'static> {
    Laying { api: Some(("responses", &API)), ..Laying::default() }
}

fn imported(schema: &Value, schemas: &Value) -> Imported {
    import(&document(schema, schemas), &request()).unwrap()
}

/// Returns the normal form of a schema.
fn normal(schema: &Value, schemas: &Value) -> Value {
    imported(schema, schemas).files["events/thing.done.json"]["properties"]["value"].clone()
}

fn normal_alone(schema: &Value) -> Value {
    normal(schema, &json!({}))
}

fn error(schema: &Value, schemas: &Value) -> String {
    import(&document(schema, schemas), &request()).unwrap_err().to_string()
}

fn notes(schema: &Value, schemas: &Value) -> Vec<String> {
    imported(schema, schemas).notes.iter().map(ToString::to_string).collect()
}

fn text(schema: &Value) -> String {
    schema.to_string()
}

const VALUE: &str = "#/components/schemas/ThingDone/properties/value";

#[test]
fn an_event_file_is_named_by_its_type_and_starts_with_it() {
    let imported = imported(&json!({ "type": "string" }), &json!({}));
    assert_eq!(imported.files.keys().collect::<Vec<_>>(), ["events/thing.done.json"]);
    assert_eq!(
        super::text::print(&imported.files["events/thing.done.json"]),
        r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "thing.done",
  "type": "object",
  "required": [
    "type"
  ],
  "properties": {
    "type": {
      "const": "thing.done"
    },
    "value": {
      "type": "string"
    }
  }
}
"#
    );
}

#[test]
fn every_way_to_say_nullable_is_one() {
    let expected = r#"{"type":["string","null"],"maxLength":9}"#;
    for schema in [
        json!({ "type": ["string", "null"], "maxLength": 9 }),
        json!({ "type": "string", "maxLength": 9, "nullable": true }),
        json!({ "anyOf": [{ "type": "string", "maxLength": 9 }, { "type": "null" }] }),
        json!({ "oneOf": [{ "type": "null" }, { "type": "string", "maxLength": 9 }] }),
        json!({ "anyOf": [{ "oneOf": [{ "type": "string", "maxLength": 9 }] }, { "type": "null" }] }),
    ] {
        assert_eq!(text(&normal_alone(&schema)), expected, "{schema}");
    }
    let expected = r#"{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}"#;
    for schema in [
        json!({ "type": ["string", "null"], "enum": ["a", "b", null] }),
        json!({ "type": "string", "enum": ["a", "b"], "nullable": true }),
        json!({ "anyOf": [{ "type": "null" }, { "type": "string", "enum": ["a", "b"] }] }),
    ] {
        assert_eq!(text(&normal_alone(&schema)), expected, "{schema}");
    }
}

#[test]
fn every_way_to_say_const_is_one() {
    for schema in [
        json!({ "const": "a" }),
        json!({ "type": "string", "const": "a" }),
        json!({ "type": "string", "enum": ["a"] }),
        json!({ "type": "string", "enum": ["a"], "default": "a", "x-stainless-const": true }),
    ] {
        assert_eq!(text(&normal_alone(&schema)), r#"{"const":"a"}"#, "{schema}");
    }
    let several = json!({ "type": "string", "enum": ["a", "b"], "x-stainless-const": true });
    assert_eq!(text(&normal_alone(&several)), r#"{"type":"string","enum":["a","b"]}"#);
    assert_eq!(notes(&several, &json!({})).len(), 1);
}

#[test]
fn what_says_nothing_is_dropped_and_facts_are_kept() {
    let schema = json!({
        "default": 1, "format": "unixtime", "minimum": 0, "type": "number", "title": "T", "description": "D",
        "example": 3, "x-note": {}, "deprecated": true
    });
    assert_eq!(
        text(&normal_alone(&schema)),
        r#"{"deprecated":true,"type":"number","format":"unixtime","minimum":0,"default":1}"#
    );
    assert_eq!(
        text(&normal_alone(&json!({ "type": "object", "additionalProperties": true }))),
        r#"{"type":"object"}"#
    );
    assert_eq!(text(&normal_alone(&json!(true))), "{}");
}

#[test]
fn annotations_of_the_only_branch_belong_to_the_whole() {
    let schema = json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"], "default": "a", "deprecated": true }, { "type": "null" }] });
    assert_eq!(
        text(&normal_alone(&schema)),
        r#"{"deprecated":true,"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}],"default":"a"}"#
    );
}

#[test]
fn properties_start_with_type_and_required_ones_are_declared() {
    let schema = json!({ "type": "object", "required": ["z", "type", "b"], "properties": { "b": {}, "type": { "const": "x" } } });
    assert_eq!(
        text(&normal_alone(&schema)),
        r#"{"type":"object","required":["type","b","z"],"properties":{"type":{"const":"x"},"b":{},"z":{}}}"#
    );
}

#[test]
fn nested_unions_are_joined_and_null_comes_last() {
    let schema = json!({ "anyOf": [
        { "oneOf": [{ "type": "string" }, { "type": "null" }] },
        { "type": "array", "items": { "type": "string" } },
        { "type": "string" }
    ] });
    assert_eq!(
        text(&normal_alone(&schema)),
        r#"{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}},{"type":"null"}]}"#
    );
    let types =
        json!({ "type": ["string", "array", "null"], "minLength": 1, "items": { "type": "integer" } });
    assert_eq!(
        text(&normal_alone(&types)),
        r#"{"anyOf":[{"type":"string","minLength":1},{"type":"array","items":{"type":"integer"}},{"type":"null"}]}"#
    );
}

#[test]
fn names_come_before_the_free_string_that_would_hide_them() {
    let schemas =
        json!({ "Free": { "anyOf": [{ "type": "string" }, { "type": "string", "enum": ["c", "d"] }] } });
    let schema = json!({ "anyOf": [{ "$ref": "#/components/schemas/Free" }, { "type": "string", "enum": ["a", "b"] }] });
    assert_eq!(
        text(&normal(&schema, &schemas)),
        r#"{"anyOf":[{"type":"string","enum":["a","b"]},{"$ref":"../types/Free.json"}]}"#
    );
    assert_eq!(
        imported(&schema, &schemas).files["types/Free.json"]["anyOf"].to_string(),
        r#"[{"type":"string","enum":["c","d"]},{"type":"string"}]"#
    );
}

#[test]
fn one_reference_with_company_stays_a_reference() {
    let schemas = json!({ "A": { "type": "string" } });
    let schema =
        json!({ "allOf": [{ "$ref": "#/components/schemas/A" }, { "description": "more", "default": "x" }] });
    assert_eq!(text(&normal(&schema, &schemas)), r#"{"$ref":"../types/A.json","default":"x"}"#);
    let typed = json!({ "type": "string", "$ref": "#/components/schemas/A" });
    assert_eq!(text(&normal(&typed, &schemas)), r#"{"$ref":"../types/A.json"}"#);
}

#[test]
fn objects_of_all_of_become_one_and_leave_no_file() {
    let schemas = json!({
        "Base": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": { "type": "string" },
                "state": { "type": "string", "enum": ["a", "b", "c"] },
                "limit": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }] },
                "stream": { "type": "boolean" }
            }
        }
    });
    let schema = json!({ "allOf": [
        { "$ref": "#/components/schemas/Base" },
        {
            "type": "object",
            "required": ["state", "type"],
            "properties": {
                "type": { "type": "string", "enum": ["t"] },
                "state": { "type": "string", "enum": ["b", "c", "d"] },
                "limit": { "type": "integer", "minimum": 0 },
                "stream": { "type": "string", "minLength": 1, "maxLength": 0 }
            }
        }
    ] });
    assert_eq!(
        text(&normal(&schema, &schemas)),
        concat!(
            r#"{"type":"object","required":["type","id","state"],"properties":{"type":{"const":"t"},"id":{"type":"string"},"#,
            r#""state":{"type":"string","enum":["b","c"]},"limit":{"type":"integer","minimum":0},"#,
            r#""stream":{"type":"string","minLength":1,"maxLength":0}}}"#
        )
    );
    assert!(!imported(&schema, &schemas).files.contains_key("types/Base.json"));
}

#[test]
fn a_schema_may_contain_itself() {
    let schemas = json!({ "Tree": {
        "$recursiveAnchor": true,
        "type": "object",
        "properties": { "left": { "$recursiveRef": "#" }, "right": { "$ref": "#/components/schemas/Tree" } }
    } });
    let imported = imported(&json!({ "$ref": "#/components/schemas/Tree" }), &schemas);
    assert_eq!(
        imported.files["types/Tree.json"]["properties"].to_string(),
        r#"{"left":{"$ref":"../types/Tree.json"},"right":{"$ref":"../types/Tree.json"}}"#
    );
}

#[test]
fn only_what_is_reached_is_taken() {
    let schemas = json!({ "Used": { "type": "array", "items": { "$ref": "#/components/schemas/Deep-2" } }, "Deep-2": {}, "Unused": { "not": {} } });
    let imported = imported(&json!({ "$ref": "#/components/schemas/Used" }), &schemas);
    assert_eq!(
        imported.files.keys().collect::<Vec<_>>(),
        ["events/thing.done.json", "types/Deep-2.json", "types/Used.json"]
    );
}

#[test]
fn an_event_that_something_refers_to_is_a_type_as_well() {
    let imported = imported(&json!({ "$ref": "#/components/schemas/ThingDone" }), &json!({}));
    assert_eq!(imported.files.keys().collect::<Vec<_>>(), ["events/thing.done.json", "types/ThingDone.json"]);
}

#[test]
fn bodies_are_found_or_chosen() {
    let mut document = document(&json!({}), &json!({ "Ask": {}, "Answer": {} }));
    let body = |name: &str| json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } });
    document["paths"]["/responses"]["post"]["requestBody"] = json!({ "content": body("Ask") });
    document["paths"]["/responses"]["x-openresponses-websocket"] =
        json!({ "errorMessage": { "$ref": "#/components/schemas/Answer" } });
    let found = import(&document, &request()).unwrap();
    assert_eq!(format!("{:?}", found.roots), r#"{"request": "Ask", "websocket_error": "Answer"}"#);

    let chosen = |name: &str| ImportRequest {
        roots: Some([("request".to_owned(), name.to_owned())].into()),
        ..request()
    };
    assert!(!import(&document, &chosen("Ask")).unwrap().files.contains_key("types/Answer.json"));
    assert_eq!(
        import(&document, &chosen("Gone")).unwrap_err().to_string(),
        "at #/components/schemas/Gone: found no schema \"Gone\", which dialect.toml lists as request; \
         expected a schema of that name; correct [roots] in dialect.toml"
    );
}

#[test]
fn an_api_says_where_documents_have_its_events_and_bodies() {
    let published: Published = toml::from_str(
        "events = [\"Chunk\", \"post /chat 200\"]\nbodies.request = [\"post /chat\", \"Params\"]\n\
         bodies.response = [\"Answer\"]",
    )
    .unwrap();
    let chunk = json!({ "type": "object", "properties": { "object": { "const": "chat.chunk" } } });
    let document = json!({ "$defs": { "Chunk": chunk, "Params": {}, "Answer": {}, "Other": {} } });
    assert!(has_events(&document, &published));
    assert!(!has_events(&document, &API.published));
    let found = import(&document, &ImportRequest { published, ..ImportRequest::default() }).unwrap();
    let files: Vec<&String> = found.files.keys().collect();
    assert_eq!(files, ["events/chat.chunk.json", "types/Answer.json", "types/Params.json"]);
    assert_eq!(format!("{:?}", found.roots), r#"{"request": "Params", "response": "Answer"}"#);
}

#[test]
fn overlapping_branches_and_false_discriminators_are_noted() {
    let schemas = json!({
        "A": { "type": "object", "required": ["type"], "properties": { "type": { "const": "a" } } },
        "B": { "type": "object", "properties": { "type": { "type": ["string", "null"] } } },
        "C": { "type": "object", "required": ["type"], "properties": { "type": { "const": "c" } } }
    });
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let apart = json!({ "oneOf": [reference("A"), reference("C"), { "type": "string" }] });
    assert_eq!(notes(&apart, &schemas), Vec::<String>::new());

    let overlap = json!({
        "oneOf": [reference("A"), reference("B")],
        "discriminator": { "propertyName": "type", "mapping": { "a": "#/components/schemas/A", "x": "#/components/schemas/A" } }
    });
    assert_eq!(
        notes(&overlap, &schemas),
        [
            format!("{VALUE}/oneOf: B has no constant `type`, although it is the discriminator"),
            format!("{VALUE}/oneOf: the discriminator maps \"x\" to A, but its `type` has another value"),
            format!("{VALUE}/oneOf: treated as anyOf, as a value can match two branches: A and B"),
        ]
    );
    let numbers = json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] });
    assert_eq!(notes(&numbers, &schemas).len(), 1);
}

#[test]
fn what_is_not_understood_names_its_place() {
    let none = json!({});
    for (schema, schemas, place) in [
        (json!({ "not": { "type": "string" } }), &none, "/not: found the keyword `not`"),
        (json!({ "type": "string", "items": {} }), &none, "/items: found the keyword `items`"),
        (
            json!({ "type": "object", "patternProperties": {} }),
            &none,
            "/patternProperties: found the keyword `patternProperties`",
        ),
        (json!({ "type": "text" }), &none, "/type: found \"text\""),
        (json!(false), &none, ": found false"),
        (json!({ "type": "integer", "enum": [1, 2] }), &none, "/enum: found 1"),
        (json!({ "type": "string", "pattern": "^(a|b)$" }), &none, "/pattern: found \"^(a|b)$\""),
        (json!({ "$ref": "other.json#/A" }), &none, "/$ref: found the reference \"other.json#/A\""),
        (
            json!({ "$ref": "#/components/schemas/Gone" }),
            &none,
            ": found a reference to \"Gone\", which the document does not define",
        ),
        (json!({ "$recursiveRef": "#" }), &none, "/$recursiveRef: found \"#\""),
        (json!({ "anyOf": [], "oneOf": [] }), &none, "/anyOf: found the keyword `anyOf`"),
        (json!({ "type": "object", "required": "a" }), &none, "/required: found \"a\""),
        (
            json!({ "allOf": [{ "type": "string" }, { "type": "integer" }] }),
            &none,
            "/allOf/1: found incompatible members of `allOf`: {\"type\":\"string\"} and {\"type\":\"integer\"}",
        ),
        (
            json!({ "type": "object", "oneOf": [{ "type": "string" }, { "type": "object" }] }),
            &none,
            "/type: found `type` \"object\" beside schemas that allow other types",
        ),
        (
            json!({ "type": "string", "$ref": "#/components/schemas/N" }),
            &json!({ "N": { "type": "integer" } }),
            "/type: found",
        ),
    ] {
        let message = error(&schema, schemas);
        assert!(message.starts_with(&format!("at {VALUE}{place}")), "{schema}: {message}");
        assert!(message.contains("; expected "), "{message}");
    }
    let cycle = error(
        &json!({ "$ref": "#/components/schemas/Loop" }),
        &json!({ "Loop": { "allOf": [{ "type": "object" }, { "$ref": "#/components/schemas/Loop" }] } }),
    );
    assert!(
        cycle.starts_with("at #/components/schemas/Loop: found a schema that directly contains itself"),
        "{cycle}"
    );
    let name = error(&json!({ "$ref": "#/components/schemas/a b" }), &json!({ "a b": {} }));
    assert!(name.starts_with("at #/components/schemas/a b: found the name \"a b\""), "{name}");
}

#[test]
fn a_document_without_events_is_refused() {
    let mut document = document(&json!({}), &json!({}));
    document["components"]["schemas"]["ThingDone"]["properties"]["type"] = json!({ "type": "string" });
    let message = import(&document, &request()).unwrap_err().to_string();
    assert!(
        message.starts_with("at #/components/schemas/ThingDone: found an event whose `type`"),
        "{message}"
    );
    document["paths"] = json!({});
    let message = import(&document, &request()).unwrap_err().to_string();
    assert!(message.starts_with("at #: found no events: neither ResponseStreamEvent nor"), "{message}");
    let message = import(&json!({}), &request()).unwrap_err().to_string();
    assert!(message.starts_with("at #/openapi: found no such value"), "{message}");
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("codegen-import-{test}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        Self(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut value = serde_json::from_str(&self.read(path)).unwrap();
        change(&mut value);
        let Value::Object(map) = value else { panic!("{path} holds no object") };
        fs::write(self.0.join(path), super::text::print(&super::text::ordered(map))).unwrap();
    }

    /// Contents and time of change of every file.
    fn state(&self) -> Vec<(PathBuf, String, std::time::SystemTime)> {
        let files = |folder: &Path| -> Vec<PathBuf> {
            fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file())
                .collect()
        };
        let mut paths: Vec<PathBuf> = [self.0.clone(), self.0.join("events"), self.0.join("types")]
            .iter()
            .flat_map(|f| files(f))
            .collect();
        paths.sort();
        paths
            .into_iter()
            .map(|path| {
                (
                    path.clone(),
                    fs::read_to_string(&path).unwrap(),
                    fs::metadata(&path).unwrap().modified().unwrap(),
                )
            })
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn a_second_import_keeps_what_is_ours_and_drops_what_is_gone() {
    let folder = Folder::new("keeps");
    let part = |extra: Value| {
        let schemas = json!({
            "Part": { "type": "object", "properties": { "a/b": { "anyOf": [{ "type": "string" }, { "type": "integer" }] }, "old": {} } },
            "Extra": {}
        });
        document(&json!({ "anyOf": [{ "$ref": "#/components/schemas/Part" }, extra] }), &schemas)
    };
    let first = part(json!({ "$ref": "#/components/schemas/Extra" }));
    let summary = into_folder(&first, &folder.0, &laying()).unwrap();
    assert_eq!(
        summary.added,
        ["dialect.toml", "events/thing.done.json", "types/Extra.json", "types/Part.json"]
    );

    toml::from_str::<crate::formats::DialectFile>(&folder.read("dialect.toml")).unwrap();

    folder.edit("events/thing.done.json", |event| {
        event["description"] = json!("Ours.");
        event["x-lifecycle"] = json!({ "scope": "response", "role": "point" });
        event["examples"] = json!([{ "type": "thing.done" }]);
    });
    folder.edit("types/Part.json", |part| {
        part["properties"]["a/b"]["anyOf"][1]["description"] = json!("Deep.");
        part["properties"]["old"]["description"] = json!("Lost.");
    });
    fs::write(folder.0.join("types/Added.json"), "{}\n").unwrap();
    fs::write(
        folder.0.join("errata.toml"),
        "[[erratum]]\nreason = \"r\"\nevidence = \"e\"\nadds = [\"types/Added.json\"]\n",
    )
    .unwrap();
    let dialect = folder.read("dialect.toml");

    let mut second = part(json!({ "type": "string" }));
    second["components"]["schemas"]["Part"]["properties"] =
        json!({ "new": {}, "a/b": { "anyOf": [{ "type": "string" }, { "type": "integer" }] } });
    let summary = into_folder(&second, &folder.0, &laying()).unwrap();
    assert_eq!(
        summary.to_string(),
        "~ events/thing.done.json\n~ types/Part.json\n- types/Extra.json\n\
         note: types/Part.json: dropped the description at /properties/old, which no longer exists\n\
         0 added, 2 changed, 1 removed, 1 unchanged"
    );
    let event: Value = serde_json::from_str(&folder.read("events/thing.done.json")).unwrap();
    let keys: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["$schema", "$id", "description", "x-lifecycle", "type", "required", "properties", "examples"]
    );
    assert!(
        folder
            .read("types/Part.json")
            .contains("\"description\": \"Deep.\",\n          \"type\": \"integer\"")
    );
    assert_eq!(folder.read("types/Added.json"), "{}\n");
    assert_eq!(folder.read("dialect.toml"), dialect);
}

#[test]
fn the_same_import_again_touches_nothing() {
    let folder = Folder::new("again");
    let document =
        document(&json!({ "$ref": "#/components/schemas/A" }), &json!({ "A": { "type": "string" } }));
    into_folder(&document, &folder.0, &laying()).unwrap();
    folder.edit("types/A.json", |schema| schema["description"] = json!("Ours."));
    let before = folder.state();
    assert_eq!(before.len(), 3);
    let summary = into_folder(&document, &folder.0, &laying()).unwrap();
    assert_eq!(summary.to_string(), "0 added, 0 changed, 0 removed, 2 unchanged");
    assert_eq!(folder.state(), before);
}

#[test]
fn a_dialect_that_extends_another_is_refused() {
    let folder = Folder::new("extends");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("dialect.toml"), "extends = \"base\"\n").unwrap();
    let message =
        into_folder(&document(&json!({}), &json!({})), &folder.0, &laying()).unwrap_err().to_string();
    assert!(message.contains("extends \"base\", but an imported dialect cannot extend another"), "{message}");
}

#[cfg(feature = "cli")]
#[test]
fn yaml_reads_as_json_does() {
    let yaml = r##"
openapi: 3.1.0
info: { title: Things, version: "1" }
paths:
  /responses:
    post:
      responses:
        200:
          content:
            text/event-stream:
              schema:
                oneOf:
                  - $ref: "#/components/schemas/ThingDone"
components:
  schemas:
    ThingDone:
      type: object
      title: Done
      required: [type]
      properties:
        value: { type: string, enum: [on, off, 'null', 2026-01-15] }
        type: { type: string, enum: [thing.done] }
"##;
    let json =
        document(&json!({ "type": "string", "enum": ["on", "off", "null", "2026-01-15"] }), &json!({}));
    assert_eq!(super::read::parse(yaml).unwrap(), json);
    assert_eq!(super::read::parse(&json.to_string()).unwrap(), json);
    assert!(super::read::parse("{ not json").is_err());
}

#[test]
fn notes_on_types_that_did_not_change_are_left_out() {
    let folder = Folder::new("old-notes");
    let schemas = json!({ "Amount": { "oneOf": [{ "type": "integer" }, { "type": "number" }] } });
    let imported = |other: &str| {
        let reference = json!({ "$ref": "#/components/schemas/Amount" });
        let document = document(&json!({ "anyOf": [reference, { "type": other }] }), &schemas);
        let mut summary = into_folder(&document, &folder.0, &laying()).unwrap();
        summary.leave_out_old_notes();
        summary
    };
    assert_eq!(imported("string").notes.len(), 1);
    let again = imported("boolean");
    assert_eq!(
        again.to_string(),
        "~ events/thing.done.json\nnote: 1 more on types that did not change (--verbose prints them)\n\
         0 added, 1 changed, 0 removed, 1 unchanged"
    );
}
