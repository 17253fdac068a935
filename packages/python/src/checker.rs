//! The checker of one stream, as Python sees it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::checker::{Exchange, Finding as Found, Frame, Places, RuleSets};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::AUTO;

use crate::data::{bytes, detached, shared_rules};
use crate::finding::{Finding, findings};

/// Checks one stream while it arrives. Does no I/O. Chunk boundaries do not matter.
///
/// Several threads may use it; other threads run while it checks.
#[pyclass(frozen, module = "responses_conformance")]
pub(crate) struct Checker {
    stream: Mutex<Stream>,
}

/// State of the checked stream.
struct Stream {
    checker: ::checker::Checker,
    is_finished: bool,
}

impl Checker {
    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails after the end of the stream. Returns new findings.
    fn take(
        &self,
        py: Python<'_>,
        length: usize,
        step: impl FnOnce(&mut ::checker::Checker) -> &[Found] + Send,
    ) -> PyResult<Vec<Finding>> {
        detached(py, length, || {
            let mut stream = self.stream();
            if stream.is_finished { Err(()) } else { Ok(step(&mut stream.checker).to_vec()) }
        })
        .map(findings)
        .map_err(|()| {
            PyValueError::new_err("the stream has been finished: call reset() to judge another one")
        })
    }
}

#[pymethods]
impl Checker {
    /// Creates a checker with all rules of a dialect: its name, or the path of a folder, such as `./acme`. `auto` recognises it by the
    /// first event.
    #[new]
    #[pyo3(signature = (dialect = AUTO))]
    fn new(dialect: &str) -> PyResult<Self> {
        let checker = if dialect == AUTO {
            ::checker::Checker::recognising(&RuleSets::all())
        } else {
            ::checker::Checker::with_rules(&*shared_rules(dialect)?)
        };
        Ok(Self { stream: Mutex::new(Stream { checker, is_finished: false }) })
    }

    /// Sets the status and headers of the response, if they are known. Call it before anything else.
    fn response(&self, py: Python<'_>, status: u16, headers: Vec<(String, String)>) -> PyResult<()> {
        let headers =
            headers.into_iter().map(|(name, value)| (Cow::Owned(name), Cow::Owned(value))).collect();
        let exchange = Exchange { status: Some(status), headers, ..Exchange::default() };
        self.take(py, 0, |checker| {
            checker.exchange(&exchange);
            &[]
        })
        .map(drop)
    }

    /// Checks the next bytes of a stream of server-sent events. Returns new findings.
    fn push(&self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<Vec<Finding>> {
        let chunk = bytes(chunk)?;
        let chunk = chunk.as_bytes();
        self.take(py, chunk.len(), |checker| checker.push(chunk))
    }

    /// Checks the data of one event that something else has parsed. Returns new findings.
    fn event(&self, py: Python<'_>, data: &str) -> PyResult<Vec<Finding>> {
        self.take(py, data.len(), |checker| checker.event(data))
    }

    /// Checks the body of a response that is not a stream. Returns new findings.
    fn body(&self, py: Python<'_>, data: &str) -> PyResult<Vec<Finding>> {
        let frame = Frame {
            data: Some(data.into()),
            source: data.as_bytes(),
            bytes: 0..data.len() as u64,
            line: 1,
            places: Places::At(0),
            terminated: true,
            ..Frame::default()
        };
        self.take(py, data.len(), |checker| checker.body(&frame))
    }

    /// Ends the stream. Returns new findings.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Finding>> {
        let found = self.take(py, usize::MAX, |checker| checker.finish())?;
        self.stream().is_finished = true;
        Ok(found)
    }

    /// Prepares for another stream.
    fn reset(&self) {
        let mut stream = self.stream();
        stream.checker.reset();
        stream.is_finished = false;
    }

    /// All findings so far, in the order of first occurrence. Repeated ones are counted.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        findings(self.stream().checker.findings().to_vec())
    }

    /// Number of violations that are not listed.
    #[getter]
    fn omitted(&self) -> u64 {
        self.stream().checker.omitted()
    }

    /// Number of events so far.
    #[getter]
    fn events(&self) -> u64 {
        self.stream().checker.events()
    }

    /// Dialect of the rules; `auto` until it is recognised.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.stream().checker.settled_dialect().map_or(AUTO, |dialect| dialect.name)
    }

    fn __repr__(&self) -> String {
        format!("<Checker {} events={}>", self.dialect(), self.events())
    }
}
