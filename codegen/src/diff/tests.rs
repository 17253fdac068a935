//! Every kind of change, in both directions: what loosens one way tightens the other.

#![expect(clippy::needless_pass_by_value, reason = "schemas are written where they are passed")]

use serde_json::{Value, json};

use super::{Diff, Side, diff};
use crate::import::Imported;

fn side(files: &[(&str, Value)], roots: &[(&str, &str)]) -> Side {
    let roots = roots.iter().map(|(role, name)| ((*role).to_owned(), (*name).to_owned())).collect();
    let files = files.iter().map(|(path, json)| ((*path).to_owned(), json.clone())).collect();
    Side::of_document("side", Imported { files, roots, title: String::new(), notes: Vec::new() }).unwrap()
}

fn event(schema: Value) -> Side {
    side(&[("events/e.json", schema)], &[])
}

fn with(property: &Value) -> Side {
    event(json!({ "type": "object", "properties": { "x": property } }))
}

fn object(keywords: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    schema.as_object_mut().unwrap().extend(keywords.as_object().unwrap().clone());
    schema
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("../types/{name}.json") })
}

fn lines(diff: &Diff) -> Vec<String> {
    let line = |schema: &super::SchemaDiff, found: &super::Finding| {
        let mark = |breaks, letter| if breaks { letter } else { "-" };
        let (reader, writer) = (mark(found.breaks.reader, "R"), mark(found.breaks.writer, "W"));
        format!("{reader}{writer} {}{} {}", schema.title(), found.path, found.change)
    };
    diff.schemas
        .iter()
        .flat_map(|schema| schema.changes.iter().map(move |found| line(schema, found)))
        .collect()
}

#[track_caller]
fn both_ways(a: &Side, b: &Side, there: &[&str], back: &[&str]) {
    assert_eq!(lines(&diff(a, b)), there, "from a to b");
    assert_eq!(lines(&diff(b, a)), back, "from b to a");
    assert!(diff(a, a).is_empty() && diff(b, b).is_empty());
}

#[track_caller]
fn values(a: Value, b: Value, there: &[&str], back: &[&str]) {
    both_ways(&with(&a), &with(&b), there, back);
}

#[test]
fn properties_come_and_go() {
    let none = event(object(json!({})));
    let optional = event(object(json!({ "properties": { "x": { "type": ["string", "null"] } } })));
    let required =
        event(object(json!({ "required": ["x"], "properties": { "x": { "type": ["string", "null"] } } })));
    both_ways(
        &none,
        &optional,
        &["-- e.x new property, optional, string or null"],
        &["-- e.x property removed, was optional, string or null"],
    );
    both_ways(
        &none,
        &required,
        &["-W e.x new property, required, string or null"],
        &["R- e.x property removed, was required, string or null"],
    );
    both_ways(&optional, &required, &["-W e.x optional -> required"], &["R- e.x required -> optional"]);
}

#[test]
fn in_a_closed_object_even_an_optional_property_matters() {
    let none = event(object(json!({ "additionalProperties": false })));
    let one = event(object(json!({ "properties": { "x": {} }, "additionalProperties": false })));
    both_ways(
        &none,
        &one,
        &["R- e.x new property, optional, any value"],
        &["-W e.x property removed, was optional, any value"],
    );
}

#[test]
fn null_comes_and_goes() {
    let integer = json!({ "type": "integer" });
    values(
        integer,
        json!({ "type": ["integer", "null"] }),
        &["R- e.x null now allowed"],
        &["-W e.x null no longer allowed"],
    );
}

#[test]
fn kinds_change() {
    values(
        json!({ "type": "string" }),
        json!({ "type": "object" }),
        &["RW e.x string -> object"],
        &["RW e.x object -> string"],
    );
    values(
        json!({ "type": "integer" }),
        json!({ "type": "number" }),
        &["R- e.x integer -> number"],
        &["-W e.x number -> integer"],
    );
    values(
        json!({ "type": ["string", "null"] }),
        json!({}),
        &["R- e.x string or null -> any value"],
        &["-W e.x any value -> string or null"],
    );
    values(
        json!({ "type": "string" }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "array" }] }),
        &["R- e.x variant added: array"],
        &["-W e.x variant removed: array"],
    );
}

