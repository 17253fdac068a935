//! Tests of the public functions, in one program.

mod render;
mod via;
