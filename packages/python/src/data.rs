//! What Python hands over.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// The rules are made once.
pub(crate) fn shared_sets() -> &'static RuleSets {
    static SETS: OnceLock<RuleSets> = OnceLock::new();
    SETS.get_or_init(RuleSets::all)
}

/// The rules are made once for each dialect. A folder whose files have changed is another one of the same name.
pub(crate) fn shared_rules(name: &str) -> PyResult<&'static Rules> {
    static KNOWN: Mutex<BTreeMap<usize, &Rules>> = Mutex::new(BTreeMap::new());
    let dialect =
        conformance::cli::dialect(name).map_err(|error| PyValueError::new_err(format!("{error:#}")))?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = std::ptr::from_ref(dialect).addr();
    Ok(known.entry(place).or_insert_with(|| Box::leak(Box::new(Rules::of(dialect)))))
}
