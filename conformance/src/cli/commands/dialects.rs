//! `conformance dialect`: dialects that are folders.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use codegen::diff::{Side, diff, human};
use codegen::sound::{Finding, SourcePlace};
use serde_json::json;
use spec::folder::{Folder, LoadError};
use spec::{Dialect, Verdict, folder};

use super::infer::{Inferred, infer};
use super::parent::Parent;
use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, message, print};
use checker::level;
use results::text::{counted, visible};

const EXAMPLES: &str = "\
Examples:
  conformance dialect new ./acme --extends openai --event acme.progress
  conformance dialect check ./acme
  conformance check stream.sse --dialect ./acme";

/// Writes, checks, compares and explains dialects that are folders.
///
/// A folder says what a gateway sends that no dialect of the suite has: events, members, values, levels of rules. It has only
/// what differs from the dialect that it extends. Every --dialect takes the path of a folder.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct DialectArgs {
    #[command(subcommand)]
    command: DialectCommand,
}

#[derive(Debug, Subcommand)]
enum DialectCommand {
    /// Writes the folder of a new dialect.
    New {
        /// Folder to write; the dialect has the same name.
        #[arg(value_name = "FOLDER")]
        path: PathBuf,
        /// Dialect that it extends: its name, or its folder.
        #[arg(long, value_name = "DIALECT", value_parser = known::DIALECTS, hide_possible_values = true)]
        extends: String,
        /// Type of an event of its own, repeatable.
        #[arg(long, value_name = "TYPE")]
        event: Vec<String>,
    },
    /// Proposes a dialect by what recordings have.
    ///
    /// Allows what a recording has and the dialect that it extends does not allow: missing and additional members, null, values,
    /// types, events, framing. Prints each change with the number of events and recordings that need it, and the rules that
    /// recordings break still. It is a proposal: what a gateway sends by mistake is in it, too.
    Infer {
        /// Recordings, or folders of recordings, of one API.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Dialect that it extends: its name, or its folder.
        #[arg(long, value_name = "DIALECT", value_parser = known::DIALECTS, hide_possible_values = true)]
        extends: String,
        /// Folder to write; the dialect has the same name.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Checks the files of a dialect.
    ///
    /// Exit codes: 0 if nothing is wrong, 1 if a file is wrong or has no effect, 2 if the folder could not be read.
    Check {
        /// Folder of the dialect.
        #[arg(value_name = "FOLDER")]
        path: PathBuf,
    },
    /// Shows what a dialect changes, and whether that breaks readers or writers.
    Diff {
        /// Folder of the dialect.
        #[arg(value_name = "FOLDER")]
        path: PathBuf,
        /// Dialect to compare it with, or its folder [default: the one that it extends].
        #[arg(value_name = "DIALECT")]
        other: Option<String>,
    },
    /// Explains how a dialect differs from the one that it extends.
    Explain {
        /// Folder of the dialect.
        #[arg(value_name = "FOLDER")]
        path: PathBuf,
    },
}

impl CommandArgs for DialectArgs {
    fn run(self) -> Result<ExitCode> {
        match &self.command {
            DialectCommand::New { path, extends, event } => new(path, extends, event)?,
            DialectCommand::Infer { paths, extends, out } => proposed(paths, extends, out)?,
            DialectCommand::Check { path } => return check(path),
            DialectCommand::Diff { path, other } => compare(path, other.as_deref())?,
            DialectCommand::Explain { path } => print(&explained(path)?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

const FILE: &str = "dialect.toml";

fn new(path: &Path, extends: &str, events: &[String]) -> Result<()> {
    let name = name_of(path)?;
    let parent = Parent::of(path, extends)?;
    let base = parent.dialect;
    let mut files = BTreeMap::from([(FILE.to_owned(), head(&name, &parent))]);
    for event in events {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        if event.is_empty() || event.starts_with('.') || !event.chars().all(is_plain) {
            bail!("--event {event}: expected a type such as acme.progress");
        }
        if base.event(event).is_some() {
            bail!(
                "--event {event}: {extends} has this event; write what differs to events/{event}.patch.json"
            );
        }
        files.insert(format!("events/{event}.json"), new_event(event, base));
    }
    write(path, &name, &parent, files)
}

/// The dialect is loaded before anything is written.
fn write(path: &Path, name: &str, parent: &Parent, files: BTreeMap<String, String>) -> Result<()> {
    let folder = parent.extended(path, files)?;
    folder::load(name, &folder)?;
    for (file, text) in &folder.files {
        let file = path.join(file);
        let written = fs::create_dir_all(file.parent().unwrap_or(path)).and_then(|()| fs::write(&file, text));
        written.with_context(|| file.display().to_string())?;
        print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

fn proposed(paths: &[PathBuf], extends: &str, out: &Path) -> Result<()> {
    let name = name_of(out)?;
    let parent = Parent::of(out, extends)?;
    let Inferred { files, lines } = infer(&name, (FILE, &head(&name, &parent)), paths, &parent)?;
    write(out, &name, &parent, files)?;
    lines.iter().try_for_each(|line| print(&format!("{}\n", visible(line))))
}

fn name_of(path: &Path) -> Result<String> {
    if path.exists() {
        bail!("{} exists", path.display());
    }
    Ok(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

fn head(name: &str, parent: &Parent) -> String {
    format!(
        r#"product = "{name}"
source = "what it sends"
summary = "What {name} sends, where it differs from {base}."
extends = "{extends}"

# Events: events/TYPE.json, or events/TYPE.patch.json for what differs in one of {base}. Types: types/NAME.patch.json.
# A rule that does not hold, with its reason:
# [[rule]]
# id = "group/name"
# level = "off"
# reason = "why"
"#,
        base = parent.dialect.name,
        extends = parent.extends
    )
}

fn new_event(event: &str, base: &Dialect) -> String {
    let json = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": event,
        "description": "What it says.",
        "x-lifecycle": { "scope": base.api.scope(base.api.root).name, "role": "point" },
        "type": "object",
        "required": ["type"],
        "properties": { "type": { "const": event } },
        "examples": [{ "type": event }],
    });
    format!("{json:#}\n")
}

/// A dialect as it is written, with what it extends.
struct Written {
    folder: Folder,
    model: codegen::dialect::Dialect,
}

impl Written {
    fn read(path: &Path) -> Result<(Self, Vec<LoadError>)> {
        let (name, folder) = names::dialect_folder(path)?;
        let (model, faults) = folder::opened(&name, &folder)?;
        Ok((Self { folder, model }, faults))
    }

    /// The types of its own events, or the names of its own types; one with `.patch` is inherited, and changed.
    fn own(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.folder
            .files
            .keys()
            .filter_map(move |file| file.strip_prefix(kind)?.strip_prefix('/')?.strip_suffix(".json"))
    }

    fn table(&self, name: &str) -> Vec<(String, String)> {
        let text = self.folder.files.get(FILE).map(String::as_str).unwrap_or_default();
        let file: toml::Table = toml::from_str(text).unwrap_or_default();
        let table = file.get(name).and_then(toml::Value::as_table).into_iter().flatten();
        table.map(|(key, value)| (key.clone(), json!(value).to_string())).collect()
    }
}

fn check(path: &Path) -> Result<ExitCode> {
    let (written, faults) = Written::read(path)?;
    let mut findings: Vec<Finding> = faults
        .iter()
        .map(|fault| Finding {
            file: fault.file.clone(),
            place: fault.at.map_or(SourcePlace::File, |at| SourcePlace::At(at, String::new())),
            message: fault.message.clone(),
            help: "correct the file".to_owned(),
        })
        .collect();
    if findings.is_empty() {
        findings = folder::findings(&written.model, &written.folder, &folder::spec_files()?)?;
    }
    if findings.is_empty() {
        let dialect = names::dialect_in(path)?;
        findings.extend(levels(dialect, &written.folder));
        findings.extend(examples(dialect, &written));
        if findings.is_empty() {
            print(&format!("{}\n", summary(dialect, &written)))?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    for finding in &findings {
        message::note_lines(&visible_lines(&finding.to_string()));
    }
    print(&format!("{}\n", counted(findings.len() as u64, "finding")))?;
    Ok(ExitCode::FAILURE)
}

fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

fn levels(dialect: &'static Dialect, folder: &Folder) -> Vec<Finding> {
    let parent = dialect.lineage.first().and_then(|name| spec::dialect(name));
    let mut findings = Vec::new();
    for own in dialect.rules {
        let Some(rule) = catalogue::rule(own.id) else { continue };
        let usual = parent.map_or_else(|| rule.level_in(dialect), |parent| level(rule, parent));
        let is_own = parent.is_none_or(|parent| parent.rules.iter().all(|inherited| inherited != own));
        if is_own && usual == own.level {
            findings.push(folder::located(
                Finding {
                    file: folder.path.join(FILE),
                    place: SourcePlace::Entry(format!("[[rule]] {}", own.id)),
                    message: format!("the level is {} anyway", own.level.name()),
                    help: "remove the entry".to_owned(),
                },
                folder,
            ));
        }
    }
    findings
}

fn examples(dialect: &Dialect, written: &Written) -> Vec<Finding> {
    let mut findings = Vec::new();
    for event in
        written.own("events").filter_map(|name| written.model.events.get(name.trim_end_matches(".patch")))
    {
        for (at, example) in event.examples.iter().enumerate() {
            let verdict = dialect.check_event(&event.name, &example.to_string());
            let Verdict::Invalid(faults, _) = verdict else { continue };
            findings.extend(faults.first().map(|fault| {
                let finding = Finding {
                    file: written.folder.file(&format!("events/{}.json", event.name)),
                    place: SourcePlace::Pointer(format!("/examples/{at}{}", fault.pointer)),
                    message: format!("the example is not valid: {fault}"),
                    help: "correct the example or the schema".to_owned(),
                };
                folder::located(finding, &written.folder)
            }));
        }
    }
    findings
}

fn summary(dialect: &Dialect, written: &Written) -> String {
    let extends = dialect.lineage.first().map(|name| format!(" extends {name}")).unwrap_or_default();
    let count = |kind: &str, noun: &str| counted(written.own(kind).count() as u64, noun);
    let rules = counted(written.model.own.rules.len() as u64, "rule");
    let hash = dialect.folder_hash().unwrap_or_default();
    format!(
        "{}{extends}: {} and {} of its own or changed, {rules} with another level; {hash}",
        dialect.name,
        count("events", "event"),
        count("types", "type")
    )
}

fn compare(path: &Path, other: Option<&str>) -> Result<()> {
    let (written, faults) = Written::read(path)?;
    faults.first().map_or(Ok(()), |fault| Err(fault.clone()))?;
    let other = match (other, &written.folder.base, written.model.own.extends.as_deref()) {
        (None, Some(base), _) => folder::resolve(&written.folder.base_name().unwrap_or_default(), base)?,
        (Some(other), ..) | (None, None, Some(other)) => match folder::built_in(other)? {
            Some(folder) => folder::resolve(other, &folder)?,
            None => Written::read(Path::new(other))?.0.model,
        },
        (None, None, None) => bail!("the dialect extends no other one: name the one to compare it with"),
    };
    print(&human(&diff(&Side::of_dialect(&other), &Side::of_dialect(&written.model))))
}

fn explained(path: &Path) -> Result<String> {
    let dialect = names::dialect_in(path)?;
    let (written, _) = Written::read(path)?;
    let mut text = format!("{} ({})\n", summary(dialect, &written), dialect.api.title);
    let mut line = |indent: usize, words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:indent$}{}", "", visible(words));
    };
    line(2, &format!("{}: {}", dialect.product, dialect.summary));
    line(2, &format!("source: {}", dialect.source));
    for kind in ["events", "types"] {
        let own: Vec<&str> = written.own(kind).collect();
        if !own.is_empty() {
            line(0, kind);
        }
        for name in own {
            let (name, is_patch) = name.strip_suffix(".patch").map_or((name, false), |name| (name, true));
            let is_inherited = is_patch
                || spec::dialect(dialect.lineage.first().unwrap_or(&""))
                    .is_some_and(|it| it.event(name).is_some() || it.types.contains(&name));
            let what = if is_inherited { "changed" } else { "of its own" };
            match dialect.event(name).filter(|_| kind == "events") {
                Some(event) => {
                    let (role, scope) = (event.role.name(), event.level.noun());
                    line(2, &format!("{name}: {what}, {role} of {scope}: {}", event.description));
                }
                None => line(2, &format!("{name}: {what}")),
            }
        }
    }
    for table in ["framing", "envelope", "signature"] {
        let entries = written.table(table);
        if !entries.is_empty() {
            line(0, table);
        }
        for (key, value) in entries {
            line(2, &format!("{key} = {value}"));
        }
    }
    if !written.model.own.rules.is_empty() {
        line(0, "rules");
    }
    for rule in &written.model.own.rules {
        line(2, &format!("{} {}: {}", rule.id, rule.level.name(), rule.reason));
    }
    if !written.model.errata.is_empty() {
        line(0, "errata");
    }
    for (erratum, _) in &written.model.errata {
        line(2, &format!("{} ({})", erratum.reason, erratum.evidence));
    }
    Ok(text)
}
