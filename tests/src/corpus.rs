//! The events that tests and benches read: recorded ones where a corpus lies beside the repository,
//! the goldens everywhere.

use std::fs;
use std::path::{Path, PathBuf};

/// One event: what the `event:` line says, if there is one, and its data.
#[derive(Debug, Clone)]
pub struct Event {
    /// The file it stands in, relative to the folder that was asked for.
    pub file: PathBuf,
    /// The `event:` line.
    pub line: Option<String>,
    /// The payload.
    pub data: String,
}

impl Event {
    /// The type in the data, else what the `event:` line says.
    pub fn event_type(&self) -> String {
        let value: Option<serde_json::Value> = serde_json::from_str(&self.data).ok();
        let in_data = value.as_ref().and_then(|v| v.get("type")).and_then(serde_json::Value::as_str);
        in_data.or(self.line.as_deref()).unwrap_or_default().to_owned()
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The recorded streams, if they lie beside the repository.
pub fn recordings() -> Option<PathBuf> {
    Some(repository().join("../shared/corpus")).filter(|folder| folder.is_dir())
}

/// All events of the streams under a folder (`.sse` and `.ndjson`), in a stable order.
pub fn events(folder: &Path) -> Vec<Event> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    files.iter().flat_map(|file| of_file(folder, file)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "sse" || extension == "ndjson") {
            files.push(path);
        }
    }
}

fn of_file(folder: &Path, file: &Path) -> Vec<Event> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let relative = file.strip_prefix(folder).unwrap_or(file).to_owned();
    let event = |line: Option<&str>, data: &str| Event {
        file: relative.clone(),
        line: line.map(str::to_owned),
        data: data.to_owned(),
    };
    if file.extension().is_some_and(|extension| extension == "ndjson") {
        return text.lines().filter(|line| !line.trim().is_empty()).map(|data| event(None, data)).collect();
    }
    let mut events = Vec::new();
    let mut name = None;
    let mut data: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(value) = line.strip_prefix("event:") {
            name = Some(value.trim_start());
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        } else if line.is_empty() {
            if !data.is_empty() && data != ["[DONE]"] {
                events.push(event(name, &data.join("\n")));
            }
            name = None;
            data.clear();
        }
    }
    events
}
