//! A run as `JUnit` XML.
//!
//! A live run has a suite for each scenario, and a case for each trial; recordings have a suite each, and a
//! case for each group of rules.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::{ElementWriter, Writer};

use super::human::diagnostic;
use super::style::{Screen, Style};
use super::terms::{dialects_of, terms};
use results::text::{counted, cut, visible};
use results::{CaptureReport, CaseReport, ClientTotal, Finding, ProfileReport, Run, TrialResult, Verdict};

/// Maximum number of findings in full of a case.
const OF_CASE: usize = 5;
/// Maximum number of findings in full of a run.
const OF_RUN: usize = 500;
/// Maximum number of recordings with their own suite.
const SUITES: usize = 1000;

/// A suite of test cases.
#[derive(Default)]
pub(super) struct Suite {
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
    /// Duration of its exchanges in milliseconds.
    pub(super) time_ms: u64,
    /// Start of the run.
    pub(super) timestamp: Option<String>,
    /// Its output.
    pub(super) remarks: String,
}

/// A test case.
#[derive(Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) ending: Ending,
    pub(super) message: String,
    pub(super) text: String,
    /// Its recording.
    pub(super) file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ending {
    #[default]
    Passed,
    Failed,
    Errored,
    Skipped,
}

impl From<Verdict> for Ending {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Passed,
            Verdict::Fail => Self::Failed,
            Verdict::NotExercised => Self::Skipped,
            Verdict::HarnessError => Self::Errored,
        }
    }
}

pub(super) fn junit(run: &Run) -> String {
    let left = Cell::new(OF_RUN);
    let suites: Vec<Suite> = match &run.live {
        Some(live) => {
            let of_scenarios = live.cases.iter().map(|case| of_scenario(case, run, &left));
            let rest = of_baseline(run).into_iter().chain(of_profiles(live.unmet())).chain(of_clients(run));
            of_scenarios.chain(rest).chain(of_terms(run)).collect()
        }
        None => of_recordings(run, &left).into_iter().chain(of_clients(run)).chain(of_terms(run)).collect(),
    };
    document(&format!("conformance {}", run.dialect), &suites)
}

pub(super) fn document(name: &str, suites: &[Suite]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = write(name, suites, &mut writer);
    let mut bytes = if written.is_ok() { writer.into_inner() } else { Vec::new() };
    bytes.push(b'\n');
    String::from_utf8_lossy(&bytes).into_owned()
}

fn of_scenario(case: &CaseReport, run: &Run, left: &Cell<usize>) -> Suite {
    let trial = |told: &TrialResult| {
        let judged = &told.judged;
        let ending = Ending::from(judged.verdict);
        let mut text = match ending {
            Ending::Failed => in_full(case.findings(told, run), run, left),
            _ => String::new(),
        };
        let file = case.recordings(run).last().and_then(|capture| run.file(capture)).map(Cow::into_owned);
        if ending == Ending::Failed && text.is_empty() {
            text = format!("{}\n", visible(&judged.reason));
            if let Some(file) = &file {
                let _ = writeln!(text, "  --> {}", visible(file));
            }
        }
        Case { name: case.about(told).to_owned(), ending, message: judged.reason.clone(), text, file }
    };
    Suite {
        name: case.name.clone(),
        cases: case.trials.iter().map(trial).collect(),
        time_ms: case.recordings(run).map(time_of).sum(),
        timestamp: run.live.as_ref().and_then(|live| live.options.began.clone()),
        remarks: case.title.clone(),
    }
}

/// Returns the duration of the exchanges of a recording in milliseconds.
fn time_of(capture: &CaptureReport) -> u64 {
    capture.timelines.iter().filter_map(|timeline| timeline.duration_ms).sum()
}

/// Returns the broken clients. They are not failures: the findings fail in their own cases.
fn of_clients(run: &Run) -> Option<Suite> {
    let case = |client: &&ClientTotal| {
        let mut text = format!("broken in {}\n", counted(client.captures, "recording"));
        for broken in &client.rules {
            let _ = writeln!(text, "{}: {}", visible(&broken.rule), visible(&broken.failure));
        }
        Case { name: client.named(), text, ..Case::default() }
    };
    let cases: Vec<Case> = run.broken_clients().iter().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "clients that break".to_owned(), cases, ..Suite::default() })
}

fn of_terms(run: &Run) -> Option<Suite> {
    let case =
        |(name, text): (&str, String)| Case { name: name.to_owned(), text: text + "\n", ..Case::default() };
    let cases: Vec<Case> = terms(run).into_iter().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "terms of the verdict".to_owned(), cases, ..Suite::default() })
}

