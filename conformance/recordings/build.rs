//! Embeds the goldens of the specification.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use codegen::folders;

fn main() {
    if let Err(error) = embed() {
        println!("cargo::error=the goldens cannot be embedded: {error}");
    }
}

fn embed() -> io::Result<()> {
    let spec = Path::new("../../spec");
    // An API that is new has a new dialect.
    println!("cargo::rerun-if-changed={}", spec.join("dialects").display());
    for folder in folders::of_kind(spec, folders::GOLDENS) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let mut code = String::from("&[\n");
    for (dialect, path) in folders::goldens(spec) {
        let format = match path.extension().and_then(OsStr::to_str) {
            Some("sse") => "Sse",
            Some("jsonl") => "WebSocket",
            Some("http") => "Http",
            _ => continue,
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let path = format!("/{}", path.display());
        let _ = writeln!(
            code,
            "    Golden {{ dialect: {dialect:?}, name: {name:?}, format: Format::{format}, bytes: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})) }},"
        );
    }
    code += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("goldens.rs"), code)
}
