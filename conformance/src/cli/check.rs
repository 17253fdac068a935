//! `conformance check`: what is wrong with recordings.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use catalogue::Level;
use clap::{Args, ValueEnum};

use super::color::Color;
use super::progress::Progress;
use super::select::SelectArgs;
use super::{NOT_DONE, files, names, print};
use recordings::Checking;
use recordings::capture::Format;
use reports::{Detail, Form, Style};
use results::{CaptureReport, Outcome, Run};

/// Checks recordings: streams, HTTP answers, NDJSON, lists of events, WebSocket logs, HTTP archives.
///
/// Findings are told on stderr, a summary on stdout. Exit codes: 0 when no rule that binds (MUST) is
/// broken, 1 when one is, 2 when a recording could not be read, or the check could not be made at all.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Recordings, folders of recordings, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The dialect that they should be in.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
    /// What format they have, instead of finding it out.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format_in: Option<files::FormatIn>,
    /// How to tell what was found.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Show what is at least so binding. Only what is broken of `must` changes the exit code.
    #[arg(long, value_enum, default_value_t)]
    level: Shown,
    /// Show every finding and every table, instead of one finding for each cause.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    select: SelectArgs,
    /// Whether to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Shown {
    /// Errors.
    Must,
    /// Errors and warnings.
    #[default]
    Should,
    /// Notes, too.
    May,
}

impl CheckArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let rules = self.select.rules(dialect)?;
        let files::Found { files, passed_over } = files::recordings(&self.paths);
        anyhow::ensure!(!files.is_empty(), "there is no recording in {}", list(&self.paths));
        let format = self.format_in.map(Format::from);
        let progress = Progress::start(&files);
        let captures = check_all(&files, || {
            let mut checking = Checking::new(&rules, self.format.draws());
            let (progress, named) = (&progress, &self.paths);
            move |file: &Path| {
                checking.pass_over_other_apis(!named.iter().any(|path| path == file));
                check_file(file, format, &mut checking, progress)
            }
        });
        drop(progress);
        let mut run = Run::new(&rules, captures, None);
        run.passed_over = passed_over;
        let detail = Detail { level: self.level.into(), is_verbose: self.verbose };
        tell(&run, self.format, detail, self.color)?;
        Ok(exit_code(&run))
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

/// Checks one recording; that it cannot be opened is told in its report.
pub(super) fn check_file(
    path: &Path,
    format: Option<Format>,
    checking: &mut Checking<'_>,
    progress: &Progress,
) -> CaptureReport {
    let name = files::name(path);
    let report = match files::open(path) {
        Ok(input) => checking.check(name, &mut progress.reading(input), format),
        Err(error) => CaptureReport { name, error: Some(error.to_string()), ..CaptureReport::default() },
    };
    progress.done();
    report
}

/// Does the same to all files, on as many threads as there are cores, each with a check of its own. Results keep
/// the order of the files.
fn check_all<C>(files: &[PathBuf], begin: impl Fn() -> C + Sync) -> Vec<CaptureReport>
where
    C: FnMut(&Path) -> CaptureReport,
{
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let work = || {
        let mut check = begin();
        while let Some((at, file)) = take(files, &next) {
            let report = check(file);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, report));
        }
    };
    let threads = thread::available_parallelism().map_or(1, Into::into).min(files.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, report)| report).collect()
}

fn take<'f>(files: &'f [PathBuf], next: &AtomicUsize) -> Option<(usize, &'f PathBuf)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    files.get(at).map(|file| (at, file))
}

/// Tells on stdout what was found; for people, finding by finding on stderr.
pub(super) fn tell(run: &Run, format: Form, detail: Detail, color: Color) -> anyhow::Result<()> {
    if format == Form::Human {
        let findings = reports::diagnostics(run, detail, color.screen(&io::stderr()));
        // Nobody is left to tell when stderr is gone.
        let _ = io::stderr().lock().write_all(findings.as_bytes());
        return print(&reports::summary(run, detail, color.screen(&io::stdout())));
    }
    print(&reports::render(run, format, detail, Style::Plain.into()))
}

/// What a command exits with that is about this run.
pub(super) fn exit_code(run: &Run) -> ExitCode {
    if run.is_incomplete() {
        ExitCode::from(NOT_DONE)
    } else {
        ExitCode::from(u8::from(run.outcome == Outcome::Failed))
    }
}

impl From<Shown> for Level {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Must => Self::Must,
            Shown::Should => Self::Should,
            Shown::May => Self::May,
        }
    }
}
