//! What the recordings of vendors break, each in its own dialect, and what was decided about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use catalogue::Level;
use codegen::dialect;
use conformance::Rules;
use conformance::results::Finding;
use serde::Deserialize;
use tests::corpus::{self, Recording, starred};
use tests::{defects, generated};

/// The decisions about one API.
#[derive(Deserialize)]
struct Decisions {
    first_party: String,
    dialect: String,
    #[serde(flatten)]
    general: Reasons,
    vendor: BTreeMap<String, Vendor>,
}

/// The decisions about one vendor.
#[derive(Default, Deserialize)]
struct Vendor {
    /// Its dialect; that of the first party if absent.
    dialect: Option<String>,
    #[serde(flatten)]
    own: Reasons,
}

/// Reasons, by rule, or by rule and member.
#[derive(Default, Deserialize)]
struct Reasons {
    #[serde(default)]
    defect: BTreeMap<String, String>,
    #[serde(default)]
    recording: BTreeMap<String, String>,
}

/// What a kind of finding is about: its rule, and the member at fault if that is a schema.
type Key = (String, String);

/// The recordings with each kind of finding, with the highest level.
type Broken = BTreeMap<Key, (Level, BTreeSet<String>)>;

impl Reasons {
    /// Returns the decision about a kind of finding.
    fn of<'r>(&'r self, (rule, member): &Key, used: &mut BTreeSet<&'r str>) -> Option<String> {
        for key in [format!("{rule} {member}"), rule.clone()] {
            for (list, word) in [(&self.recording, "the recording"), (&self.defect, "defect of the vendor")] {
                if let Some((key, why)) = list.get_key_value(&key) {
                    used.insert(key);
                    return Some(format!("{word}: {why}"));
                }
            }
        }
        None
    }

    fn keys(&self) -> impl Iterator<Item = &String> {
        self.defect.keys().chain(self.recording.keys())
    }
}

fn key(finding: &Finding) -> Key {
    let is_schema = finding.rule.starts_with("schema/");
    let member = finding.missing.clone().or_else(|| finding.pointer.as_deref().map(starred));
    (finding.rule.to_string(), member.filter(|_| is_schema).unwrap_or_default())
}

/// Returns what recordings break in a dialect, at the level SHOULD or higher.
fn broken(folder: &Path, recordings: &[&Recording], dialect: &str) -> Broken {
    let rules = Rules::of(corpus::dialect(dialect));
    let mut broken = Broken::new();
    for recording in recordings {
        let bytes = fs::read(folder.join(&recording.file)).expect("it is there");
        let report = conformance::check(recording.short(), &mut &*bytes, None, &rules);
        // A recording that was framed again says nothing of its frames.
        let is_known = |finding: &&Finding| {
            let is_frame = finding.rule.starts_with("wire/") || finding.rule == "completion/ends-with-done";
            finding.level >= Level::Should && !(is_frame && recording.is_reframed)
        };
        for finding in report.findings.iter().filter(is_known) {
            let (level, names) = broken.entry(key(finding)).or_insert((Level::May, BTreeSet::new()));
            *level = (*level).max(finding.level);
            names.insert(recording.short());
        }
    }
    broken
}

/// Returns the reason why a dialect has another level for a rule.
fn reason(name: &str, rule: &str) -> Option<String> {
    let model = dialect::load(&corpus::repository().join("spec"), name).expect("it can be read");
    let own = model.file.rules.iter().find(|own| own.id == rule)?;
    Some(own.reason.clone())
}

