//! The command `conformance`, as text: see `commands/README.md`.

use std::path::Path;
use std::process::ExitCode;

use commands::Commands;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = here.parent().expect("it lies in the repository");
    Commands {
        folder: here.join("tests/commands"),
        program: env!("CARGO_BIN_EXE_conformance").into(),
        temporary: env!("CARGO_TARGET_TMPDIR").into(),
        bless: "cargo test -p conformance --test commands",
        variables: vec![("APIS", repository.join("spec/apis")), ("REPOSITORY", repository.into())],
    }
    .run()
}
