//! Generates the catalogue from the pages and tables of the specification.

use std::path::PathBuf;
use std::{env, fs};

use codegen::catalogue::Catalogue;
use codegen::{emit, folders};

fn main() {
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    // The build script of `spec` says where its files are: beside this crate, or in a registry.
    let spec = PathBuf::from(env::var("DEP_RESPONSES_CONFORMANCE_SPEC_FOLDER")?);
    println!("cargo::rustc-env=RECORDED={}", spec.join("recorded.txt").display());
    println!("cargo::rustc-env=REACHED={}", spec.join("reached.txt").display());
    // All of the APIs, so that the first page of a kind or of an API is seen, too.
    println!("cargo::rerun-if-changed={}", spec.join(folders::APIS).display());
    for kind in folders::PAGES.into_iter().chain(folders::TABLES) {
        let apis = spec.join(folders::APIS);
        for path in folders::of_kind(&spec, kind).into_iter().filter(|path| !path.starts_with(&apis)) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let (catalogue, errors) = Catalogue::load(&spec);
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("catalogue.rs"), emit::source(emit::catalogue(&catalogue)))?;
    Ok(())
}