#[test]
fn constants_and_enumerations_change() {
    values(
        json!({ "const": "a" }),
        json!({ "const": "b" }),
        &["RW e.x constant \"a\" -> \"b\""],
        &["RW e.x constant \"b\" -> \"a\""],
    );
    let (two, three) = (
        json!({ "type": "string", "enum": ["a", "b"] }),
        json!({ "type": "string", "enum": ["a", "c", "b"] }),
    );
    values(two.clone(), three, &["R- e.x values added: c"], &["-W e.x values removed: c"]);
    values(two.clone(), json!({ "const": "a" }), &["-W e.x values removed: b"], &["R- e.x values added: b"]);
    values(
        two.clone(),
        json!({ "type": "string" }),
        &["R- e.x only a, b -> any value"],
        &["-W e.x any value -> only a, b"],
    );
    values(
        json!({ "type": "string" }),
        json!({ "anyOf": [{ "type": "string" }, two] }),
        &["-- e.x open enumeration adds a, b"],
        &["-- e.x open enumeration removes a, b"],
    );
    values(
        json!({ "type": "boolean" }),
        json!({ "const": true }),
        &["-W e.x any value -> only true"],
        &["R- e.x only true -> any value"],
    );
}

#[test]
fn limits_tighten_and_loosen() {
    let cases = [
        (json!({ "type": "string", "maxLength": 64 }), "maxLength: none -> 64", "maxLength: 64 -> none"),
        (json!({ "type": "string", "minLength": 1 }), "minLength: none -> 1", "minLength: 1 -> none"),
        (
            json!({ "type": "string", "pattern": "^[a-z]+$" }),
            "pattern: none -> \"^[a-z]+$\"",
            "pattern: \"^[a-z]+$\" -> none",
        ),
        (json!({ "type": "number", "minimum": 0.5 }), "minimum: none -> 0.5", "minimum: 0.5 -> none"),
        (json!({ "type": "array", "maxItems": 8 }), "maxItems: none -> 8", "maxItems: 8 -> none"),
        (
            json!({ "type": "object", "maxProperties": 16 }),
            "maxProperties: none -> 16",
            "maxProperties: 16 -> none",
        ),
    ];
    for (limited, there, back) in cases {
        let free = json!({ "type": limited["type"] });
        values(free, limited, &[&format!("-W e.x {there}")], &[&format!("R- e.x {back}")]);
    }
    let to = |maximum: u32| json!({ "type": "integer", "maximum": maximum });
    values(to(2), to(3), &["R- e.x maximum: 2 -> 3"], &["-W e.x maximum: 3 -> 2"]);
    let from = |minimum: u32| json!({ "type": "integer", "minimum": minimum });
    values(from(2), from(3), &["-W e.x minimum: 2 -> 3"], &["R- e.x minimum: 3 -> 2"]);
    let pattern = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    values(
        pattern("^[a]+$"),
        pattern("^[b]+$"),
        &["RW e.x pattern: \"^[a]+$\" -> \"^[b]+$\""],
        &["RW e.x pattern: \"^[b]+$\" -> \"^[a]+$\""],
    );
    let names = json!({ "type": "object", "propertyNames": { "type": "string", "maxLength": 8 } });
    values(
        json!({ "type": "object" }),
        names,
        &["-W e.x{name} maxLength: none -> 8"],
        &["R- e.x{name} maxLength: 8 -> none"],
    );
}

#[test]
fn annotations_change_without_breaking() {
    values(
        json!({ "type": "string" }),
        json!({ "type": "string", "format": "uri" }),
        &["-- e.x format: none -> uri"],
        &["-- e.x format: uri -> none"],
    );
    values(
        json!({ "type": "string" }),
        json!({ "type": "string", "deprecated": true }),
        &["-- e.x now deprecated"],
        &["-- e.x no longer deprecated"],
    );
}

