//! The evidence of a run, from which it can be judged again: its folder, and the description in `run.json`.

mod folder;
mod line;
mod report;
mod reproduce;
mod run_file;

pub(crate) use folder::files_of;
pub use folder::{CERTIFICATE, Evidence, PAGE, REPORT, RUN, SIGNATURE, TWINS};
pub use line::{ExchangeLine, RequestLine, ResponseLine};
pub(crate) use reproduce::command;
pub use run_file::{BUILD, Kept, RunFile, SUITE, VERSION};
