//! Skeletons of new files, which pass every check except that for marked places.

mod client;
mod dialect;
mod event;
mod rule;
mod scenario;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use codegen::catalogue::is_name;
use codegen::folders;

pub(crate) use client::client;
pub(crate) use dialect::{dialect, extension};
pub(crate) use event::event;
pub(crate) use rule::rule;
pub(crate) use scenario::scenario;

/// Files to write, relative to the folder of the specification.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skeleton {
    pub(crate) files: Vec<(PathBuf, String)>,
    /// Existing files, with their new text.
    pub(crate) edited: Vec<(PathBuf, String)>,
    /// Next steps for a person.
    pub(crate) next: Vec<String>,
}

impl Skeleton {
    /// Writes nothing if one of the new files exists.
    pub(crate) fn write(&self, spec: &Path) -> anyhow::Result<()> {
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

/// The API of a new page or dialect, unless another is asked for.
const USUAL_API: &str = "responses";

fn api(spec: &Path, asked: Option<&str>) -> anyhow::Result<String> {
    let known = folders::apis(spec);
    let name = asked.unwrap_or(USUAL_API);
    ensure!(
        known.iter().any(|known| known == name),
        "there is no API \"{name}\"; there are: {}",
        known.join(", ")
    );
    Ok(name.to_owned())
}

/// The folder of rules, whose ids are unique among all APIs.
const RULES: &str = "rules";

struct PagePath {
    /// Its path, relative to the folder of the specification.
    path: PathBuf,
    /// Its API; none if it is true of every API.
    api: Option<String>,
}

impl PagePath {
    /// Without `asked`, the page belongs to the pages that all APIs share if they have its group, or else to the usual
    /// API.
    fn find(spec: &Path, kind: &str, asked: Option<&str>, id: &str) -> anyhow::Result<Self> {
        let is_part = |part: &str| is_name(part) && !part.contains(['.', '@']);
        let parts: Vec<&str> = id.split('/').collect();
        let &[group, name] = parts.as_slice() else { bail!(invalid(kind, id)) };
        ensure!(is_part(group) && is_part(name), invalid(kind, id));
        let (kind, file) = (format!("{kind}s"), format!("{id}.md"));
        let shared = Path::new(&kind);
        let of_an_api =
            |api: &String| spec.join(folders::of_api(Some(api.as_str()), &kind)).join(group).is_dir();
        let is_shared = asked.is_none()
            && spec.join(shared).join(group).is_dir()
            && !folders::apis(spec).iter().any(of_an_api);
        let api = if is_shared { None } else { Some(api(spec, asked)?) };
        let path = folders::of_api(api.as_deref(), &kind).join(&file);
        // Pages of scenarios and cases may have the same id in several APIs, and then none that all share.
        let is_in_each = kind != RULES && !is_shared;
        let existing = match spec.join(shared).join(&file) {
            common if is_in_each && common.is_file() => common,
            _ if is_in_each => spec.join(&path),
            _ => spec.join(folders::file(spec, &kind, &file)),
        };
        ensure!(!existing.is_file(), "{} already exists; choose another name", existing.display());
        Ok(Self { path, api })
    }
}

fn invalid(kind: &str, id: &str) -> String {
    format!("\"{id}\" is not a valid id of a {kind}: write <group>/<name> with a-z, 0-9 and -")
}

/// The member of a request that holds this prompt.
fn prompt(api: Option<&str>, text: &str) -> String {
    match api {
        None | Some(USUAL_API) => format!(r#""input": "{text}""#),
        Some(_) => format!(r#""messages": [{{ "role": "user", "content": "{text}" }}]"#),
    }
}
