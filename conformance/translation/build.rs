//! Lists how the requests and responses of each API are written and read.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // The build script of `spec` says where its files are.
    let spec = PathBuf::from(env::var("DEP_RESPONSES_CONFORMANCE_SPEC_FOLDER").map_err(io::Error::other)?);
    let apis = spec.join("apis");
    println!("cargo::rerun-if-changed={}", apis.display());
    let mut all: Vec<PathBuf> =
        fs::read_dir(&apis)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    all.sort();
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    for kind in ["pen", "question", "reader"] {
        let mut pages = String::from("&[");
        for folder in &all {
            let (api, page) =
                (folder.file_name().unwrap_or_default(), folder.join(kind).with_extension("toml"));
            if page.is_file() {
                let (api, page) = (api.to_string_lossy(), page.display().to_string());
                _ = write!(pages, "({api:?}, include_str!({page:?})),");
            }
        }
        pages.push(']');
        fs::write(out.join(kind).with_extension("rs"), pages)?;
    }
    Ok(())
}
