//! Generated documents are up to date, and no link is broken.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use catalogue::{PROFILES, RULES, Rule, SCENARIOS};
use conformance::pages;
use spec::Dialect;
use spec::table::Fallback;
use tests::corpus;
use tests::generated::{is_fresh, is_part_fresh};
use tests::questions;

#[test]
fn the_reference_of_rules_is_fresh() {
    is_fresh("docs/rules/README.md", &pages::index(), "docs");
    for group in pages::groups() {
        is_fresh(&format!("docs/rules/{group}.md"), &pages::of_group(group), "docs");
    }
    let expected: BTreeSet<String> =
        pages::groups().into_iter().map(|group| format!("{group}.md")).chain(["README.md".into()]).collect();
    let files = fs::read_dir(corpus::repository().join("docs/rules")).expect("it is there");
    let found: BTreeSet<String> = files
        .map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, expected, "a page whose group is gone");
}

#[test]
fn the_coverage_of_the_specification_is_fresh() {
    is_part_fresh("docs/coverage.md", ("", "\n<!-- second model -->"), &pages::coverage(), "docs");
}

#[test]
fn the_questions_about_the_specifications_are_fresh() {
    is_fresh("docs/spec-questions.md", &questions::page(), "docs");
}

#[test]
fn what_the_official_suite_looks_at_is_looked_at() {
    let page = fs::read_to_string(corpus::repository().join("docs/official-suite.md")).expect("it is there");
    let rows: Vec<Vec<&str>> = (page.lines().skip_while(|line| !line.starts_with("| test |")).skip(2))
        .map(|line| line.trim_matches('|').split('|').collect())
        .collect();
    assert_eq!(rows.len(), 17);
    let names =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for row in rows {
        let [test, _, scenarios, rules] = row.as_slice() else { panic!("four cells: {row:?}") };
        let (scenarios, rules) = (names(scenarios), names(rules));
        assert!(!scenarios.is_empty() && !rules.is_empty(), "{test}");
        for id in scenarios {
            assert!(catalogue::scenario(&id).is_some(), "{test}: there is no scenario {id}");
        }
        for id in rules {
            assert!(catalogue::rule(&id).is_some(), "{test}: there is no rule {id}");
        }
    }
}

#[test]
fn all_dialects_are_listed() {
    let mut rows = String::from("| dialect | API | what it is |\n|---|---|---|\n");
    for dialect in spec::DIALECTS {
        let _ = writeln!(rows, "| `{}` | {} | {} |", dialect.name, dialect.api.title, dialect.summary);
    }
    is_part_fresh("docs/dialects.md", (&begin("dialects"), "<!-- /dialects -->"), &rows, "docs");
}

#[test]
fn the_readme_counts_what_there_is_of_each_api() {
    let mut rows =
        "| API | rules | scenarios | profiles | cases for clients |\n|---|---|---|---|---|\n".to_owned();
    for api in spec::APIS {
        let is_of = |dialect: &&&Dialect| dialect.api.name == api.name;
        let dialects: Vec<&Dialect> = spec::DIALECTS.iter().filter(is_of).copied().collect();
        let applies = |rule: &&Rule| dialects.iter().any(|dialect| rule.applies_to(dialect));
        let usual = dialects.iter().find(|dialect| dialect.fallback != Fallback::None);
        let usual = usual.expect("each API has a dialect of its first party");
        let _ = writeln!(
            rows,
            "| {} | {} | {} | {} | {} |",
            api.title,
            RULES.iter().filter(applies).count(),
            SCENARIOS.iter().filter(|scenario| scenario.applies_to(usual)).count(),
            PROFILES.iter().filter(|profile| profile.is_of(api)).count(),
            clients::cases(usual).len(),
        );
    }
    is_part_fresh("README.md", (&begin("apis"), "<!-- /apis -->"), &rows, "docs");
}

#[test]
fn the_pages_about_gateways_clients_and_logs_list_all_rules() {
    for (page, part, rules) in [
        ("between", "between-rules", catalogue::BETWEEN_RULES),
        ("clients", "client-rules", catalogue::CLIENT_RULES),
        ("archives", "log-rules", catalogue::LOG_RULES),
    ] {
        let mut rows = "| rule | level | what it demands |\n|---|---|---|\n".to_owned();
        for rule in rules {
            let (id, level, title, page) = (rule.id, rule.level.keyword(), rule.title, rule.page());
            let _ = writeln!(rows, "| [`{id}`](../{page}) | {level} | {title} |");
        }
        let marks = (&*begin(part), &*format!("<!-- /{part} -->"));
        is_part_fresh(&format!("docs/{page}.md"), marks, &rows, "docs");
    }
}

