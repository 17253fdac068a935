//! What the crate exports, on the specification of the repository.

mod check;
mod diff;
mod new;
mod schemas;
mod support;
