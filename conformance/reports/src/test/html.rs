//! The report of a client or of a gateway as a page for browsers.

use std::collections::{BTreeMap, BTreeSet};

use results::text::{cut, parted};
use results::{BetweenMoment, BetweenSide, Test, TestCause, TestFinding, Verdict, cause_counts, first_of};
use serde::Serialize;

use super::rule::{RulePage, first_difference, sides, window};
use super::{About, Tested, files, options};
use crate::html::causes::played;
use crate::html::finding::fix;
use crate::html::head::{command, fact, heading, meter, sections};
use crate::html::overview::{linked, next as steps, stale};
use crate::html::rules::{inline, prose, quoted};
use crate::html::streams::mark;
use crate::html::{Html, SCRIPT, counted, document, duration, number, section, table, word};
use crate::sheet::{Cell, Row, Section};

/// Maximum number of causes with an example.
const CAUSES: usize = 200;
/// Maximum number of tests that a cause names.
const TESTS: usize = 40;
/// Maximum number of characters of a side.
const SIDE: usize = 4000;
/// Maximum number of characters of a text in a table.
const CELL: usize = 600;
/// Maximum number of rows of a timeline.
const MOMENTS: usize = 100;

/// A part of a number, its look and its words.
type Part = (u64, &'static str, &'static str);

