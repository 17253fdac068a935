//! HTML reports of runs.

mod browser;
mod contrast;
#[path = "../formats/live.rs"]
mod live;
mod markup;
mod runs;

use std::sync::LazyLock;

use conformance::reports::{Reported as _, html};
use conformance::results::Run;
use markup::{elements, named};

/// Every run, by its name, and its page.
static PAGES: LazyLock<[(&str, Run, String); 5]> = LazyLock::new(|| {
    let runs = [
        ("good", runs::good()),
        ("bad", runs::bad()),
        ("hostile", runs::hostile()),
        ("long", runs::long()),
        ("huge", runs::huge()),
    ];
    runs.map(|(name, run)| {
        let page = html(&run);
        (name, run, page)
    })
});

fn page(name: &str) -> (&'static Run, &'static str) {
    let found = PAGES.iter().find(|(known, ..)| *known == name).expect("it is known");
    (&found.1, &found.2)
}

/// Returns the page of a client.
fn client_page() -> String {
    runs::client().html()
}

/// The script of the pages.
const SCRIPT: &str = include_str!("../../reports/src/html/script.js");

/// Returns the number of findings that the marks of a page stand for. Wide and narrow screens have separate marks.
fn marks(page: &str) -> u64 {
    let elements = elements(page);
    let counts = elements.iter().filter_map(|element| element.get("data-count"));
    let all: u64 = counts.map(|count| count.parse::<u64>().expect("it is a number")).sum();
    assert!(all.is_multiple_of(2), "{all}");
    all / 2
}

#[test]
fn a_good_run() {
    let (_, page) = page("good");
    // Other sections change with each new rule.
    let (_, scenarios) = page.split_once("<section id=\"scenarios\"").expect("it has scenarios");
    let (scenarios, _) = scenarios.split_once("</section>").expect("they end");
    // One element a line can be read.
    insta::assert_snapshot!("good", scenarios.replace("><", ">\n<"));
}

#[test]
fn what_was_not_exercised_is_grey() {
    let (_, page) = page("good");
    let (_, section) = page.split_once("<section id=\"lifecycle\"").expect("it has the section");
    let (section, _) = section.split_once("</section>").expect("it ends");
    assert!(section.contains("message: 1 of 3 transitions"), "{section}");
    let count = |part: &str| section.matches(part).count();
    assert_eq!((count("<g class=\"good\""), count("<g class=\"never\"")), (1, 1));
    // What leads on and what leads back are arcs, and a repetition is a circle.
    assert_eq!((count("<path class=\"never\""), count("<circle class=\"good\"")), (2, 1));
    assert!(section.contains("<li>response.output_item.done → response.output_item.added</li>"));
    let values =
        r#"<td class="good">response.output_item.added</td><td class="never">response.output_item.done</td>"#;
    assert!(section.contains("1 of 2 enumeration values") && section.contains(values), "{section}");
    let (_, bad) = self::page("bad");
    assert!(!bad.contains("id=\"lifecycle\""), "nothing was observed");
}

/// The policy forbids loading anything, and the page has nothing to load or run.
#[test]
fn pages_are_self_contained_and_well_formed() {
    for (name, _, page) in &*PAGES {
        let elements = elements(page);
        let policy = named(&elements, "meta")
            .into_iter()
            .find(|meta| meta.has("http-equiv=\"Content-Security-Policy\""));
        let policy = policy.and_then(|meta| meta.get("content")).expect("there is a policy");
        assert!(
            policy.starts_with("default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-"),
            "{policy}"
        );
        assert!(policy.contains("script-src &#39;sha256-") && !policy.contains("unsafe"), "{policy}");
        // The only script is the built-in one, whose hash in the policy is tested elsewhere.
        assert_eq!(named(&elements, "script").len(), 1, "{name}");
        assert!(page.ends_with(&format!("<script>{SCRIPT}</script></body></html>\n")), "{name}");
        for forbidden in ["iframe", "object", "embed", "form", "base", "image", "img", "foreignObject"] {
            assert!(named(&elements, forbidden).is_empty(), "{name}: {forbidden}");
        }
        for element in &elements {
            let text = element.attributes;
            for part in text.split('"').step_by(2).map(str::trim) {
                assert!(part.is_empty() || part.ends_with('='), "{name}: {text}");
                let attribute = part.trim_end_matches('=');
                assert!(
                    !attribute.starts_with("on") && !matches!(attribute, "src" | "style" | "srcset"),
                    "{name}: {text}"
                );
            }
            let is_icon = element.name == "link" && element.has("rel=\"icon\"");
            let is_own =
                |href: &str| href.starts_with(if is_icon { "data:image/svg+xml,%3Csvg " } else { "#" });
            assert!(element.get("href").is_none_or(is_own), "{name}: {text}");
        }
        assert_eq!(named(&elements, "link").len(), 1, "{name}: the icon");
        let ids: Vec<&str> = elements.iter().filter_map(|element| element.get("id")).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(ids.len(), unique.len(), "{name}: an id is used twice");
        let links = elements.iter().filter(|element| element.name != "link");
        for href in links.filter_map(|element| element.get("href")) {
            assert!(
                unique.binary_search(&href.trim_start_matches('#')).is_ok(),
                "{name}: {href} leads nowhere"
            );
        }
        let headings: Vec<_> = elements
            .iter()
            .filter(|element| {
                element.name.starts_with('h') && element.name.len() == 2 && element.name != "hr"
            })
            .map(|heading| heading.name)
            .collect();
        assert_eq!(headings.iter().filter(|heading| **heading == "h1").count(), 1, "{name}");
    }
}

