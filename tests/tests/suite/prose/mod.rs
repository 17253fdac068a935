//! Sentences that make readers read twice: patterns of `prose.toml`, each with a ceiling that may only fall.

use std::path::{Path, PathBuf};
use std::{env, fs};

use regex::Regex;
use serde::Deserialize;
use tests::corpus::{files, repository};

const DATA: &str = "tests/tests/suite/prose/prose.toml";

#[derive(Deserialize)]
struct Prose {
    generated: Vec<String>,
    pattern: Vec<Pattern>,
}

#[derive(Deserialize)]
struct Pattern {
    name: String,
    regex: String,
    instead: String,
    comments: usize,
    docs: Option<usize>,
}

/// A comment or a paragraph, without code.
struct Text {
    place: String,
    words: String,
}

impl Text {
    /// Joins lines. Code between backquotes counts as one word.
    fn new(path: &Path, line: usize, lines: &[&str]) -> Self {
        let joined = lines.join(" ");
        let words: Vec<&str> =
            joined.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect();
        let path = path.strip_prefix(repository()).unwrap_or(path).display();
        Self { place: format!("{path}:{}", line + 1), words: words.concat() }
    }
}

/// Splits lines into paragraphs. `prose` returns the words of a line, `None` for code.
fn paragraphs<'a>(path: &Path, text: &'a str, prose: impl Fn(&'a str) -> Option<&'a str>) -> Vec<Text> {
    let (mut found, mut lines, mut is_fenced) = (Vec::new(), Vec::new(), false);
    for (number, line) in text.lines().chain([""]).enumerate() {
        let words = prose(line).map(str::trim);
        let is_fence = words.is_some_and(|words| words.starts_with("```"));
        is_fenced = words.is_some() && (is_fenced ^ is_fence);
        let words = words.filter(|words| !is_fenced && !is_fence && !words.is_empty());
        match words {
            Some(words) => lines.push(words),
            None if lines.is_empty() => {}
            None => found.push(Text::new(path, number - lines.len(), &std::mem::take(&mut lines))),
        }
    }
    found
}

/// Returns the comments of what is not a test.
fn comments() -> Vec<Text> {
    let root = repository();
    let folders = ["spec", "codegen", "conformance", "packages", "fuzz", "examples"];
    let files = folders.iter().flat_map(|folder| files(&root.join(folder), &["rs"]));
    let is_product = |file: &PathBuf| {
        let path = file.strip_prefix(&root).expect("it lies there");
        let of_tests = ["tests", "tests.rs", "benches", "target"];
        path.components().all(|part| of_tests.iter().all(|name| part.as_os_str() != *name))
    };
    let texts = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("it can be read");
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        paragraphs(&file, product, |line| {
            line.trim_start().strip_prefix("//").map(|comment| comment.trim_start_matches(['/', '!']))
        })
    };
    files.filter(is_product).flat_map(texts).collect()
}

/// Returns the paragraphs of pages that are written by hand.
fn docs(generated: &[String]) -> Vec<Text> {
    let root = repository();
    let own = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "RELEASING.md"];
    let own = own.map(|name| root.join(name)).into_iter().filter(|page| page.exists());
    let is_written = |page: &PathBuf| {
        let path =
            page.strip_prefix(root.join("docs")).expect("it lies there").to_string_lossy().into_owned();
        generated.iter().all(|start| !path.starts_with(start.as_str()))
    };
    let pages = files(&root.join("docs"), &["md"]).into_iter().filter(is_written);
    let texts = |page: PathBuf| {
        let text = fs::read_to_string(&page).expect("it can be read");
        // What a test generates stands between comments that name it.
        let mut is_generated = false;
        let written: Vec<&str> = text
            .lines()
            .map(|line| {
                is_generated = (is_generated || line.starts_with("<!-- ") && line.contains("BLESS=1"))
                    && !line.starts_with("<!-- /");
                if is_generated { "" } else { line }
            })
            .collect();
        paragraphs(&page, &written.join("\n"), Some)
    };
    own.chain(pages).flat_map(texts).collect()
}

/// Returns the occurrences of a pattern, each with its place.
fn occurrences(regex: &Regex, texts: &[Text]) -> Vec<String> {
    let of = |text: &Text| -> Vec<String> {
        let excerpt = |at: usize| text.words[at..].chars().take(60).collect::<String>();
        regex
            .find_iter(&text.words)
            .map(|found| format!("{}: {}", text.place, excerpt(found.start())))
            .collect()
    };
    texts.iter().flat_map(of).collect()
}

#[test]
fn patterns_of_bad_prose_only_fall() {
    let text = fs::read_to_string(repository().join(DATA)).expect("it is there");
    let prose: Prose = toml::from_str(&text).expect("it is valid");
    let (comments, docs) = (comments(), docs(&prose.generated));
    assert!(
        comments.len() > 1_500 && docs.len() > 300,
        "{} comments, {} in docs",
        comments.len(),
        docs.len()
    );
    let (mut lowered, mut problems) = (text.clone(), Vec::new());
    for pattern in &prose.pattern {
        let regex = Regex::new(&pattern.regex).expect("it is valid");
        for (kind, texts, ceiling) in
            [("comments", &comments, Some(pattern.comments)), ("docs", &docs, pattern.docs)]
        {
            let Some(ceiling) = ceiling else { continue };
            let found = occurrences(&regex, texts);
            if found.len() > ceiling {
                let (name, instead, count) = (&pattern.name, &pattern.instead, found.len());
                problems.push(format!(
                    "{name}: {count} in {kind}, and {ceiling} are the most: {instead}\n{}",
                    found.join("\n")
                ));
            }
            // A ceiling is raised by nobody.
            let (before, rest) =
                lowered.split_once(&format!("name = \"{}\"", pattern.name)).expect("it is there");
            let rest = rest.replacen(
                &format!("\n{kind} = {ceiling}\n"),
                &format!("\n{kind} = {}\n", ceiling.min(found.len())),
                1,
            );
            lowered = format!("{before}name = \"{}\"{rest}", pattern.name);
        }
    }
    if env::var_os("BLESS").is_some() && lowered != text {
        fs::write(repository().join(DATA), lowered).expect("it can be written");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn patterns_are_found_in_sentences_alone() {
    let text = "//! Of which `in which`.\n/// ```\n/// in which\n/// ```\n/// The one in\n/// which it is.\nfn a() {} // in which\n";
    let found = paragraphs(Path::new("a.rs"), text, |line| {
        line.trim_start().strip_prefix("//").map(|comment| comment.trim_start_matches(['/', '!']))
    });
    let regex = Regex::new(r"(?i)\b(?:in|of) which").expect("it is valid");
    assert_eq!(
        occurrences(&regex, &found),
        ["a.rs:1: Of which x.", "a.rs:5: in which it is."],
        "code, and what stands behind code, is left out"
    );
}
