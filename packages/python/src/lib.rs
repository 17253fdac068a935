//! The module `responses_conformance._native`: the checker, and the command, for Python.
//!
//! One library holds both: the wheel has no second copy of the checker as a program, and what is released is one file
//! for each platform and all versions of Python.

mod arrow;
mod checker;
mod data;
mod finding;
mod report;

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs a command line of `conformance`, the name of the program first, and returns its exit code.
///
/// Help and errors of the command line end the process, as they do in the program.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| conformance::cli::main_of(arguments));
    // An exit code has no number that can be read, but it can be compared.
    (0..u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(u8::MAX)
}

/// Returns the names of all dialects.
#[pyfunction]
fn dialects() -> Vec<&'static str> {
    spec::dialects().map(|(name, _)| name).collect()
}

/// The module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::{CheckedTable, check_arrow};
    #[pymodule_export]
    use super::checker::Checker;
    #[pymodule_export]
    use super::finding::Finding;
    #[pymodule_export]
    use super::report::{Report, Run};
    #[pymodule_export]
    use super::{dialects, main};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python names it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
