//! Skeletons of new files, which pass every check except that for marked places.

mod client;
mod dialect;
mod event;
mod rule;
mod scenario;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::catalogue::is_name;
use crate::folders;

pub use client::client;
pub use dialect::dialect;
pub use event::event;
pub use rule::rule;
pub use scenario::scenario;

/// Files to write, relative to the folder of the specification.
#[derive(Debug, Clone, Default)]
pub struct Skeleton {
    /// Files that are new.
    pub files: Vec<(PathBuf, String)>,
    /// Existing files, with their new text.
    pub edited: Vec<(PathBuf, String)>,
    /// Next steps for a person.
    pub next: Vec<String>,
}

impl Skeleton {
    /// Writes the files.
    ///
    /// # Errors
    ///
    /// Fails before writing anything if one of the new files exists.
    pub fn write(&self, spec: &Path) -> anyhow::Result<()> {
        for (file, _) in &self.files {
            let path = spec.join(file);
            ensure!(!path.exists(), "{} already exists; choose another name", path.display());
        }
        for (file, text) in self.files.iter().chain(&self.edited) {
            let path = spec.join(file);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            }
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// Returns the path of the page of a rule, scenario or case: in the folder that has its group, or else in that of the
/// first API. Fails if the id is invalid.
fn path_of(spec: &Path, kind: &str, id: &str) -> anyhow::Result<PathBuf> {
    let is_part = |part: &str| is_name(part) && !part.contains(['.', '@']);
    let parts: Vec<&str> = id.split('/').collect();
    let fits = matches!(parts.as_slice(), [group, name] if is_part(group) && is_part(name));
    ensure!(fits, "\"{id}\" is not a valid id of a {kind}: write <group>/<name> with a-z, 0-9 and -");
    let kind = format!("{kind}s");
    let folders = folders::of_kind(spec, &kind);
    let group = |folder: &&PathBuf| parts.first().is_some_and(|group| folder.join(group).is_dir());
    let of_api = || folders.iter().find(|folder| folder.strip_prefix(spec.join(folders::APIS)).is_ok());
    let folder = folders.iter().find(group).or_else(of_api);
    let folder = folder.and_then(|folder| folder.strip_prefix(spec).ok()).unwrap_or(Path::new(&kind));
    Ok(folder.join(format!("{id}.md")))
}
