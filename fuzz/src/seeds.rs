//! Writes the seeds of the targets: the goldens in every format, their events, and scripts of endpoints.

use std::path::Path;
use std::{fs, io};

use conformance::goldens::GOLDENS;
use fuzz::{endpoint, recordings};

fn main() -> io::Result<()> {
    for target in ["check", "split"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for golden in GOLDENS {
            for (number, (format, recording)) in recordings::of_golden(golden).into_iter().enumerate() {
                let name = format!("{}-{}-{number}.{}", golden.dialect, golden.name, format.name());
                fs::write(folder.join(name), recording)?;
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/json");
    fs::create_dir_all(&folder)?;
    let events = GOLDENS.iter().flat_map(|golden| recordings::data(golden.bytes));
    for (number, event) in events.enumerate() {
        fs::write(folder.join(number.to_string()), event)?;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/client");
    fs::create_dir_all(&folder)?;
    for (number, script) in endpoint::scripts().into_iter().enumerate() {
        let case = number.to_le_bytes()[0];
        fs::write(folder.join(number.to_string()), [&[case], &script[..]].concat())?;
    }
    Ok(())
}
