//! What concerns several crates. One program takes less time to build than one for each subject.

mod architecture;
mod constructors;
mod corpus;
mod damaged;
mod damages;
mod defects;
mod docs;
mod exercised;
mod gateways;
mod generated;
mod guarantees;
mod hostile;
mod legal;
mod lossless;
mod measured;
mod model;
mod oracle;
mod packages;
mod prose;
mod recognised;
mod recorded;
mod rewritten;
mod serde;
mod side_by_side;
mod upstream;
mod vendors;
