//! A run as a page for browsers: one file that loads nothing. It can be read without its script, which only searches.

pub(crate) mod causes;
mod chart;
mod events;
pub(crate) mod finding;
pub(crate) mod head;
mod icon;
mod impact;
mod lanes;
mod lifecycle;
pub(crate) mod overview;
mod page;
mod plan;
pub(crate) mod rules;
mod sides;
pub(crate) mod streams;
mod untested;

pub(crate) use self::page::Html;
use self::plan::Plan;
use results::{Outcome, Run, Verdict};

/// The style of the page. Browsers apply no other, and nothing else at all: see [`POLICY`].
const STYLE: &str = include_str!("style.css");

/// The script of the page: a search.
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// The content security policy: the page may only show its own icon, and use its own style and script, identified by
/// their hashes.
const POLICY: &str = include_str!("policy.txt");

/// Returns a run as a self-contained HTML file.
pub fn html(run: &Run) -> String {
    let of = run.live.as_ref().map_or(run.dialect.as_str(), |live| live.target.as_str());
    let title = format!("{}: conformance of {of}", word(run.outcome));
    let plan = Plan::of(run);
    document(&title, run.outcome, |html| {
        html.tag("header").inside(|html| head::head(run, html));
        head::navigation(run, html);
        html.tag("main").inside(|html| {
            impact::clients(run, &plan, html);
            causes::causes(run, &plan, html);
            streams::streams(run, &plan, html);
            overview::sections(run, &plan, html);
            lifecycle::lifecycle(run, html);
            rules::rules(run, html);
        });
        html.tag("footer").inside(|html| overview::footer(run, html));
        html.script(SCRIPT);
    })
}

/// The icon shows the outcome.
pub(crate) fn document(title: &str, outcome: Outcome, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.tag("html").set("lang", "en").inside(|html| {
        html.tag("head").inside(|html| {
            html.tag("meta").set("charset", "utf-8").empty();
            let policy = html.tag("meta").set("http-equiv", "Content-Security-Policy");
            policy.set("content", POLICY.trim()).empty();
            for (name, content) in [
                ("viewport", "width=device-width, initial-scale=1"),
                ("color-scheme", "light dark"),
                ("referrer", "no-referrer"),
            ] {
                html.tag("meta").set("name", name).set("content", content).empty();
            }
            html.tag("title").text(title);
            html.icon(icon::of(outcome));
            html.style(STYLE);
        });
        html.tag("body").inside(body);
    });
    html.into_document()
}

pub(crate) fn section(id: &str, heading: &str, html: &mut Html, write: impl FnOnce(&mut Html)) {
    html.tag("section").set("id", id).set("aria-labelledby", format!("{id}-heading")).inside(|html| {
        html.tag("h2").set("id", format!("{id}-heading")).text(heading);
        write(html);
    });
}

/// It scrolls on narrow screens.
pub(crate) fn table(
    class: &'static str,
    caption: &str,
    head: &[&str],
    html: &mut Html,
    rows: impl FnOnce(&mut Html),
) {
    let around = html.tag("div").class("scroll").set("role", "group").set("tabindex", 0);
    around.set("aria-label", caption).inside(|html| {
        html.tag("table").class(class).inside(|html| {
            html.tag("caption").class("unseen").text(caption);
            html.tag("thead").inside(|html| {
                html.tag("tr").inside(|html| {
                    for name in head {
                        html.tag("th").set("scope", "col").inside(|html| html.tag("span").text(name));
                    }
                });
            });
            html.tag("tbody").inside(rows);
        });
    });
}

pub(crate) const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "Passed",
        Outcome::Failed => "Failed",
        Outcome::Incomplete => "Incomplete",
    }
}

pub(crate) const fn class_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "good",
        Outcome::Failed => "bad",
        Outcome::Incomplete => "unknown",
    }
}

const fn look(verdict: Verdict) -> (&'static str, &'static str) {
    let class = match verdict {
        Verdict::Pass => "good",
        Verdict::Fail => "bad",
        Verdict::NotExercised => "idle",
        Verdict::HarnessError => "unknown",
    };
    (class, verdict.word())
}

/// With thin spaces between thousands.
pub(crate) fn number(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", number(count), if count == 1 { "" } else { "s" })
}

pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// Events of the first seconds differ by milliseconds.
pub(crate) fn time(ms: u64) -> String {
    if ms < 10_000 { format!("{} ms", number(ms)) } else { duration(ms) }
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use sha2::{Digest, Sha256};

    use super::*;
    use recordings::capture::base64_of;

    /// Browsers apply the style and run the script only if the policy has their hashes.
    #[test]
    fn policy_is_fresh() {
        let [style, script] = [STYLE, SCRIPT].map(|text| base64_of(&Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'\n"
        );
        if env::var_os("BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/policy.txt");
            fs::write(path, &policy).unwrap();
            return;
        }
        assert!(POLICY == policy, "policy.txt is stale: BLESS=1 cargo test -p reports policy_is_fresh");
    }

    #[test]
    fn numbers_are_read_easily() {
        assert_eq!(
            [number(7_u64), number(1234_u64), number(1_234_567_u64)],
            ["7", "1\u{202f}234", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!([412, 4_401, 12_345, 125_000].map(duration), ["412 ms", "4.4 s", "12.3 s", "2 min 5 s"]);
        assert_eq!([412, 4_401, 12_345].map(time), ["412 ms", "4\u{202f}401 ms", "12.3 s"]);
        assert_eq!([counted(1, "event"), counted(0, "event")], ["1 event", "0 events"]);
    }
}
