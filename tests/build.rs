//! Detects the corpora of recordings. Tests that need one are ignored without it.

use std::path::Path;
use std::{env, fs};

/// Corpora beside the repository: the flag for tests, the variable with the folder, and the usual folder.
const CORPORA: [(&str, &str, &str); 4] = [
    ("corpus", "CORPUS", "../../shared/corpus"),
    ("neighbours", "NEIGHBOURS", "../../shared/neighbours"),
    ("sessions", "SESSIONS", "../../shared/sessions"),
    ("gemini", "GEMINI", "../../shared/gemini"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (flag, name, usual) in CORPORA {
        println!("cargo::rustc-check-cfg=cfg({flag})");
        let variable = format!("CONFORMANCE_{name}");
        println!("cargo::rerun-if-env-changed={variable}");
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join(usual);
        let folder = env::var_os(variable).map_or(beside, Into::into);
        if let Ok(folder) = fs::canonicalize(folder) {
            println!("cargo::rustc-cfg={flag}");
            println!("cargo::rustc-env={name}={}", folder.display());
        }
    }
}
