//! What is published is whole: the packages contain what their build scripts read. That they build is checked by
//! `cargo package` in `.ci/run`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use codegen::catalogue::Catalogue;
use codegen::{SpecFiles, dialect, emit};
use tests::corpus::repository;

/// Folders of the published packages.
const PACKAGES: [&str; 5] =
    ["codegen", "codegen/derive", "conformance/catalogue", "conformance/checker", "spec"];

/// Returns the paths in the package that would be made of a folder.
fn packaged(folder: &Path) -> Vec<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(folder)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.replace('\\', "/")).collect()
}

/// Everything that is generated from a specification.
fn generated(spec: &Path) -> Vec<String> {
    let files = SpecFiles::load(spec).expect("the shared files are there");
    let apis: Vec<_> = files.apis.iter().map(|(name, api)| (name.as_str(), api, true)).collect();
    let (catalogue, errors) = Catalogue::load(spec);
    assert!(errors.is_empty(), "{errors:?}");
    let recorded = fs::read_to_string(spec.join("recorded.txt")).expect("the counts are there");
    let tables = emit::apis(&apis, &files.foreign).to_string();
    let mut texts = vec![tables, emit::catalogue(&catalogue).to_string(), recorded];
    for name in dialect::list(spec).expect("the dialects are there") {
        let dialect = dialect::load(spec, &name).expect("the dialect can be read");
        let api = files.api_of(&dialect).expect("its API is there");
        let tables = emit::dialect(&dialect, None, api).expect("it can be emitted");
        texts.extend([tables, emit::types(&dialect, None, &files.glossary)].map(|tokens| tokens.to_string()));
    }
    texts
}

#[test]
fn build_scripts_find_the_whole_specification_in_its_package() {
    let spec = repository().join("spec");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged-spec");
    let _ = fs::remove_dir_all(&copy);
    for path in packaged(&spec) {
        let (from, to) = (spec.join(&path), copy.join(&path));
        // Cargo adds files of its own.
        if from.is_file() {
            fs::create_dir_all(to.parent().expect("a folder")).expect("it can be made");
            fs::copy(from, to).expect("it can be copied");
        }
    }
    assert!(generated(&copy) == generated(&spec), "`include` of spec/Cargo.toml leaves out what is read");
    let _ = fs::remove_dir_all(copy);
}

#[test]
fn packages_contain_their_sources_licences_and_readme() {
    for folder in PACKAGES {
        let package = repository().join(folder);
        let files = packaged(&package);
        let mut expected: Vec<String> =
            ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"].map(str::to_owned).to_vec();
        let sources = tests::corpus::files(&package.join("src"), &["rs"]).into_iter();
        let relative = |file: PathBuf| {
            file.strip_prefix(&package).expect("it lies there").to_string_lossy().replace('\\', "/")
        };
        expected.extend(sources.map(relative));
        expected
            .extend(["build.rs"].map(str::to_owned).into_iter().filter(|file| package.join(file).is_file()));
        let missing: Vec<_> = expected.iter().filter(|file| !files.contains(file)).collect();
        assert!(missing.is_empty(), "{folder}: {missing:?}");
        let strays: Vec<_> =
            files.iter().filter(|file| file.contains("tests/") || file.contains("goldens/")).collect();
        assert!(strays.is_empty(), "{folder}: {strays:?}");
    }
}
