//! `conformance check`: checks recordings.

use std::collections::{BTreeMap, HashSet};
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clap::Args;

use crate::cli::flags::dialect::DialectRules;
use crate::cli::flags::output::OutputArgs;
use crate::cli::flags::select::SelectArgs;
use crate::cli::flags::verdict::VerdictArgs;
use crate::cli::input::{files, known};
use crate::cli::progress::Progress;
use crate::cli::{CommandArgs, NOT_DONE, print};
use grammar::{Claim, Observed, Walk, exercised};
use recordings::Checking;
use recordings::capture::Format;
use reports::Form;
use results::{AUTO, CaptureReport, Outcome, Run};
use spec::Dialect;

const EXAMPLES: &str = "\
Examples:
  conformance check stream.sse
  curl -N https://gateway.example/v1/responses ... | conformance check -
  conformance check captures/ --dialect open-responses --format html --output report.html
  conformance check stream.sse --select part,item/key-mismatch --verbose";

/// Checks recordings: curl output, HAR, VCR cassettes, NDJSON.
///
/// The format is detected: server-sent events, HTTP responses, NDJSON, JSON, WebSocket logs, HAR, cassettes of VCR and
/// its kin, logs of gateways and agents as JSON lines or CSV, and exchanges of this suite, compressed or not.
///
/// Prints findings to stderr and a summary to stdout.
///
/// Exit codes: 0 if nothing failed, 1 if a MUST rule or a client is broken (or what --fail-on says), 2 if a recording
/// could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct CheckArgs {
    /// Recordings, folders of recordings, or - for stdin.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Dialect of the recordings, of `conformance list dialects` or of a folder, such as ./acme; `auto` recognises it.
    ///
    /// `auto` takes the API and the dialect of each stream from the URL, the headers, the request, and the first event, in
    /// this order. Streams of several APIs can be in one folder or file. Reports state what was recognised, and why.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = known::DIALECTS_OR_AUTO, hide_possible_values = true)]
    dialect: String,
    /// Recording format [default: detected].
    #[arg(long, value_parser = files::formats(), value_name = "FORMAT")]
    format_in: Option<Format>,
    /// Report which parts of the lifecycle the recordings exercise.
    ///
    /// Counts the steps of each type of item or block, which follows which, and three in a row, and the
    /// enumeration values, of all that are legal in the dialect. Each event is parsed for this, so that checking takes longer.
    #[arg(long)]
    coverage: bool,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl CommandArgs for CheckArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let rules = DialectRules::named(&self.dialect, &self.verdict, &self.select)?;
        let files::FoundFiles { files, passed_over, scripted } = files::recordings(&self.paths)?;
        let files = Arc::new(files);
        let progress = Progress::start(Arc::clone(&files));
        let named: HashSet<&Path> = self.paths.iter().map(PathBuf::as_path).collect();
        // Lines are printed as soon as the files before them are done.
        let is_streamed = self.output.format == Form::Ndjson && self.output.output.is_none();
        let lines = InOrder::default();
        let walks = Mutex::new(Observed::default());
        let captures = check_all(&files, || {
            let (progress, named, lines, walks) = (&progress, &named, &lines, &walks);
            let (rules, draws) = (&rules, self.output.draws());
            let mut checking = rules.checking(draws);
            move |at: usize, file: &Path| {
                checking.pass_over_other_apis(!named.contains(file));
                let mut walk = self.coverage.then(Walk::default);
                let check = || check_file(file, self.format_in, &mut checking, &mut walk, progress);
                let report = contained(file, check).unwrap_or_else(|report| {
                    // The state of a check that panicked is not used again.
                    checking = rules.checking(draws);
                    walk = None;
                    progress.done();
                    report
                });
                if let Some(walk) = walk {
                    walks.lock().unwrap_or_else(PoisonError::into_inner).add(&walk.observed);
                }
                if is_streamed {
                    lines.print(at, reports::ndjson_of_recording(&report));
                }
                report
            }
        });
        drop(progress);
        let mut run = rules.run(captures, self.verdict.fail_on());
        (run.passed_over, run.scripted) = (passed_over, scripted);
        let walks = walks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let exercised = |dialect: &'static Dialect| exercised(dialect, &walks, Claim::All);
        let dialects = spec::DIALECTS
            .iter()
            .copied()
            .chain(spec::folder::loaded())
            .filter(|dialect| walks.windows.iter().any(|(of, _)| *of == dialect.name));
        run.exercised = dialects.filter_map(exercised).collect();
        if is_streamed {
            lines.end()?;
            self.output.write_reports(&run)?;
            print(&reports::ndjson_of_run(&run))?;
        } else {
            self.output.print(&run)?;
        }
        Ok(exit_code(&run))
    }
}

