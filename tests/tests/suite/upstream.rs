//! The dialect `openai` is up to date with the documents that it cites: importing them again changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use codegen::SpecFiles;
use codegen::import::{Laying, into_folder};
use serde_json::Value;

/// The document, and the variant of the API to take from it.
const DOCUMENTS: [(&str, Option<&str>); 3] = [
    ("openai-2026-08.openapi.json", None),
    ("openai-2026-08.openapi.json", Some("Beta")),
    ("sdk-2026-11/openai-python-3.54.0.responses.schema.json", None),
];

/// A temporary copy of the dialect.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/dialects/openai");
        let to = std::env::temp_dir().join(format!("upstream-{}", std::process::id()));
        for kind in ["", "events", "types"] {
            fs::create_dir_all(to.join(kind)).unwrap();
            for entry in fs::read_dir(from.join(kind)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    fs::copy(&path, to.join(kind).join(path.file_name().unwrap())).unwrap();
                }
            }
        }
        Self(to)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Leftovers are in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
#[cfg_attr(not(corpus), ignore = "needs the documents beside the corpus: set CONFORMANCE_CORPUS")]
fn importing_the_documents_again_changes_nothing() {
    let upstream = Path::new(option_env!("CORPUS").unwrap_or_default()).join("../upstream");
    let files = SpecFiles::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")).unwrap();
    let api = ("responses", &files.apis["responses"]);
    let copy = Copy::new();
    for (name, variant) in DOCUMENTS {
        let text = fs::read_to_string(upstream.join(name)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let summary = into_folder(&document, &copy.0, &Laying { api, variant, since: None }).unwrap();
        let touched = [summary.added, summary.changed, summary.removed].concat();
        assert_eq!(touched, [""; 0], "{name} {variant:?}");
        assert!(summary.unchanged.len() > 390, "{name}: {} files", summary.unchanged.len());
    }
}
