//! What decides whether rules hold.

mod schema;
mod wire;

use spec::Dialect;
use spec::catalogue::{DecidedBy, NativeRule, Rule};

use crate::engine::{Findings, Record};

/// Judges a record by a rule.
pub(crate) fn judge(rule: &'static Rule, record: &Record<'_>, dialect: &Dialect, findings: &mut Findings) {
    match rule.decided_by {
        DecidedBy::Code(NativeRule::WireJsonObject) => wire::json_object(rule, record, dialect, findings),
        DecidedBy::Code(NativeRule::SchemaEventKnown) => schema::event_known(rule, record, dialect, findings),
        DecidedBy::Code(NativeRule::SchemaEventValid) => schema::event_valid(rule, record, dialect, findings),
        DecidedBy::Relation(_) | DecidedBy::Structure(_) => {}
    }
}
