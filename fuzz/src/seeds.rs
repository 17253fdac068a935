//! Writes the goldens in every format to where the targets look for seeds.

use std::path::Path;
use std::{fs, io};

use conformance::goldens::GOLDENS;
use fuzz::recordings;

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
    Ok(())
}
