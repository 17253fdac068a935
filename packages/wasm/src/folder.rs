//! Dialects that JavaScript hands over as files.

use std::collections::BTreeMap;
use std::path::Path;

use spec::folder::{Folder, load as load_folder, of_loaded, place_of_level};

pub(crate) fn load(input: &[u8]) -> Result<(), String> {
    let (name, files): (String, BTreeMap<String, String>) = serde_json::from_slice(input)
        .map_err(|error| format!("expected a name, and texts by path: {error}"))?;
    let mut folder = Folder::of_texts(Path::new(&name), files).map_err(|error| error.to_string())?;
    // There are no paths: the folder that it extends was loaded before.
    folder.base = folder.base_name().and_then(|base| of_loaded(&base)).map(Box::new);
    let dialect = load_folder(&name, &folder).map_err(|error| error.to_string())?;
    for level in dialect.rules {
        let problem = match () {
            () if catalogue::rule(level.id).is_none() => "there is no such rule",
            () if level.reason.trim().is_empty() => "the reason is empty: explain why the level differs",
            () => continue,
        };
        return Err(format!("{}: [[rule]] {}: {problem}", place_of_level(&folder, level.id), level.id));
    }
    Ok(())
}