#[derive(Debug, Default)]
struct InOrder(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: usize,
    texts: BTreeMap<usize, String>,
    failed: Option<anyhow::Error>,
}

impl InOrder {
    fn print(&self, number: usize, text: String) {
        let waiting = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.texts.insert(number, text);
        while let Some(text) = waiting.texts.remove(&waiting.next) {
            waiting.next += 1;
            if waiting.failed.is_none() {
                waiting.failed = print(&text).err();
            }
        }
    }

    fn end(self) -> anyhow::Result<()> {
        let waiting = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        waiting.failed.map_or(Ok(()), Err)
    }
}

/// If the recording cannot be opened, its report has the reason.
pub(in crate::cli) fn check_file(
    path: &Path,
    format: Option<Format>,
    checking: &mut Checking,
    walk: &mut Option<Walk>,
    progress: &Progress,
) -> CaptureReport {
    let name = files::name(path);
    let report = match files::open(path) {
        Ok(input) => {
            let mut input = progress.reading(input);
            match walk {
                Some(walk) => checking.check_seen_by(name, &mut input, format, walk),
                None => checking.check(name, &mut input, format),
            }
        }
        Err(error) => CaptureReport { name, error: Some(error.to_string()), ..CaptureReport::default() },
    };
    progress.done();
    report
}

/// A panic becomes a report of the internal error, so that other recordings are still checked.
#[expect(clippy::result_large_err, reason = "there is one for each recording")]
fn contained(file: &Path, check: impl FnOnce() -> CaptureReport) -> Result<CaptureReport, CaptureReport> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|_| {
        let error =
            "internal error: the check panicked, as stated above; please report it with the recording";
        CaptureReport { name: files::name(file), error: Some(error.to_owned()), ..CaptureReport::default() }
    })
}

/// Results keep the order of the files.
fn check_all<C>(files: &[PathBuf], begin: impl Fn() -> C + Sync) -> Vec<CaptureReport>
where
    C: FnMut(usize, &Path) -> CaptureReport,
{
    let next = AtomicUsize::new(0);
    let work = || {
        let mut check = begin();
        iter::from_fn(|| take(files, &next)).map(|(at, file)| (at, check(at, file))).collect::<Vec<_>>()
    };
    let threads = thread::available_parallelism().map_or(1, Into::into).min(files.len());
    let mut done = thread::scope(|scope| {
        // Where the system starts no more threads, this one does the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, report)| report).collect()
}

fn take<'f>(files: &'f [PathBuf], next: &AtomicUsize) -> Option<(usize, &'f PathBuf)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    files.get(at).map(|file| (at, file))
}

pub(in crate::cli) fn exit_code(run: &Run) -> ExitCode {
    if run.is_incomplete() {
        ExitCode::from(NOT_DONE)
    } else {
        ExitCode::from(u8::from(run.outcome == Outcome::Failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_file() {
        let report = contained(Path::new("a.sse"), || panic!("a test"));
        let report = report.expect_err("it has no verdict");
        assert_eq!(report.name, "a.sse");
        assert!(report.error.is_some_and(|error| error.starts_with("internal error")));
        let report = contained(Path::new("b.sse"), CaptureReport::default);
        assert_eq!(report, Ok(CaptureReport::default()));
    }
}