#[test]
fn pages_of_clients_are_self_contained_and_well_formed() {
    let page = client_page();
    let elements = elements(&page);
    assert_eq!(named(&elements, "script").len(), 1);
    assert!(page.ends_with(&format!("<script>{SCRIPT}</script></body></html>\n")));
    let ids: Vec<&str> = elements.iter().filter_map(|element| element.get("id")).collect();
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len(), "an id is used twice");
    for href in elements.iter().filter(|element| element.name == "a").filter_map(|link| link.get("href")) {
        assert!(ids.contains(&href.trim_start_matches('#')), "{href} leads nowhere");
    }
    let unseen =
        |found: char| found.is_control() && found != '\n' || matches!(found, '\u{202a}'..='\u{202e}');
    assert!(!page.contains(unseen) && !page.contains("<img") && page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn every_finding_has_its_mark() {
    let (run, bad) = page("bad");
    let findings = run.captures.iter().flat_map(|capture| &capture.findings);
    let marked = findings.filter(|finding| finding.place.event > 0).count();
    assert!(marked > 4, "{marked}");
    assert_eq!(marks(bad), marked as u64);
    assert_eq!(marks(page("good").1), 0);
}

#[test]
fn all_that_a_reader_needs_is_there() {
    let (_, page) = page("bad");
    for text in [
        "<h1>",
        "Failed",
        "http://127.0.0.1:8080/v1",
        "model-under-test",
        "openai",
        "not exercised",
        "harness error",
        "not measured",
        "openai-python stream()",
        "conformance run --target http://127.0.0.1:8080/v1",
        "2026-11-22 07:41:12 UTC",
        "data-find=",
        "show-bad",
        "id=\"text/part-before-open/part/before-open\"",
        "id=\"cause/part/before-open",
        "Fix</b>",
        "×",
        "requested 3 times, but there was no response.refusal.delta",
        "Not offered",
        "<code>--features tools,file-search,web-search</code>",
        "<code>--given vector-store=...</code>",
        "Not elicited",
        "<code>--attempts 10</code>",
        "The connection was lost: reset by peer",
        "What is the weather in Rome?",
        "no key",
        "never closed",
        "class=\"bar item\"",
        "pace",
        "conformance explain part/before-open",
    ] {
        assert!(page.contains(text), "there is no {text:?}");
    }
}

#[test]
fn nothing_hostile_is_obeyed_or_hidden() {
    let (_, page) = page("hostile");
    let page = page
        .strip_suffix(&format!("<script>{SCRIPT}</script></body></html>\n"))
        .expect("it ends with its script");
    for raw in ["<script", "<img", "</code></pre></style>", "onerror=alert(1)>", "\" onload", "' onload"] {
        assert!(!page.contains(raw), "{raw}");
    }
    let unseen = |found: &char| {
        found.is_control() && *found != '\n'
            || matches!(found, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}')
    };
    assert_eq!(page.chars().find(unseen), None);
    for shown in ["&lt;script&gt;alert(1)", "\\u{202e}", "\\u{1b}[2J"] {
        assert!(page.contains(shown), "{shown}");
    }
}

/// Pages of large runs stay small enough for browsers.
#[test]
fn pages_are_bounded() {
    let (run, page) = page("huge");
    let findings: usize = run.captures.iter().map(|capture| capture.findings.len()).sum();
    assert!(findings > 100_000 && run.totals.events > 49_000, "{findings} {}", run.totals.events);
    let elements = elements(page);
    let told = elements
        .iter()
        .filter(|element| element.get("class").is_some_and(|class| class.starts_with("finding ")))
        .count();
    assert!((50..=1000).contains(&told), "{told}");
    assert!(elements.len() < 60_000, "{} elements", elements.len());
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    assert!(page.contains("2\u{202f}041 times: also"), "equal findings are counted");
    let bars = elements
        .iter()
        .filter(|element| element.get("class").is_some_and(|class| class.starts_with("bar ")))
        .count();
    assert!(bars > 361, "{bars}");
}
