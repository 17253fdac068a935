//! Tables of streams, by the C interface of Arrow: any engine that has it hands over a table, and takes the result.

mod capsule;
mod rows;
mod texts;

use std::borrow::Cow;
use std::sync::Arc;

use ::checker::{RuleSets, fallback};
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use recordings::Checking;
use results::{AUTO, CaptureReport, UNKNOWN};
use spec::Dialect;
use tap::{Outcome, Watched};

use self::capsule::{SCHEMA, STREAM, batches, error};
use self::rows::{About, Rows};
use self::texts::Texts;
use crate::data::shared_rules;

/// Rows about the streams of a table, which any reader of Arrow takes.
#[pyclass(frozen, module = "responses_conformance")]
pub(crate) struct CheckedTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl CheckedTable {
    /// The rows as a stream of batches. It can be called again.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'p>(
        &self,
        py: Python<'p>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'p, PyCapsule>> {
        // A wish, which readers cast to where it is not met.
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// The schema of the rows.
    fn __arrow_c_schema__<'p>(&self, py: Python<'p>) -> PyResult<Bound<'p, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(|problem| error(&problem))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<CheckedTable rows={}>", self.__len__())
    }
}

/// A check of the streams in a column of a table, batch by batch. The result has a row for each finding, and one for each
/// stream without any, with the id of its stream.
///
/// Other threads run meanwhile, and no text is copied.
#[pyfunction]
#[pyo3(signature = (table, *, stream = "stream", id = "id", api = "auto"))]
pub(crate) fn check_arrow(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    stream: &str,
    id: &str,
    api: &str,
) -> PyResult<CheckedTable> {
    let mut check = Check::new(api)?;
    let input = batches(table)?;
    let given = input.schema();
    let (stream, id) = (column(&given, stream)?, column(&given, id)?);
    let kind = given.field(stream).data_type();
    if !Texts::are_in(kind) {
        let name = given.field(stream).name();
        return Err(PyTypeError::new_err(format!("column {name:?} has {kind}, expected texts or bytes")));
    }
    let schema = rows::schema(given.field(id));
    let mut checked = Vec::new();
    py.detach(|| {
        for batch in input {
            check.batch(&batch.map_err(|problem| error(&problem))?, [stream, id], &schema, &mut checked)?;
        }
        Ok::<_, PyErr>(())
    })?;
    Ok(CheckedTable { schema, batches: checked })
}

fn column(schema: &Schema, name: &str) -> PyResult<usize> {
    schema.index_of(name).map_err(|_| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        PyValueError::new_err(format!("there is no column {name:?}; there are: {}", names.join(", ")))
    })
}

/// Bytes that are checked before Python may interrupt: about a tenth of a second.
const PATIENCE: usize = 16 << 20;

/// The check of one row after another.
struct Check {
    checking: Checking,
    /// The dialect, unless each stream shows its own.
    named: Option<&'static Dialect>,
    rows: Rows,
}

impl Check {
    /// The name is one of an API or a dialect, or the path of a dialect's folder.
    fn new(api: &str) -> PyResult<Self> {
        if api == AUTO {
            let checking = Checking::recognising(&RuleSets::all(), false);
            return Ok(Self { checking, named: None, rows: Rows::default() });
        }
        let of_api = spec::APIS.iter().find(|known| known.name == api).and_then(|api| fallback(Some(api)));
        let rules = shared_rules(of_api.map_or(api, |dialect| dialect.name))?;
        let checking = Checking::new(&rules, false);
        Ok(Self { checking, named: Some(rules.dialect()), rows: Rows::default() })
    }

    fn batch(
        &mut self,
        batch: &RecordBatch,
        [stream, id]: [usize; 2],
        schema: &SchemaRef,
        checked: &mut Vec<RecordBatch>,
    ) -> PyResult<()> {
        let in_column = |at: usize, problem: &ArrowError| {
            let name = batch.schema_ref().field(at).name();
            PyValueError::new_err(format!("column {name:?} is damaged: {problem}"))
        };
        let ids = batch.column(id);
        ids.to_data().validate_full().map_err(|problem| in_column(id, &problem))?;
        let texts = Texts::of(batch.column(stream)).map_err(|problem| in_column(stream, &problem))?;
        let mut since = 0;
        for row in 0..batch.num_rows() {
            let text = texts.get(row);
            self.row(row as u64, text);
            since += text.map_or(0, <[u8]>::len);
            if since >= PATIENCE {
                since = 0;
                #[expect(
                    clippy::redundant_closure_for_method_calls,
                    reason = "the method is of one lifetime"
                )]
                Python::attach(|py| py.check_signals())?;
            }
            if self.rows.is_full() || row + 1 == batch.num_rows() {
                checked.push(self.rows.batch(schema, ids).map_err(|problem| error(&problem))?);
            }
        }
        Ok(())
    }

    fn row(&mut self, row: u64, text: Option<&[u8]>) {
        let mut about = About { row, api: None, dialect: None, outcome: SKIPPED };
        let Some(text) = text else { return self.rows.whole(about, Some("there is no stream: it is null")) };
        let mut seen = Watched::default();
        let report = self.checking.check_bytes(String::new(), text, &mut seen);
        if let Some(dialect) = seen.dialect(&report).or(self.named) {
            let told = seen.told(dialect.api, &report, text);
            about.api = Some(dialect.api.name);
            about.dialect = Some(dialect.name);
            about.outcome = Outcome::of(None, &told, &report).name();
        }
        for found in &report.findings {
            self.rows.finding(about, found);
        }
        let note = note(&report, about.api.is_some());
        if note.is_some() || report.findings.is_empty() {
            self.rows.whole(about, note.as_deref());
        }
    }
}

/// The outcome of a row without a response of an API that is checked.
const SKIPPED: &str = "skipped";

/// Facts about a row that no finding has.
fn note(report: &CaptureReport, is_checked: bool) -> Option<Cow<'_, str>> {
    if let Some(error) = &report.error {
        return Some(error.as_str().into());
    }
    if report.omitted > 0 {
        return Some(format!("{} more violations are not listed", report.omitted).into());
    }
    let other = report.other_apis.keys().find(|other| *other != UNKNOWN);
    match other {
        Some(other) => Some(format!("{other} is not checked").into()),
        None if is_checked => None,
        None => Some("it has no response of an API that is checked".into()),
    }
}
