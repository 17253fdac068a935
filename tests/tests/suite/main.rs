//! What concerns several crates, in one program: what commands of the documentation name has its own.

mod constructors;
mod damaged;
mod gateways;
mod generated;
mod guarantees;
mod hostile;
mod packages;
mod rewritten;
mod serde;
mod upstream;
