//! Writes the damaged streams of `tests/damages` and their intact bases into a folder: `BASE/intact.sse`, `BASE/DAMAGE.sse`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs, io};

use tests::damages::{Damages, goldens};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::args().nth(1).expect("a folder"));
    for damages in Damages::all() {
        let streams = goldens(&damages.dialect);
        let mut made: BTreeMap<&str, usize> = BTreeMap::new();
        for stream in &streams {
            let folder = out.join(&damages.api).join(stream.name.replace('/', "-"));
            for damage in &damages.all {
                let count = made.entry(&damage.name).or_default();
                if *count >= 2 {
                    continue;
                }
                let Some(bytes) = damage.make(stream) else { continue };
                *count += 1;
                fs::create_dir_all(&folder)?;
                fs::write(folder.join("intact.sse"), &stream.text)?;
                fs::write(folder.join(format!("{}.sse", damage.name)), bytes)?;
            }
        }
    }
    Ok(())
}
