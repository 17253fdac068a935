use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use super::Skeleton;
use crate::catalogue::is_name;
use crate::dialect;
use crate::folders;
use crate::todo::todo;

/// Returns the folder of a dialect, and its feature in the manifest of crate `spec`. A dialect that extends no other
/// gets the two events that every response has.
pub fn dialect(spec: &Path, name: &str, extends: Option<&str>) -> anyhow::Result<Skeleton> {
    ensure!(
        is_name(name),
        "\"{name}\" is not a valid dialect name: use a-z, 0-9 and -, and . and @ for versions"
    );
    let names = dialect::list(spec)?;
    ensure!(!names.iter().any(|known| known == name), "the dialect \"{name}\" already exists");
    let folder = PathBuf::from("dialects").join(name);
    let head: String = [
        ("product", "the product that uses the dialect"),
        ("source", "the source document, with its date"),
        ("summary", "one sentence on how the dialect differs from others"),
    ]
    .map(|(key, what)| format!("{key} = \"{}\"\n", todo(what)))
    .concat();
    let mut skeleton = Skeleton::default();
    if let Some(parent) = extends {
        if !names.iter().any(|known| known == parent) {
            bail!("there is no dialect \"{parent}\" to extend; there are: {}", names.join(", "));
        }
        let text = format!("{head}extends = \"{parent}\"\n");
        skeleton.files.push((folder.join("dialect.toml"), text));
        skeleton.next.push(format!(
            "write only the events and types that differ from {parent}, as files of the same name; fields that are \
             documented falsely are corrected in errata.toml"
        ));
    } else {
        let Some(api) = folders::apis(spec).into_iter().next() else { bail!("there is no API under apis/") };
        let text = format!(
            "{head}api = \"{api}\"   # {}\n\n[terminal]\nevents = [\"response.completed\"]   # {}\n",
            todo("a folder of apis/"),
            todo("the events that end a response; how events are framed, under [framing]")
        );
        skeleton.files.push((folder.join("dialect.toml"), text));
        for (event, role, status) in
            [("response.created", "open", "in_progress"), ("response.completed", "terminal", "completed")]
        {
            skeleton
                .files
                .push((folder.join(format!("events/{event}.json")), response_event(event, role, status)));
        }
        skeleton.next.push(format!(
            "add the events: `codegen import FILE --dialect {name}` from an OpenAPI document, or `codegen new event` \
             for each"
        ));
    }
    skeleton.next.push("fill in dialect.toml: the product, the source and the framing of events".into());
    skeleton
        .next
        .push(format!("add conforming recordings to goldens/{name}/, so that rules are tested on them"));
    feature(spec, name, &mut skeleton)?;
    Ok(skeleton)
}

fn response_event(event: &str, role: &str, status: &str) -> String {
    let open = status == "in_progress";
    let description =
        if open { "A response was created, and work on it begins." } else { "The response is complete." };
    let number = usize::from(!open);
    let json = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": event,
        "description": description,
        "x-lifecycle": { "scope": "response", "role": role },
        "type": "object",
        "required": ["type", "sequence_number", "response"],
        "properties": {
            "type": { "const": event },
            "sequence_number": { "type": "integer" },
            "response": {
                "type": "object",
                "required": ["id", "status"],
                "properties": { "id": { "type": "string" }, "status": { "const": status } }
            }
        },
        "examples": [
            { "type": event, "sequence_number": number, "response": { "id": "resp_1", "status": status } }
        ]
    });
    format!("{json:#}\n")
}

/// Adds the cargo feature of a dialect.
fn feature(spec: &Path, name: &str, skeleton: &mut Skeleton) -> anyhow::Result<()> {
    let path = spec.join("Cargo.toml");
    if !path.is_file() {
        return Ok(());
    }
    let feature = name.replace('@', "-");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(list) =
        lines.iter_mut().find(|line| line.starts_with("all-dialects = [") && line.ends_with(']'))
    {
        list.truncate(list.len() - 1);
        list.extend([", \"", &feature, "\"]"]);
    }
    let start = lines.iter().position(|line| line == "[features]").map_or(lines.len(), |at| at + 1);
    let length = lines[start..].iter().take_while(|line| !line.is_empty() && !line.starts_with('[')).count();
    lines.insert(start + length, format!("{feature} = []"));
    let edited = lines.join("\n") + "\n";
    skeleton.edited.push(("Cargo.toml".into(), edited));
    Ok(())
}