/// Returns the profiles that keep a run from passing, whose tests may all have passed or been left out.
pub(super) fn of_profiles<'r>(unmet: impl Iterator<Item = &'r ProfileReport>) -> Option<Suite> {
    let case = |profile: &ProfileReport| Case {
        name: profile.name.clone(),
        ending: Ending::Failed,
        message: profile.words(),
        text: format!("{}\n", visible(&profile.words())),
        ..Case::default()
    };
    let cases: Vec<Case> = unmet.map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "profiles".to_owned(), cases, ..Suite::default() })
}

/// Returns the stale expected failures.
fn of_baseline(run: &Run) -> Option<Suite> {
    let case = |entry: &String| Case {
        name: entry.clone(),
        ending: Ending::Failed,
        message: "remove it from the list".to_owned(),
        text: format!("{}: remove it from the list\n", visible(entry)),
        ..Case::default()
    };
    let cases: Vec<Case> = run.stale().iter().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "expected failure".to_owned(), cases, ..Suite::default() })
}

/// Returns the suite of expected failures that passed, with a hint behind each.
pub(super) fn passing(stale: &[String], hint: &str) -> Option<Suite> {
    let case = |entry: &String| Case {
        name: entry.clone(),
        ending: Ending::Failed,
        message: "the expected failure passes".to_owned(),
        text: format!("{}{hint}\n", visible(entry)),
        file: None,
    };
    let cases: Vec<Case> = stale.iter().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "expected failures".to_owned(), cases, ..Suite::default() })
}

/// Returns the suites of recordings. The worst have their own suites.
fn of_recordings(run: &Run, left: &Cell<usize>) -> Vec<Suite> {
    let groups: BTreeSet<&str> = run.rules.iter().map(|rule| catalogue::group(&rule.id)).collect();
    let mut order: Vec<&CaptureReport> = run.captures.iter().collect();
    if order.len() > SUITES {
        order.sort_by_key(|capture| {
            (!capture.has_failed(run.fail_on) && capture.error.is_none(), capture.findings.is_empty())
        });
    }
    let mut suites: Vec<Suite> =
        order.iter().take(SUITES).map(|capture| of_recording(run, capture, &groups, left)).collect();
    let rest = order.get(SUITES..).unwrap_or_default();
    if !rest.is_empty() {
        let has_failed = |capture: &CaptureReport| capture.has_failed(run.fail_on) || capture.error.is_some();
        let failed = rest.iter().filter(|capture| has_failed(capture)).count();
        let name = format!("and {} more recordings", rest.len());
        let message = format!("{failed} of them failed");
        let ending = if failed > 0 { Ending::Failed } else { Ending::Passed };
        let text = if failed > 0 { format!("{message}\n") } else { String::new() };
        let case = Case { name: "all groups".to_owned(), ending, message, text, ..Case::default() };
        suites.push(Suite { name, cases: vec![case], ..Suite::default() });
    }
    suites
}

fn of_recording(run: &Run, capture: &CaptureReport, groups: &BTreeSet<&str>, left: &Cell<usize>) -> Suite {
    let mut suite = Suite { name: capture.name.clone(), time_ms: time_of(capture), ..Suite::default() };
    let recognised = dialects_of(capture).map(|dialects| format!("recognised: {dialects}"));
    let lost = capture.first_lost.as_ref().map(|lost| {
        format!("a connection was lost after {}: {}", counted(lost.events, "event"), lost.reason)
    });
    let remarks: Vec<String> = recognised.into_iter().chain(lost).collect();
    suite.remarks = remarks.join("\n");
    let case = |name: &str, ending, message: &str, text| Case {
        name: name.to_owned(),
        ending,
        message: message.to_owned(),
        text,
        file: run.file(capture).map(Cow::into_owned),
    };
    if let Some(error) = &capture.error {
        suite.cases.push(case("reading", Ending::Errored, error, format!("{}\n", visible(error))));
    }
    let has_nothing = capture.streams + capture.bodies == 0;
    for group in groups {
        let of_group = || capture.findings.iter().filter(|finding| finding.group() == *group);
        let failed = run.fail_on.broken(of_group());
        let told = of_group().map(|finding| (capture, finding));
        let (ending, message) = match (failed.is_empty(), has_nothing) {
            (false, _) => (Ending::Failed, failed),
            (true, true) => (Ending::Skipped, "it has no stream".to_owned()),
            (true, false) => (Ending::Passed, String::new()),
        };
        suite.cases.push(case(group, ending, &message, in_full(told, run, left)));
    }
    suite
}

