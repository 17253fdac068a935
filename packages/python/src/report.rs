//! Reports of recordings, as Python sees them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::checker::{Entry, Exchange, RuleSets, Rules};
use pyo3::prelude::*;
use recordings::Checking;
use recordings::capture::{Format, Reader};
use results::{AUTO, CaptureReport, FailOn};

use crate::data::{bytes, detached, from_json, shared_rules, to_json};
use crate::finding::{Finding, findings};

/// Result of checking one recording.
#[pyclass(frozen, eq, module = "responses_conformance")]
#[derive(PartialEq, Eq)]
pub(crate) struct Report(CaptureReport);

#[pymethods]
impl Report {
    /// Name of the recording.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Format; None if it is unknown.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.0.format.map(results::Format::name)
    }

    /// Number of streams with events.
    #[getter]
    const fn streams(&self) -> u64 {
        self.0.streams
    }

    /// Number of events.
    #[getter]
    const fn events(&self) -> u64 {
        self.0.events
    }

    /// Number of responses that are not streams.
    #[getter]
    const fn bodies(&self) -> u64 {
        self.0.bodies
    }

    /// Recognised dialects, each with its number of streams and responses.
    #[getter]
    fn dialects(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for seen in &self.0.dialects {
            *all.entry(seen.dialect.to_string()).or_default() += seen.responses;
        }
        all
    }

    /// API that is not checked, such as Ollama, if the whole recording belongs to it.
    #[getter]
    fn other_api(&self) -> Option<String> {
        let apis = self.0.foreign.keys().chain(self.0.other_apis.keys());
        apis.filter(|_| !self.0.has_responses()).map(ToString::to_string).next()
    }

    /// Findings in the recording.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        findings(self.0.findings.clone())
    }

    /// Number of violations that are not listed.
    #[getter]
    const fn omitted(&self) -> u64 {
        self.0.omitted
    }

    /// Error that stopped the reader.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// Whether it was read to its end, something in it was judged, no MUST rule is broken, and nothing is measured to
    /// break a client.
    #[getter]
    fn passed(&self) -> bool {
        self.0.error.is_none() && !self.0.is_blank() && !self.0.has_failed(FailOn::default())
    }

    /// Serializes the report as in a JSON report.
    fn to_json(&self) -> PyResult<String> {
        to_json(&self.0)
    }

    /// Parses a report from JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        from_json(text).map(Self)
    }

    /// Supports pickling.
    fn __reduce__<'p>(slf: &Bound<'p, Self>) -> PyResult<(Bound<'p, PyAny>, (String,))> {
        Ok((slf.getattr("from_json")?, (slf.get().to_json()?,)))
    }

    fn __repr__(&self) -> String {
        let Self(report) = self;
        format!("<Report {:?} events={} findings={}>", report.name, report.events, report.findings.len())
    }
}

/// Checks many recordings by the rules of one dialect, or of the one that each stream is recognised as, and reports on all
/// of them.
#[pyclass(frozen, module = "responses_conformance")]
pub(crate) struct Run {
    /// The rules; none if dialects are recognised.
    rules: Option<Arc<Rules>>,
    /// Reusable state for checking a recording, one for each thread.
    idle: Mutex<Vec<Checking>>,
    captures: Mutex<Vec<CaptureReport>>,
}

/// Source of a recording.
enum Source<'p> {
    Bytes(&'p [u8]),
    File(File),
}

/// Errors name the file, like errors of Python's `open`.
fn open(py: Python<'_>, path: &Path) -> PyResult<File> {
    File::open(path).map_err(|error| match error.raw_os_error() {
        Some(code) => {
            let kind = PyErr::from(error).get_type(py);
            let reason = py.import("os").and_then(|os| os.call_method1("strerror", (code,)));
            match reason {
                Ok(reason) => PyErr::from_type(kind, (code, reason.unbind(), path.as_os_str().to_owned())),
                Err(error) => error,
            }
        }
        None => error.into(),
    })
}

impl Run {
    fn captures(&self) -> MutexGuard<'_, Vec<CaptureReport>> {
        self.captures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Checking>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checking(&self) -> Checking {
        let idle = self.idle().pop();
        idle.unwrap_or_else(|| match &self.rules {
            Some(rules) => Checking::new(rules, false),
            None => Checking::recognising(&RuleSets::all(), false),
        })
    }

