//! Tests of the public functions, in one program.

mod certificate;
mod late;
mod sessions;
mod translator;
