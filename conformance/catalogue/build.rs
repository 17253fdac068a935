//! Generates the catalogue from the pages and tables of the specification.

use std::path::{Path, PathBuf};
use std::{env, fs};

use codegen::catalogue::Catalogue;
use codegen::emit;

fn main() {
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let spec = Path::new("../../spec");
    for input in [
        "rules",
        "scenarios",
        "clients",
        "profiles",
        "client-profiles",
        "requirements",
        "defects.toml",
        "measured.toml",
        "played.toml",
    ] {
        println!("cargo::rerun-if-changed={}", spec.join(input).display());
    }
    let (catalogue, errors) = Catalogue::load(spec);
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("catalogue.rs"), emit::source(emit::catalogue(&catalogue)))?;
    Ok(())
}