#[test]
fn the_page_about_sessions_says_what_agents_do() {
    let mut rows = "| agent | version | run on | faults |\n|---|---|---|---|\n".to_owned();
    for agent in catalogue::AGENTS {
        let reactions = catalogue::AGENT_FAULTS.iter().flat_map(|fault| fault.reactions);
        let faults = reactions.filter(|reaction| reaction.agent == agent.id).count();
        let _ = writeln!(rows, "| {} | {} | {} | {faults} |", agent.title, agent.version, agent.date);
    }
    rows.push_str("\n| after | what agents do |\n|---|---|\n");
    for fault in catalogue::AGENT_FAULTS {
        let of = |reaction: &catalogue::Reaction| {
            let agent = catalogue::AGENTS.iter().find(|agent| agent.id == reaction.agent);
            let text = match (reaction.harm, reaction.does) {
                (Some(harm), _) => format!("**{harm}**"),
                (None, does) => does.unwrap_or_default().to_owned(),
            };
            format!("{}: {text}", agent.map_or("", |agent| agent.title))
        };
        let all: Vec<String> = fault.reactions.iter().map(of).collect();
        let rules: Vec<String> = fault.rules.iter().map(|rule| format!("`{rule}`")).collect();
        let rules = if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) };
        let _ = writeln!(rows, "| {}{rules} | {} |", fault.after, all.join("<br>"));
    }
    let mut profiles = "| profile | API | requests of |\n|---|---|---|\n".to_owned();
    for profile in catalogue::AGENT_PROFILES {
        let (name, api, title) = (profile.name(), profile.api(), profile.title);
        let version = profile.agent().map_or("", |agent| agent.version);
        let _ = writeln!(
            profiles,
            "| [`{name}`](../spec/between/profiles/{}.md) | {api} | {title} {version}, recorded on {} |",
            profile.id, profile.recorded
        );
    }
    is_part_fresh("docs/sessions.md", (&begin("profiles"), "<!-- /profiles -->"), &profiles, "docs");
    is_part_fresh("docs/sessions.md", (&begin("agents"), "<!-- /agents -->"), &rows, "docs");
}

#[test]
fn the_page_about_gateways_states_the_contract() {
    let mut rows = "| clause | what a gateway owes | why |\n|---|---|---|\n".to_owned();
    for clause in catalogue::CONTRACT {
        let _ = writeln!(rows, "| `{}` | {} | {} |", clause.id, clause.owes, clause.because);
    }
    let marks = (&*begin("contract"), "<!-- /contract -->");
    is_part_fresh("docs/between.md", marks, &rows, "docs");
}

/// Returns the line in front of a part of a document that is generated.
fn begin(part: &str) -> String {
    format!("<!-- {part}: BLESS=1 cargo test -p tests --test suite docs -->\n")
}

/// Returns all documents for people.
fn documents() -> Vec<PathBuf> {
    let root = corpus::repository();
    let own = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "AGENTS.md", "CHANGELOG.md"]
        .map(|name| root.join(name));
    let folders =
        ["docs", "spec/apis", "spec/rules"].map(|folder| corpus::files(&root.join(folder), &["md"]));
    own.into_iter().chain(folders.into_iter().flatten()).collect()
}

/// Returns the targets of the links in a document, without those in code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        if is_fenced {
            continue;
        }
        // Every other piece is between backquotes.
        let prose: Vec<&str> = line.split('`').collect();
        let joined: String = prose.iter().step_by(2).copied().collect::<Vec<_>>().join("``");
        for piece in joined.split("](").skip(1) {
            links.extend(piece.split(')').next().map(str::to_owned));
        }
    }
    links
}

/// Returns the anchors of the headings of a document.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept =
                heading.chars().filter(|kept| kept.is_alphanumeric() || matches!(kept, '-' | '_' | ' '));
            kept.map(|kept| if kept == ' ' { '-' } else { kept }).collect()
        })
        .collect()
}

fn is_there(from: &Path, text: &str, link: &str) -> bool {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = from.parent().expect("it lies in a folder").join(path);
    if path.is_empty() {
        return anchor.is_some_and(|anchor| anchors(text).contains(anchor));
    }
    if !target.exists() {
        return false;
    }
    // A line of a source file is not a heading.
    let is_document = target.extension().is_some_and(|extension| extension == "md");
    anchor.is_none_or(|anchor| {
        !is_document || anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(anchor)
    })
}

