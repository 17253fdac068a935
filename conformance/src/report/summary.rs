//! A run as a whole: by rule, by file and by client.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use spec::catalogue::{self, Level};
use unicode_width::UnicodeWidthStr;

use super::human::word;
use super::run::{CaptureReport, Located, Run};
use super::text::visible;

/// So many files are listed, the worst first.
const FILES: usize = 10;
/// So many rules are named with a client.
const RULES: usize = 6;

/// What a run found: by rule, by file and by client, and what could not be judged.
pub fn summary(run: &Run, shown: Level) -> String {
    let mut out = String::new();
    let of = |count: fn(&CaptureReport) -> u64| run.captures.iter().map(count).sum::<u64>();
    let _ = writeln!(
        out,
        "{}: {}, {}, {} checked as {}",
        match (run.has_failed(), run.is_incomplete()) {
            (true, _) => "failed",
            (false, true) => "incomplete",
            (false, false) => "passed",
        },
        counted(run.captures.len() as u64, "file"),
        counted(of(|capture| capture.streams), "stream"),
        counted(of(|capture| capture.events), "event"),
        run.dialect.name
    );
    let mut all = Levels::default();
    run.captures.iter().for_each(|capture| all.add(capture));
    if !all.is_empty() {
        let _ = writeln!(out, "  {all}");
    }
    by_rule(run, shown, &mut out);
    let omitted = of(|capture| capture.omitted);
    if omitted > 0 {
        let _ = writeln!(out, "  {} more, not listed", counted(omitted, "fault"));
    }
    by_file(run, shown, &mut out);
    by_client(run, &mut out);
    not_judged(run, of(|capture| capture.unjudged), &mut out);
    out
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How often rules are broken, by how binding they are.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Levels {
    errors: u64,
    warnings: u64,
    notes: u64,
}

impl Levels {
    fn of(capture: &CaptureReport) -> Self {
        let mut levels = Self::default();
        levels.add(capture);
        levels
    }

    fn add(&mut self, capture: &CaptureReport) {
        for Located { finding, .. } in &capture.findings {
            *match finding.level {
                Level::Must => &mut self.errors,
                Level::Should => &mut self.warnings,
                Level::May | Level::Off => &mut self.notes,
            } += finding.count;
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Without what is not shown.
    fn from(mut self, shown: Level) -> Self {
        if shown > Level::May {
            self.notes = 0;
        }
        if shown > Level::Should {
            self.warnings = 0;
        }
        self
    }
}

impl std::fmt::Display for Levels {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let told: Vec<_> = all
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| counted(count, what))
            .collect();
        to.write_str(&told.join(", "))
    }
}

struct OfRule {
    level: Level,
    times: u64,
    files: u64,
}

fn by_rule(run: &Run, shown: Level, out: &mut String) {
    let mut rules: BTreeMap<&str, OfRule> = BTreeMap::new();
    for capture in &run.captures {
        let mut here = BTreeSet::new();
        for Located { finding, .. } in &capture.findings {
            let rule = rules.entry(finding.rule).or_insert(OfRule { level: Level::Off, times: 0, files: 0 });
            rule.level = rule.level.max(finding.level);
            rule.times += finding.count;
            rule.files += u64::from(here.insert(finding.rule));
        }
    }
    let mut rules: Vec<_> = rules.into_iter().collect();
    // The sort is stable: what is equal stays in the order of names.
    rules.sort_by_key(|(_, rule)| std::cmp::Reverse((rule.level, rule.files, rule.times)));
    let widest = rules.iter().map(|(id, _)| id.len()).max().unwrap_or_default();
    heading("by rule", rules.is_empty(), out);
    for (id, rule) in rules {
        let hidden = if rule.level < shown { "  (not shown; --level may)" } else { "" };
        let (times, files) = (counted(rule.times, "time"), counted(rule.files, "file"));
        let _ = writeln!(out, "  {:<9}{id:<widest$}  {times} in {files}{hidden}", word(rule.level));
    }
}

/// One file is what all the rest is about.
fn by_file(run: &Run, shown: Level, out: &mut String) {
    if run.captures.len() < 2 {
        return;
    }
    let with_levels = |capture| (Levels::of(capture).from(shown), visible(&capture.name));
    let mut files: Vec<_> =
        run.captures.iter().map(with_levels).filter(|(levels, _)| !levels.is_empty()).collect();
    files.sort_by(|(one, name), (other, other_name)| other.cmp(one).then_with(|| name.cmp(other_name)));
    heading("by file", files.is_empty(), out);
    let widest = files.iter().take(FILES).map(|(_, name)| name.width()).max().unwrap_or_default();
    for (levels, name) in files.iter().take(FILES) {
        let _ = writeln!(out, "  {name}{:1$}  {levels}", "", widest - name.width());
    }
    if files.len() > FILES {
        let _ = writeln!(out, "  and {} more", files.len() - FILES);
    }
}

/// Which clients fail on which files, by what is known of them.
fn by_client(run: &Run, out: &mut String) {
    let mut clients: BTreeMap<&str, (u64, BTreeMap<&str, u64>)> = BTreeMap::new();
    for capture in &run.captures {
        let binding = capture.findings.iter().filter(|located| located.finding.level >= Level::Should);
        let rules: BTreeSet<&str> = binding.map(|located| located.finding.rule).collect();
        let mut here = BTreeSet::new();
        for rule in rules.into_iter().filter_map(catalogue::rule) {
            let broken: BTreeSet<&str> = rule.breaks.iter().map(|broken| broken.client).collect();
            for client in broken {
                let (files, rules) = clients.entry(client).or_default();
                *files += u64::from(here.insert(client));
                *rules.entry(rule.id).or_default() += 1;
            }
        }
    }
    let mut clients: Vec<_> = clients.into_iter().collect();
    clients.sort_by_key(|(_, (files, _))| std::cmp::Reverse(*files));
    heading("by client", clients.is_empty(), out);
    for (client, (files, rules)) in clients {
        let mut rules: Vec<_> = rules.into_iter().collect();
        rules.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        let more = rules.len().saturating_sub(RULES);
        rules.truncate(RULES);
        let rules: Vec<_> = rules.into_iter().map(|(rule, _)| rule).collect();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let _ = writeln!(out, "  breaks {client} in {}: {}{more}", counted(files, "file"), rules.join(", "));
    }
}

fn not_judged(run: &Run, bodies: u64, out: &mut String) {
    let unread = run.captures.iter().filter(|capture| capture.error.is_some()).count() as u64;
    heading("not judged", bodies + unread == 0, out);
    if bodies > 0 {
        let what = if bodies == 1 {
            "is neither a response nor an error"
        } else {
            "are neither responses nor errors"
        };
        let _ = writeln!(out, "  {} that {what}", counted(bodies, "answer"));
    }
    if unread > 0 {
        let _ = writeln!(out, "  {} that could not be read, or not to the end", counted(unread, "file"));
    }
}

fn heading(text: &str, is_empty: bool, out: &mut String) {
    if !is_empty {
        let _ = writeln!(out, "{text}");
    }
}
