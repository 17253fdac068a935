//! Tests of the public functions, in one program.

mod readers;
mod render;
mod via;
