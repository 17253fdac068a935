//! Tests of the public functions, in one program.

mod enumerations;
mod lifecycle;
