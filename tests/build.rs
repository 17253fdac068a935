//! Detects the corpus of recordings. Tests that need it are ignored without it.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(corpus)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CONFORMANCE_CORPUS");
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = env::var_os("CONFORMANCE_CORPUS").map_or(beside, Into::into);
    if let Ok(folder) = fs::canonicalize(folder) {
        println!("cargo::rustc-cfg=corpus");
        println!("cargo::rustc-env=CORPUS={}", folder.display());
    }
}