/// The parts of a page that only clients or only gateways have.
pub(crate) struct Page<'r, A> {
    /// The kind of the subject.
    pub(crate) kind: &'static str,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) command: String,
    /// Numbers, each with its noun, and its parts with their looks and words.
    pub(crate) meters: Vec<(&'static str, Vec<Part>)>,
    /// The look of a test, its sign, and its ending in a word.
    pub(crate) look: fn(&Test<A>) -> [&'static str; 3],
    pub(crate) facts_of: About<'r, Test<A>, Vec<(String, String)>>,
    /// Version of the format of the report.
    pub(crate) version: u32,
}

impl<A: Serialize> Tested<'_, A> {
    pub(crate) fn html(&self, page: &Page<'_, A>) -> String {
        let title = format!("{}: {} of {}", word(self.outcome), page.kind, self.subject);
        let failing = self.causes.iter().filter(|cause| cause.fails).count();
        let failed = self.tests.iter().filter(|test| test.has_failed()).count();
        let shown = self.causes.iter().take(CAUSES).rev();
        let rules: BTreeMap<&str, RulePage> =
            shown.filter_map(|cause| Some((&*cause.rule, self.page_of(cause)?))).collect();
        let mut tables = self.sections();
        tables.retain(|section| !section.rows.is_empty());
        let ids: Vec<String> = tables.iter().map(id).collect();
        document(&title, self.outcome, |html| {
            html.tag("header").inside(|html| self.header(page, failed, html));
            let mut all = vec![
                (!self.causes.is_empty(), "causes", "Causes", failing, if failing > 0 { "bad" } else { "" }),
                (true, "tests", "Tests", failed, "bad"),
            ];
            all.extend(tables.iter().zip(&ids).map(|(of, id)| (true, id.as_str(), of.title, 0, "")));
            all.extend([
                (!self.steps.is_empty(), "next", "Next", 0, ""),
                (!rules.is_empty(), "rules", "Rules", 0, ""),
            ]);
            sections(&all, "Search causes and tests", html);
            html.tag("main").inside(|html| {
                self.of_causes(html);
                section("tests", "Tests", html, |html| {
                    self.of_tests(page, html);
                    stale(self.stale, html);
                });
                for (of, id) in tables.iter().zip(&ids) {
                    section(id, of.title, html, |html| self.of_section(of, html));
                }
                steps(&self.steps, html);
                if !rules.is_empty() {
                    section("rules", "Rules", html, |html| {
                        for (rule, page) in &rules {
                            of_rule(rule, page, html);
                        }
                    });
                }
            });
            html.tag("footer").inside(|html| {
                html.tag("p").text(&format!("conformance {}, format {}", self.suite, page.version));
            });
            html.script(SCRIPT);
        })
    }

    fn header(&self, page: &Page<'_, A>, failed: usize, html: &mut Html) {
        let all = counted(self.tests.len() as u64, "test");
        let lead = match self.causes.len() {
            0 => format!("Nothing is wrong in {all}."),
            _ => format!("{}; {} of {all} fail.", cause_counts(self.causes), number(failed as u64)),
        };
        heading(page.kind, self.outcome, &self.subject, &lead, html);
        html.tag("dl").class("facts").inside(|html| {
            let verdict = options(self.fail_on, self.levels).into_iter().filter(|(_, text)| text != "none");
            for (name, text) in page.facts.iter().cloned().chain(verdict) {
                fact(name, &text, html);
            }
            fact("took", &duration(self.ms), html);
            fact("suite", self.suite, html);
        });
        command(&page.command, html);
        html.tag("div").class("meters").inside(|html| {
            let of = |fails: bool| self.causes.iter().filter(|cause| cause.fails == fails).count() as u64;
            let causes = vec![(of(true), "bad", "that fail"), (of(false), "note", "that do not fail")];
            for (name, parts) in page.meters.iter().chain([&("causes", causes)]) {
                meter(name, parts.iter().map(|(count, ..)| count).sum(), parts, "", html);
            }
        });
    }

    fn of_causes(&self, html: &mut Html) {
        if self.causes.is_empty() {
            return;
        }
        section("causes", "Causes", html, |html| {
            for (at, cause) in self.causes.iter().take(CAUSES).enumerate() {
                self.of_cause(cause, at, html);
            }
            for line in &self.below {
                html.tag("p").class("hint").text(&line.text());
            }
            if self.causes.len() > CAUSES {
                let more = counted((self.causes.len() - CAUSES) as u64, "more cause");
                html.tag("p").class("hint").text(&format!("{more} in the JSON report."));
            }
        });
    }

    fn of_cause(&self, cause: &TestCause, at: usize, html: &mut Html) {
        let Some((test, finding)) = first_of(self.tests, cause) else { return };
        let look = match (cause.fails, cause.level) {
            (true, _) => "bad",
            (false, catalogue::Level::Must | catalogue::Level::Should) => "unknown",
            (false, _) => "idle",
        };
        let tag = html.tag("details").class(&format!("case {look}")).set("id", format!("cause-{}", at + 1));
        let find = format!("{} {} {}", cause.rule, finding.message, cause.groups.join(" "));
        tag.set("data-find", find).set_if(at == 0, "open").inside(|html| {
            html.tag("summary").inside(|html| {
                let (sign, word) = if cause.fails { ("✗", "fails") } else { ("!", "does not fail") };
                mark(look, sign, word, html);
                html.tag("code").class("name").text(&cause.rule);
                html.tag("span").class("title").text(cause.level.keyword());
                html.tag("span").class("counts").text(&counted(cause.tests, "test"));
                html.tag("span").class("detail").text(&cut(&finding.message, CELL));
            });
            html.tag("div").class("inside").inside(|html| {
                both(finding, html);
                let page = self.page_of(cause);
                html.tag("dl").class("options").inside(|html| {
                    fact(&format!("{}s", self.noun), &cause.groups.join(", "), html);
                    if let Some(page) = &page {
                        quoted("authority", &page.authority, html);
                    }
                    if !finding.breaks.is_empty() {
                        fact("breaks", &finding.breaks.join(", "), html);
                    }
                    for line in &cause.agents {
                        fact("harms", line, html);
                    }
                    fact("example", &test.name, html);
                    self.facts(test, html);
                });
                played(&(self.played)(cause), html);
                if let Some(page) = &page {
                    fix(&page.fix, html);
                }
                html.tag("pre").inside(|html| html.tag("code").text(&(self.again)(test)));
                timeline(&cause.timeline, html);
                self.others(cause, html);
                if page.is_some() {
                    html.tag("p").class("see").inside(|html| {
                        html.tag("a").link(&rule_id(&cause.rule)).text(&format!("Rule {}", cause.rule));
                    });
                }
            });
        });
    }

    fn facts(&self, test: &Test<A>, html: &mut Html) {
        for (name, text) in (self.about)(test, None) {
            quoted(name, text, html);
        }
        for file in files(test, self.folder) {
            fact("recording", &file, html);
        }
        if let Some(reason) = &test.expected {
            fact("expected", reason, html);
        }
    }

    fn others(&self, cause: &TestCause, html: &mut Html) {
        let has_it = |test: &&Test<A>| {
            test.findings.iter().any(|finding| finding.rule == cause.rule && finding.kind == cause.kind)
        };
        let all: Vec<&Test<A>> = self.tests.iter().filter(has_it).collect();
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text(&counted(all.len() as u64, "test"));
            html.tag("ul").class("trials").inside(|html| {
                for test in all.iter().take(TESTS) {
                    html.tag("li").inside(|html| html.tag("a").link(&test.name).text(&test.name));
                }
            });
            if all.len() > TESTS {
                html.tag("p").class("hint").text(&format!("and {} more", number((all.len() - TESTS) as u64)));
            }
        });
    }

    fn of_tests(&self, page: &Page<'_, A>, html: &mut Html) {
        for (name, tests) in results::text::grouped(self.tests.iter().map(|test| ((self.group)(test), test)))
        {
            html.tag("details").class("passed").inside(|html| {
                html.tag("summary").inside(|html| {
                    html.tag("span").class("name").text(&name);
                    html.tag("span").class("counts").text(&counted(tests.len() as u64, "test"));
                });
                for test in tests {
                    self.of_test(test, page, html);
                }
            });
        }
    }

    fn of_test(&self, test: &Test<A>, page: &Page<'_, A>, html: &mut Html) {
        let [look, sign, word] = (page.look)(test);
        let look = if test.expected.is_some() { "idle" } else { look };
        let title = (self.title)(test);
        let tag = html.tag("details").class(&format!("case {look}")).set("id", &test.name);
        tag.set("data-find", format!("{} {title} {word}", test.name)).inside(|html| {
            html.tag("summary").inside(|html| {
                mark(look, sign, word, html);
                html.tag("span").class("name").text((self.short_name)(test));
                html.tag("span").class("title").inside(|html| inline(title, html));
                let found = test.findings.iter().find(|finding| finding.fails);
                let detail = found.map_or(&test.reason, |finding| &finding.message);
                if !detail.is_empty() {
                    html.tag("span").class("detail").text(&cut(detail, CELL));
                }
            });
            html.tag("div").class("inside").inside(|html| {
                html.tag("dl").class("options").inside(|html| {
                    for finding in &test.findings {
                        fact(&finding.rule, &cut(&finding.message, CELL), html);
                    }
                    for (name, text) in (page.facts_of)(test) {
                        fact(&name, &text, html);
                    }
                    self.facts(test, html);
                    fact("took", &duration(test.ms), html);
                });
                html.tag("pre").inside(|html| html.tag("code").text(&(self.again)(test)));
            });
        });
    }

    /// Numbers look like the heads of their columns, and names lead to their tests.
    fn of_section(&self, of: &Section, html: &mut Html) {
        let heads: Vec<&str> = of.heads.iter().map(String::as_str).collect();
        let texts = heads.len() - of.numbers;
        let known: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        let lead = |name: &'_ String| known.contains(name.as_str()).then(|| name.clone());
        table(if of.numbers > 1 { "groups" } else { "rules" }, of.title, &heads, html, |html| {
            for Row { cells, .. } in &of.rows {
                html.tag("tr").inside(|html| {
                    for (at, (cell, head)) in cells.iter().zip(&heads).enumerate() {
                        if at >= texts {
                            let count: u64 = cell.text().parse().unwrap_or_default();
                            let class = if count == 0 { "none" } else { look_of(head) };
                            html.tag("td").class(class).text(&number(count));
                            continue;
                        }
                        let tag = if at == 0 { html.tag("th").set("scope", "row") } else { html.tag("td") };
                        tag.inside(|html| match cell {
                            Cell::Codes(names) => {
                                let names: Vec<_> = names.iter().map(|name| (lead(name), &**name)).collect();
                                linked(&names, html);
                            }
                            Cell::Code(name) => linked(&[(lead(name), &cut(name, CELL))], html),
                            Cell::Plain(text) => html.text(&cut(text, CELL)),
                        });
                    }
                });
            }
        });
    }
}

