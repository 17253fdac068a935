//! `conformance report`: renders the report of a finished run in any format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};

use super::output::{OutputArgs, print_all};
use super::saved::{read, read_between, read_client};
use super::{CommandArgs, print};
use harness::evidence::Evidence;
use reports::between::between_report;
use reports::client::{ClientMatrix, client_matrix, client_report};
use reports::{Form, Screen, Side, side_by_side_markdown};
use results::{BetweenRun, ClientRun, Run};

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
pub(super) struct ReportArgs {
    /// A folder written by `run --out`, `client --out` or `between --out`, or a JSON report. Several reports of clients become a matrix.
    ///
    /// A folder can have a run for each of several APIs: then --output and --report write a file for each, with the
    /// dialect in its name.
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Merge JSON reports into one: of recordings, or of the shards of a run.
    ///
    /// The result is the report of one check of all recordings, in this order, or of the whole run that was made in parts
    /// with `run --shard`. Reports must be of one dialect, one selection of rules and this version of the suite; shards
    /// of one endpoint with the same options, and none may be missing. Their folders stay as they are.
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl CommandArgs for ReportArgs {
    fn run(self) -> Result<ExitCode> {
        if self.merge {
            return self.print(&merged(&self.runs)?);
        }
        let clients: Vec<_> = self.runs.iter().map(|path| read_client(path)).collect::<Result<_>>()?;
        if clients.iter().any(Option::is_some) {
            let clients: Vec<ClientRun> = clients.into_iter().flatten().collect();
            return self.print_clients(&clients);
        }
        if let [path] = &*self.runs
            && let Some(run) = read_between(path)?
        {
            return self.print_between(&run);
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

    /// Prints the report of both ends of a gateway.
    fn print_between(&self, run: &BetweenRun) -> Result<ExitCode> {
        self.print_other(|form, screen| {
            let form = same(form).context("reports of both ends of a gateway have no badge")?;
            Ok(between_report(run, form, self.output.verbose, screen))
        })
    }

    /// Prints the report of a client, or a matrix of several.
    fn print_clients(&self, clients: &[ClientRun]) -> Result<ExitCode> {
        if clients.len() != self.runs.len() {
            bail!("client reports cannot be compared with other reports");
        }
        self.print_other(|form, screen| {
            let form = same(form)
                .context("the formats of client reports are human, json, junit, markdown and html")?;
            match clients {
                [run] => Ok(client_report(run, form, self.output.verbose, screen)),
                all => {
                    let folders: Vec<String> =
                        self.runs.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                    client_matrix(&ClientMatrix::new(all, &folders), form)
                        .context("the formats of a matrix are human, json, markdown and html")
                }
            }
        })
    }

    fn print_other(&self, render: impl Fn(Form, Screen) -> Result<String>) -> Result<ExitCode> {
        let OutputArgs { report, output, format, color, .. } = &self.output;
        print_all(report, output.as_ref(), (*format, *color), None, render)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the format with the same name, if there is one.
fn same<F: ValueEnum>(form: Form) -> Option<F> {
    F::from_str(form.to_possible_value()?.get_name(), false).ok()
}

/// Returns the folder to which the paths of a report are relative.
fn folder(path: &Path) -> &Path {
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    folder.unwrap_or(Path::new(""))
}

/// Reads reports and merges them.
fn merged(paths: &[PathBuf]) -> Result<Run> {
    let runs = paths.iter().map(|path| Ok(read(path)?.within(folder(path)))).collect::<Result<Vec<_>>>()?;
    Run::merge(runs).map_err(|problem| match problem.at.and_then(|at| paths.get(at)) {
        Some(path) => anyhow!("{}: {problem}", path.display()),
        None => problem.into(),
    })
}
