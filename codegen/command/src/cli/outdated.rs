//! `codegen outdated`: finds newer versions of the SDKs behind the dialects.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use codegen::SpecFiles;
use codegen::dialect::{self, Errata};

use crate::nearest::is_dialect;
use crate::outdated::Package;

/// Queries the package registries for newer versions of the SDKs behind the dialects, and prints what they add.
///
/// The versions are in dialect.toml under [packages]. Uses the installed `pip` and `npm`;
/// needs no key. Exits with 0 if nothing is missing, 1 if a dialect lacks something, 2 if a
/// registry cannot be queried.
#[derive(Debug, Args)]
pub(super) struct OutdatedArgs {
    /// Check only this dialect.
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl OutdatedArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let names = dialect::list(&self.spec_dir)?;
        if let Some(name) = &self.dialect {
            is_dialect(name, &names)?;
        }
        let files = SpecFiles::load(&self.spec_dir)?;
        let mut stdout = std::io::stdout().lock();
        let mut stderr = std::io::stderr().lock();
        let (mut lacks, mut unknown, mut asked) = (false, false, 0);
        for name in names.iter().filter(|name| self.dialect.as_ref().is_none_or(|only| only == *name)) {
            let dialect = dialect::open(&self.spec_dir, name, Errata::LeftOut)?;
            let api = (dialect.file.api.as_str(), files.api_of(&dialect).map_err(anyhow::Error::msg)?);
            let folder = self.spec_dir.join("dialects").join(name);
            for (registry, packages) in &dialect.own.packages {
                for (package, version) in packages {
                    asked += 1;
                    writeln!(stderr, "{name}: asking {registry} for versions of {package}")?;
                    let answer = Package::ask(registry, package, version).and_then(|found| {
                        if let Some(newest) = found.newest_with_types() {
                            writeln!(stderr, "{name}: installing {package} {newest} to compare its types")?;
                        }
                        let adds = found.adds(&folder, &dialect.file.roots, api)?;
                        Ok((found, adds))
                    });
                    match answer {
                        Ok((found, adds)) => {
                            write!(stdout, "{}", in_words((name, api.0), &found, adds.as_deref()))?;
                            lacks |= adds.is_some();
                        }
                        Err(error) => {
                            writeln!(stderr, "error: {name}, {registry} {package}: {error:#}")?;
                            unknown = true;
                        }
                    }
                }
            }
        }
        if asked == 0 {
            bail!("dialect.toml has no packages under [packages]");
        }
        Ok(ExitCode::from(if unknown { 2 } else { u8::from(lacks) }))
    }
}

fn in_words((dialect, api): (&str, &str), found: &Package, adds: Option<&str>) -> String {
    let Package { registry, name, version, newer } = found;
    let head = format!("{dialect}: {registry} {name} {version}");
    match (newer.first(), adds) {
        (None, _) => format!("{head} is the newest version\n"),
        (Some(newest), None) if registry == "pypi" => {
            format!("{head}: {newest} adds nothing; update the version in dialect.toml\n")
        }
        (Some(newest), None) => {
            format!("{head}: {newest} is newer; its types match the Python package\n")
        }
        (Some(newest), Some(adds)) => format!(
            "{head}: {newest} and {} more versions are newer, and the dialect lacks:\n\n{adds}\nnext: \
             pip install {name}=={newest} && python3 codegen/command/sdk_schema.py {api} > {api}.json && \
             cargo run -p codegen -- import {api}.json --dialect {dialect}\n",
            newer.len() - 1
        ),
    }
}
