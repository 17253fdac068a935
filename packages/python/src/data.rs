//! What Python hands over.

use std::sync::Arc;

use ::checker::{RuleSets, Rules};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Checking less than this takes less time than releasing the interpreter.
const SHORT: usize = 1024;

/// Other threads run meanwhile, unless there is little to do.
pub(crate) fn detached<R: Send>(py: Python<'_>, length: usize, work: impl FnOnce() -> R + Send) -> R {
    if length < SHORT { work() } else { py.detach(work) }
}

/// Other threads could change objects other than `bytes`, so these are copied.
pub(crate) fn bytes<'p>(object: &Bound<'p, PyAny>) -> PyResult<Bound<'p, PyBytes>> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.clone()),
        // Before Python 3.11, buffers are not part of the stable ABI, but views of memory are.
        Err(_) => Ok(PyMemoryView::from(object)?.call_method0("tobytes")?.cast_into()?),
    }
}

/// As in a JSON report.
pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The text is the output of [`to_json`].
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The rules are made once for each dialect.
pub(crate) fn shared_rules(name: &str) -> PyResult<Arc<Rules>> {
    let dialect =
        conformance::cli::dialect(name).map_err(|error| PyValueError::new_err(format!("{error:#}")))?;
    Ok(RuleSets::all().of(dialect))
}