/// The look of a test by its verdict, its sign, and its ending in a word.
pub(crate) const fn by_verdict(verdict: Verdict) -> [&'static str; 3] {
    let look = match verdict {
        Verdict::Pass => "good",
        Verdict::Fail => "bad",
        Verdict::NotExercised => "idle",
        Verdict::HarnessError => "unknown",
    };
    [look, verdict.sign(), verdict.word()]
}

/// The first word of its title.
fn id(of: &Section) -> String {
    of.title.split(' ').next().unwrap_or_default().to_lowercase()
}

fn rule_id(rule: &str) -> String {
    format!("rule-{rule}")
}

fn both(finding: &TestFinding, html: &mut Html) {
    let all = sides(finding);
    if all.is_empty() {
        return;
    }
    let is_long = all.iter().any(|(_, text)| text.chars().count() > SIDE);
    // Of long texts, only the parts around the difference are compared.
    let shown: Vec<(&str, String)> = all
        .iter()
        .map(|(name, text)| {
            let text = if is_long { window(finding, text, SIDE) } else { (*text).to_owned() };
            (*name, text)
        })
        .collect();
    let parts = match &*shown {
        [(_, upstream), (_, client)] => parted(upstream, client),
        _ => None,
    };
    html.tag("div").class("sides").inside(|html| {
        for (at, (name, text)) in shown.iter().enumerate() {
            html.tag("div").class(if *name == "client" { "found" } else { "expected" }).inside(|html| {
                html.tag("p").class("side").text(name);
                html.tag("pre").set("tabindex", 0).inside(|html| {
                    html.tag("code").inside(|html| match parts.and_then(|parts| parts.get(at).copied()) {
                        None => html.lines(text),
                        Some([same, differing, rest]) => {
                            html.lines(same);
                            html.tag("mark").inside(|html| html.lines(differing));
                            html.lines(rest);
                        }
                    });
                });
            });
        }
    });
    if let Some(at) = first_difference(finding) {
        html.tag("p").class("hint").text(&format!("They differ from character {at}."));
    }
}

