//! The dialect `openai` is up to date with the documents that it cites: importing them again changes nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use codegen::SpecFiles;
use codegen_command::import::{Laying, into_folder};
use serde_json::Value;
use tests::corpus::repository;

/// The document, and the variant of the API to take from it.
const DOCUMENTS: [(&str, Option<&str>); 3] = [
    ("openai-2026-08.openapi.json", None),
    ("openai-2026-08.openapi.json", Some("Beta")),
    ("sdk-2026-11/openai-python-3.54.0.responses.schema.json", None),
];

#[test]
#[cfg_attr(not(corpus), ignore = "needs the documents beside the corpus: set CONFORMANCE_CORPUS")]
fn importing_the_documents_again_changes_nothing() {
    let upstream = Path::new(option_env!("CORPUS").unwrap_or_default()).join("../upstream");
    let files = SpecFiles::load(&repository().join("spec")).unwrap();
    let api = ("responses", &files.apis["responses"]);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upstream");
    let _ = fs::remove_dir_all(&copy);
    let copied =
        Command::new("cp").arg("-r").arg(repository().join("spec/dialects/openai")).arg(&copy).status();
    assert!(copied.is_ok_and(|status| status.success()));
    for (name, variant) in DOCUMENTS {
        let text = fs::read_to_string(upstream.join(name)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let summary = into_folder(&document, &copy, &Laying { api, variant, since: None }).unwrap();
        let touched = [summary.added, summary.changed, summary.removed].concat();
        assert_eq!(touched, [""; 0], "{name} {variant:?}");
        assert!(summary.unchanged.len() > 390, "{name}: {} files", summary.unchanged.len());
    }
}
