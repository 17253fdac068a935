//! The checker of one stream, as Python sees it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::checker::{Exchange, Finding as Found, Frame, Places};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::AUTO;

use crate::data::{bytes, detached, shared_rules, shared_sets};
use crate::finding::{Finding, findings};

/// Judges one stream while it comes: without I/O, and the same however the bytes are cut.
///
/// It can be used from several threads; other threads run while it judges.
#[pyclass(frozen, module = "responses_conformance")]
pub(crate) struct Checker {
    stream: Mutex<Stream>,
}

/// The stream that is judged.
struct Stream {
    checker: ::checker::Checker,
    is_finished: bool,
}

impl Checker {
    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes something of a stream that has not ended, and returns what was found for the first time.
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
    /// A checker with all rules of a dialect; of the one that is recognised by the first event if it is `auto`.
    #[new]
    #[pyo3(signature = (dialect = AUTO))]
    fn new(dialect: &str) -> PyResult<Self> {
        let checker = if dialect == AUTO {
            ::checker::Checker::recognising(shared_sets())
        } else {
            ::checker::Checker::with_rules(shared_rules(dialect)?)
        };
        Ok(Self { stream: Mutex::new(Stream { checker, is_finished: false }) })
    }

    /// Takes the status and the headers of the response, where they are known, before anything else.
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

    /// Takes the next bytes of a stream of server-sent events. Returns what was found for the first time.
    fn push(&self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<Vec<Finding>> {
        let chunk = bytes(chunk)?;
        let chunk = chunk.as_bytes();
        self.take(py, chunk.len(), |checker| checker.push(chunk))
    }

    /// Takes the data of one event, which something else has framed. Returns what was found for the first time.
    fn event(&self, py: Python<'_>, data: &str) -> PyResult<Vec<Finding>> {
        self.take(py, data.len(), |checker| checker.event(data))
    }

    /// Takes the body of a response that is no stream. Returns what was found for the first time.
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

    /// Ends the stream. Returns what was found for the first time.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Finding>> {
        let found = self.take(py, usize::MAX, |checker| checker.finish())?;
        self.stream().is_finished = true;
        Ok(found)
    }

    /// Forgets the stream, to judge another one.
    fn reset(&self) {
        let mut stream = self.stream();
        stream.checker.reset();
        stream.is_finished = false;
    }

    /// What was found so far, in the order of first appearance; what repeats is counted.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        findings(self.stream().checker.findings().to_vec())
    }

    /// How many faults there were beyond those that are listed.
    #[getter]
    fn omitted(&self) -> u64 {
        self.stream().checker.omitted()
    }

    /// How many events there were so far.
    #[getter]
    fn events(&self) -> u64 {
        self.stream().checker.events()
    }

    /// The dialect of its rules; `auto` until it is recognised.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.stream().checker.settled_dialect().map_or(AUTO, |dialect| dialect.name)
    }

    fn __repr__(&self) -> String {
        format!("<Checker {} events={}>", self.dialect(), self.events())
    }
}