fn timeline(moments: &[BetweenMoment], html: &mut Html) {
    if moments.is_empty() {
        return;
    }
    html.tag("details").class("more").set_if(true, "open").inside(|html| {
        html.tag("summary").text("Both sides in time");
        let head = ["time", "client and gateway", "gateway and upstream"];
        table("list", "Both sides in time: → is a request, ← a response", &head, html, |html| {
            for moment in moments.iter().take(MOMENTS) {
                html.tag("tr").inside(|html| {
                    let time = format!("{}.{:03} ms", number(moment.at_us / 1000), moment.at_us % 1000);
                    html.tag("td").class("time").text(&time);
                    for side in [BetweenSide::Client, BetweenSide::Upstream] {
                        let text = if side == moment.side { cut(&moment.what, CELL) } else { String::new() };
                        html.tag("td").class("text").text(&text);
                    }
                });
            }
        });
    });
}

fn look_of(ending: &str) -> &'static str {
    match ending {
        "passed" | "right" | "reported" => "good",
        "failed" | "wrong" | "silent" | "hung" => "bad",
        "fragile" | "harness error" => "unknown",
        "skipped" | "not exercised" => "idle",
        _ => "count",
    }
}

fn of_rule(rule: &str, page: &RulePage, html: &mut Html) {
    html.tag("details").class("rule").set("data-find", format!("{rule} {}", page.title)).inside(|html| {
        html.tag("summary").inside(|html| {
            html.tag("code").text(rule);
            html.tag("span").class("title").inside(|html| inline(page.title, html));
        });
        html.tag("div").class("inside").set("id", rule_id(rule)).inside(|html| {
            prose(&page.prose, html);
            html.tag("dl").inside(|html| {
                quoted("authority", &page.authority, html);
                if !page.because.is_empty() {
                    quoted("because", page.because, html);
                }
                for thread in page.threads {
                    quoted("met by users", thread, html);
                }
            });
            html.tag("p").inside(|html| {
                html.tag("b").text("Fix: ");
                inline(&page.fix, html);
            });
        });
    });
}
