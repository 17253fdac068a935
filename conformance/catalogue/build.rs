//! Generates the catalogue from the pages and tables of the specification.

use std::path::{Path, PathBuf};
use std::{env, fs};

use codegen::catalogue::Catalogue;
use codegen::{emit, folders};

fn main() {
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let spec = Path::new("../../spec");
    for kind in folders::PAGES.into_iter().chain(folders::TABLES) {
        for path in folders::of_kind(spec, kind) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let (catalogue, errors) = Catalogue::load(spec);
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("catalogue.rs"), emit::source(emit::catalogue(&catalogue)))?;
    Ok(())
}
