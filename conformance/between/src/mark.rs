//! Marks: words that identify the requests of a test, whatever a gateway does to headers and members.

/// The beginning of a mark. No word of a language, and no id, begins like this.
const BEGIN: &str = "zqmark";
/// Number of letters behind the beginning.
const LETTERS: usize = 6;

pub(crate) fn mark(number: usize) -> String {
    let mut letters = String::with_capacity(LETTERS);
    let mut rest = number;
    for _ in 0..LETTERS {
        letters.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    format!("{BEGIN}{letters}")
}

/// The letters distinguish marks.
pub(crate) fn letters_of(mark: &str) -> &str {
    mark.strip_prefix(BEGIN).unwrap_or(mark)
}

pub(crate) fn marks_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(BEGIN).filter_map(|(at, _)| text.get(at..at + BEGIN.len() + LETTERS))
}

pub(crate) fn of_crowd(mark: &str, number: usize) -> String {
    format!("{mark}-{number}-")
}

/// In a crowd, the mark has the number of the client.
pub(crate) fn own_mark(text: &str, mark: &str) -> String {
    let behind = text.split_once(mark).map_or("", |(_, behind)| behind);
    let number = behind.strip_prefix('-').and_then(|rest| rest.split_once('-')).map(|(number, _)| number);
    let number = number.and_then(|number| number.parse().ok());
    number.map_or_else(|| mark.to_owned(), |number| of_crowd(mark, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_again() {
        let text = format!("a{}b {} zqmarkab", mark(0), mark(26 * 3 + 2));
        assert_eq!(marks_in(&text).collect::<Vec<_>>(), ["zqmarkaaaaaa", "zqmarkcdaaaa"]);
        let one = of_crowd(&mark(7), 12);
        assert_eq!(own_mark(&format!("Say {one}."), &mark(7)), one);
        assert_eq!(own_mark(&format!("Say {}-x.", mark(7)), &mark(7)), mark(7));
    }
}
