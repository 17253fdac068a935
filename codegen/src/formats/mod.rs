//! The formats of the files under `spec/`: what may stand in them, and the JSON Schemas that editors
//! use to check and complete them.

mod dialect;
mod errata;
mod glossary;
mod lifecycle;

pub use dialect::{DialectFile, Envelope, EventLine, Framing, Level, Marker, RuleLevel, Terminal, UnknownEvents};
pub use errata::{Change, ErrataFile, Erratum, MoreValues, Replacement};
pub use glossary::Glossary;
pub use lifecycle::{Lifecycle, Role, Scope, ScopesFile};