/// Returns some findings in full, and the number of others.
fn in_full<'r>(
    findings: impl Iterator<Item = (&'r CaptureReport, &'r Finding)>,
    run: &Run,
    left: &Cell<usize>,
) -> String {
    let screen = Screen { style: Style::Plain, width: Screen::USUAL_WIDTH };
    let mut text = String::new();
    let mut more = 0_u64;
    for (number, (capture, finding)) in findings.enumerate() {
        if number >= OF_CASE || left.get() == 0 {
            more += 1;
            continue;
        }
        left.set(left.get() - 1);
        text += &diagnostic(&run.name(capture), finding, run.dialect_of(finding), run.fail_on, screen);
        text.push('\n');
    }
    if more > 0 {
        let _ = writeln!(text, "and {} more", counted(more, "finding"));
    }
    text
}

fn write(name: &str, suites: &[Suite], writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let time_ms = suites.iter().map(|suite| suite.time_ms).sum();
    let [tests, failures, errors, _] = counts(suites.iter().flat_map(|suite| &suite.cases));
    let attributes = [("name", plain(name)), ("time", seconds(time_ms)), tests, failures, errors];
    let write = |writer: &mut Writer<_>| suites.iter().try_for_each(|suite| suite.write(writer));
    element(writer, "testsuites", attributes).write_inner_content(write)?;
    Ok(())
}

/// Begins an element.
fn element<'w>(
    writer: &'w mut Writer<Vec<u8>>,
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
) -> ElementWriter<'w, Vec<u8>> {
    let element = writer.create_element(name);
    attributes.into_iter().fold(element, |element, (name, value)| element.with_attribute((name, &*value)))
}

fn counts<'c>(cases: impl Iterator<Item = &'c Case>) -> [(&'static str, String); 4] {
    let cases: Vec<Ending> = cases.map(|case| case.ending).collect();
    let count = |ending: Ending| cases.iter().filter(|known| **known == ending).count().to_string();
    [
        ("tests", cases.len().to_string()),
        ("failures", count(Ending::Failed)),
        ("errors", count(Ending::Errored)),
        ("skipped", count(Ending::Skipped)),
    ]
}

impl Suite {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let name = plain(&self.name);
        let mut attributes = vec![("name", name.clone()), ("time", seconds(self.time_ms))];
        attributes.extend(self.timestamp.iter().map(|timestamp| ("timestamp", plain(timestamp))));
        attributes.extend(counts(self.cases.iter()));
        element(writer, "testsuite", attributes).write_inner_content(|writer| {
            for (number, case) in self.cases.iter().enumerate() {
                // All tests of a suite check the same exchanges: the first has their duration.
                case.write(&name, if number == 0 { self.time_ms } else { 0 }, writer)?;
            }
            if !self.remarks.is_empty() {
                let remarks = plain(&self.remarks);
                writer.create_element("system-out").write_text_content(BytesText::new(&remarks))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl Case {
    fn write(&self, suite: &str, time_ms: u64, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut attributes =
            vec![("name", plain(&self.name)), ("classname", suite.to_owned()), ("time", seconds(time_ms))];
        attributes.extend(self.file.iter().map(|file| ("file", plain(file))));
        let element = element(writer, "testcase", attributes);
        let message = || ("message", plain(&self.message));
        let kind = |name: &str| ("type", name.to_owned());
        let (name, attributes) = match self.ending {
            Ending::Passed if self.text.is_empty() => return element.write_empty().map(drop),
            Ending::Passed => ("system-out", vec![]),
            Ending::Failed => ("failure", vec![message(), kind("failure")]),
            Ending::Errored => ("error", vec![message(), kind("error")]),
            Ending::Skipped => ("skipped", vec![message()]),
        };
        element.write_inner_content(|writer| {
            let inner = self::element(writer, name, attributes);
            if self.text.is_empty() || self.ending == Ending::Skipped {
                inner.write_empty()?;
            } else {
                inner.write_text_content(BytesText::new(&lines(&self.text)))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Formats a duration in seconds for `JUnit`.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Maximum length of a text.
const MAX_LENGTH: usize = 2000;

fn plain(text: &str) -> String {
    lines(&visible(&cut(text, MAX_LENGTH)))
}

/// Returns a text for XML. Invalid characters are replaced by their numbers.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(character),
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
        }
    }
    out
}
