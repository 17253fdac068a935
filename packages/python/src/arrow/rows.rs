//! The rows of a result.

use std::mem::take;
use std::sync::Arc;

use ::checker::Finding;
use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// Columns of texts between the id and the number of the event, in order.
const BEFORE: [&str; 5] = ["api", "dialect", "outcome", "rule", "level"];
/// Columns of texts after it.
const AFTER: [&str; 2] = ["pointer", "message"];

/// The schema, with the type of the ids that were given.
pub(super) fn schema(id: &Field) -> SchemaRef {
    let text = |name: &&str| Field::new(*name, DataType::Utf8, true);
    let client = Field::new_list_field(DataType::Utf8, true);
    let mut fields = vec![id.clone().with_name("id").with_nullable(true)];
    fields.extend(BEFORE.iter().map(text));
    fields.push(Field::new("event", DataType::Int64, true));
    fields.extend(AFTER.iter().map(text));
    fields.push(Field::new_list("clients", client, true));
    Arc::new(Schema::new(fields))
}

/// Facts that each row of a stream repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// The number of the row in its batch.
    pub(super) row: u64,
    pub(super) api: Option<&'static str>,
    pub(super) dialect: Option<&'static str>,
    pub(super) outcome: &'static str,
}

/// Rows of one batch at most.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Their rows in the batch that was given.
    of: Vec<u64>,
    before: [StringBuilder; BEFORE.len()],
    event: Int64Builder,
    after: [StringBuilder; AFTER.len()],
    clients: ListBuilder<StringBuilder>,
    /// Bytes of messages.
    bytes: usize,
}

impl Rows {
    pub(super) fn finding(&mut self, about: About, found: &Finding) {
        for (client, _) in found.broken_clients() {
            self.clients.values().append_value(client);
        }
        let event = i64::try_from(found.place.event).unwrap_or(i64::MAX);
        self.row(
            about,
            [Some(&found.rule), Some(found.level.name())],
            Some(event),
            [found.pointer.as_deref(), Some(&found.message)],
        );
    }

    pub(super) fn whole(&mut self, about: About, message: Option<&str>) {
        self.row(about, [None; 2], None, [None, message]);
    }

    fn row(&mut self, about: About, rule: [Option<&str>; 2], event: Option<i64>, after: [Option<&str>; 2]) {
        self.of.push(about.row);
        let [rule, level] = rule;
        let before = [about.api, about.dialect, Some(about.outcome), rule, level];
        for (column, value) in self.before.iter_mut().zip(before).chain(self.after.iter_mut().zip(after)) {
            column.append_option(value);
            self.bytes += value.map_or(0, str::len);
        }
        self.event.append_option(event);
        self.clients.append(true);
    }

    /// Texts of a column have a limit of 2 GiB.
    pub(super) const fn is_full(&self) -> bool {
        self.of.len() >= 1 << 16 || self.bytes >= 64 << 20
    }

    /// The rows so far, with the ids of their batch. Others may follow.
    pub(super) fn batch(&mut self, schema: &SchemaRef, ids: &ArrayRef) -> Result<RecordBatch, ArrowError> {
        let Self { of, before, event, after, clients, .. } = &mut take(self);
        let ids = arrow_select::take::take(ids, &UInt64Array::from(take(of)), None)?;
        let text = |column: &mut StringBuilder| Arc::new(column.finish()) as ArrayRef;
        let mut columns = vec![ids];
        columns.extend(before.iter_mut().map(text));
        columns.push(Arc::new(event.finish()));
        columns.extend(after.iter_mut().map(text));
        columns.push(Arc::new(clients.finish()));
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
