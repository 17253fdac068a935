//! Generates the crate from the files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use codegen::dialect::{self, Dialect, Folder, Renaming, Tiny};
use codegen::{emit, folders};
use proc_macro2::TokenStream;

/// Names that no file of the specification has.
const RENAMING: Renaming = Renaming {
    dialect: "renamed",
    scopes: &[("response", "zap_answer"), ("item", "zap_entry")],
    event: |name| match name.strip_prefix("response.") {
        Some(rest) => format!("zap.{rest}"),
        None if name == "error" => "zip.error".to_owned(),
        None => name.to_owned(),
    },
    slots: &[("item_id", "zap_id"), ("output_index", "zap_index"), ("response", "zap_answer")],
};

/// The name of a dialect with one event type, and of its API.
const RESHAPED: &str = "reshaped";

fn main() {
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let spec = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::metadata=folder={}", spec.display());
    for input in ["dialects", folders::FOREIGN] {
        println!("cargo::rerun-if-changed={input}");
    }
    // Not the whole folders: an edited page of a rule changes no dialect.
    for api in folders::apis(&spec) {
        println!("cargo::rerun-if-changed={}", folders::api(&api).display());
    }
    let spec_files = codegen::SpecFiles::load(&spec)?;
    write(&out.join("words.rs"), emit::words())?;
    if env::var_os("CARGO_FEATURE_FOLDERS").is_some() {
        write(&out.join("leaks.rs"), emit::leaks())?;
        fs::write(out.join("folders.rs"), texts(&spec)?)?;
    }
    let tiny = Tiny::all()?;
    let of_tests = match spec_files.apis.get("responses") {
        Some(api) if env::var_os("CARGO_FEATURE_RENAMED").is_some() => {
            let copies = [
                (RENAMING.dialect, api.renamed(RENAMING.scopes, RENAMING.event)),
                (RESHAPED, api.reshaped()),
            ];
            copies.into_iter().chain(tiny.iter().map(|(name, tiny)| (*name, tiny.api.clone()))).collect()
        }
        _ => Vec::new(),
    };
    let mut apis: Vec<_> = spec_files.apis.iter().map(|(name, api)| (name.as_str(), api, true)).collect();
    apis.extend(of_tests.iter().map(|(name, api)| (*name, api, false)));
    write(&out.join("apis.rs"), emit::apis(&apis, &spec_files.foreign))?;
    let listed = dialect::enabled(&spec)?;
    let mut hidden = Vec::new();
    if env::var_os("CARGO_FEATURE_RENAMED").is_some() {
        let openai =
            listed.iter().find(|dialect| dialect.name == "openai").ok_or("`renamed` needs `openai`")?;
        hidden.extend([openai.renamed(&RENAMING)?, openai.reshaped(RESHAPED)?]);
        for (name, tiny) in &tiny {
            hidden.push(tiny.dialect(name)?);
        }
    }
    let all: Vec<Dialect> = listed.iter().chain(&hidden).cloned().collect();
    for dialect in &all {
        let api = match of_tests.iter().find(|(name, _)| *name == dialect.file.api) {
            Some((_, api)) => api,
            None => spec_files.api_of(dialect)?,
        };
        let tokens = emit::dialect(dialect, dialect::base(dialect, &all), api)?;
        write(&out.join(emit::module(&dialect.name)).with_extension("rs"), tokens)?;
    }
    write(&out.join("dialects.rs"), emit::dialects(&listed, &hidden))?;
    Ok(())
}

/// The files that a program needs to load dialects that extend a dialect of the build.
fn texts(spec: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let mut code =
        "/// The files of all dialects.\npub(crate) static FOLDERS: &[(&str, &[(&str, &str)])] = &[\n"
            .to_owned();
    for name in dialect::list(spec)? {
        writeln!(code, "({name:?}, &[")?;
        for (file, text) in Folder::read(&spec.join("dialects").join(&name))?.files {
            // Without the space of the layout.
            let json = file.strip_suffix(".json").map(|_| serde_json::from_str::<serde_json::Value>(&text));
            let text = json.transpose()?.map_or(text, |json| json.to_string());
            writeln!(code, "({file:?}, {text:?}),")?;
        }
        code.push_str("]),\n");
    }
    code.push_str("];\n\n/// The tables of all APIs.\npub(crate) static API_FILES: &[(&str, &str)] = &[\n");
    for name in folders::apis(spec) {
        let text = fs::read_to_string(spec.join(folders::api(&name)))?;
        writeln!(code, "({name:?}, {text:?}),")?;
    }
    code.push_str("];\n");
    Ok(code)
}

fn write(path: &Path, tokens: TokenStream) -> std::io::Result<()> {
    fs::write(path, emit::source(tokens))
}
