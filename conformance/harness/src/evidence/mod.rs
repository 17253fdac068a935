//! The evidence of a run, from which it can be judged again: its folder, and the description in `run.json`.

mod folder;
mod line;
mod report;
mod reproduce;
mod room;
mod run_file;

pub use folder::{CERTIFICATE, DIALECT, EXCHANGES, Evidence, PAGE, REPORT, RUN, SIGNATURE, TWINS, files_of};
pub use line::{ExchangeLine, RequestLine, ResponseLine};
pub(crate) use reproduce::command;
pub use room::{make_room, release};
pub use run_file::{BUILD, Kept, RunFile, SUITE, VERSION};