#[test]
fn objects_open_and_close() {
    let open = json!({ "type": "object" });
    let closed = json!({ "type": "object", "additionalProperties": false });
    let map = |kind: &str| json!({ "type": "object", "additionalProperties": { "type": kind } });
    values(
        open.clone(),
        closed.clone(),
        &["-W e.x other properties: any -> none"],
        &["R- e.x other properties: none -> any"],
    );
    values(
        open,
        map("string"),
        &["-W e.x other properties: any -> string"],
        &["R- e.x other properties: string -> any"],
    );
    values(
        closed,
        map("string"),
        &["R- e.x other properties: none -> string"],
        &["-W e.x other properties: string -> none"],
    );
    values(map("integer"), map("number"), &["R- e.x{} integer -> number"], &["-W e.x{} number -> integer"]);
}

#[test]
fn entries_of_lists_change() {
    let list = |kind: &str| json!({ "type": "array", "items": { "type": kind } });
    values(list("string"), list("boolean"), &["RW e.x[] string -> boolean"], &["RW e.x[] boolean -> string"]);
}

fn tagged(kind: &str, more: Value) -> Value {
    let mut properties = json!({ "type": { "const": kind } });
    properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object(json!({ "required": ["type"], "properties": properties }))
}

#[test]
fn variants_come_and_go_by_their_tag() {
    let one = tagged("a", json!({}));
    let two = json!({ "anyOf": [tagged("b", json!({})), tagged("a", json!({ "n": {} }))] });
    values(
        one,
        two,
        &["-- e.x<a>.n new property, optional, any value", "R- e.x variant added: b"],
        &["-- e.x<a>.n property removed, was optional, any value", "-W e.x variant removed: b"],
    );
}

#[test]
fn variants_of_one_tag_are_told_apart_by_their_properties() {
    let nested = tagged("error", json!({ "error": { "type": "object" } }));
    let flat = tagged("error", json!({ "code": {}, "message": {} }));
    values(
        nested.clone(),
        json!({ "anyOf": [flat, nested] }),
        &["R- e.x variant added: error"],
        &["-W e.x variant removed: error"],
    );
}

#[test]
fn one_variant_may_do_for_several() {
    let role = |role: &str| tagged("message", json!({ "role": { "const": role } }));
    let any = tagged("message", json!({ "role": { "type": "string", "enum": ["user", "system"] } }));
    let many = json!({ "anyOf": [role("user"), role("system"), tagged("call", json!({}))] });
    let few = json!({ "anyOf": [any, tagged("call", json!({}))] });
    values(
        many,
        few,
        &["R- e.x<message>.role values added: system", "R- e.x<message>.role values added: user"],
        &["-W e.x<message>.role values removed: system", "-W e.x<message>.role values removed: user"],
    );
}

#[test]
fn a_named_schema_is_no_difference_from_one_in_place() {
    let text = json!({ "type": ["string", "null"], "maxLength": 8 });
    let named = |schema: Value| {
        side(
            &[
                ("events/e.json", object(json!({ "properties": { "x": schema } }))),
                ("types/T.json", text.clone()),
            ],
            &[],
        )
    };
    let (plain, by_name) = (with(&text), named(reference("T")));
    assert_eq!(lines(&diff(&plain, &by_name)), [""; 0]);
    let twice_null = named(json!({ "anyOf": [reference("T"), { "type": "null" }] }));
    both_ways(&by_name, &twice_null, &[], &[]);
}

#[test]
fn a_change_is_reported_once_where_it_is_made() {
    let versions = |name: &str, limit: u32| {
        let text = object(json!({ "properties": { "text": { "type": "string", "maxLength": limit } } }));
        let user = object(
            json!({ "properties": { "one": reference(name), "two": { "type": "array", "items": reference(name) } } }),
        );
        side(
            &[
                ("events/e.json", user.clone()),
                ("events/f.json", user),
                ("events/g.json", object(json!({}))),
                (&format!("types/{name}.json"), text),
            ],
            &[("response", name)],
        )
    };
    let found = diff(&versions("Old", 8), &versions("New", 9));
    assert_eq!(lines(&found), ["R- Old / New.text maxLength: 8 -> 9"]);
    assert_eq!(
        (found.schemas[0].events.len(), found.schemas[0].roots.as_slice()),
        (2, &["response".to_owned()][..])
    );
    assert_eq!((found.events.changed.len(), found.events.unchanged.as_slice()), (2, &["g".to_owned()][..]));
    assert!(found.types.added.is_empty() && found.types.removed.is_empty());
}

