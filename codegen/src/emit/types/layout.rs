//! Line breaks inside calls of our macros, which rustfmt does not format.

const MACROS: &[&str] = &["events! {", "object! {", "strings! {", "union! {"];

/// Puts every entry of a macro call on a line of its own.
pub(crate) fn layout(formatted: &str) -> String {
    let mut out = String::with_capacity(formatted.len());
    let mut call: Option<String> = None;
    for line in formatted.lines() {
        match &mut call {
            Some(entries) if line == "}" => {
                for entry in entries.trim().trim_end_matches(';').split("; ") {
                    out.extend(["    ", entry, ";\n"]);
                }
                out.push_str("}\n");
                call = None;
            }
            Some(entries) => entries.extend([line.trim(), " "]),
            None => {
                out.extend([line, "\n"]);
                call = MACROS.contains(&line).then(String::new);
            }
        }
    }
    out
}
