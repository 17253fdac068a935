//! Tests of the public functions, in one program.

mod examples;
mod lenient;
mod types;
