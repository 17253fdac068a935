//! Generates the types from the files of the crate `spec`.

use std::path::PathBuf;
use std::{env, fs};

use codegen::{SpecFiles, dialect, emit};

fn main() {
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    // The build script of `spec` says where its files are: beside this crate, or in a registry.
    let spec = PathBuf::from(env::var("DEP_RESPONSES_CONFORMANCE_SPEC_FOLDER")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for input in ["dialects", "glossary.toml"] {
        println!("cargo::rerun-if-changed={}", spec.join(input).display());
    }
    let SpecFiles { glossary, .. } = SpecFiles::load(&spec)?;
    let dialects = dialect::enabled(&spec)?;
    for one in &dialects {
        let tokens = emit::types(one, dialect::base(one, &dialects), &glossary);
        fs::write(out.join(emit::module(&one.name)).with_extension("rs"), emit::source(tokens))?;
    }
    fs::write(out.join("dialects.rs"), emit::source(emit::modules(&dialects, &[])))?;
    Ok(())
}