    fn done(&self, checking: Checking, report: CaptureReport) -> Report {
        self.idle().push(checking);
        self.captures().push(report.clone());
        Report(report)
    }
}

/// Findings of the exchange get its label.
fn check_one(checking: &mut Checking, label: String, data: &[u8]) -> Result<Format, String> {
    let mut label = Some(label);
    let mut sink = |mut entry: Entry<'_>| {
        match &mut entry {
            Entry::Exchange(exchange) => {
                let label = label.take();
                exchange.label = exchange.label.take().or(label);
            }
            // A bare stream has no such beginning.
            _ => {
                if let Some(label) = label.take() {
                    let exchange = Exchange { label: Some(label), ..Exchange::default() };
                    checking.entry(&Entry::Exchange(exchange), &mut ());
                }
            }
        }
        checking.entry(&entry, &mut ());
    };
    let mut reader = Reader::new(None);
    let read = reader.push(data, &mut sink);
    read.and_then(|()| reader.finish(&mut sink)).map_err(|problem| problem.to_string())
}

#[pymethods]
impl Run {
    /// A run without recordings.
    #[new]
    #[pyo3(signature = (dialect = AUTO))]
    fn new(dialect: &str) -> PyResult<Self> {
        let rules = if dialect == AUTO { None } else { Some(shared_rules(dialect)?) };
        Ok(Self { rules, idle: Mutex::default(), captures: Mutex::default() })
    }

    /// Checks a recording of any format: a path, or its bytes. Adds its report and returns it.
    ///
    /// `OSError`: the file cannot be opened.
    #[pyo3(signature = (recording, *, name = None))]
    fn check(&self, py: Python<'_>, recording: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Report> {
        let data;
        let (source, usual) = if let Ok(path) = recording.extract::<PathBuf>() {
            (Source::File(open(py, &path)?), path.display().to_string())
        } else {
            data = bytes(recording)?;
            (Source::Bytes(data.as_bytes()), "bytes".to_owned())
        };
        let length = if let Source::Bytes(bytes) = source { bytes.len() } else { usize::MAX };
        let name = name.unwrap_or(usual);
        Ok(detached(py, length, || {
            let mut checking = self.checking();
            let report = match source {
                Source::Bytes(mut bytes) => checking.check(name, &mut bytes, None),
                Source::File(file) => checking.check(name, &mut BufReader::new(file) as &mut dyn Read, None),
            };
            self.done(checking, report)
        }))
    }

    /// Checks many exchanges as one recording of that name: pairs of a label and bytes of any format. Adds one report
    /// and returns it; it grows with what is wrong, not with the number of exchanges.
    fn check_all(&self, py: Python<'_>, exchanges: &Bound<'_, PyAny>, name: String) -> PyResult<Report> {
        let mut checking = self.checking();
        let (mut format, mut problem) = (Format::Json, None);
        for exchange in exchanges.try_iter()? {
            let (label, data): (String, Bound<'_, PyAny>) = exchange?.extract()?;
            let data = bytes(&data)?;
            let data = data.as_bytes();
            match detached(py, data.len(), || check_one(&mut checking, label.clone(), data)) {
                Ok(found) => format = found,
                Err(reason) => problem = problem.or_else(|| Some(format!("{label}: {reason}"))),
            }
        }
        let mut report = checking.finish(name, Ok(format));
        report.error = report.error.or(problem);
        Ok(self.done(checking, report))
    }

    /// Returns the JSON report of all recordings so far, which `conformance report` renders and merges.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let captures = self.captures().clone();
            reports::json(&match &self.rules {
                Some(rules) => results::Run::new(rules, captures, None),
                None => results::Run::of_recognised(&RuleSets::all(), captures, FailOn::default()),
            })
        })
    }

    fn __len__(&self) -> usize {
        self.captures().len()
    }

    fn __repr__(&self) -> String {
        let dialect = self.rules.as_ref().map_or(AUTO, |rules| rules.dialect().name);
        format!("<Run {dialect} recordings={}>", self.__len__())
    }
}
