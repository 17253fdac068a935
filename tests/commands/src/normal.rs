//! What differs from machine to machine and from run to run gets a name.

use std::sync::LazyLock;

use regex::Regex;

/// What is replaced, in this order. Limits such as `300ms` have no space, unlike measured times.
static NAMES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let names = [
        (r"(127\.0\.0\.1|localhost):[0-9]{4,5}\b", "$1:PORT"),
        (r"\b[0-9a-f]{64}\b", "SHA-256"),
        (r"\b(build|this is) [0-9a-f]{16,17}\b", "$1 BUILD"),
        (r#""at":[0-9.]+"#, "\"at\":TIME"),
        (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
        (r"(finished in|\() *[0-9.]+ ?s\b", "$1 TIME"),
        (r"\b[0-9][0-9,.]* (µs|ms|s)\b", "TIME"),
    ];
    names.into_iter().map(|(pattern, name)| (Regex::new(pattern).expect("it is a pattern"), name)).collect()
});

/// Returns the lines of an output, without what differs each time. Control characters are visible.
pub(crate) fn lines(output: &str, folders: &[(String, &str)]) -> Vec<String> {
    let mut text = output.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text += " (no newline)";
    }
    for (folder, name) in folders {
        text = text.replace(folder, name);
    }
    for (pattern, name) in NAMES.iter() {
        text = pattern.replace_all(&text, *name).into_owned();
    }
    text.split_terminator('\n').map(|line| visible(line.trim_end_matches(' '))).collect()
}

fn visible(line: &str) -> String {
    let picture = |character: char| match u32::from(character) {
        code @ 0..0x20 if character != '\t' => char::from_u32(0x2400 + code).unwrap_or('�'),
        0x7f => '\u{2421}',
        _ => character,
    };
    line.chars().map(picture).collect()
}
