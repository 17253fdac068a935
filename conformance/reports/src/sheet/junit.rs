//! A sheet as `JUnit` XML: a suite for each group of tests.

use std::fmt::Write as _;
use std::io;

use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::{ElementWriter, Writer};
use results::Verdict;
use results::text::{counted, cut, visible};

use super::{Sheet, SheetGroup, SheetTest};

/// Maximum number of findings in full of a test.
const OF_TEST: usize = 10;
/// Number of lines of a run after which no finding is in full.
const OF_RUN: usize = 8000;

#[derive(Default)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
    /// Its output.
    pub(crate) remarks: String,
}

#[derive(Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) ending: Ending,
    pub(crate) message: String,
    pub(crate) text: String,
    pub(crate) file: Option<String>,
    pub(crate) ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ending {
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

pub(crate) fn junit(sheet: &Sheet<'_>) -> String {
    let mut left = OF_RUN;
    let mut suites: Vec<Suite> = (sheet.groups)().iter().map(|group| of_group(group, &mut left)).collect();
    let failed = |name: &str, message: String, text: &str| Case {
        name: name.to_owned(),
        ending: Ending::Failed,
        message,
        text: format!("{}\n", visible(text)),
        ..Case::default()
    };
    let stale = sheet.stale.iter().map(|entry| {
        failed(entry, "the expected failure passes".to_owned(), &format!("{entry}: remove it from the list"))
    });
    let unmet = sheet.unmet.iter().map(|profile| failed(&profile.name, profile.words(), &profile.words()));
    let mut more = |name: &str, cases: Vec<Case>| {
        if !cases.is_empty() {
            suites.push(Suite { name: name.to_owned(), cases, ..Suite::default() });
        }
    };
    more("expected failures", stale.collect());
    more("profiles", unmet.collect());
    let fact = |name: &str, text: &str| Case {
        name: name.to_owned(),
        text: text.lines().map(|line| visible(line) + "\n").collect(),
        ..Case::default()
    };
    for (name, facts) in &sheet.facts {
        more(name, facts.iter().map(|(name, text)| fact(name, text)).collect());
    }
    more("terms of the verdict", sheet.terms.iter().map(|(name, text)| fact(name, text)).collect());
    document(&sheet.title, sheet.began, &suites)
}

fn of_group(group: &SheetGroup<'_>, left: &mut usize) -> Suite {
    Suite {
        name: group.name.clone(),
        cases: group.tests.iter().map(|test| of_test(test, left)).collect(),
        remarks: group.remarks.clone(),
    }
}

fn of_test(test: &SheetTest<'_>, left: &mut usize) -> Case {
    let ending = if test.expected.is_some() { Ending::Skipped } else { test.verdict.into() };
    let mut out = String::new();
    let mut more = 0_u64;
    for (at, finding) in test.findings.iter().enumerate() {
        if at >= OF_TEST || *left == 0 || ending == Ending::Skipped {
            more += 1;
            continue;
        }
        let full = (finding.in_full)();
        *left = left.saturating_sub(full.lines().count());
        out += &full;
    }
    if more > 0 {
        let _ = writeln!(out, "and {}", counted(more, "more finding"));
    }
    if matches!(ending, Ending::Failed | Ending::Errored) {
        if out.is_empty() {
            out = format!("{}\n", visible(&test.reason));
            if let Some(file) = &test.file {
                let _ = writeln!(out, "  --> {}", visible(file));
            }
        }
        if let Some(again) = &test.again {
            let _ = writeln!(out, "again: {}", visible(again));
        }
    }
    let (name, message) = (test.short_name.to_string(), test.message.clone());
    Case { name, ending, message, text: out, file: test.file.clone(), ms: test.ms }
}

pub(crate) fn document(name: &str, began: Option<&str>, suites: &[Suite]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = write(name, began, suites, &mut writer);
    let mut bytes = if written.is_ok() { writer.into_inner() } else { Vec::new() };
    bytes.push(b'\n');
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(name: &str, began: Option<&str>, suites: &[Suite], writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let [time, tests, failures, errors, _] = counts(suites.iter().flat_map(|suite| &suite.cases));
    let attributes = [("name", plain(name)), time, tests, failures, errors];
    let write = |writer: &mut Writer<_>| suites.iter().try_for_each(|suite| suite.write(began, writer));
    element(writer, "testsuites", attributes).write_inner_content(write)?;
    Ok(())
}

fn element<'w>(
    writer: &'w mut Writer<Vec<u8>>,
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
) -> ElementWriter<'w, Vec<u8>> {
    let element = writer.create_element(name);
    attributes.into_iter().fold(element, |element, (name, value)| element.with_attribute((name, &*value)))
}

fn counts<'c>(cases: impl Iterator<Item = &'c Case>) -> [(&'static str, String); 5] {
    let cases: Vec<&Case> = cases.collect();
    let count = |ending: Ending| cases.iter().filter(|case| case.ending == ending).count().to_string();
    [
        ("time", seconds(cases.iter().map(|case| case.ms).sum())),
        ("tests", cases.len().to_string()),
        ("failures", count(Ending::Failed)),
        ("errors", count(Ending::Errored)),
        ("skipped", count(Ending::Skipped)),
    ]
}

impl Suite {
    fn write(&self, began: Option<&str>, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let name = plain(&self.name);
        let [time, counts @ ..] = counts(self.cases.iter());
        let began = began.map(|began| ("timestamp", plain(began)));
        let attributes = [("name", name.clone()), time].into_iter().chain(began).chain(counts);
        element(writer, "testsuite", attributes).write_inner_content(|writer| {
            for case in &self.cases {
                case.write(&name, writer)?;
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
    fn write(&self, suite: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut attributes =
            vec![("name", plain(&self.name)), ("classname", suite.to_owned()), ("time", seconds(self.ms))];
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

const MAX_LENGTH: usize = 2000;

fn plain(text: &str) -> String {
    lines(&visible(&cut(text, MAX_LENGTH)))
}

/// Invalid characters are replaced by their numbers.
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
