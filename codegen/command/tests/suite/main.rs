//! What the crate exports, on the specification of the repository.

mod diff;
mod new;
mod schemas;

use std::path::{Path, PathBuf};

/// Returns the folder of the repository's own specification.
fn own_spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec")
}
