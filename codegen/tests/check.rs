//! `codegen check`: the files of the repository are consistent, and inconsistencies are found.

mod support;

use std::fs;
use std::path::Path;

use codegen::check::{Finding, Place, check};
use support::{Copy, own_spec};

#[test]
fn the_specification_agrees_with_itself() {
    let report = check(&own_spec());
    let findings = listed(&report.findings) + &listed(&report.todo);
    assert!(findings.is_empty(), "{findings}");
}

fn listed(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn small_spec() -> Copy {
    Copy::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small-spec"))
}

#[test]
fn the_small_specification_agrees_with_itself() {
    let report = check(&small_spec().0);
    assert_eq!(report.findings, []);
    let open: Vec<&str> = report.open_requirements.iter().map(|open| open.id.as_str()).collect();
    assert_eq!((report.requirements, open), (2, vec!["N2"]));
    assert_eq!((report.guarantees, report.open_guarantees.len()), (1, 1));
}

/// One edit of the small specification.
enum Break {
    /// Text of a file is replaced by other text.
    Edit(&'static str, &'static str, &'static str),
    /// A file is written.
    Write(&'static str, &'static str),
}

use Break::{Edit, Write};

/// Breaks the small specification, and expects exactly these findings by file.
fn breaks(edits: &[Break], expected: &[(&str, &str)]) {
    let copy = small_spec();
    for edit in edits {
        match edit {
            Edit(file, from, to) => {
                let path = copy.0.join(file);
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.contains(from), "{file} has no `{from}`");
                fs::write(path, text.replacen(from, to, 1)).unwrap();
            }
            Write(file, text) => {
                let path = copy.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
    }
    let findings = check(&copy.0).findings;
    let all = listed(&findings);
    assert_eq!(findings.len(), expected.len(), "{all}");
    let mut expected = expected.to_vec();
    expected.sort_by(|(one, _), (other, _)| Path::new(one).cmp(Path::new(other)));
    for (finding, (file, message)) in findings.iter().zip(expected) {
        assert_eq!(finding.file, Path::new(file), "{all}");
        assert!(finding.message.contains(message), "`{message}` is missing: {all}");
        assert!(!finding.help.is_empty(), "{all}");
    }
}

macro_rules! broken {
    ($($name:ident: [$($edit:expr),+ $(,)?] => [$($expected:expr),+ $(,)?];)+) => {
        $(
            #[test]
            fn $name() {
                breaks(&[$($edit),+], &[$($expected),+]);
            }
        )+
    };
}

const ADDED: &str = "dialects/d/events/response.item.added.json";
const DELTA: &str = "dialects/d/events/response.text.delta.json";
const PHASE: &str = "dialects/d/events/response.in_progress.json";
const PATCHED: &str = "dialects/e/events/response.text.delta.patch.json";
const DIALECT: &str = "dialects/d/dialect.toml";
const HEIR: &str = "dialects/e/dialect.toml";
const API: &str = "apis/responses/api.toml";
const GOLDEN: &str = "apis/responses/goldens/d/text.sse";
const RULE: &str = "rules/schema/valid.md";
const JOINED: &str = "apis/responses/rules/text/joined.md";
const SCENARIO: &str = "apis/responses/scenarios/text/hello.md";
const PROFILE: &str = "apis/responses/profiles/core.toml";
const REQUIREMENTS: &str = "apis/responses/requirements/d.toml";
const GUARANTEES: &str = "dialects/d/guarantees.toml";
const DEFECTS: &str = "apis/responses/defects.toml";
const MEASURED: &str = "apis/responses/measured.toml";
const CLIENT_PROFILE: &str = "apis/responses/client-profiles/client-core.toml";
const CLIENT_CASE: &str = "apis/responses/clients/text/hello.md";

broken! {
    an_unreadable_file: [Write(API, "[")] => [(API, "")];
    an_unreadable_page: [Edit(JOINED, "authority = \"observed\"", "authority = \"rumour\"")] => [
        (JOINED, "unknown variant `rumour`"),
        (SCENARIO, "no rule text/joined"),
    ];
    a_file_that_belongs_nowhere: [Write("apis/responses/rules/text/notes.txt", "")] => [("apis/responses/rules/text/notes.txt", "expected only files <name>.md")];

    a_dialect_without_an_api: [Edit(DIALECT, "api = \"responses\"\n", "")] => [
        (API, "no dialect belongs to the API"),
        (DIALECT, "`api` is missing"),
    ];
    a_dialect_of_no_api: [Edit(DIALECT, "api = \"responses\"", "api = \"chat\"")] => [
        (API, "no dialect belongs to the API"),
        (DIALECT, "there is no API \"chat\""),
    ];

    a_scope_that_does_not_exist: [Edit(DELTA, "\"scope\": \"text\"", "\"scope\": \"txet\"")] => [
        (DELTA, "no scope \"txet\""),
        (JOINED, "no event of scope \"text\" has the role"),
    ];
    an_event_without_place_and_nothing_that_follows: [
        Edit(DELTA, "\"x-lifecycle\"", "\"default\""),
        Write("dialects/d/events/response.more.json", "{\"$id\": \"response.more\"}"),
    ] => [
        ("dialects/d/events/response.more.json", "`x-lifecycle` is missing"),
        (DELTA, "`x-lifecycle` is missing"),
    ];
    a_type_that_is_no_json_and_nothing_that_refers_to_it: [Write("dialects/d/types/Item.json", "[")] => [
        ("dialects/d/types/Item.json", "EOF"),
    ];
    a_reference_that_leads_nowhere: [Edit(ADDED, "../types/Item.json", "../types/Thing.json")] => [
        (ADDED, "refers to type \"Thing\""),
    ];
    an_open_enumeration_without_reason: [
        Edit(DELTA, "\"delta\": {\n      \"type\": \"string\"", "\"delta\": { \"type\": \"string\", \"enum\": [\"Hi\"], \"x-open\": true"),
    ] => [(DELTA, "`x-open` must be a string with the reason")];
    an_enumeration_that_is_open_and_closed: [
        Edit(DELTA, "\"delta\": {\n      \"type\": \"string\"", "\"delta\": { \"type\": \"string\", \"enum\": [\"Hi\"], \"x-open\": \"a\", \"x-closed\": \"b\""),
    ] => [(DELTA, "either `x-open` or `x-closed`")];
    a_patch_of_nothing: [Write("dialects/e/types/Nothing.patch.json", "{}")] => [
        ("dialects/e/types/Nothing.patch.json", "no inherited types/Nothing.json"),
    ];
    a_patch_beside_the_file: [Write("dialects/e/events/response.text.patch.json", "{}")] => [
        ("dialects/e/events/response.text.patch.json", "the dialect has its own events/response.text.json"),
    ];
    a_patch_that_breaks_the_schema: [Write(PATCHED, "{\"oneOf\": []}")] => [(PATCHED, "keyword `oneOf`")];
    a_patch_without_effect: [
        Write(PATCHED, "{\"type\": \"object\", \"deprecated\": null, \"required\": {\"x-add\": [\"delta\"]}}"),
    ] => [
        (PATCHED, "there is nothing to remove"),
        (PATCHED, "the list already has this entry"),
        (PATCHED, "the inherited value is the same"),
    ];
    an_example_that_a_patch_makes_wrong: [
        Write(PATCHED, "{\"properties\": {\"delta\": {\"maxLength\": 1}}}"),
    ] => [(PATCHED, "the example is not valid in e")];

    a_phase_without_name: [Edit(PHASE, ",\n    \"phase\": \"in_progress\"", "")] => [
        (PHASE, "the entry `phase` is missing"),
        (API, "no event of any dialect begins its phase"),
    ];
    a_phase_that_the_scope_has_not: [Edit(PHASE, "\"phase\": \"in_progress\"", "\"phase\": \"queued\"")] => [
        (PHASE, "has no phase \"queued\""),
        (API, "begins its phase \"in_progress\""),
    ];
    a_phase_of_another_role: [Edit(ADDED, "\"role\": \"open\"", "\"role\": \"open\", \"phase\": \"x\"")] => [
        (ADDED, "only for events with the role `phase`"),
    ];
    a_delta_without_value: [Edit(DELTA, ",\n    \"value\": \"/delta\"", "")] => [(DELTA, "needs `value`")];
    a_value_that_is_not_there: [Edit(ADDED, "\"/item\"", "\"/item/words\"")] => [(ADDED, "no property at \"/item/words\"")];
    a_terminal_that_ends_no_response: [Edit(ADDED, "\"role\": \"open\"", "\"role\": \"terminal\"")] => [
        (DIALECT, "not listed"),
        (ADDED, "only for events of the scope response"),
    ];
    a_terminal_that_is_no_event: [Edit(HEIR, "\"response.completed\"", "\"response.completed\", \"end\"")] => [
        (HEIR, "no event \"end\""),
    ];
    a_terminal_with_another_role: [Edit(HEIR, "\"response.completed\"", "\"response.completed\", \"response.text\"")] => [
        (HEIR, "its role in `x-lifecycle` is not `terminal`"),
    ];

    a_parent_that_does_not_exist: [Edit(API, "parent = \"item\"", "parent = \"part\"")] => [
        (API, "its parent \"part\" does not exist"),
    ];
    a_container_that_is_no_entry_of_the_root: [
        Edit(API, "container = \"item\"", "container = \"text\"\nid = \"item_id\""),
    ] => [
        (API, "\"text\" is not a child of \"response\" with a key of one slot"),
        (API, "there is no slot \"item_id\""),
    ];
    a_root_that_is_no_scope: [Edit(API, "root = \"response\"", "root = \"answer\"")] => [
        ("dialects/d/events/response.completed.json", "only for events of the scope response"),
        (API, "\"item\" is not a child of \"answer\""),
        (API, "\"answer\" is not a scope without a parent"),
        (API, "no terminal response has"),
        (API, "`parent` is missing"),
    ];
    two_events_that_open_a_stream: [
        Edit("dialects/d/events/response.in_progress.json", "\"role\": \"phase\",\n    \"phase\": \"in_progress\"", "\"role\": \"open\""),
    ] => [
        (DIALECT, "several events open the scope \"response\""),
        (HEIR, "several events open the scope \"response\""),
        (API, "no event of any dialect begins its phase"),
    ];
    a_scope_without_parent: [Edit(API, "parent = \"response\"\n", "")] => [
        (API, "\"item\" is not a child of \"response\""),
        (API, "`parent` is missing"),
    ];
    scopes_that_lie_in_each_other: [Edit(API, "parent = \"response\"", "parent = \"text\"")] => [
        (API, "\"item\" is not a child of \"response\""),
        (API, "its parents form a cycle"),
        (API, "its parents form a cycle"),
    ];
    a_key_that_is_no_slot: [Edit(API, "key = [\"output_index\"]\nin_parent", "key = [\"index\"]\nin_parent")] => [
        (API, "the unknown slot \"index\""),
    ];
    a_placeholder_that_is_no_key: [Edit(API, "/output/{output_index}", "/output/{index}")] => [
        (API, "not in its key"),
    ];
    a_place_in_the_parent_that_is_not_there: [Edit(API, "\"/text\"", "\"/words\"")] => [
        (API, "no event that closes the scope \"item\""),
    ];
    a_place_in_the_response_that_is_not_there: [Edit(API, "\"/output/", "\"/items/")] => [
        (API, "no terminal response"),
    ];
    a_slot_that_nothing_has: [Edit(API, "[outer]", "item_id = \"/item_id\"\n\n[outer]")] => [
        (API, "has a property at \"/item_id\""),
    ];
    a_scope_that_nothing_uses: [
        Edit(API, "[scope.item]", "[scope.audio]\ndescription = \"Sound.\"\nparent = \"response\"\n\n[scope.item]"),
    ] => [(API, "no event of any dialect belongs to it")];

    an_event_without_example: [Edit(DELTA, "\"examples\": [", "\"default\": [")] => [
        (DELTA, "no example"),
    ];
    an_example_that_is_not_valid: [Edit(DELTA, "\"delta\": \"Hi\"", "\"delta\": 5")] => [
        (DELTA, "not valid in d: at /delta"),
        (DELTA, "not valid in e: at /delta"),
    ];
    an_example_of_a_type_that_is_not_valid: [
        Edit("dialects/d/types/Item.json", "\"required\"", "\"examples\": [{}], \"required\""),
    ] => [
        ("dialects/d/types/Item.json", "not valid in d: at the root"),
        ("dialects/d/types/Item.json", "not valid in e: at the root"),
    ];
    an_id_that_is_not_the_name: [Edit("dialects/d/types/Item.json", "\"$id\": \"Item\"", "\"$id\": \"Thing\"")] => [
        ("dialects/d/types/Item.json", "`$id` is \"Thing\""),
    ];
    a_type_that_nothing_reaches: [
        Write("dialects/d/types/Spare.json", r#"{"$id": "Spare", "description": "A spare.", "type": "string"}"#),
    ] => [("dialects/d/types/Spare.json", "is unused")];
    a_root_that_is_no_type: [Edit(DIALECT, "request = \"Request\"", "request = \"Request\"\nbody = \"Body\"")] => [
        (DIALECT, "no type \"Body\""),
    ];

    a_golden_of_no_dialect: [Write("apis/responses/goldens/x/text.sse", "data: [DONE]\n\n")] => [
        ("apis/responses/goldens/x/text.sse", "no dialect \"x\""),
    ];
    a_golden_that_is_no_stream: [Write("apis/responses/goldens/d/text.txt", "")] => [("apis/responses/goldens/d/text.txt", "only recordings")];
    goldens_of_one_name: [
        Write("apis/responses/goldens/d/a.http", "HTTP/1.1 400 Bad Request\r\n\r\n{}"),
        Write("apis/responses/goldens/d/a.jsonl", ""),
    ] => [("apis/responses/goldens/d/a.jsonl", "two goldens have the name d/a")];
    a_log_that_is_not_valid: [
        Edit(DIALECT, "request = \"Request\"", "websocket_request = \"Request\""),
        Write("apis/responses/goldens/d/log.jsonl", "{\"sent\":{\"input\":5}}\n{\"recv\":{\"type\":\"a\"}}\n{\"recv\":{}}\n"),
    ] => [
        ("apis/responses/goldens/d/log.jsonl", "not valid: at /input"),
        ("apis/responses/goldens/d/log.jsonl", "no event \"a\""),
        ("apis/responses/goldens/d/log.jsonl", "no `type`"),
    ];
    an_answer_that_is_not_valid: [
        Edit(DIALECT, "request = \"Request\"", "request = \"Request\"\nresponse = \"Response\""),
        Write("apis/responses/goldens/d/answer.http", "HTTP/1.1 200 OK\r\n\r\n{}"),
        Write("apis/responses/goldens/d/error.http", "HTTP/1.1 400 Bad Request\r\n\r\n{"),
        Write("apis/responses/goldens/d/headless.http", "{}"),
    ] => [
        ("apis/responses/goldens/d/answer.http", "\"id\" is a required property"),
        ("apis/responses/goldens/d/answer.http", "\"output\" is a required property"),
        ("apis/responses/goldens/d/error.http", "not JSON"),
        ("apis/responses/goldens/d/headless.http", "blank line"),
    ];
    a_golden_that_ends_too_soon: [Write("apis/responses/goldens/d/half.sse", "data: 1\n")] => [
        ("apis/responses/goldens/d/half.sse", "no blank line ends the last event"),
    ];
    a_golden_with_an_invalid_event: [Edit(GOLDEN, "\"delta\":\"Hi\"", "\"delta\":null")] => [(GOLDEN, "not valid: at /delta")];
    recorded_events_without_a_new_required_property: [
        Edit(DELTA, "\"required\": [", "\"required\": [\n    \"extra\","),
        Edit(DELTA, "\"properties\": {", "\"properties\": {\n    \"extra\": {\"description\": \"More.\"},"),
        Edit(DELTA, "\"delta\": \"Hi\"", "\"delta\": \"Hi\", \"extra\": 1"),
        Write("apis/responses/goldens/d/again.sse", "event: response.text.delta\ndata: {\"type\":\"response.text.delta\",\"sequence_number\":0,\"output_index\":0,\"delta\":\"a\"}\n\n"),
    ] => [
        ("apis/responses/goldens/d/again.sse", "2 recorded events in 2 goldens of 1 dialect lack \"extra\" in response.text.delta"),
    ];
    a_golden_with_an_unknown_event: [
        Write("apis/responses/goldens/d/other.sse", "event: a\ndata: {\"type\":\"a\"}\n\n"),
    ] => [("apis/responses/goldens/d/other.sse", "no event \"a\"")];
    a_golden_with_another_event_line: [Edit(GOLDEN, "event: response.created", "event: message")] => [
        (GOLDEN, "the `event:` field is \"message\""),
    ];
    a_golden_without_event_line: [Edit(GOLDEN, "event: response.created\n", "")] => [(GOLDEN, "the event has no type")];
    a_golden_that_is_no_json: [Write("apis/responses/goldens/d/bare.sse", "event: a\ndata: {\n\n")] => [
        ("apis/responses/goldens/d/bare.sse", "not JSON"),
    ];
    a_golden_without_its_marker: [Edit(DIALECT, "[terminal]", "[framing]\ndone = \"required\"\n\n[terminal]")] => [
        (GOLDEN, "the final [DONE] is missing"),
    ];
    a_golden_with_a_marker_too_many: [
        Edit(DIALECT, "[terminal]", "[framing]\ndone = \"forbidden\"\n\n[terminal]"),
        Write("apis/responses/goldens/d/done.sse", "data: [DONE]\n\n"),
    ] => [("apis/responses/goldens/d/done.sse", "forbids [DONE]")];
    a_golden_that_goes_on_after_its_marker: [Write("apis/responses/goldens/d/done.sse", "data: [DONE]\n\ndata: [DONE]\n\n")] => [
        ("apis/responses/goldens/d/done.sse", "[DONE] is not the last event"),
    ];

    a_file_that_is_inherited_anyway: [
        Write("dialects/e/types/Response.json", include_str!("small-spec/dialects/d/types/Response.json")),
    ] => [("dialects/e/types/Response.json", "identical to the inherited one of \"d\"")];
    a_level_of_no_rule: [Edit(HEIR, "schema/valid", "schema/void")] => [(HEIR, "no rule schema/void")];
    a_level_that_is_the_usual_one: [Edit(HEIR, "\"should\"", "\"must\"")] => [(HEIR, "the level equals the rule's own level")];
    a_level_without_reason: [Edit(HEIR, "It is young.", "")] => [(HEIR, "the reason is empty")];
    a_level_that_is_there_twice: [
        Edit(HEIR, "[[rule]]", "[[rule]]\nid = \"schema/valid\"\nlevel = \"may\"\nreason = \"So.\"\n\n[[rule]]"),
    ] => [(HEIR, "the rule has two entries")];
    an_envelope_of_no_slot: [Edit(DIALECT, "[terminal]", "[envelope]\nid = \"/id\"\n\n[terminal]")] => [
        (DIALECT, "no slot \"id\""),
    ];
    an_envelope_that_is_the_usual_one: [
        Edit(DIALECT, "[terminal]", "[envelope]\noutput_index = \"/output_index\"\n\n[terminal]"),
    ] => [(DIALECT, "is the default")];
    an_envelope_that_leads_nowhere: [
        Edit(DIALECT, "[terminal]", "[envelope]\noutput_index = \"/index\"\n\n[terminal]"),
    ] => [(DIALECT, "no event of the dialect has a property at \"/index\"")];
    an_erratum_without_effect: [
        Edit("dialects/d/errata.toml", "types/Item.json#", "types/Request.json#/properties/input\", \"types/Item.json#/nowhere\", \"types/Item.json#"),
    ] => [("dialects/d/errata.toml", "no such place")];
    an_erratum_without_reason: [Edit("dialects/d/errata.toml", "The text of a new item is null.", "")] => [
        ("dialects/d/errata.toml", "the reason is empty"),
    ];
    a_dialect_without_feature: [Edit("Cargo.toml", "e = []\n", "")] => [("Cargo.toml", "\"e\" has no cargo feature")];
    a_dialect_without_events: [
        Write("dialects/x/dialect.toml", "product = \"\"\nsource = \"\"\nsummary = \"\"\nterminal = { events = [] }"),
        Edit("Cargo.toml", "e = []\n", "e = []\nx = []\n"),
        Edit("Cargo.toml", "\"e\"]", "\"e\", \"x\"]"),
    ] => [("dialects/x/dialect.toml", "no events")];
    a_dialect_that_extends_nothing: [Edit(HEIR, "\"d\"", "\"c\"")] => [(HEIR, "no such dialect")];

    an_event_without_description: [Edit(DELTA, "It happened.", " ")] => [(DELTA, "the event has no description")];
    a_property_without_words: [Edit("glossary.toml", "delta = \"The fragment to append.\"\n", "")] => [
        (DELTA, "property `delta`"),
    ];
    words_for_no_property: [Edit("glossary.toml", "[properties]\n", "[properties]\nwho = \"Somebody.\"\n")] => [
        ("glossary.toml", "no dialect has a property `who`"),
    ];
    words_for_no_type: [Edit("glossary.toml", "[types.Response]", "[types.Answer]")] => [
        ("glossary.toml", "no dialect has a type or event Answer"),
    ];
    a_name_for_no_type: [Edit("glossary.toml", "[types.Response]", "[names]\nAnswer = \"Response\"\n\n[types.Response]")] => [
        ("glossary.toml", "no dialect has a type Answer"),
    ];
    a_default_for_no_property: [Edit("glossary.toml", "[types.Response]", "[defaults.Response]\ndelta = \"1\"\n\n[types.Response]")] => [
        ("glossary.toml", "Response has no property `delta`"),
    ];
    a_default_that_is_not_json: [Edit("glossary.toml", "[types.Response]", "[defaults.Response]\nid = \"resp\"\n\n[types.Response]")] => [
        ("glossary.toml", "the default is not JSON"),
    ];
    words_for_no_property_of_the_type: [Edit("glossary.toml", "[types.Response]", "[types.Response]\ndelta = \"What?\"")] => [
        ("glossary.toml", "Response has no property `delta`"),
    ];
}

broken! {
    a_rule_of_no_scope: [Edit(JOINED, "scope = \"text\"", "scope = \"word\"")] => [
        (JOINED, "no scope \"word\""),
    ];
    a_rule_of_a_scope_that_is_not_there_among_others: [Edit(JOINED, "scope = \"text\"", "scope = [\"text\", \"stream\"]")] => [
        (JOINED, "no scope \"stream\""),
    ];
    a_rule_that_no_scope_exercises: [Edit(JOINED, "since", "exercised_by = \"word\"\nsince")] => [
        (JOINED, "no scope \"word\""),
    ];
    a_rule_of_no_dialect: [Edit(JOINED, "since", "only_in = [\"d\", \"x\"]\nsince")] => [(JOINED, "no dialect \"x\"")];
    a_structure_of_no_scope: [Edit(RULE, "native = true", "structure = [\"reopened\"]")] => [
        (RULE, "`structure` needs a scope"),
    ];
    a_structure_that_the_scope_has_not: [
        Edit(RULE, "\"stream\"\nnative = true", "[\"text\", \"response\"]\nstructure = [\"phase-order\", \"wrong-parent\", \"index-gap\"]"),
    ] => [
        (RULE, "index-gap needs a `key`, which scope \"response\""),
        (RULE, "phase-order needs `phases`, which scope \"text\""),
        (RULE, "wrong-parent needs `of`, which scope \"response\""),
        (RULE, "wrong-parent needs `of`, which scope \"text\""),
    ];
    a_structure_that_is_told_twice: [
        Edit(RULE, "\"stream\"\nnative = true", "[\"item\", \"text\"]\nstructure = [\"reopened\", \"never-closed\"]"),
        Edit(JOINED, "relation = { concat = { of = { role = \"delta\" }, equals = { stated_by = \"parent\" } } }", "structure = [\"never-closed\"]"),
    ] => [(JOINED, "schema/valid checks never-closed of scope \"text\", too")];
    a_role_that_the_scope_has_not: [Edit(JOINED, "role = \"delta\"", "role = \"terminal\"")] => [
        (JOINED, "has the role"),
    ];
    a_place_of_two_minds: [Edit(JOINED, "stated_by", "role = \"delta\", stated_by")] => [(JOINED, "exactly one of")];
    a_place_in_no_event: [Edit(JOINED, "role = \"delta\"", "events = [\"a\"], at = \"x\"")] => [
        (JOINED, "\"x\" is not a JSON pointer"),
        (JOINED, "no dialect has an event \"a\""),
    ];
    a_rule_that_must_be_kept_though_only_observed: [Edit(JOINED, "level = \"should\"", "level = \"must\"")] => [
        (JOINED, "with the authority `observed`"),
        (SCENARIO, "no rule text/joined"),
    ];
    a_citation_of_no_version: [Edit(RULE, "source = \"d\"", "source = \"dd\"")] => [(RULE, "requirements/dd.toml does not exist")];
    a_citation_of_no_requirement: [Edit(RULE, "\"N1\"", "\"N9\"")] => [(RULE, "no requirement N9")];
    a_citation_that_is_not_returned: [Edit(RULE, "\"N1\"", "\"N2\"")] => [(RULE, "does not list this rule")];
    a_sentence_that_is_not_cited: [Edit(RULE, ", requirement = \"N1\"", "")] => [(RULE, "`requirement` is missing")];
    a_violation_of_no_golden: [Edit(RULE, "d/text", "d/txet")] => [(RULE, "no golden d/txet")];
    a_rule_without_violation: [Edit(RULE, "```violation", "```text")] => [
        (DEFECTS, "no rule schema/valid"),
        ("dialects/e/dialect.toml", "no rule schema/valid"),
        (PROFILE, "no rule schema/valid"),
        (REQUIREMENTS, "no rule schema/valid"),
        (RULE, "a block ```violation is missing"),
    ];
    a_violation_that_breaks_no_other_rule: [Edit(RULE, "golden: d/text", "golden: d/text\nalso: a/b")] => [
        (RULE, "`also` lists a/b"),
    ];
    an_edit_of_no_event: [Edit(RULE, "response.text.delta", "response.text.delta#2")] => [
        (RULE, "no response.text.delta number 2"),
    ];
    an_edit_of_no_value: [Edit(RULE, "/delta", "/deltas")] => [(RULE, "no value at \"/deltas\"")];
    an_edit_of_no_text: [Edit(RULE, "unset response.text.delta /delta", "prepend response.text.delta /x \"a\"")] => [
        (RULE, "no string at \"/x\""),
    ];
    an_edit_that_adds_nothing: [Edit(RULE, "unset response.text.delta /delta", "prepend response.text.delta /delta \"\"")] => [
        (RULE, "the prepended text is empty"),
    ];
    an_edit_that_changes_nothing: [Edit(JOINED, "\"Ho\"", "\"Hi\"")] => [(JOINED, "already is \"Hi\"")];
    an_edit_of_what_was_dropped: [Edit(RULE, "unset", "drop response.text.delta\nunset")] => [
        (RULE, "no response.text.delta number 1; the stream has 0"),
    ];
    a_cut_after_the_end: [Edit(RULE, "unset response.text.delta /delta", "truncate response.completed")] => [
        (RULE, "`truncate` removes nothing"),
    ];

    a_scenario_that_elicits_nothing: [Edit(SCENARIO, "[\"response.completed\"]", "[]")] => [(SCENARIO, "`elicits` is empty")];
    a_scenario_that_elicits_no_event: [Edit(SCENARIO, "response.completed", "response.done")] => [
        (SCENARIO, "no dialect has an event"),
    ];
    a_request_that_nothing_takes: [Edit(SCENARIO, "\"Hi.\"", "5")] => [(SCENARIO, "the request is not valid in any dialect")];
    a_scenario_with_no_status: [Edit(SCENARIO, "rules", "status = [99]\nrules")] => [(SCENARIO, "99 is not the HTTP status")];
    a_scenario_after_none: [Edit(SCENARIO, "rules", "previous = \"text/bye\"\nrules")] => [
        (SCENARIO, "only one of `previous` and the request continues"),
        (SCENARIO, "there is no scenario \"text/bye\""),
    ];
    a_scenario_after_itself: [Edit(SCENARIO, "rules", "previous = \"text/hello\"\nrules")] => [
        (SCENARIO, "only one of `previous` and the request continues"),
        (SCENARIO, "`previous` is circular: text/hello"),
    ];
    a_scenario_for_no_rule: [Edit(SCENARIO, "text/joined", "text/split")] => [(SCENARIO, "no rule text/split")];
    a_profile_of_nothing: [Write(PROFILE, "title = \"\"\nsummary = \"\"\nversion = 1\nspecifications = [\"x\"]\nrules = [\"a/b\"]\nscenarios = [\"c/d\", \"text/hello\", \"text/hello\"]")] => [
        (PROFILE, "no rule a/b"),
        (PROFILE, "listed twice"),
        (PROFILE, "no scenario c/d"),
        (PROFILE, "no dialect \"x\""),
    ];
    a_demand_that_does_not_bind: [Edit(PROFILE, "schema/valid", "text/joined")] => [
        (PROFILE, "text/joined is not a MUST in any of the specifications"),
    ];
    a_profile_that_demands_nothing: [Edit(PROFILE, "\"text/hello\"", "")] => [(PROFILE, "`scenarios` is empty")];

    a_requirement_without_coverage: [Edit(REQUIREMENTS, "open = \"schema/short: there is no rule yet\"", "")] => [
        (REQUIREMENTS, "the coverage is missing or ambiguous"),
    ];
    a_requirement_with_two_coverages: [Edit(REQUIREMENTS, "open =", "unobservable = \"No.\"\nopen =")] => [
        (REQUIREMENTS, "the coverage is missing or ambiguous"),
    ];
    a_requirement_of_no_rule: [Edit(REQUIREMENTS, "[\"schema/valid\"]", "[\"schema/valid\", \"a/b\"]")] => [
        (REQUIREMENTS, "no rule a/b"),
    ];
    a_requirement_of_no_scenario: [Edit(REQUIREMENTS, "open = \"schema/short: there is no rule yet\"", "scenarios = [\"a/b\"]")] => [
        (REQUIREMENTS, "no scenario a/b"),
    ];
    a_requirement_that_is_there_twice: [Edit(REQUIREMENTS, "\"N2\"", "\"N1\"")] => [(REQUIREMENTS, "the id N1 is used twice")];
    a_requirement_that_says_nothing: [Edit(REQUIREMENTS, "Every event is short.", "")] => [(REQUIREMENTS, "statement is empty")];
    a_reason_that_is_empty: [Edit(REQUIREMENTS, "schema/short: there is no rule yet", " ")] => [(REQUIREMENTS, "the reason is empty")];
    requirements_of_no_dialect: [Write("apis/responses/requirements/x.toml", "source = \"\"\naddress = \"\"\nrequirement = []")] => [
        ("apis/responses/requirements/x.toml", "no dialect \"x\""),
    ];
    a_guarantee_broken_by_no_edit: [
        Edit(GUARANTEES, "open = \"response/created-first\"", "open = \"x\"\n[[guarantee.broken_by]]\ngolden = \"d/text\"\nedits = 'drop response.gone'"),
    ] => [(GUARANTEES, "edits, line 1: there is no response.gone")];
    a_defect_of_no_golden: [Edit(DEFECTS, "d/text", "d/test")] => [(DEFECTS, "no golden d/test")];
    a_defect_of_no_edit: [Edit(DEFECTS, "'set response", "'steal response")] => [
        (DEFECTS, "edits, line 1: unknown edit `steal`"),
        (MEASURED, "there is no stream"),
    ];
    a_defect_of_no_rule: [Edit(DEFECTS, "schema/valid", "schema/good")] => [(DEFECTS, "no rule schema/good")];
    a_defect_without_verdict: [Edit(DEFECTS, "rules = [\"schema/valid\"]", "")] => [
        (DEFECTS, "the verdict is missing or ambiguous"),
    ];
    a_defect_without_authority: [Edit(DEFECTS, "rules = [\"schema/valid\"]", "legal = \"x\"")] => [
        (DEFECTS, "needs either `rules` or `authority`"),
    ];
    a_defect_expected_for_no_reason: [Edit(DEFECTS, "rules = [\"schema/valid\"]", "rules = [\"schema/valid\"]\nexpect = \"must-report\"")] => [
        (DEFECTS, "only one of `expect` and `because` is set"),
    ];
    a_defect_without_reason: [Edit(DEFECTS, "rules = [\"schema/valid\"]", "legal = \" \"")] => [
        (DEFECTS, "the reason is empty"),
    ];
    a_client_of_no_dialect: [Edit(MEASURED, "dialect = \"d\"\nversion = \"1.0\"", "dialect = \"x\"\nversion = \"1.0\"")] => [
        (MEASURED, "no dialect \"x\""),
    ];
    a_client_that_nothing_is_known_of: [Edit(MEASURED, "version = \"2.0\"", "")] => [
        (MEASURED, "\"x.\" are not the outcomes of 1 clients"),
        (MEASURED, "the client \"lenient\" has neither a version"),
    ];
    a_client_that_is_there_twice: [Edit(MEASURED, "\"lenient\"", "\"strict\"")] => [
        (MEASURED, "the client \"strict\" is listed twice"),
    ];
    an_error_of_no_failure: [Edit(MEASURED, "\"x.\"", "\"w.\"")] => [
        (MEASURED, "\"strict\" has an error on \"defect/text_differs\", but no outcome that is one"),
    ];
    outcomes_of_no_stream: [Edit(MEASURED, "\"x.\"", "\"x.\"\n\"fault/a/b\" = \"..\"")] => [
        (MEASURED, "there is no stream \"fault/a/b\""),
    ];
    outcomes_of_too_few_clients: [Edit(MEASURED, "\"x.\"", "\"x\"")] => [
        (MEASURED, "\"x\" are not the outcomes of 2 clients"),
    ];
    outcomes_that_are_none: [Edit(MEASURED, "\"x.\"", "\"x!\"")] => [
        (MEASURED, "\"x!\" are not the outcomes of 2 clients"),
    ];
    findings_of_a_stream_that_was_not_played: [Write("apis/responses/played.toml", "\"defect/other\" = [\"a/b - - -\"]")] => [
        ("apis/responses/played.toml", "no client was measured with the stream \"defect/other\""),
    ];
    a_measurement_on_a_page: [
        Edit(JOINED, "since = ", "breaks = [{ client = \"strict\", failure = \"x\", source = \"docs/defects.md\" }]\nsince = "),
    ] => [(JOINED, "\"docs/defects.md\" is no report of a user")];
    a_client_profile_of_no_case: [Edit(CLIENT_PROFILE, "text/hello", "text/bye")] => [
        (CLIENT_PROFILE, "there is no case text/bye"),
    ];
    a_client_profile_of_no_dialect: [Edit(CLIENT_PROFILE, "[\"d\"]", "[\"x\"]")] => [
        (CLIENT_PROFILE, "no dialect \"x\""),
    ];
    a_client_profile_over_no_transport: [Edit(CLIENT_PROFILE, "[\"sse\"]", "[]")] => [
        (CLIENT_PROFILE, "`transports` is empty"),
    ];
    a_client_profile_that_demands_twice: [
        Edit(CLIENT_PROFILE, "[\"text/hello\"]", "[\"text/hello\", \"text/hello\"]"),
    ] => [(CLIENT_PROFILE, "text/hello is listed twice")];
    a_client_case_without_authority: [Edit(CLIENT_CASE, "authority = \"x\"", "authority = \"\"")] => [
        (CLIENT_CASE, "`authority` is empty"),
    ];
    a_client_case_with_outputs_of_no_calls: [
        Edit(CLIENT_CASE, "authority = \"x\"", "authority = \"x\"\n[[steps]]\nstep = \"resume\"\noutputs = { f = \"x\" }"),
    ] => [
        (CLIENT_CASE, "`outputs` belongs to the step `answer-calls`"),
        (CLIENT_CASE, "`resume` needs a stream that breaks"),
    ];
    a_rule_that_breaks_no_client_of_the_list: [
        Edit(RULE, "since = \"0.1.0\"", "since = \"0.1.0\"\n[[breaks]]\nclient = \"stern\"\nfailure = \"x\"\nsource = \"x\""),
    ] => [(RULE, "no client \"stern\"")];
    two_defects_of_one_name: [
        Edit(DEFECTS, "[[defect]]", "[[defect]]\nname = \"text_differs\"\nwhat = \"x\"\ngolden = \"d/text\"\nlegal = \"x\"\nauthority = \"x\"\n\n[[defect]]"),
    ] => [(DEFECTS, "the name text_differs is used twice")];
    a_guarantee_about_no_event: [Edit(GUARANTEES, "\"response.created\"]", "\"response.began\"]")] => [
        (GUARANTEES, "no event \"response.began\""),
    ];
    a_guarantee_without_coverage: [Edit(GUARANTEES, "open = \"response/created-first\"", "")] => [
        (GUARANTEES, "the coverage is missing or ambiguous"),
    ];
    a_guarantee_of_no_rule: [Edit(GUARANTEES, "open = \"response/created-first\"", "rules = [\"a/b\"]")] => [
        (GUARANTEES, "no rule a/b"),
    ];
}

#[test]
fn findings_say_where_they_are() {
    let copy = small_spec();
    fs::write(copy.0.join(RULE), fs::read_to_string(copy.0.join(RULE)).unwrap().replace("/delta", "/x"))
        .unwrap();
    let findings = check(&copy.0).findings;
    assert_eq!(findings[0].place, Place::Line(17));
    let text = findings[0].to_string();
    assert!(
        text.starts_with(
            "error: the event has no value at \"/x\"\n  --> rules/schema/valid.md:17\n   = help: "
        ),
        "{text}"
    );
    fs::remove_file(copy.0.join(GOLDEN)).unwrap();
    assert!(check(&copy.0).findings.iter().any(|finding| finding.message.contains("no golden")));
}
