//! Copies of specification folders, to break or to add to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the folder of the repository's own specification.
pub(crate) fn own_spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec")
}

/// A temporary copy, removed when dropped.
pub(crate) struct Copy(pub(crate) PathBuf);

impl Copy {
    /// Copies what a specification is made of.
    pub(crate) fn of(folder: &Path) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}", env!("CARGO_CRATE_NAME"), std::process::id());
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        for part in fs::read_dir(folder).unwrap() {
            let part = part.unwrap();
            if part.file_name() != "src" {
                copy_all(&part.path(), &copy.join(part.file_name()));
            }
        }
        Self(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_all(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}
