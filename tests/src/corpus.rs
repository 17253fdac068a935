//! Data for tests and benches: recorded streams if a corpus exists beside the repository, and the goldens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use conformance::Rules;
use conformance::results::CaptureReport;
use conformance::results::Finding;
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
    let neighbour = || Some(PathBuf::from(option_env!("NEIGHBOURS")?).join(api));
    let folder = if api == "responses" { recordings() } else { neighbour() };
    folder.filter(|folder| folder.is_dir())
}

/// Returns the streams of a vendor of an API that were recorded and not changed.
pub fn real(api: &str, vendor: &str) -> Vec<PathBuf> {
    let Some(folder) = of_api(api) else { return Vec::new() };
    let index = Index::read(&folder).0.into_iter();
    let is_meant = |(file, of): &(PathBuf, Recording)| {
        of.vendor == vendor && of.class == "real" && file.extension().is_some_and(|it| it == "sse")
    };
    index.map(|(file, of)| (folder.join(file), of)).filter(is_meant).map(|(file, _)| file).collect()
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

/// A recorded stream of Messages or Chat Completions.
pub struct Neighbour {
    /// Its short name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The vendor of the endpoint.
    pub vendor: String,
    /// `real`, `gateway`, or the kind of modification.
    pub class: String,
    /// Whether its events were framed again, and may lack the marker.
    pub is_reframed: bool,
}

/// Returns the recorded streams of an API, in the order of their index.
pub fn neighbours_of(folder: &Path, api: &str) -> Vec<Neighbour> {
    let folder = folder.join(api);
    let text = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
    let mut rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = rows.next().expect("the index has a head");
    let column = |name| head.iter().position(|column| *column == name).expect("the index has the column");
    let [file, vendor, class, features] = ["file", "vendor", "class", "features"].map(column);
    rows.map(|row| Neighbour {
        name: row[file].chars().take(6).collect(),
        path: folder.join(row[file]),
        vendor: row[vendor].to_owned(),
        class: row[class].to_owned(),
        is_reframed: row[features].split(',').any(|feature| feature == "reframed"),
    })
    .collect()
}

/// The index of the corpus: its recordings by file.
pub struct Index(BTreeMap<String, Recording>);

/// The index entry of a recording.
pub struct Recording {
    /// The vendor of the endpoint.
    pub vendor: String,
    /// `real`, or the kind of modification.
    pub class: String,
    /// The day, if it is known.
    pub recorded: Option<String>,
}

impl Index {
    /// Reads the index of a corpus.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let names = lines.next().unwrap_or_default();
        let column = |name| names.iter().position(|found| *found == name);
        let cell = |row: &[&str], at: Option<usize>| Some((*row.get(at?)?).to_owned());
        let day = column("recorded").or(column("date"));
        let rows = lines.filter_map(|row| {
            let (vendor, class) = (cell(&row, column("vendor"))?, cell(&row, column("class"))?);
            let recorded = cell(&row, day).filter(|day| day != "?");
            Some((cell(&row, column("file"))?, Recording { vendor, class, recorded }))
        });
        Self(rows.collect())
    }

    /// Returns the entry of a file.
    pub fn of(&self, file: &str) -> &Recording {
        self.0.get(file).unwrap_or_else(|| panic!("{file} is not in the index"))
    }
}

impl Recording {
    /// Returns whether it was recorded on that day or later.
    pub fn is_since(&self, day: &str) -> bool {
        self.recorded.as_deref().is_some_and(|recorded| recorded >= day)
    }
}

/// Returns the dialect with that name.
pub fn dialect(name: &str) -> &'static Dialect {
    spec::DIALECTS.iter().find(|known| known.name == name).expect("the build has the dialect")
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

/// Returns the findings of a report.
pub fn findings(report: &CaptureReport) -> impl Iterator<Item = &Finding> {
    report.findings.iter()
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
        for finding in findings(report) {
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
