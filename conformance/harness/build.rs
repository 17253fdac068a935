//! Sets the build id: a hash of the sources that determine requests, evidence and verdicts.
//!
//! It needs no `rerun-if-changed`: those sources are dependencies of this crate anyway.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

const ROOT: &str = "../..";
const SOURCES: [&str; 18] = [
    "Cargo.lock",
    "codegen/src",
    "conformance/catalogue/src",
    "conformance/checker/src",
    "conformance/gateway/src",
    "conformance/grammar/src",
    "conformance/harness/src",
    "conformance/recordings/src",
    "conformance/reports/src",
    "conformance/results/src",
    "conformance/translation/src",
    "spec/dialects",
    "spec/foreign.toml",
    "spec/glossary.toml",
    "spec/reached.txt",
    "spec/rules",
    "spec/src",
    "spec/twins.toml",
];
/// The sources in the folder of an API.
const OF_API: [&str; 8] =
    ["api.toml", "clients", "defects.toml", "goldens", "profiles", "requirements", "rules", "scenarios"];
const APIS: &str = "spec/apis";
const LENGTH: usize = 8;

fn main() {
    let sources = sources().unwrap_or_default();
    for source in &sources {
        println!("cargo::rerun-if-changed={ROOT}/{source}");
    }
    let id = id(&sources).unwrap_or_else(|error| {
        println!("cargo::warning=the build has no id: {error}");
        "unknown".to_owned()
    });
    println!("cargo::rustc-env=CONFORMANCE_BUILD={id}");
}

fn sources() -> io::Result<Vec<String>> {
    let mut sources = SOURCES.map(str::to_owned).to_vec();
    for api in fs::read_dir(Path::new(ROOT).join(APIS))? {
        let api = api?.file_name();
        let of_api = OF_API.map(|name| format!("{APIS}/{}/{name}", api.to_string_lossy()));
        sources.extend(of_api.into_iter().filter(|source| Path::new(ROOT).join(source).exists()));
    }
    Ok(sources)
}

fn id(sources: &[String]) -> io::Result<String> {
    let mut files = Vec::new();
    for source in sources {
        list(&Path::new(ROOT).join(source), source, &mut files)?;
    }
    files.sort_unstable();
    let mut hash = Sha256::new();
    for (name, path) in files {
        // Line ends may be the system's.
        let bytes: Vec<u8> = fs::read(path)?.into_iter().filter(|byte| *byte != b'\r').collect();
        hash.update(format!("{name}\0{}\0", bytes.len()));
        hash.update(bytes);
    }
    let mut id = String::new();
    for byte in &hash.finalize()[..LENGTH] {
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

fn list(path: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if !path.is_dir() {
        files.push((name.to_owned(), path.to_owned()));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        list(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), files)?;
    }
    Ok(())
}
