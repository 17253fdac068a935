//! A sheet as annotations of a GitHub workflow.
//!
//! GitHub shows ten errors and ten warnings of a step. Therefore each cause has one annotation, the worst first, and the
//! omitted ones are counted. An annotation has a file only if that can be in the repository, unlike the responses of an
//! endpoint.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{cut, visible};

use super::Sheet;

/// Maximum number of annotations of a kind that GitHub shows.
const MAX_ANNOTATIONS: usize = 10;
/// Maximum length of a message.
const MAX_LENGTH: usize = 1000;

struct Annotation<'s> {
    level: Level,
    /// A file of the repository, and a line.
    file: Option<(&'s str, u64)>,
    title: &'s str,
    message: String,
}

pub(crate) fn github(sheet: &Sheet<'_>, shown: Level) -> String {
    let plain = |level, title, message| Annotation { level, file: None, title, message };
    let causes = sheet.causes.iter().filter(|cause| cause.is_shown(shown)).map(|cause| Annotation {
        file: cause.file.as_ref().map(|(file, line)| (file.as_str(), *line)),
        ..plain(cause.sign, cause.rule, cause.line())
    });
    let notes = sheet.notes.iter().filter(|note| !note.is_minor).map(|note| Annotation {
        file: note.file.as_deref().map(|file| (file, 1)),
        ..plain(note.level, note.title, note.text.clone())
    });
    let stale = sheet
        .stale
        .iter()
        .map(|entry| plain(Level::Must, "unexpectedly passing", format!("{entry}; remove it from the list")));
    let unmet = sheet
        .unmet
        .iter()
        .map(|profile| plain(Level::Must, "profile", format!("{}: {}", profile.name, profile.words())));
    let levels = sheet.terms.iter().filter(|(name, _)| *name == "levels changed");
    let levels = levels.map(|(name, text)| plain(Level::May, name, text.clone()));
    let all: Vec<Annotation<'_>> = causes.chain(notes).chain(stale).chain(unmet).chain(levels).collect();
    let mut out = String::new();
    for (level, word) in [(Level::Must, "error"), (Level::Should, "warning"), (Level::May, "notice")] {
        let of_level: Vec<&Annotation<'_>> =
            all.iter().filter(|annotation| annotation.level == level).collect();
        // The last notice counts the omitted annotations.
        let most = if level == Level::May { MAX_ANNOTATIONS - 2 } else { MAX_ANNOTATIONS };
        for annotation in of_level.iter().take(most) {
            annotation.write(word, &mut out);
        }
        if of_level.len() > most {
            let more = of_level.len() - most;
            let _ = writeln!(
                out,
                "::notice title=conformance::and {more} more {word} annotations, not shown here"
            );
        }
    }
    out
}

impl Annotation<'_> {
    fn write(&self, word: &str, out: &mut String) {
        let _ = write!(out, "::{word} ");
        if let Some((file, line)) = &self.file {
            let _ = write!(out, "file={},line={line},", property(&visible(file)));
        }
        let message = visible(&cut(&self.message, MAX_LENGTH));
        let _ = writeln!(out, "title={}::{}", property(&visible(self.title)), data(&message));
    }
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, in which more characters are special.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
