//! A finding, as Python sees it.

use std::borrow::Cow;

use ::checker::Finding as Found;
use catalogue::Level;
use pyo3::prelude::*;
use results::FailOn;

use crate::data::{from_json, to_json};

/// A violation of a rule, with its first place and the number of similar places.
#[pyclass(frozen, eq, module = "responses_conformance")]
#[derive(PartialEq, Eq)]
pub(crate) struct Finding(pub(crate) Found);

#[pymethods]
impl Finding {
    /// Id of the rule: `group/name`.
    #[getter]
    fn rule(&self) -> &str {
        &self.0.rule
    }

    /// Level: `must`, `should` or `may`.
    #[getter]
    const fn level(&self) -> &'static str {
        match self.0.level {
            Level::Off => "off",
            Level::May => "may",
            Level::Should => "should",
            Level::Must => "must",
        }
    }

    /// The most lenient `fail_on` that it fails: `must`, `breaks` (it is measured to break a client), `should` or `may`.
    #[getter]
    fn fails_on(&self) -> Option<&'static str> {
        FailOn::of(&self.0).map(FailOn::name)
    }

    /// Description of the violation.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// Number of the event in the stream, from 1; 0 in a response that is not a stream.
    #[getter]
    const fn event(&self) -> u64 {
        self.0.place.event
    }

    /// Type of the event.
    #[getter]
    fn event_type(&self) -> Option<&str> {
        self.0.place.event_type.as_deref()
    }

    /// Its sequence number.
    #[getter]
    const fn sequence_number(&self) -> Option<u64> {
        self.0.place.sequence_number
    }

    /// Line of the recording, from 1.
    #[getter]
    const fn line(&self) -> u64 {
        self.0.place.line
    }

    /// Exchange in the recording, if it has several.
    #[getter]
    fn exchange(&self) -> Option<&str> {
        self.0.exchange.as_deref()
    }

    /// JSON pointer to the place in the event.
    #[getter]
    fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    /// Expected value.
    #[getter]
    fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// Actual value.
    #[getter]
    fn actual(&self) -> Option<&str> {
        self.0.actual.as_deref()
    }

    /// Clients that were measured to break.
    #[getter]
    fn clients(&self) -> Vec<&'static str> {
        self.0.broken_clients().into_iter().map(|(client, _)| client).collect()
    }

    /// Fix on the server.
    #[getter]
    fn fix(&self) -> Option<Cow<'_, str>> {
        self.0.fix()
    }

    /// Number of similar places. A finding that `push` returned keeps its first count: read `findings` at the end.
    #[getter]
    const fn count(&self) -> u64 {
        self.0.count
    }

    /// Serializes the finding as in a JSON report.
    fn to_json(&self) -> PyResult<String> {
        to_json(&self.0)
    }

    /// Parses a finding from JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        from_json(text).map(Self)
    }

    /// Supports pickling.
    fn __reduce__<'p>(slf: &Bound<'p, Self>) -> PyResult<(Bound<'p, PyAny>, (String,))> {
        Ok((slf.getattr("from_json")?, (slf.get().to_json()?,)))
    }

    fn __hash__(&self) -> u64 {
        self.0.place.bytes[0].wrapping_mul(31).wrapping_add(self.0.message.len() as u64)
    }

    fn __str__(&self) -> String {
        let kind = match self.0.level {
            Level::Must => "error",
            Level::Should => "warning",
            Level::May | Level::Off => "note",
        };
        let place = &self.0.place;
        let event_type = place.event_type.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        format!("{kind}[{}]: event {}{event_type}: {}", self.0.rule, place.event, self.0.message)
    }

    fn __repr__(&self) -> String {
        format!("<Finding {}>", self.__str__())
    }
}

pub(crate) fn findings(found: Vec<Found>) -> Vec<Finding> {
    found.into_iter().map(Finding).collect()
}