/// Returns the rows of a vendor: what its recordings break in its dialect, and what its dialect allows.
fn rows(
    folder: &Path,
    name: &str,
    recordings: &[&Recording],
    decisions: &Decisions,
    used: &mut BTreeSet<String>,
    open: &mut Vec<String>,
) -> String {
    let none = Vendor::default();
    let vendor = decisions.vendor.get(name).unwrap_or(&none);
    let own = vendor.dialect.as_deref().unwrap_or(&decisions.dialect);
    let found = broken(folder, recordings, own);
    let strict =
        if own == decisions.dialect { Broken::new() } else { broken(folder, recordings, &decisions.dialect) };
    let mut text = String::new();
    let mut row = |(rule, member): &Key, level: &str, count: usize, decision: &str| {
        let member = if member.is_empty() { String::new() } else { format!(" `{member}`") };
        _ = writeln!(text, "| {}{member} | {level} | {count} | {decision} |", defects::link(rule));
    };
    for (kind, (level, names)) in &found {
        let (mut of_vendor, mut of_all) = (BTreeSet::new(), BTreeSet::new());
        let decision = (vendor.own.of(kind, &mut of_vendor))
            .or_else(|| decisions.general.of(kind, &mut of_all))
            .map(|why| match reason(own, &kind.0) {
                Some(patch) if *level < Level::Must => format!("patch: {patch}"),
                _ => why,
            })
            .or_else(|| reason(own, &kind.0).map(|patch| format!("patch: {patch}")));
        used.extend(of_vendor.iter().map(|key| format!("{name} {key}")));
        used.extend(of_all.iter().map(|key| format!("* {key}")));
        match decision {
            Some(decision) => row(kind, level.name(), names.len(), &decision),
            None => open.push(format!("{name}: {} {}, such as {:?}", kind.0, kind.1, names.first())),
        }
    }
    for (kind, (_, names)) in strict.iter().filter(|(kind, _)| !found.contains_key(*kind)) {
        let why = reason(own, &kind.0).unwrap_or_else(|| "The schema of the dialect has it.".to_owned());
        row(kind, "allowed", names.len(), &format!("patch: {why}"));
    }
    text
}

fn of_api(folder: &Path, api: &str, decisions: &Decisions) -> String {
    let folder = &folder.join(api);
    let recordings = corpus::index(folder);
    let recordings = recordings.iter().filter(|entry| matches!(entry.class.as_str(), "real" | "gateway"));
    let mut vendors: BTreeMap<&str, Vec<&Recording>> = BTreeMap::new();
    for recording in recordings {
        vendors.entry(&recording.vendor).or_default().push(recording);
    }
    let (mut used, mut open) = (BTreeSet::new(), Vec::new());
    let mut page = format!("\n## {}\n", corpus::dialect(&decisions.dialect).api.title);
    let mut clean = Vec::new();
    for (name, recordings) in &vendors {
        let rows = rows(folder, name, recordings, decisions, &mut used, &mut open);
        let dialect = decisions.vendor.get(*name).and_then(|vendor| vendor.dialect.as_deref());
        let dialect = dialect.unwrap_or(&decisions.dialect);
        if *name == decisions.first_party {
            let musts = broken(folder, recordings, dialect);
            let musts: Vec<_> = musts.iter().filter(|(_, (level, _))| *level == Level::Must).collect();
            assert!(musts.is_empty(), "{api}: {musts:?}");
        }
        if rows.is_empty() {
            clean.push(format!("{name} ({})", recordings.len()));
            continue;
        }
        _ = write!(
            page,
            "\n### {name}\n\n{} recordings, judged as `{dialect}`.\n\n| rule | level | recordings | decision |\n|---|---|---|---|\n{rows}",
            recordings.len()
        );
    }
    _ = writeln!(page, "\nVendors without a finding, with their recordings: {}.", clean.join(", "));
    assert!(open.is_empty(), "{api}: decide in tests/vendors.toml:\n{}", open.join("\n"));
    let general = decisions.general.keys().map(|key| format!("* {key}"));
    let own = decisions
        .vendor
        .iter()
        .flat_map(|(name, vendor)| vendor.own.keys().map(move |key| format!("{name} {key}")));
    let unused: Vec<String> = general.chain(own).filter(|key| !used.contains(key)).collect();
    assert!(unused.is_empty(), "{api}: tests/vendors.toml decides what no recording breaks: {unused:?}");
    page
}

#[cfg_attr(not(neighbours), ignore = "needs the recordings: set CONFORMANCE_NEIGHBOURS")]
#[test]
fn each_vendor_is_decided() {
    let text = fs::read_to_string(corpus::repository().join("tests/vendors.toml")).expect("it is there");
    let decisions: BTreeMap<String, Decisions> = toml::from_str(&text).expect("it can be read");
    let mut page = String::from(
        "# What vendors break\n\n\
         The recordings of vendors and gateways other than test servers, from fixtures of public projects, each judged in the dialect of its \
         vendor, or else in that of the first party. A row has the recordings that break a rule, and what was decided: a defect of \
         the vendor, with what it does to clients; a patch of its dialect, as clients read it; or a fault of the recording.\n\n\
         Recordings that were framed again are not judged by rules about frames. `tests/vendors.toml` has the decisions.\n",
    );
    for (api, decisions) in &decisions {
        page += &of_api(&corpus::neighbours(), api, decisions);
    }
    generated::is_fresh("docs/vendors.md", &page, "vendors");
}
