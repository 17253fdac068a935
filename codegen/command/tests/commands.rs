//! The command `codegen`, as text: see `commands/README.md` of the suite's command.

use std::path::Path;
use std::process::ExitCode;

use commands::Commands;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = here.ancestors().nth(2).unwrap_or(here).to_owned();
    Commands {
        folder: here.join("tests/commands"),
        program: env!("CARGO_BIN_EXE_codegen").into(),
        temporary: env!("CARGO_TARGET_TMPDIR").into(),
        bless: "cargo test -p codegen --test commands",
        variables: vec![
            ("SMALL", here.join("tests/small-spec")),
            ("SPEC", repository.join("spec")),
            ("REPOSITORY", repository),
        ],
    }
    .run()
}
