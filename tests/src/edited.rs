//! Goldens, edited, and the rules that they break then.

use std::collections::BTreeSet;

use catalogue::{Edit, Level, Side, Target, Violation};
use codegen::formats;
use conformance::{Rules, goldens, violation};

/// The findings in an edited golden.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The broken rules, at level SHOULD or higher.
    pub binding: BTreeSet<&'static str>,
    /// Other findings, at level MAY.
    pub notes: BTreeSet<&'static str>,
}

/// Edits a golden, `<dialect>/<name>`, and checks it in its dialect.
pub fn check(golden: &str, edits: &formats::Edits) -> Result<Found, String> {
    let violation = Violation { golden: forever(golden), also: &[], edits: constants(edits).leak() };
    let bytes = violation::apply(&violation)?;
    check_bytes(goldens::golden(golden).map_or("", |golden| golden.dialect), &bytes)
}

/// Checks a recording in a dialect.
pub fn check_bytes(dialect: &str, bytes: &[u8]) -> Result<Found, String> {
    let dialect = spec::DIALECTS.iter().find(|known| known.name == dialect);
    let dialect = dialect.ok_or("the build has no such dialect")?;
    let report = conformance::check("edited", &mut { bytes }, None, &Rules::of(dialect));
    if let Some(error) = report.error {
        return Err(error);
    }
    let mut found = Found::default();
    for finding in &report.findings {
        let is_note = finding.level == Level::May;
        let rules = if is_note { &mut found.notes } else { &mut found.binding };
        rules.extend(catalogue::rule(&finding.rule).map(|rule| rule.id));
    }
    Ok(found)
}

/// Returns edits as programs have them.
pub fn constants(edits: &formats::Edits) -> Vec<Edit> {
    edits.iter().map(|(_, edit)| constant(edit)).collect()
}

/// Returns the edit with static lifetimes. The memory leaks, which is acceptable in tests.
fn constant(edit: &formats::Edit) -> Edit {
    use formats::Edit as Read;
    match edit {
        Read::Drop(target) => Edit::Drop(meant(target)),
        Read::Duplicate(target) => Edit::Duplicate(meant(target)),
        Read::Swap(one, other) => Edit::Swap(meant(one), meant(other)),
        Read::Set(target, pointer, value) => {
            Edit::Set(meant(target), forever(pointer), forever(&value.to_string()))
        }
        Read::Prepend(target, pointer, text) => Edit::Prepend(meant(target), forever(pointer), forever(text)),
        Read::Unset(target, pointer) => Edit::Unset(meant(target), forever(pointer)),
        Read::Insert(side, target, data) => {
            Edit::Insert(beside(*side), meant(target), forever(&data.to_string()))
        }
        Read::Truncate(target) => Edit::Truncate(meant(target)),
        Read::Renumber => Edit::Renumber,
        Read::Data(target, bytes) => Edit::Data(meant(target), bytes.clone().leak()),
        Read::Field(target, name, bytes) => Edit::Field(meant(target), forever(name), bytes.clone().leak()),
        Read::Unfield(target, name) => Edit::Unfield(meant(target), forever(name)),
        Read::Replace(target, old, new) => {
            Edit::Replace(meant(target), old.clone().leak(), new.clone().leak())
        }
        Read::Comment(side, target, bytes) => {
            Edit::Comment(beside(*side), meant(target), bytes.clone().leak())
        }
        Read::Header(name, bytes) => Edit::Header(forever(name), bytes.clone().leak()),
        Read::Status(status) => Edit::Status(*status),
        Read::Request(body) => Edit::Request(forever(&body.to_string())),
    }
}

fn meant(target: &formats::Target) -> Target {
    Target { event: target.event.as_deref().map(forever), number: target.number }
}

const fn beside(side: formats::Side) -> Side {
    match side {
        formats::Side::Before => Side::Before,
        formats::Side::After => Side::After,
    }
}

fn forever(text: &str) -> &'static str {
    text.to_owned().leak()
}
