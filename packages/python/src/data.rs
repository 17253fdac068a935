//! What Python hands over.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use ::checker::{RuleSets, Rules};
use conformance::suite::did_you_mean;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use spec::Dialect;

/// Less than this is judged in less time than it takes to hand over the interpreter.
const SHORT: usize = 1024;

/// Does something with data. Other threads run meanwhile, unless there is little to do.
pub(crate) fn detached<R: Send>(py: Python<'_>, length: usize, work: impl FnOnce() -> R + Send) -> R {
    if length < SHORT { work() } else { py.detach(work) }
}

/// Returns the bytes of an object: `bytes` as they are, and a copy of what others could change.
pub(crate) fn bytes<'p>(object: &Bound<'p, PyAny>) -> PyResult<Bound<'p, PyBytes>> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.clone()),
        // Before Python 3.11, buffers are not part of the stable ABI, but views of memory are.
        Err(_) => Ok(PyMemoryView::from(object)?.call_method0("tobytes")?.cast_into()?),
    }
}

/// Returns JSON as in a JSON report.
pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads what [`to_json`] returned.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Finds a dialect by its name.
pub(crate) fn dialect(name: &str) -> PyResult<&'static Dialect> {
    spec::dialect(name).ok_or_else(|| {
        let names: Vec<&str> = spec::dialects().map(|(name, _)| name).collect();
        let hint = did_you_mean(name, names.iter().copied());
        PyValueError::new_err(format!("there is no dialect {name:?}{hint}; there are: {}", names.join(", ")))
    })
}

/// Returns all rules of each dialect. They are made once, and kept.
pub(crate) fn shared_sets() -> &'static RuleSets {
    static SETS: OnceLock<RuleSets> = OnceLock::new();
    SETS.get_or_init(RuleSets::all)
}

/// Returns all rules of a dialect. They are made once for each, and kept.
pub(crate) fn shared_rules(name: &str) -> PyResult<&'static Rules> {
    static KNOWN: Mutex<BTreeMap<&str, &Rules>> = Mutex::new(BTreeMap::new());
    let dialect = dialect(name)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(known.entry(dialect.name).or_insert_with(|| Box::leak(Box::new(Rules::of(dialect)))))
}
