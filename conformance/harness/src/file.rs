//! Files that are replaced, and compared.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::plan::random_seed;

/// Writes a file atomically: it never exists in part. A link in its place is replaced, not followed.
///
/// # Errors
///
/// If it cannot be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let created = match File::create_new(&new) {
        // It is left from a run that was killed, or prepared by somebody to lead elsewhere.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(&new)?;
            File::create_new(&new)
        }
        created => created,
    };
    let replaced = created?.write_all(text.as_bytes()).and_then(|()| fs::rename(&new, path));
    if replaced.is_err() {
        // The first error counts.
        let _ = fs::remove_file(&new);
    }
    replaced
}

/// Maximum size of a report, and of a file of a run.
pub const LARGEST: u64 = 512 << 20;

/// The bytes of a file of limited size, such as [`LARGEST`]: a device may never end.
///
/// # Errors
///
/// If it cannot be read, or is larger.
pub fn read_within(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// A folder for temporary files, which no other user can read. It is removed at the end.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder with this word in its name.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn new(word: &str) -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("conformance-{word}-{}", random_seed()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Self(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes a file, if it is there.
///
/// # Errors
///
/// If it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn first_difference(one: &str, other: &str) -> usize {
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other);
    same.count() + 1
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process;

    use super::*;

    #[test]
    fn no_link_is_followed() {
        let folder = env::temp_dir().join(format!("conformance-replace-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, victim) = (folder.join("run.json"), folder.join("victim"));
        fs::write(&victim, "untouched").unwrap();
        symlink(&victim, folder.join("run.json.new")).unwrap();
        symlink(&victim, &file).unwrap();
        replace(&file, "new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(!file.is_symlink() && fs::read_dir(&folder).unwrap().count() == 2);
        fs::create_dir(folder.join("folder")).unwrap();
        replace(&folder.join("folder"), "new").unwrap_err();
        assert!(!folder.join("folder.new").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
