//! Tests of the public functions, in one program.

mod between;
mod clients;
mod common;
