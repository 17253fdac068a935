//! Embeds the goldens of the specification.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() {
    if let Err(error) = embed() {
        println!("cargo::error=the goldens cannot be read: {error}");
    }
}

fn embed() -> io::Result<()> {
    let apis = Path::new("../../spec/apis");
    let mut code = String::from("&[\n");
    for api in names(apis)? {
        let folder = apis.join(&api).join("goldens");
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            embed_api(&folder, &api, &mut code)?;
        }
    }
    code += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("goldens.rs"), code)
}

/// Embeds the goldens of an API, a folder for each dialect.
fn embed_api(folder: &Path, api: &str, code: &mut String) -> io::Result<()> {
    for dialect in names(folder)? {
        let of_dialect = folder.join(&dialect);
        if !of_dialect.is_dir() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", of_dialect.display());
        for file in names(&of_dialect)? {
            let Some((name, extension)) = file.rsplit_once('.') else { continue };
            let format = match extension {
                "sse" => "Sse",
                "jsonl" => "WebSocket",
                "http" => "Http",
                _ => continue,
            };
            println!("cargo::rerun-if-changed={}", of_dialect.join(&file).display());
            let path = format!("/../../spec/apis/{api}/goldens/{dialect}/{file}");
            let _ = writeln!(
                code,
                "    Golden {{ dialect: {dialect:?}, name: {name:?}, format: Format::{format}, bytes: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})) }},"
            );
        }
    }
    Ok(())
}

/// Returns the sorted names in a folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}