#[test]
fn null_counts_where_it_is_added() {
    let versions = |use_of_t: Value, t: Value| {
        side(
            &[("events/e.json", object(json!({ "properties": { "x": use_of_t } }))), ("types/T.json", t)],
            &[],
        )
    };
    let (plain, nullable) = (json!({ "type": "string" }), json!({ "type": ["string", "null"] }));
    let or_null = json!({ "anyOf": [reference("T"), { "type": "null" }] });
    let before = versions(reference("T"), plain.clone());
    both_ways(
        &before,
        &versions(or_null.clone(), plain),
        &["R- e.x null now allowed"],
        &["-W e.x null no longer allowed"],
    );
    both_ways(
        &before,
        &versions(reference("T"), nullable.clone()),
        &["R- T null now allowed"],
        &["-W T null no longer allowed"],
    );
    both_ways(&versions(or_null.clone(), nullable.clone()), &versions(reference("T"), nullable), &[], &[]);
}

#[test]
fn what_differs_in_a_part_of_both_unions_is_the_part_s() {
    let versions = |values: &[&str]| {
        let union = json!({ "anyOf": [reference("Mode"), tagged("a", json!({}))] });
        let mode = json!({ "anyOf": [{ "type": "string", "enum": values }, { "type": "integer" }] });
        side(
            &[("events/e.json", object(json!({ "properties": { "x": union } }))), ("types/Mode.json", mode)],
            &[],
        )
    };
    both_ways(
        &versions(&["a"]),
        &versions(&["a", "b"]),
        &["R- Mode values added: b"],
        &["-W Mode values removed: b"],
    );
}

#[test]
fn recursive_schemas_end_even_when_their_names_stand_elsewhere() {
    let object_of = |inner: Value| object(json!({ "properties": { "x": inner } }));
    let a = side(
        &[("events/e.json", reference("T")), ("types/T.json", object_of(object_of(reference("T"))))],
        &[],
    );
    let b = side(
        &[
            ("events/e.json", object_of(reference("U"))),
            ("types/U.json", object_of(object_of(reference("U")))),
        ],
        &[],
    );
    both_ways(&a, &b, &[], &[]);
}

#[test]
fn a_schema_that_holds_itself_reports_its_changes_once() {
    let versions = |limit: u32| {
        let inner = json!({ "anyOf": [reference("T"), { "type": "string" }] });
        let own = json!({ "n": { "type": "integer", "maximum": limit }, "x": inner });
        let event = object(json!({ "properties": { "x": reference("T") } }));
        side(&[("events/e.json", event), ("types/T.json", tagged("t", own))], &[])
    };
    both_ways(&versions(1), &versions(2), &["R- T.n maximum: 1 -> 2"], &["-W T.n maximum: 2 -> 1"]);
}

#[test]
fn events_types_and_bodies_of_one_side_are_named() {
    let extra = object(json!({}));
    let a = side(&[("events/e.json", extra.clone())], &[]);
    let files =
        [("events/e.json", extra.clone()), ("events/f.json", reference("T")), ("types/T.json", extra)];
    let found = diff(&a, &side(&files, &[("request", "T")]));
    assert_eq!(
        (found.events.added, found.types.added, found.roots.added),
        (vec!["f".into()], vec!["T".into()], vec!["request".into()])
    );
    assert_eq!(
        (found.counts.changes, found.counts.breaking_for_reader, found.counts.breaking_for_writer),
        (1, 1, 0)
    );
    let back = diff(&side(&files, &[("request", "T")]), &a);
    assert_eq!(
        (back.events.removed, back.types.removed, back.roots.removed),
        (vec!["f".into()], vec!["T".into()], vec!["request".into()])
    );
    assert_eq!(
        (back.counts.changes, back.counts.breaking_for_reader, back.counts.breaking_for_writer),
        (1, 0, 1)
    );
}
