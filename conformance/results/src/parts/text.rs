//! Escaping of text from recordings for terminals.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use unicode_width::UnicodeWidthStr;

/// Appends a text, escaping everything that moves the cursor, hides or reorders text.
pub fn push_visible(text: &str, out: &mut String) {
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

/// Returns the text, escaped for a terminal.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_visible(text, &mut out);
    out
}

/// Returns JSON in which characters that could control a terminal or reorder text are escaped. It has the same values.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if is_harmless_json(json.as_bytes()) {
        return Cow::Borrowed(json);
    }
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    let is_odd = |byte: u8| byte >= 0x7f || byte < b' ' && byte != b'\n';
    while let Some(at) = rest.bytes().position(is_odd) {
        let (plain, behind) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = behind.chars();
        if let Some(character) = characters.next() {
            if is_dangerous(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            } else {
                out.push(character);
            }
        }
        rest = characters.as_str();
    }
    Cow::Owned(out + rest)
}

/// Serializers escape what of ASCII is dangerous but for `DEL`.
fn is_harmless_json(json: &[u8]) -> bool {
    json.iter().all(|byte| *byte < 0x7f)
}

/// Writes JSON on as [`escaped_json`] returns it, piece by piece. Serializers write whole characters.
#[derive(Debug)]
pub struct EscapedJson<W>(pub W);

impl<W: io::Write> io::Write for EscapedJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_harmless_json(bytes) {
            self.0.write_all(bytes)?;
        } else {
            let text = str::from_utf8(bytes).map_err(io::Error::other)?;
            self.0.write_all(escaped_json(text).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the first character of a text that moves the cursor, is invisible or reorders text.
pub fn first_dangerous(text: &str) -> Option<char> {
    text.chars().find(|character| is_dangerous(*character))
}

/// Joiners are included, so that the width is as measured.
const fn is_dangerous(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A unit of display: a character with its combining characters, or an escape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The displayed text.
    pub text: String,
    /// Its number of columns.
    pub width: usize,
    /// Its offset in the text.
    pub at: usize,
}

/// Returns the cells of a text, escaped for a terminal.
pub fn cells(text: &str) -> impl Iterator<Item = Cell> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (at, character) = rest.next()?;
        let (mut text, mut width) = shown(character);
        while let Some((_, next)) = rest.peek().filter(|(_, next)| !next.is_ascii())
            && let (combining, 0) = shown(*next)
        {
            text.push_str(&combining);
            width = text.width();
            rest.next();
        }
        Some(Cell { text, width, at })
    })
}

/// Escaped for a terminal, with its number of columns.
fn shown(character: char) -> (String, usize) {
    let text = visible(character.encode_utf8(&mut [0; 4]));
    let width = if text.is_ascii() { text.len() } else { text.width() };
    (text, width)
}

/// Returns the start of a text, escaped for a terminal.
pub fn shortened(text: &str, width: usize) -> String {
    let mut out = String::new();
    let (mut columns, mut fits) = (0, 0);
    for cell in cells(text) {
        columns += cell.width;
        if columns > width {
            out.truncate(fits);
            out.push('…');
            break;
        }
        out.push_str(&cell.text);
        if columns < width.max(1) {
            fits = out.len();
        }
    }
    out
}

/// Wraps a text, escaped for a terminal, at a number of columns. A longer word has its own line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut columns) = (String::new(), 0);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let more = word.width();
        if !line.is_empty() && columns + 1 + more > width {
            lines.push(std::mem::take(&mut line));
            columns = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            columns += 1;
        }
        line.push_str(word);
        columns += more;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Returns the text, shortened to a number of characters.
pub fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the first names, and the number of others.
pub fn listed<T>(all: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let mut names: Vec<String> = all.iter().take(most).map(name).collect();
    if all.len() > most {
        names.push(format!("and {} more", all.len() - most));
    }
    names.join(", ")
}

