use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use codegen::SpecFiles;
use codegen::catalogue::is_name;
use codegen::dialect;
use codegen::formats::{ApiFile, Glossary};
use codegen::todo::todo;
use serde_json::{Value, json};

use super::Skeleton;
use crate::features;
use crate::nearest::is_dialect;

/// The dialect gets the two events that open and complete the value of its API, if events of that API have it.
pub(crate) fn dialect(spec: &Path, name: &str, api: Option<&str>) -> anyhow::Result<Skeleton> {
    let head = head(spec, name)?;
    let api = super::api(spec, api)?;
    let folder = PathBuf::from("dialects").join(name);
    let mut text = format!("{head}api = \"{api}\"\n");
    let files = SpecFiles::load(spec)?;
    let events = files.apis.get(&api).and_then(|table| outer_events(table, &files.glossary));
    let _ = writeln!(text, "# {}", todo("how events are framed, under [framing]"));
    let mut skeleton = Skeleton::default();
    skeleton.files.push((folder.join("dialect.toml"), text));
    for (event, text) in events.into_iter().flatten() {
        skeleton.files.push((folder.join(format!("events/{event}.json")), text));
    }
    skeleton.next.push(format!(
        "add the events: `codegen import FILE --dialect {name}` from an OpenAPI document, or `codegen new event` \
         for each"
    ));
    finish(spec, name, skeleton)
}

pub(crate) fn extension(spec: &Path, name: &str, parent: &str) -> anyhow::Result<Skeleton> {
    let head = head(spec, name)?;
    is_dialect(parent, &dialect::list(spec)?)?;
    let text = format!("{head}extends = \"{parent}\"\n");
    let mut skeleton = Skeleton::default();
    skeleton.files.push((PathBuf::from("dialects").join(name).join("dialect.toml"), text));
    skeleton.next.push(format!(
        "write only the events and types that differ from {parent}, as files of the same name; fields that are \
         documented falsely are corrected in errata.toml"
    ));
    finish(spec, name, skeleton)
}

/// The name must be valid, and new.
fn head(spec: &Path, name: &str) -> anyhow::Result<String> {
    ensure!(
        is_name(name),
        "\"{name}\" is not a valid dialect name: use a-z, 0-9 and -, and . and @ for versions"
    );
    let is_known = dialect::list(spec)?.iter().any(|known| known == name);
    ensure!(!is_known, "the dialect \"{name}\" already exists");
    Ok([
        ("product", "the product that uses the dialect"),
        ("source", "the source document, with its date"),
        ("summary", "one sentence on how the dialect differs from others"),
    ]
    .map(|(key, what)| format!("{key} = \"{}\"\n", todo(what)))
    .concat())
}

/// Every dialect has these next steps.
fn finish(spec: &Path, name: &str, mut skeleton: Skeleton) -> anyhow::Result<Skeleton> {
    skeleton.next.push("fill in dialect.toml: the product, the source and the framing of events".into());
    skeleton
        .next
        .push(format!("add conforming recordings to goldens/{name}/, so that rules are tested on them"));
    feature(spec, name, &mut skeleton)?;
    Ok(skeleton)
}

/// `None` if no event has the value of the root.
fn outer_events(api: &ApiFile, glossary: &Glossary) -> Option<[(String, String); 2]> {
    let root = &api.outer.root;
    let is_member = api.slots.values().any(|pointer| pointer.strip_prefix('/') == Some(root));
    let open = api.scopes.get(root)?.phases.last()?;
    if !is_member {
        return None;
    }
    let (first, last) = (format!("{root}.created"), format!("{root}.{}", api.status.completed));
    let opened = outer_event(api, glossary, &first, "open", open);
    let completed = outer_event(api, glossary, &last, "terminal", &api.status.completed);
    Some([(first, opened), (last, completed)])
}

fn outer_event(api: &ApiFile, glossary: &Glossary, event: &str, role: &str, status: &str) -> String {
    let (root, member) = (&api.outer.root, &api.status.member);
    let is_open = role == "open";
    let description =
        if is_open { "A response was created, and work on it begins." } else { "The response is complete." };
    let number = usize::from(!is_open);
    let described = |name: &str, mut schema: Value| {
        if glossary.meaning(event, name).is_none() {
            schema["description"] = todo("one sentence on what it is").into();
        }
        schema
    };
    let json = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": event,
        "description": description,
        "x-lifecycle": { "scope": root, "role": role },
        "type": "object",
        "required": ["type", "sequence_number", root],
        "properties": {
            "type": { "const": event },
            "sequence_number": { "type": "integer" },
            root: described(root, json!({
                "type": "object",
                "required": ["id", member],
                "properties": {
                    "id": described("id", json!({ "type": "string" })),
                    member: described(member, json!({ "const": status }))
                }
            }))
        },
        "examples": [
            { "type": event, "sequence_number": number, root: { "id": "resp_1", member: status } }
        ]
    });
    format!("{json:#}\n")
}

fn feature(spec: &Path, name: &str, skeleton: &mut Skeleton) -> anyhow::Result<()> {
    let feature = features::name(name);
    for manifest in features::MANIFESTS {
        let path = spec.join(manifest.path);
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_list = |line: &&mut String| line.starts_with("all-dialects = [") && line.ends_with(']');
        if let Some(list) = lines.iter_mut().find(is_list) {
            list.truncate(list.len() - 1);
            list.extend([", \"", &feature, "\"]"]);
        }
        let start = lines.iter().position(|line| line == "[features]").map_or(lines.len(), |at| at + 1);
        let is_entry = |line: &&String| !line.is_empty() && !line.starts_with('[');
        let length = lines[start..].iter().take_while(is_entry).count();
        lines.insert(start + length, manifest.line(&feature));
        skeleton.edited.push((manifest.path.into(), lines.join("\n") + "\n"));
    }
    Ok(())
}
