//! Dialects that JavaScript hands over as files.

use std::collections::BTreeMap;
use std::path::Path;

use spec::folder::{Folder, load as load_folder};

pub(crate) fn load(input: &[u8]) -> Result<(), String> {
    let (name, files): (String, BTreeMap<String, String>) = serde_json::from_slice(input)
        .map_err(|error| format!("expected a name, and texts by path: {error}"))?;
    let folder = Folder::of_texts(Path::new(&name), files).map_err(|error| error.to_string())?;
    let dialect = load_folder(&name, &folder).map_err(|error| error.to_string())?;
    match dialect.rules.iter().find(|level| catalogue::rule(level.id).is_none()) {
        Some(level) => Err(format!("{name}/dialect.toml: [[rule]] {}: there is no such rule", level.id)),
        None => Ok(()),
    }
}
