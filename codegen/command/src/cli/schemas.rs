//! `codegen schemas`: writes the JSON Schemas of the specification's files, for editors.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use codegen::formats::editor_schemas;

/// Writes the JSON Schemas of the specification's files, for editors.
#[derive(Debug, Args)]
pub(super) struct SchemasArgs {
    /// Do not write; exit with 1 if a file is stale.
    #[arg(long)]
    check: bool,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl SchemasArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self.spec_dir.join("schemas");
        let mut stale = Vec::new();
        for (name, text) in editor_schemas() {
            let path = folder.join(name);
            if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                stale.push((path, text));
            }
        }
        let mut stdout = std::io::stdout().lock();
        for (path, text) in &stale {
            if self.check {
                writeln!(stdout, "{} is stale", path.display())?;
            } else {
                fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
                fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
                writeln!(stdout, "wrote {}", path.display())?;
            }
        }
        if self.check && !stale.is_empty() {
            writeln!(stdout, "run `cargo run -p codegen -- schemas`")?;
            return Ok(ExitCode::from(1));
        }
        Ok(ExitCode::SUCCESS)
    }
}