#[test]
fn no_link_leads_nowhere() {
    let mut dead = Vec::new();
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("it can be read");
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            checked += 1;
            if !is_there(&document, &text, &link) {
                dead.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(checked > 300, "{checked} links: these cannot be all");
}

/// Returns the targets of the links in a file of docs/, as paths in docs/.
fn links_of(page: &str) -> Vec<String> {
    links(&fs::read_to_string(corpus::repository().join("docs").join(page)).expect("it is there"))
}

#[test]
fn the_book_has_every_page_once() {
    let folder = corpus::repository().join("docs");
    let pages: BTreeSet<String> = corpus::files(&folder, &["md"])
        .iter()
        .map(|file| file.strip_prefix(&folder).expect("it lies there").to_string_lossy().replace('\\', "/"))
        .filter(|page| page != "SUMMARY.md")
        .collect();
    let listed = links_of("SUMMARY.md");
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unique, pages, "docs/SUMMARY.md lists what is in docs/");
    assert_eq!(listed.len(), unique.len(), "a page is listed twice in docs/SUMMARY.md: {listed:?}");
    // The page for readers on GitHub leads to the same pages; those of folders are listed by their README.md.
    let described: BTreeSet<String> = links_of("README.md").into_iter().collect();
    let is_top = |page: &&String| !page.contains('/') && *page != "README.md";
    let missing: Vec<&String> =
        pages.iter().filter(is_top).filter(|page| !described.contains(*page)).collect();
    assert!(missing.is_empty(), "docs/README.md does not lead to {missing:?}");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(corpus::repository().join("README.md")).expect("it is there");
    let lines = readme.lines().count();
    assert!(lines <= 200, "{lines} lines: move what explains a command to docs/");
}

/// Files and folders that the commands of a document write where they are run.
fn outputs(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        let words: Vec<&str> = line.split_whitespace().take_while(|word| *word != "#").collect();
        let is_command = is_fenced
            && words.first().is_some_and(|first| matches!(*first, "cargo" | "curl" | "conformance"));
        let is_within = |file: &str| !file.is_empty() && !file.starts_with(['/', '$', '.', '~']);
        let redirected =
            words.iter().filter_map(|word| word.strip_prefix('>')).filter(|file| is_within(file));
        found.extend(redirected.filter(|_| is_command).map(str::to_owned));
        for pair in words.windows(2).filter(|_| is_command) {
            let is_written =
                ["--out", "--snapshots", "--write-expected-failures", "--output", ">"].contains(&pair[0]);
            if is_written && is_within(pair[1]) {
                found.insert(pair[1].trim_end_matches('/').to_owned());
            }
        }
    }
    found
}

/// Following the documents in a clone leaves no untracked files.
#[test]
fn what_examples_write_is_ignored_by_git() {
    let ignored = fs::read_to_string(corpus::repository().join(".gitignore")).expect("it is there");
    let ignored: BTreeSet<&str> = ignored.lines().map(|line| line.trim_matches('/')).collect();
    let (mut all, mut missing) = (BTreeSet::new(), Vec::new());
    for document in documents() {
        let text = fs::read_to_string(&document).expect("it can be read");
        for output in outputs(&text) {
            if !ignored.contains(&*output) {
                missing.push(format!("{}: {output} is not in .gitignore", document.display()));
            }
            all.insert(output);
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    for known in ["run", "mine", "shapes", "known.toml", "report.xml"] {
        assert!(all.contains(known), "{known} is not found: {all:?}");
    }
}

#[test]
fn links_are_found_and_followed() {
    let text = "# A heading: of `it`\n[a](b.md) `[c](d.md)` [e](#f)\n```\n[g](h.md)\n```\n[i](j.md#k)";
    assert_eq!(links(text), ["b.md", "#f", "j.md#k"]);
    let readme = corpus::repository().join("README.md");
    assert!(is_there(&readme, text, "#a-heading-of-it") && !is_there(&readme, text, "#a-heading"));
    assert!(is_there(&readme, text, "docs/rules/part.md#partbefore-open"));
    assert!(!is_there(&readme, text, "docs/rules/part.md#partbefore"));
    assert!(!is_there(&readme, text, "docs/rules/parts.md"));
}
