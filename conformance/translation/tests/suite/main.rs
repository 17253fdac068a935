//! Tests of the public functions, in one program.

mod reading;
mod requests;
mod translating;
