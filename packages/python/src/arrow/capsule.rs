//! Capsules of the C interface of Arrow, in and out.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub(super) type Batches = Box<dyn RecordBatchReader + Send>;

pub(super) const STREAM: &CStr = c"arrow_array_stream";
pub(super) const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

pub(super) fn batches(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if let Some(export) = table.getattr_opt("__arrow_c_stream__")? {
        return Ok(Box::new(stream(&export.call0()?.extract()?)?));
    }
    if let Some(export) = table.getattr_opt("__arrow_c_array__")? {
        let (schema, array) = export.call0()?.extract()?;
        let batch = batch(&schema, &array)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let kind = table.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!(
        "expected a table with __arrow_c_stream__ or __arrow_c_array__, such as one of pyarrow, Polars or DuckDB, not {kind}"
    )))
}

pub(super) fn error(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn pointer<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

#[expect(unsafe_code, reason = "the name of a capsule is all that says what is in it")]
fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, STREAM)?;
    // SAFETY: a capsule of this name has such a stream. It is moved out, and nobody else runs meanwhile.
    unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(|problem| error(&problem))
}

#[expect(unsafe_code, reason = "the name of a capsule is all that says what is in it")]
fn batch(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<RecordBatch> {
    let schema = pointer::<FFI_ArrowSchema>(schema, SCHEMA)?;
    let array = pointer::<FFI_ArrowArray>(array, ARRAY)?;
    // SAFETY: capsules of these names have such values. The array is moved out, and nobody else runs meanwhile.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    let data = data.map_err(|problem| error(&problem))?;
    if !matches!(data.data_type(), arrow_schema::DataType::Struct(_)) {
        return Err(PyTypeError::new_err(format!("expected a table, not an array of {}", data.data_type())));
    }
    let rows = StructArray::from(data);
    if rows.null_count() > 0 {
        return Err(PyValueError::new_err("expected a table, not an array with rows that are null"));
    }
    Ok(rows.into())
}
