//! `conformance report`: renders the report of a finished run in any format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use crate::cli::flags::output::OutputArgs;
use crate::cli::input::saved::{read, read_between, read_client};
use crate::cli::{CommandArgs, print};
use harness::evidence::Evidence;
use reports::client::{ClientMatrix, client_matrix};
use reports::{Form, Reported, Side, side_by_side_markdown};
use results::{ClientRun, Run, Unmergeable};

const EXAMPLES: &str = "\
Examples:
  conformance report run/
  conformance report run/ --format html --output report.html
  conformance report run/ --report markdown=report.md,junit=report.xml
  conformance report python/ node/ --format html --output clients.html";

/// Renders the report of a finished run in any format, or merges reports of recordings.
///
/// Exit codes: 0 if the report was written (whatever it contains), 2 if the run could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ReportArgs {
    /// A folder written by `run --out`, `client --out` or `between --out`, or a JSON report. Several reports of clients become a matrix.
    ///
    /// A folder can have a run for each of several APIs: then --output and --report write a file for each, with the
    /// dialect in its name.
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Merge JSON reports into one: of recordings, or of the shards of a run.
    ///
    /// The result is the report of one check of all recordings, in this order, or of the whole run that was made in parts
    /// with --shard of `run`, `client` or `between`. Reports must be of one dialect, one selection of rules and this version
    /// of the suite; shards of one subject with the same options, and none may be missing. Their folders stay as they are.
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl CommandArgs for ReportArgs {
    fn run(self) -> Result<ExitCode> {
        if self.merge {
            return self.merged();
        }
        let clients: Vec<_> = self.runs.iter().map(|path| read_client(path)).collect::<Result<_>>()?;
        if clients.iter().any(Option::is_some) {
            let clients: Vec<ClientRun> = clients.into_iter().flatten().collect();
            return self.print_clients(&clients);
        }
        if let [path] = &*self.runs
            && let Some(run) = read_between(path)?
        {
            return self.print_tests(&run);
        }
        let [path] = &*self.runs else {
            bail!("several reports are merged with --merge; use `conformance diff` to compare two runs");
        };
        let several = Evidence::runs(path).unwrap_or_default();
        if several.len() < 2 {
            return self.print(&read(path)?.within(folder(path)));
        }
        let reports = several.iter().map(|run| Ok((read(run)?, run))).collect::<Result<Vec<_>>>()?;
        if self.output.output.is_none() && self.output.format == Form::Markdown {
            let sides: Vec<Side> = reports.iter().map(|(report, _)| Side::of(report)).collect();
            print(&side_by_side_markdown(&sides))?;
        }
        for (report, run) in reports {
            self.output.of(&report.dialect)?.print(&report.within(run))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ReportArgs {
    fn print(&self, run: &Run) -> Result<ExitCode> {
        self.output.print(run)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print_tests(&self, run: &impl Reported) -> Result<ExitCode> {
        self.output.print_run(run, false)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print_clients(&self, clients: &[ClientRun]) -> Result<ExitCode> {
        if clients.len() != self.runs.len() {
            bail!("client reports cannot be compared with other reports");
        }
        if let [run] = clients {
            return self.print_tests(run);
        }
        let folders: Vec<String> = self.runs.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let matrix = ClientMatrix::new(clients, &folders);
        self.output.print_all(|form, _| {
            client_matrix(&matrix, form).context("the formats of a matrix are human, json, markdown and html")
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// All reports are of the same kind as the first.
    fn merged(&self) -> Result<ExitCode> {
        let first = self.runs.first().context("there are no reports to merge")?;
        if read_client(first)?.is_some() {
            let runs = self.all_of("a client", read_client)?;
            return self.print_tests(&ClientRun::merge(runs).map_err(|problem| self.at(problem))?);
        }
        if read_between(first)?.is_some() {
            let runs = self.all_of("both ends of a gateway", read_between)?;
            return self.print_tests(&between::merge(runs).map_err(|problem| self.at(problem))?);
        }
        let runs = self.runs.iter().map(|path| Ok(read(path)?.within(folder(path))));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        self.print(&Run::merge(runs).map_err(|problem| self.at(problem))?)
    }

    fn all_of<R>(&self, kind: &str, read: fn(&Path) -> Result<Option<R>>) -> Result<Vec<R>> {
        let one = |path: &PathBuf| {
            read(path)?
                .with_context(|| format!("{}: it is not of {kind}, as the first report is", path.display()))
        };
        self.runs.iter().map(one).collect()
    }

    fn at(&self, problem: Unmergeable) -> anyhow::Error {
        match problem.at.and_then(|at| self.runs.get(at)) {
            Some(path) => anyhow!("{}: {problem}", path.display()),
            None => problem.into(),
        }
    }
}

/// Paths of the report are relative to it.
fn folder(path: &Path) -> &Path {
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    folder.unwrap_or(Path::new(""))
}
