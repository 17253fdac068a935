//! Properties that hold for any bytes: the targets of cargo-fuzz, and of a test that replaces it without a nightly
//! compiler.

pub mod choices;
pub mod endpoint;
pub mod evidence;
pub mod json;
pub mod random;
pub mod recordings;
mod within;

use std::io::{self, Read};
use std::sync::LazyLock;

use conformance::capture::{CaptureError, Entry, Format, Reader};
use conformance::reports::Style;
use conformance::results::{CaptureReport, FailOn, Run};
use conformance::{Rules, check as check_recording};
use random::Xorshift;

/// Checks a recording in every dialect, and renders the findings in every format. Asserts that nothing panics and no
/// output contains control characters.
pub fn check(bytes: &[u8]) {
    static RULES: LazyLock<Vec<Rules>> =
        LazyLock::new(|| spec::DIALECTS.iter().map(|dialect| Rules::of(dialect)).collect());
    let mut shown = Vec::new();
    for rules in &*RULES {
        let capture = check_recording("fuzz", &mut &*bytes, None, rules);
        // Most dialects find what another one has found.
        if shown.contains(&capture.findings) {
            continue;
        }
        shown.push(capture.findings.clone());
        for finding in &capture.findings {
            let text =
                conformance::reports::diagnostic("fuzz", finding, "openai", FailOn::default(), Style::Plain);
            assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
        }
        let run = Run::new(rules, vec![capture], None);
        let json = conformance::reports::json(&run);
        serde_json::from_str::<serde_json::Value>(&json).expect("the report is JSON");
    }
}

/// Splits a recording at random. Asserts that its entries and findings stay the same.
pub fn split(bytes: &[u8]) {
    let mut random = Xorshift::of(bytes);
    let longest = [2, 16, 300, 5000][random.below(4)];
    let pieces = cut(bytes, longest, &mut random);
    assert_eq!(entries(&[bytes], None), entries(&pieces, None), "cut into {:?}", lengths(&pieces));
    let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").expect("it is built in");
    let rules = Rules::of(dialect);
    let found = |pieces: Vec<&[u8]>| {
        let mut input = Pieces { pieces: pieces.into_iter() };
        summary(&check_recording("fuzz", &mut input, None, &rules))
    };
    assert_eq!(found(vec![bytes]), found(pieces.clone()), "cut into {:?}", lengths(&pieces));
}

/// Returns all entries of a recording, and its format or why it cannot be read.
pub fn entries(pieces: &[&[u8]], format: Option<Format>) -> (Vec<String>, Result<Format, CaptureError>) {
    let mut entries = Vec::new();
    let mut keep = |entry: Entry<'_>| entries.push(told(entry));
    let mut reader = Reader::new(format);
    let pushed = pieces.iter().try_for_each(|piece| reader.push(piece, &mut keep));
    let outcome = pushed.and_then(|()| reader.finish(&mut keep));
    (entries, outcome)
}

/// Its source is shown as a string, because lists of numbers are slow to format.
fn told(mut entry: Entry<'_>) -> String {
    let source = match &mut entry {
        Entry::Sent(frame) | Entry::Event(frame) | Entry::Body(frame) => std::mem::take(&mut frame.source),
        Entry::Row(row) => std::mem::take(&mut row.frame.source),
        Entry::Exchange(_) | Entry::Lost(_) => b"",
    };
    format!("{entry:?} {}", source.escape_ascii())
}

/// Bytes in pieces of any length up to one.
pub fn cut<'b>(mut bytes: &'b [u8], longest: usize, random: &mut Xorshift) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at((1 + random.below(longest)).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

fn lengths(pieces: &[&[u8]]) -> Vec<usize> {
    pieces.iter().map(|piece| piece.len()).collect()
}

fn summary(report: &CaptureReport) -> String {
    format!("{report:?}")
}

/// One piece for every read.
struct Pieces<'b> {
    pieces: std::vec::IntoIter<&'b [u8]>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.pieces.as_slice().first() else { return Ok(0) };
        let length = piece.len().min(buffer.len());
        buffer[..length].copy_from_slice(&piece[..length]);
        if length == piece.len() {
            self.pieces.next();
        } else {
            self.pieces.as_mut_slice()[0] = &piece[length..];
        }
        Ok(length)
    }
}
