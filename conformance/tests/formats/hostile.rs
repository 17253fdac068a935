//! Untrusted text has no effect in any format.

use conformance::reports::diff::{self, Diff};
use conformance::reports::{Form, Style};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::runs::{self, HOSTILE};
use crate::{FORMS, rendered};

/// Returns whether a character moves the cursor or reorders text.
fn is_raw(character: char) -> bool {
    HOSTILE.contains(character) && (character.is_control() || matches!(character, '\u{202e}' | '\u{fffe}'))
}

#[test]
fn nothing_raw_is_in_any_format() {
    for (form, name) in FORMS.into_iter().filter(|(form, _)| *form != Form::Json) {
        let told = rendered(&runs::hostile(), form);
        let raw = told.chars().find(|character| is_raw(*character) && *character != '\n');
        assert_eq!(raw, None, "{name}: {told}");
        // The text is shown, not removed.
        assert!(form == Form::Badge || told.contains("alert(1)"), "{name}: {told}");
    }
    let json = rendered(&runs::hostile(), Form::Json);
    assert!(!json.chars().any(|character| character.is_control() && character != '\n'));
}

#[test]
fn annotations_are_those_of_the_suite() {
    let told = rendered(&runs::hostile(), Form::Github);
    for line in told.lines() {
        assert!(["::error ", "::warning ", "::notice "].iter().any(|word| line.starts_with(word)), "{line}");
        let head = line.trim_start_matches(':').split("::").next().unwrap_or_default();
        assert!(head.matches([':', ',']).count() <= 2, "{line}");
    }
    assert!(told.contains("::error::x%250A\\r\\n::set-output"), "{told}");
    assert!(!told.lines().any(|line| line.starts_with("::set-output")), "{told}");
}

/// Returns the markup of a page.
fn markup(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_badge = false;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => found.push(format!("HTML {text}")),
            Event::Start(Tag::Link { dest_url, .. }) => found.push(format!("link {dest_url}")),
            Event::Start(Tag::Image { dest_url, .. }) => {
                in_badge = dest_url.starts_with("https://img.shields.io/badge/");
                if !in_badge {
                    found.push(format!("image {dest_url}"));
                }
            }
            Event::Text(text)
                if text.contains("evil") || text.contains("@team") || text.contains("alert") =>
            {
                found.push(format!("text {text}"));
            }
            _ => {}
        }
    }
    assert!(in_badge || page.starts_with("# Conformance: "), "{page}");
    found
}

#[test]
fn pages_hold_no_markup_of_others() {
    let run = runs::hostile();
    let page = rendered(&run, Form::Markdown);
    assert_eq!(markup(&page), Vec::<String>::new(), "{page}");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    assert!(
        rows.clone().count() >= 3 && rows.into_iter().all(|row| matches!(row.matches('|').count(), 3..=6)),
        "{page}"
    );
    let diff = Diff::new(&runs::good(), &run);
    let page = diff::markdown(&diff);
    assert_eq!(markup(&page), Vec::<String>::new(), "{page}");
    let told = diff::human(&diff, Style::Plain);
    assert_eq!(told.chars().find(|character| is_raw(*character) && *character != '\n'), None, "{told}");
    // The check can fail.
    assert_ne!(markup(&format!("# Conformance: x\n\n{HOSTILE}")), Vec::<String>::new());
}
