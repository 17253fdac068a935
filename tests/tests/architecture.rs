//! The code has the structure that docs/architecture.md describes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;
use tests::corpus::{files, repository};

const PAGE: &str = "docs/architecture.md";

/// Returns the packages of the workspace that others depend on.
fn packages() -> Vec<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    packages.into_iter().filter(|package| package["name"] != "tests").collect()
}

fn name(value: &Value) -> String {
    value["name"].as_str().unwrap_or_default().to_owned()
}

/// Returns the runtime and build dependencies of a package.
fn uses(package: &Value) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    all.filter(|uses| uses["kind"] != "dev").map(name).collect()
}

/// Returns the crates of the workspace, each with its dependencies among them.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    packages.iter().map(|package| (name(package), &uses(package) & &ours)).collect()
}

#[test]
fn every_dependency_has_its_reason() {
    let page = fs::read_to_string(repository().join("docs/dependencies.md")).expect("the page is there");
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let listed: BTreeSet<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect();
    let packages = packages();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let used: BTreeSet<String> = packages.iter().flat_map(uses).collect();
    assert_eq!(listed, &used - &ours, "docs/dependencies.md lists what Cargo.toml asks for");
}

/// Returns the crates in the order of the page's table, from the top.
fn floors(page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(str::to_owned).collect()
}

fn page() -> String {
    fs::read_to_string(repository().join(PAGE)).expect("the page is there")
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let (crates, floors) = (crates(), floors(&page()));
    let expected: BTreeSet<&String> = floors.iter().collect();
    assert_eq!(crates.keys().collect::<BTreeSet<_>>(), expected, "{PAGE} lists the crates of the workspace");
    let floor = |name: &String| floors.iter().position(|floor| floor == name);
    for (name, uses) in &crates {
        for used in uses {
            assert!(floor(used) > floor(name), "{name} uses {used}, which lies above it in {PAGE}");
        }
    }
}

#[test]
fn the_picture_of_the_crates_is_fresh() {
    let page = page();
    let crates = crates();
    let mut picture = String::new();
    for name in floors(&page) {
        let uses: Vec<&str> = crates[&name].iter().map(String::as_str).collect();
        let _ = writeln!(picture, "{}", format!("{name:<12} {}", uses.join(" ")).trim_end());
    }
    let (start, rest) = page.split_once("```text\n").expect("the picture has a place");
    let (_, end) = rest.split_once("```\n<!-- /crates -->").expect("it ends");
    let fresh = format!("{start}```text\n{picture}```\n<!-- /crates -->{end}");
    if env::var_os("BLESS").is_some() {
        fs::write(repository().join(PAGE), &fresh).expect("it can be written");
        return;
    }
    assert!(page == fresh, "{PAGE} is stale: BLESS=1 cargo test -p tests --test architecture");
}

/// Returns the source folders of every crate of the workspace.
fn source_folders() -> Vec<PathBuf> {
    let root = repository();
    let mut folders = vec![root.join("spec/src"), root.join("codegen/src"), root.join("conformance/src")];
    for entry in fs::read_dir(root.join("conformance")).expect("it can be listed").flatten() {
        folders.extend(Some(entry.path().join("src")).filter(|source| source.is_dir()));
    }
    folders
}

/// Returns the paths of the same crate that the code of a file uses, without comments and tests.
fn named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let list = rest.strip_prefix('{').and_then(|list| list.split_once("};"));
        let first = |path: &str| {
            path.trim()
                .split([':', ',', ';', ' ', '(', ')', '<', '>', '{', '}', '.'])
                .next()
                .map(str::to_owned)
        };
        match list {
            Some((list, _)) => names.extend(list.split(',').filter_map(first)),
            None => names.extend(first(rest)),
        }
    }
    names
}

/// Returns the top-level modules of a crate, each with those that it uses.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let module = |file: &Path| {
        let path = file.strip_prefix(source).expect("it lies there").with_extension("");
        path.iter().next().expect("it has a name").to_string_lossy().into_owned()
    };
    let root = fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
    // A re-export of the root counts as the module that it comes from.
    let mut homes = BTreeMap::new();
    for exported in root.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';')) {
        let Some((from, names)) = exported.0.split_once("::") else { continue };
        for name in names.trim_matches(['{', '}']).split(',') {
            homes.insert(name.trim().to_owned(), from.to_owned());
        }
    }
    let files = files(source, &["rs"]);
    let known: BTreeSet<String> = files.iter().map(|file| module(file)).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.ends_with("lib.rs") && !file.ends_with("main.rs")) {
        let own = module(file);
        let names = named(&fs::read_to_string(file).expect("it can be read"));
        let homes = names.into_iter().map(|name| homes.get(&name).cloned().unwrap_or(name));
        let others = homes.filter(|name| known.contains(name) && *name != own && name != "lib");
        uses.entry(own.clone()).or_default().extend(others);
    }
    uses
}

/// Returns a dependency cycle among modules, if any.
fn circle(uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn walk(
        uses: &BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> bool {
        let at = way.last().cloned().unwrap_or_default();
        for next in uses.get(&at).into_iter().flatten() {
            if let Some(start) = way.iter().position(|passed| passed == next) {
                way.drain(..start);
                return true;
            }
            if !done.contains(next) {
                way.push(next.clone());
                if walk(uses, way, done) {
                    return true;
                }
                way.pop();
            }
        }
        done.insert(at);
        false
    }
    let mut done = BTreeSet::new();
    uses.keys().find_map(|start| {
        let mut way = vec![start.clone()];
        walk(uses, &mut way, &mut done).then_some(way)
    })
}

#[test]
fn no_circle_runs_across_folders() {
    for source in source_folders() {
        // Files in a folder may use each other; a folder only uses modules below it.
        let folders = |way: &[String]| way.iter().any(|module| source.join(module).is_dir());
        let found = circle(&modules(&source)).filter(|way| folders(way));
        assert_eq!(found, None, "{}", source.display());
    }
}

#[test]
fn circles_are_found() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (one, other) in pairs {
            uses.entry((*one).to_owned()).or_default().insert((*other).to_owned());
        }
        uses
    };
    assert_eq!(circle(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let found = circle(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])).expect("there is one");
    assert_eq!(found, ["b", "c"]);
    assert_eq!(
        named("use crate::{One, two::Three};\n// crate::four\nlet a = crate::five();"),
        ["One", "two", "five"]
    );
}

/// Source files are short.
#[test]
fn files_are_short() {
    const LONGEST: usize = 800;
    let root = repository();
    let folders = ["spec/src", "codegen", "conformance", "tests", "fuzz/src", "fuzz/targets", "packages"];
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| files(&root.join(folder), &["rs"])).collect();
    assert!(files.len() > 300, "they are there");
    for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "target")) {
        let lines = fs::read_to_string(file).expect("it can be read").lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines, and {LONGEST} are the most", file.display());
    }
}
