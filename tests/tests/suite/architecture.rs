//! The code has the structure that docs/architecture.md describes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};
use tests::corpus::{files, repository};
use tests::generated::is_part_fresh;
use tests::modules::circles;

const PAGE: &str = "docs/architecture.md";

/// How the names of published packages begin.
const PUBLISHED: &str = "responses-conformance-";

/// Returns the packages of the workspace.
fn members() -> Vec<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    metadata["packages"].as_array().cloned().unwrap_or_default()
}

/// Returns the packages of the workspace, without their tests, and without what is nothing but the `main` of a library.
fn packages() -> Vec<Value> {
    let tests = ["tests", "commands", "instructions"];
    let is_of_tests = |package: &Value| tests.iter().any(|name| package["name"] == *name);
    let is_program = |package: &Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        targets
            .filter(|target| target["kind"] != json!(["test"]))
            .all(|target| target["kind"] == json!(["bin"]))
    };
    members().into_iter().filter(|package| !is_of_tests(package) && !is_program(package)).collect()
}

/// Returns the name of a crate: the name of its package, without what makes it unique in the registry. A command has the name of
/// its library.
fn name(value: &Value) -> String {
    let name = value["name"].as_str().unwrap_or_default();
    match name.strip_prefix(PUBLISHED) {
        Some(published) => published.to_owned(),
        None if name == "codegen" => "codegen-command".to_owned(),
        None => name.to_owned(),
    }
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
    let place = ("```text\n", "```\n<!-- /crates -->");
    is_part_fresh(PAGE, place, &picture, "architecture");
}

/// Returns the files of a source folder, by their paths in it.
fn sources(folder: &Path) -> BTreeMap<String, String> {
    let text = |file: PathBuf| {
        let path = file.strip_prefix(folder).expect("it lies there").to_string_lossy().replace('\\', "/");
        (path, fs::read_to_string(&file).expect("it can be read"))
    };
    files(folder, &["rs"]).into_iter().map(text).collect()
}

#[test]
fn no_circle_runs_among_the_modules_of_a_folder() {
    let mut found = Vec::new();
    for member in members() {
        let manifest = Path::new(member["manifest_path"].as_str().expect("it has one"));
        let circles = circles(&sources(&manifest.with_file_name("src")));
        found.extend(circles.into_iter().map(|link| format!("{}: {link}", name(&member))));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the circles in a crate of these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    circles(&files)
}

#[test]
fn circles_are_found() {
    let root = ("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::Two;");
    let both = ["a uses b: a/mod.rs:2", "b uses a: b.rs:1"];
    for (a, b) in [
        ("use crate::b::Two;", "use crate::a::One;"),
        ("use crate::{c, b::{Three, Two}};", "use super::a;"),
        ("type One = super::b::Two;", "fn b() { crate::a::one() }"),
        ("fn a() { self::super::b::two(&[]) }", "use super::{a as other};"),
        ("fn a() -> crate::Two { crate::Two }", "use crate::a::*;"),
        ("use super::Two as Three;", "fn b(one: &'static super::a::One) {}"),
    ] {
        let (a, inner) = (format!("mod inner;\n{a}"), "use super::One;\nuse crate::c;");
        let found = circles_of(&[root, ("a/mod.rs", &a), ("a/inner.rs", inner), ("b.rs", b), ("c.rs", "")]);
        assert_eq!(found, both, "{a}\n{b}");
    }
    // Through a third module, from the file of a folder, and by a module that is imported.
    let found = circles_of(&[
        root,
        ("a/mod.rs", "mod inner;"),
        ("a/inner.rs", "use super::super::b;\nfn a() { b::two() }"),
        ("b.rs", "use crate::c;"),
        ("c.rs", "mod inner {\n    use super::super::a;\n}"),
    ]);
    let all = ["a uses b: a/inner.rs:1, a/inner.rs:2", "b uses c: b.rs:1", "c uses a: c.rs:2"];
    assert_eq!(found, all);
    // In a folder.
    let found = circles_of(&[
        ("main.rs", "mod x;"),
        ("x.rs", "mod a;\nmod b;\npub(crate) use self::b::{self as other, Two};\nstruct Own;"),
        ("x/a/mod.rs", "mod inner;"),
        ("x/a/inner.rs", "use crate::x::{Own, other};"),
        ("x/b.rs", "use super::a;"),
    ]);
    assert_eq!(found, ["x/a uses x/b: x/a/inner.rs:1", "x/b uses x/a: x/b.rs:1"]);
    // Among files, beside a folder that uses them.
    let (a, b, c) = ("use crate::c;", "use crate::c;", "use crate::b;");
    let found = circles_of(&[root, ("a/mod.rs", a), ("a/inner.rs", ""), ("b.rs", b), ("c.rs", c)]);
    assert_eq!(found, ["b uses c: b.rs:1", "c uses b: c.rs:1"]);
}

#[test]
fn other_dependencies_are_no_circles() {
    let root = ("lib.rs", "mod a;\nmod b;\nmod c;\nstruct Own;");
    for b in [
        "// crate::a\n/* crate::a::One\n*/ const A: (&str, char) = (\"crate::a::One\", '\"');",
        "const A: &str = r#\"\"crate::a::One\"#;",
        "#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}",
        "#[cfg(all(test, unix))]\n#[derive(Debug)]\nstruct Two([crate::a::One; 2]);",
        "#[cfg(test)]\nmod tests;",
        "use super::Own;\nuse a::One;",
    ] {
        let files =
            [root, ("a/mod.rs", "mod c;\nuse crate::b::Two;\nuse c::Three;"), ("b.rs", b), ("c.rs", "")];
        let inner = [("a/c.rs", "use super::Four;"), ("b/tests.rs", "use crate::a::One;")];
        assert!(circles_of(&[&files[..], &inner].concat()).is_empty(), "{b}");
    }
}

/// Packages whose manifest says that they have no tests, or no examples in their documentation, have none.
#[test]
fn tests_and_examples_run() {
    for member in members() {
        let manifest = Path::new(member["manifest_path"].as_str().expect("it has one"));
        let targets = member["targets"].as_array().expect("it has some");
        let runs = |what: &str| {
            targets.iter().any(|target| target[what] == true && target["kind"] != json!(["test"]))
        };
        for (path, text) in sources(&manifest.with_file_name("src")) {
            let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
            let has_example = has("/// ```") || has("//! ```");
            assert!(
                runs("test") || !has("#[test]"),
                "{} has a test that is never run: {path}",
                name(&member)
            );
            assert!(runs("doctest") || !has_example, "{} has an example: {path}", name(&member));
        }
    }
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
