//! Dialects that JavaScript hands over as files.

use std::collections::BTreeMap;
use std::path::Path;

use spec::folder::{Folder, load as load_folder};

pub(crate) fn load(input: &[u8]) -> Result<(), String> {
    let (name, files): (String, BTreeMap<String, String>) = serde_json::from_slice(input)
        .map_err(|error| format!("expected a name, and texts by path: {error}"))?;
    let folder = Folder::of_texts(Path::new(&name), files).map_err(|error| error.to_string())?;
    let dialect = load_folder(&name, &folder).map_err(|error| error.to_string())?;
    for level in dialect.rules {
        let problem = match () {
            () if catalogue::rule(level.id).is_none() => "there is no such rule",
            () if level.reason.trim().is_empty() => "the reason is empty: explain why the level differs",
            () => continue,
        };
        return Err(format!("{name}/dialect.toml: [[rule]] {}: {problem}", level.id));
    }
    Ok(())
}
