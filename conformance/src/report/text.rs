//! Text from recordings, made fit for a terminal.

use std::fmt::Write as _;

/// Appends a text in which nothing can move the cursor, hide or reorder what is shown.
pub(super) fn push_visible(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\t' => out.push(' '),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            _ if is_dangerous(character) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
}

/// The text, made fit for a terminal.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_visible(text, &mut out);
    out
}

const fn is_dangerous(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}\tb\r\né😀"), "a\\u{1b}[2J\\u{202e} b\\r\\né😀");
    }
}
