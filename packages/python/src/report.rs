//! Reports of recordings, as Python sees them.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::checker::Rules;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordings::Checking;
use results::CaptureReport;

use crate::data::{bytes, detached, rules};
use crate::finding::{Finding, findings};

/// What came of checking one recording.
#[pyclass(frozen, eq, module = "responses_conformance")]
#[derive(PartialEq, Eq)]
pub(crate) struct Report(CaptureReport);

#[pymethods]
impl Report {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its format; None if it could not be told.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.0.format.map(results::Format::name)
    }

    /// How many streams with events it holds.
    #[getter]
    const fn streams(&self) -> u64 {
        self.0.streams
    }

    /// How many events.
    #[getter]
    const fn events(&self) -> u64 {
        self.0.events
    }

    /// How many responses that are no stream.
    #[getter]
    const fn bodies(&self) -> u64 {
        self.0.bodies
    }

    /// What is wrong.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        findings(self.0.findings.clone())
    }

    /// How many faults there were beyond those that are listed.
    #[getter]
    const fn omitted(&self) -> u64 {
        self.0.omitted
    }

    /// Why it could not be read, or not to its end.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// Whether it was read to its end, something in it was judged, and no MUST rule is broken.
    #[getter]
    fn passed(&self) -> bool {
        self.0.error.is_none() && !self.0.is_blank() && !self.0.has_failed()
    }

    /// Returns it as JSON, as in a JSON report.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Reads it from JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Lets it travel to other processes.
    fn __reduce__<'p>(slf: &Bound<'p, Self>) -> PyResult<(Bound<'p, PyAny>, (String,))> {
        Ok((slf.getattr("from_json")?, (slf.get().to_json()?,)))
    }

    fn __repr__(&self) -> String {
        let Self(report) = self;
        format!("<Report {:?} events={} findings={}>", report.name, report.events, report.findings.len())
    }
}

/// Checks many recordings by the rules of one dialect, and reports on all of them.
#[pyclass(frozen, module = "responses_conformance")]
pub(crate) struct Run {
    rules: Rules,
    captures: Mutex<Vec<CaptureReport>>,
}

/// What a recording is read from.
enum Source<'p> {
    Bytes(std::borrow::Cow<'p, [u8]>),
    File(File),
}

impl Run {
    fn captures(&self) -> MutexGuard<'_, Vec<CaptureReport>> {
        self.captures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Run {
    /// A run without recordings.
    #[new]
    #[pyo3(signature = (dialect = "openai"))]
    fn new(dialect: &str) -> PyResult<Self> {
        Ok(Self { rules: rules(dialect)?, captures: Mutex::default() })
    }

    /// Checks a recording of any format: a path, or its bytes. Adds its report and returns it.
    ///
    /// `OSError`: the file cannot be opened.
    #[pyo3(signature = (recording, *, name = None))]
    fn check(&self, py: Python<'_>, recording: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Report> {
        let (source, usual) = if let Ok(path) = recording.extract::<PathBuf>() {
            let name = path.display().to_string();
            (Source::File(File::open(&path)?), name)
        } else {
            (Source::Bytes(bytes(py, recording)?), "bytes".to_owned())
        };
        let length = if let Source::Bytes(bytes) = &source { bytes.len() } else { usize::MAX };
        let name = name.unwrap_or(usual);
        let report = detached(py, length, || {
            let mut checking = Checking::new(&self.rules, false);
            match source {
                Source::Bytes(bytes) => checking.check(name, &mut &*bytes, None),
                Source::File(file) => checking.check(name, &mut BufReader::new(file) as &mut dyn Read, None),
            }
        });
        self.captures().push(report.clone());
        Ok(Report(report))
    }

    /// Returns the JSON report of all recordings so far, which `conformance report` renders and merges.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| reports::json(&results::Run::new(&self.rules, self.captures().clone(), None)))
    }

    fn __len__(&self) -> usize {
        self.captures().len()
    }

    fn __repr__(&self) -> String {
        format!("<Run {} recordings={}>", self.rules.dialect().name, self.__len__())
    }
}
