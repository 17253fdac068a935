//! What the dialects write under `[render]` has an effect.

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::{Render, RenderEdit, RenderResponse};

fn requests() -> Vec<Value> {
    let settings = [
        json!({"reasoning": {"summary": "auto"}, "text": {"verbosity": "low"}}),
        json!({"reasoning": {"effort": "low"}}),
        json!({"include": ["message.output_text.logprobs"]}),
        json!({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}}),
        json!({"tools": [{"type": "function", "name": "x"}, {"type": "custom", "name": "y"}], "tool_choice": "none"}),
        json!({"input": "[[say A|B]][[cite]][[cite file]]"}),
        json!({"input": "[[image 1]][[file_search x]][[code]][[web_search y]]"}),
        json!({"input": "[[mcp failed]][[mcp]]"}),
        json!({"input": "[[call f]][[fail after 9]]"}),
    ];
    let with_rest = settings.into_iter().map(|settings| {
        let mut request = json!({"input": "Hello", "model": "reference-1"});
        request.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        request
    });
    with_rest.chain(gateway::examples().filter_map(gateway::example)).collect()
}

fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

/// Returns a list without each of its entries.
fn shorter<T: Copy>(list: &'static [T]) -> impl Iterator<Item = &'static [T]> {
    (0..list.len()).map(|at| {
        let others = list.iter().enumerate().filter(move |(other, _)| *other != at);
        leaked(others.map(|(_, entry)| *entry).collect())
    })
}

/// Returns a table without each of its entries, with its name.
fn without_one(render: Render) -> Vec<(String, Render)> {
    let RenderResponse { members, ended, defaults } = render.response;
    let of = |response| Render { response, ..render };
    let mut all = vec![("pads".to_owned(), Render { pads: !render.pads, ..render })];
    let mut add = |name: &str, render| all.push((name.to_owned(), render));
    shorter(render.items).for_each(|items| add("items", Render { items, ..render }));
    shorter(render.annotations).for_each(|annotations| add("annotations", Render { annotations, ..render }));
    shorter(render.tools).for_each(|tools| add("tools", Render { tools, ..render }));
    shorter(members).for_each(|members| add("members", of(RenderResponse { members, ..render.response })));
    shorter(ended).for_each(|ended| add("ended", of(RenderResponse { ended, ..render.response })));
    shorter(defaults)
        .for_each(|defaults| add("defaults", of(RenderResponse { defaults, ..render.response })));
    shorter(render.edits).for_each(|edits| add("edit", Render { edits, ..render }));
    for (at, edit) in render.edits.iter().enumerate() {
        for (name, less) in without_one_of(*edit) {
            let mut edits = render.edits.to_vec();
            edits[at] = less;
            let name = format!("{name} of edit {}", at + 1);
            all.push((name, Render { edits: leaked(edits), ..render }));
        }
    }
    all
}

fn without_one_of(edit: RenderEdit) -> Vec<(&'static str, RenderEdit)> {
    let mut all = vec![
        ("at", RenderEdit { at: None, ..edit }),
        ("when", RenderEdit { when: None, ..edit }),
        ("lacks", RenderEdit { lacks: None, ..edit }),
        ("sometimes", RenderEdit { sometimes: false, ..edit }),
        ("inline", RenderEdit { inline: None, ..edit }),
    ];
    all.retain(|(_, less)| *less != edit);
    all.extend(shorter(edit.types).map(|types| ("types", RenderEdit { types, ..edit })));
    all.extend(shorter(edit.except).map(|except| ("except", RenderEdit { except, ..edit })));
    all.extend(shorter(edit.copy).map(|copy| ("copy", RenderEdit { copy, ..edit })));
    all.extend(shorter(edit.null).map(|null| ("null", RenderEdit { null, ..edit })));
    all.extend(shorter(edit.default).map(|default| ("default", RenderEdit { default, ..edit })));
    all.extend(shorter(edit.set).map(|set| ("set", RenderEdit { set, ..edit })));
    all.extend(shorter(edit.leave_out).map(|leave_out| ("leave_out", RenderEdit { leave_out, ..edit })));
    all.extend(shorter(edit.keep).map(|keep| ("keep", RenderEdit { keep, ..edit })));
    all
}

/// Returns whether two tables of a dialect make the same responses.
fn are_same(dialect: &'static Dialect, render: Render, requests: &[Value]) -> bool {
    let mut other = Dialect::clone(dialect);
    other.render = render;
    let other: &'static Dialect = Box::leak(Box::new(other));
    let answer = |dialect: &'static Dialect, request: &Value, seed| {
        gateway::render(request, &gateway::plan(request, dialect, seed), dialect, seed)
    };
    let is_same = |request| (0..2).all(|seed| answer(dialect, request, seed) == answer(other, request, seed));
    requests.iter().all(is_same)
}

#[test]
fn every_entry_changes_a_response() {
    let requests = requests();
    let mut idle = Vec::new();
    let mut tables: Vec<Render> = Vec::new();
    let api = spec::openai::DIALECT.api.name;
    for dialect in spec::DIALECTS.iter().filter(|dialect| dialect.api.name == api) {
        if tables.contains(&dialect.render) {
            continue;
        }
        tables.push(dialect.render);
        for (entry, render) in without_one(dialect.render) {
            if are_same(dialect, render, &requests) {
                idle.push(format!("{}: one of {entry}", dialect.name));
            }
        }
    }
    assert!(idle.is_empty(), "these entries of [render] change no response: {idle:#?}");
}
