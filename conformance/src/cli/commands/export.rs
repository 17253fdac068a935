//! `conformance export`: writes the data of the suite for programs that do without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use clients::{VectorResult, Vectors, vectors};

use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, print};

const EXAMPLES: &str = "\
Examples:
  conformance export vectors --out vectors/
  conformance export vectors --dialect openai --out vectors/";

const README: &str = include_str!("../../../../docs/vectors.md");
const SCHEMA: &str = include_str!("../../../../docs/vectors.schema.json");

/// Exports test vectors: responses with their verdicts, as JSON.
///
/// Each vector is a response of an API, with the rules that it breaks and what a client has to do with it. The folder has a
/// file for each API, the JSON Schema of these files, and a README.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ExportArgs {
    /// The kind of files: vectors.
    #[arg(value_enum, value_name = "vectors", hide_possible_values = true)]
    what: What,
    /// Folder to write to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Dialect, one for each API; repeatable [default: openai, anthropic and chat].
    #[arg(long = "dialect", value_name = "NAME", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialects: Vec<String>,
}

/// The exports.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Vectors,
}

impl CommandArgs for ExportArgs {
    fn run(self) -> Result<ExitCode> {
        let What::Vectors = self.what;
        let dialects = if self.dialects.is_empty() {
            names::usual().collect()
        } else {
            names::one_of_each_api(
                &self.dialects,
                names::spoken,
                "the vectors of each API are of one dialect",
            )?
        };
        fs::create_dir_all(&self.out).with_context(|| self.out.display().to_string())?;
        let mut lines = String::new();
        for dialect in dialects {
            let vectors = vectors(dialect);
            let file = format!("{}.json", dialect.api.name);
            self.write(&file, &(serde_json::to_string_pretty(&vectors)? + "\n"))?;
            lines += &summary(&self.out.join(file), &vectors);
        }
        self.write("vectors.schema.json", SCHEMA)?;
        self.write("README.md", README)?;
        print(&lines)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ExportArgs {
    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.out.join(name);
        harness::replace(&file, text).with_context(|| file.display().to_string())
    }
}

fn summary(file: &Path, vectors: &Vectors) -> String {
    let count = |result| vectors.vectors.iter().filter(|vector| vector.result == result).count();
    let [valid, acceptable, invalid] =
        [VectorResult::Valid, VectorResult::Acceptable, VectorResult::Invalid].map(count);
    format!(
        "{}: {} vectors, {valid} valid, {acceptable} acceptable, {invalid} invalid\n",
        file.display(),
        vectors.vectors.len()
    )
}
