//! Our own files are valid by the JSON Schemas of their formats.

use std::fs;
use std::path::{Path, PathBuf};

use codegen::folders;
use codegen::formats::editor_schemas;
use serde_json::Value;

use crate::own_spec;

#[test]
fn files_are_as_their_schemas_say() {
    let spec = own_spec();
    let mut files = vec![("glossary", spec.join("glossary.toml")), ("foreign", spec.join(folders::FOREIGN))];
    for api in folders::apis(&spec) {
        files.push(("api", spec.join(folders::APIS).join(api).join(folders::TABLE)));
    }
    for dialect in list(&spec.join("dialects")) {
        let kinds =
            [("dialect", "dialect.toml"), ("errata", "errata.toml"), ("guarantee", "guarantees.toml")];
        files.extend(
            kinds
                .map(|(kind, name)| (kind, dialect.join(name)))
                .into_iter()
                .filter(|(_, path)| path.is_file()),
        );
    }
    for (kind, folder) in [("log", folders::LOGS), ("requirement", "requirements"), ("profile", "profiles")] {
        let folders = folders::of_kind(&spec, folder);
        files.extend(folders.iter().flat_map(|folder| list(folder)).map(|path| (kind, path)));
    }
    for (kind, folder) in [("rule", "rules"), ("scenario", "scenarios")] {
        let folders = folders::of_kind(&spec, folder);
        let groups = folders.iter().flat_map(|folder| list(folder));
        let pages = groups.flat_map(|group| list(&group)).collect::<Vec<_>>();
        files.extend(pages.into_iter().map(|path| (kind, path)));
    }
    let schemas = editor_schemas();
    for (kind, path) in files {
        let (_, schema) = schemas.iter().find(|(name, _)| *name == format!("{kind}.schema.json")).unwrap();
        let schema: Value = serde_json::from_str(schema).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let text =
            text.strip_prefix("```toml\n").and_then(|page| page.split("\n```").next()).unwrap_or(&text);
        let value: Value = toml::from_str(text).unwrap();
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