/// Returns names with commas, without a comma before the number of the others.
pub fn listed_plainly<T>(all: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let names: Vec<String> = all.iter().take(most).map(name).collect();
    let more = all.len().saturating_sub(most);
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
}

/// Groups values by key, in the order in which the keys occur first.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Returns a number with its noun.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Two texts, each split into the common start, the difference, and the common end.
pub type Parted<'t> = [[&'t str; 3]; 2];

/// Minimum number of common bytes for marking a difference.
const COMMON: usize = 3;

/// Returns the length in bytes of the start that two texts have in common.
pub fn common(one: &str, other: &str) -> usize {
    of_equal(one.chars(), other.chars())
}

fn of_equal(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

/// Returns where two texts differ, unless they are equal or have too little in common to compare.
pub fn parted<'t>(one: &'t str, other: &'t str) -> Option<Parted<'t>> {
    let begin = common(one, other);
    let (own, found) = (one.get(begin..)?, other.get(begin..)?);
    let end = of_equal(own.chars().rev(), found.chars().rev());
    let own = own.split_at_checked(own.len() - end)?;
    let found = found.split_at_checked(found.len() - end)?;
    // Common quotes do not count.
    let has_common = begin + end >= COMMON + 2 || begin >= COMMON;
    let differs = !own.0.is_empty() || !found.0.is_empty();
    (has_common && differs)
        .then_some([[one.get(..begin)?, own.0, own.1], [other.get(..begin)?, found.0, found.1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_characters_that_control_terminals() {
        let json = "[\n\"\u{202e}a\u{9b}31m\u{e0041}\", \"ä ✓ 😀\",\n\"a\u{7f}\"\n]";
        let escaped = "[\n\"\\u202ea\\u009b31m\\udb40\\udc41\", \"ä ✓ 😀\",\n\"a\\u007f\"\n]";
        assert_eq!(escaped_json(json), escaped);
        assert_eq!(escaped_json("{\n}"), "{\n}");
        let mut written = Vec::new();
        io::Write::write_all(&mut EscapedJson(&mut written), json.as_bytes()).unwrap();
        assert_eq!(written, escaped.as_bytes());
    }

    #[test]
    fn texts_part_where_they_differ() {
        assert_eq!(parted("msg_1a9", "msg_2b9"), Some([["msg_", "1a", "9"], ["msg_", "2b", "9"]]));
        assert_eq!(parted("aéb", "aéb"), None);
        assert_eq!(parted("\"wörld\"", "\"world!\""), None);
        assert_eq!(parted("Hellö!", "Hellö you!"), Some([["Hellö", "", "!"], ["Hellö", " you", "!"]]));
        assert_eq!(parted("a string", "null"), None);
    }

    #[test]
    fn nothing_reaches_the_terminal() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}\tb\r\né😀"), "a\\u{1b}[2J\\u{202e} b\\r\\né😀");
        assert_eq!(visible("\u{3164}\u{e0041}\u{e0101}"), "\\u{3164}\\u{e0041}\\u{e0101}");
    }

    #[test]
    fn what_combines_stays_together() {
        let widths = |text| cells(text).map(|cell| cell.width).collect::<Vec<_>>();
        assert_eq!(widths("e\u{301}日x"), [1, 2, 1]);
        assert_eq!(widths("\u{2764}\u{fe0f}\u{1b}"), [2, 6]);
        assert_eq!(cells("é\u{301}x").last().map(|cell| cell.at), Some(4));
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("日本 語", 4), ["日本", "語"]);
        assert_eq!(wrap("a longest", 3), ["a", "longest"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn texts_are_shortened() {
        assert_eq!(shortened("a日本\u{1b}", 30), "a日本\\u{1b}");
        assert_eq!(shortened("a日本語", 6), "a日本…");
        assert_eq!(shortened("a日本語", 7), "a日本語");
        assert_eq!(shortened("e\u{301}xe\u{301}", 2), "e\u{301}…");
        assert_eq!(shortened("x", 0), "…");
    }
}
