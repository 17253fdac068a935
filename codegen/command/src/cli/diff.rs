//! `codegen diff`: compares two dialects, or two versions of one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use codegen::SpecFiles;
use codegen::dialect::{self, Errata, LoadError};
use codegen::diff::{self, Counts, Side};

use crate::import::{ImportRequest, api_in, import, read};
use crate::nearest::hint;

/// Compares two dialects and shows whom the differences break: a reader made for A that reads B,
/// or a writer made for A that is checked as B.
///
/// A side is a dialect, the folder of a dialect, or an `OpenAPI` document. Against a document, a dialect is compared without our errata.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// Old side.
    a: String,
    /// New side.
    b: String,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Exit with 1 if there is a change of this kind.
    #[arg(long, value_enum, value_name = "KIND")]
    fail_on: Option<FailOn>,
    /// Apply errata even against a document.
    #[arg(long)]
    with_errata: bool,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// For a terminal.
    #[default]
    Human,
    /// For programs.
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    /// It breaks a reader or a writer.
    Breaking,
    /// It breaks a reader.
    BreakingForReader,
    /// It breaks a writer.
    BreakingForWriter,
}

impl FailOn {
    const fn applies(self, counts: Counts) -> bool {
        let (reader, writer) = (counts.breaking_for_reader > 0, counts.breaking_for_writer > 0);
        match self {
            Self::Breaking => reader || writer,
            Self::BreakingForReader => reader,
            Self::BreakingForWriter => writer,
        }
    }
}

impl DiffArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let is_document = |given: &str| Path::new(given).is_file();
        let published = !self.with_errata && (is_document(&self.a) || is_document(&self.b));
        let api = [&self.a, &self.b].into_iter().find_map(|given| api_of(&self.spec_dir, given));
        let side = |given| side(&self.spec_dir, given, published, api.as_deref());
        let (a, b) = (side(&self.a)?, side(&self.b)?);
        let found = diff::diff(&a, &b);
        let text = match self.format {
            Format::Human => diff::human(&found),
            Format::Json => diff::json(&found),
        };
        std::io::stdout().lock().write_all(text.as_bytes())?;
        let fails = self.fail_on.is_some_and(|kind| kind.applies(found.counts));
        Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}

fn api_of(spec: &Path, name: &str) -> Option<String> {
    let is_dialect = spec.join("dialects").join(name).join("dialect.toml").is_file();
    is_dialect
        .then(|| dialect::open(spec, name, Errata::LeftOut).ok().map(|dialect| dialect.file.api))
        .flatten()
}

fn side(spec: &Path, given: &str, published: bool, api: Option<&str>) -> anyhow::Result<Side> {
    let errata = if published { Errata::LeftOut } else { Errata::Applied };
    let load = |spec: &Path, name: &str| {
        let dialect = dialect::open(spec, name, errata)?;
        for fault in &dialect.faults {
            // The other differences still matter.
            let _ = writeln!(std::io::stderr().lock(), "warning: {fault}; compared without it");
        }
        Ok::<_, LoadError>(dialect)
    };
    let side = if published { Side::of_published } else { Side::of_dialect };
    let path = Path::new(given);
    if spec.join("dialects").join(given).join("dialect.toml").is_file() {
        Ok(side(&load(spec, given)?))
    } else if path.is_dir() {
        // An absolute path is a dialect name outside the specification, so that a
        // dialect elsewhere can extend one inside.
        let folder = path.canonicalize().with_context(|| format!("{given} cannot be opened"))?;
        let name = folder.to_str().ok_or_else(|| anyhow!("{given}: the path is not UTF-8"))?;
        let mut dialect = load(spec, name)?;
        given.trim_end_matches('/').clone_into(&mut dialect.name);
        Ok(side(&dialect))
    } else if path.is_file() {
        let document = read(path)?;
        let files = SpecFiles::load(spec)?;
        let (_, api) = api_in(&files, &document, api).with_context(|| format!("in {given}"))?;
        let request = ImportRequest { published: api.published.clone(), ..ImportRequest::default() };
        let imported = import(&document, &request).with_context(|| format!("in {given}"))?;
        Side::of_files(given, imported.files, imported.roots).with_context(|| format!("in {given}"))
    } else {
        let names = dialect::list(spec)?;
        let hint = hint(given, names.iter().map(String::as_str));
        bail!("\"{given}\" is not a dialect of {}, a folder or a file{hint}", spec.display())
    }
}
