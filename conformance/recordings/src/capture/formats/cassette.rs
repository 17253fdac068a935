//! YAML cassettes, as VCR, its ports, go-vcr and httpmock record them.

use std::borrow::Cow;

use serde_json::Value;

use super::recorded;
use crate::capture::on_disk::OnDisk;
use crate::capture::source::utf8;
use crate::capture::{CaptureError, Format};
use checker::Entry;

pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let text = without_object_keys(utf8(bytes, Format::Cassette)?);
    // Binary values stay base64: they are seldom text.
    let options = serde_saphyr::options! { ignore_binary_tag_for_string: true };
    let read = serde_saphyr::from_multiple_with_options::<Value>(&text, options);
    let documents = read.map_err(|error| CaptureError::Malformed {
        format: Format::Cassette,
        line: error.location().map_or(1, |place| place.line()),
        problem: error.without_snippet().to_string(),
    })?;
    let mut on_disk = OnDisk::new(bytes);
    recorded::read(&documents, &mut |entry| sink(on_disk.placed(entry)))
}

/// Python writes header names as objects: aiohttp keeps them in a class of strings that ignores case. Line numbers do
/// not change.
///
/// ```yaml
/// ? !!python/object/new:multidict._multidict.istr
/// - Content-Type
/// : - application/json
/// ```
fn without_object_keys(text: &str) -> Cow<'_, str> {
    const OBJECT: &str = "? !!python/object";
    if !text.contains(OBJECT) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        let key = lines.peek().and_then(|next| next.strip_prefix(indent)?.trim_end().strip_prefix("- "));
        let Some(key) = key.filter(|_| line[indent.len()..].starts_with(OBJECT)) else {
            out.push_str(line);
            continue;
        };
        // The line of the tag becomes empty.
        out.push('\n');
        out.extend([indent, key, ":\n"]);
        lines.next();
        if let Some(value) =
            lines.next_if(|next| next.strip_prefix(indent).is_some_and(|rest| rest.starts_with(':')))
        {
            out.extend([indent, " ", &value[indent.len() + 1..]]);
        }
    }
    Cow::Owned(out)
}
