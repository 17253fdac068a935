//! Data for tests and benches: recorded streams if a corpus exists beside the repository, and the goldens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use conformance::Rules;
use conformance::results::CaptureReport;
use spec::Dialect;

/// An event: its `event:` line, if any, and its data.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its file, relative to the searched folder.
    pub file: PathBuf,
    /// The `event:` line.
    pub line: Option<String>,
    /// The payload.
    pub data: String,
}

impl Event {
    /// Returns the type in the data, or else in the `event:` line.
    pub fn event_type(&self) -> String {
        let value: Option<serde_json::Value> = serde_json::from_str(&self.data).ok();
        let in_data = value.as_ref().and_then(|v| v.get("type")).and_then(serde_json::Value::as_str);
        in_data.or(self.line.as_deref()).unwrap_or_default().to_owned()
    }
}

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the corpus of recorded streams: beside the repository, or in `CONFORMANCE_CORPUS` at build time.
pub fn recordings() -> Option<PathBuf> {
    option_env!("CORPUS").map(PathBuf::from)
}

/// Returns the folder with recordings of an API.
pub fn of_api(api: &str) -> Option<PathBuf> {
    let inside = |folder: Option<&str>, name: &str| Some(PathBuf::from(folder?).join(name));
    let folder = match api {
        "responses" => recordings(),
        "gemini" => inside(option_env!("GEMINI"), "stream"),
        "interactions" => inside(option_env!("GEMINI"), "interactions"),
        _ => inside(option_env!("NEIGHBOURS"), api),
    };
    folder.filter(|folder| folder.is_dir())
}

/// Returns the streams of a vendor of an API that were recorded and not changed.
pub fn real(api: &str, vendor: &str) -> Vec<PathBuf> {
    let Some(folder) = of_api(api) else { return Vec::new() };
    let is_meant = |of: &Recording| of.vendor == vendor && of.class == "real";
    let files = index(&folder).into_iter().filter(is_meant).map(|of| folder.join(of.file));
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|it| it == "sse")).collect();
    files.sort();
    files
}

/// Returns the corpus of streams of Messages and Chat Completions, for tests that are ignored without it.
pub fn neighbours() -> PathBuf {
    option_env!("NEIGHBOURS").map(PathBuf::from).expect("there was a corpus when the tests were built")
}

/// Returns the corpus, for tests that are ignored without it.
pub fn required() -> PathBuf {
    recordings().expect("there was a corpus when the tests were built")
}

/// Returns all events of the streams in a folder (`.sse` and `.ndjson`), in a stable order.
pub fn events(folder: &Path) -> Vec<Event> {
    files(folder, &["sse", "ndjson"]).iter().flat_map(|file| of_file(folder, file)).collect()
}

/// Returns all files in a folder with one of these extensions, in a stable order.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, extensions, &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extensions, files);
        } else if path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted)) {
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

/// The index entry of a recording.
pub struct Recording {
    /// Its file, relative to the folder of the index.
    pub file: String,
    /// The vendor of the endpoint.
    pub vendor: String,
    /// `real`, `gateway`, or the kind of modification.
    pub class: String,
    /// The day, if it is known.
    pub recorded: Option<String>,
    /// Whether its events were framed again, and may lack the marker.
    pub is_reframed: bool,
}

/// Returns the recordings of a corpus, in the order of its index.
pub fn index(folder: &Path) -> Vec<Recording> {
    let text = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
    let mut rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = rows.next().expect("the index has a head");
    let column = |name| names.iter().position(|found| *found == name);
    let [file, vendor, class] = ["file", "vendor", "class"].map(|name| column(name).expect(name));
    let (day, features) = (column("recorded").or(column("date")), column("features"));
    rows.map(|row| {
        let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).copied().unwrap_or_default();
        Recording {
            file: row[file].to_owned(),
            vendor: row[vendor].to_owned(),
            class: row[class].to_owned(),
            recorded: Some(cell(day).to_owned()).filter(|day| !["", "?"].contains(&day.as_str())),
            is_reframed: cell(features).split(',').any(|feature| feature == "reframed"),
        }
    })
    .collect()
}

/// The recordings of a corpus by file.
pub struct Index(BTreeMap<String, Recording>);

impl Index {
    /// Reads the index of a corpus.
    pub fn read(folder: &Path) -> Self {
        Self(index(folder).into_iter().map(|recording| (recording.file.clone(), recording)).collect())
    }

    /// Returns the entry of a file.
    pub fn of(&self, file: &str) -> &Recording {
        self.0.get(file).unwrap_or_else(|| panic!("{file} is not in the index"))
    }
}

impl Recording {
    /// Returns the short name of its file.
    pub fn short(&self) -> String {
        self.file.chars().take(6).collect()
    }

    /// Returns whether it was recorded on that day or later.
    pub fn is_since(&self, day: &str) -> bool {
        self.recorded.as_deref().is_some_and(|recorded| recorded >= day)
    }
}

/// Returns the dialect with that name.
pub fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("the build has the dialect")
}

/// Checks the recordings in a folder with all rules of a dialect. Returns the reports, each with its path relative to
/// the folder.
pub fn check(folder: &Path, extensions: &[&str], dialect: &'static Dialect) -> Vec<(String, CaptureReport)> {
    let rules = Rules::of(dialect);
    let checked = |path: &PathBuf| {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let mut file = File::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.clone(), conformance::check(name, &mut file, None, &rules))
    };
    files(folder, extensions).iter().map(checked).collect()
}

/// Returns a pointer with `*` for every index.
pub fn starred(pointer: &str) -> String {
    let segments =
        pointer.split('/').map(|segment| if segment.parse::<u32>().is_ok() { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Number of findings of each rule, by group of recordings.
#[derive(Default)]
pub struct Fired(BTreeMap<(String, String, &'static str), (u64, BTreeSet<String>)>);

impl Fired {
    /// Counts the findings in a recording of that group.
    pub fn add(&mut self, group: &str, file: &str, report: &CaptureReport) {
        for finding in &report.findings {
            let key = (group.to_owned(), finding.rule.to_string(), finding.level.name());
            let (count, files) = self.0.entry(key).or_default();
            *count += finding.count;
            files.insert(file.to_owned());
        }
    }

    /// Returns a line for each rule: its level, number of findings and files, and the first files.
    pub fn table(&self) -> String {
        let (mut text, mut last) = (String::new(), "");
        for ((group, rule, level), (count, files)) in &self.0 {
            if group != last {
                last = group;
                let _ = writeln!(text, "{group}");
            }
            let first = files.first().map_or("", |file| file.rsplit('/').next().unwrap_or(file));
            let _ = writeln!(text, "  {rule} {level}: {count} in {} files, first {first}", files.len());
        }
        text
    }
}
