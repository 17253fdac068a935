//! Generates the crate from the files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use codegen::dialect::{Renaming, Tiny};
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
    for input in ["dialects", folders::FOREIGN, "glossary.toml"] {
        println!("cargo::rerun-if-changed={input}");
    }
    // Not the whole folders: an edited page of a rule changes no dialect.
    for api in folders::apis(&spec) {
        println!("cargo::rerun-if-changed={}", folders::api(&api).display());
    }
    let spec_files = codegen::SpecFiles::load(&spec)?;
    write(&out.join("words.rs"), emit::words())?;
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
    let glossary = env::var_os("CARGO_FEATURE_TYPES").map(|_| &spec_files.glossary);
    let mut modules = String::new();
    let mut dialects = Vec::new();
    let mut loaded: Vec<codegen::dialect::Dialect> = Vec::new();
    for name in codegen::dialect::list(&spec)? {
        let feature = name.replace('@', "-");
        if env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_none() {
            continue;
        }
        loaded.push(codegen::dialect::load(&spec, &name)?);
    }
    let listed = loaded.len();
    if env::var_os("CARGO_FEATURE_RENAMED").is_some() {
        let openai =
            loaded.iter().find(|dialect| dialect.name == "openai").ok_or("`renamed` needs `openai`")?;
        let copies = [openai.renamed(&RENAMING)?, openai.reshaped(RESHAPED)?];
        loaded.extend(copies);
        for (name, tiny) in &tiny {
            loaded.push(tiny.dialect(name)?);
        }
    }
    for (at, dialect) in loaded.iter().enumerate() {
        let module = emit::module(&dialect.name);
        let is_built = |name: &String| loaded.iter().find(|other| other.name == *name);
        let base = dialect.lineage.iter().find_map(is_built);
        let is_listed = at < listed;
        let glossary = glossary.filter(|_| is_listed);
        let api = match of_tests.iter().find(|(name, _)| *name == dialect.file.api) {
            Some((_, api)) => api,
            None => spec_files.api_of(dialect)?,
        };
        let tokens = emit::dialect(dialect, base, api, glossary)?;
        write(&out.join(format!("{module}.rs")), tokens)?;
        let summary = &dialect.file.summary;
        let hidden = if is_listed { "" } else { "#[doc(hidden)]\n" };
        writeln!(
            modules,
            "{hidden}#[doc = {summary:?}]\n#[allow(clippy::pedantic, clippy::all)]\npub mod {module} {{\n    \
             include!(concat!(env!(\"OUT_DIR\"), \"/{module}.rs\"));\n}}"
        )?;
        if !is_listed {
            continue;
        }
        dialects.push(format!("&{module}::DIALECT"));
    }
    loaded.truncate(listed);
    let dialects = dialects.join(", ");
    let each = loaded.iter().map(|dialect| format!("{} {:?}", emit::module(&dialect.name), dialect.name));
    let each = each.collect::<Vec<_>>().join("\n            ");
    writeln!(
        modules,
        "/// Hands a macro the modules and the names of all dialects of this build.\n#[macro_export]\n\
         macro_rules! with_dialects {{\n    ($then:ident) => {{\n        $then! {{\n            {each}\n        }}\n    \
         }};\n}}"
    )?;
    writeln!(
        modules,
        "/// The dialects that this build has.\npub static DIALECTS: &[&Dialect] = &[{dialects}];"
    )?;
    fs::write(out.join("dialects.rs"), modules)?;
    Ok(())
}

fn write(path: &Path, tokens: TokenStream) -> std::io::Result<()> {
    fs::write(path, emit::source(tokens))
}
