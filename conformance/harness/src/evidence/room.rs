//! Room for a run of a client or of a gateway in a folder.

use std::fs;
use std::io;
use std::path::Path;

use super::folder::EXCHANGES;
use crate::certificate::{CERTIFICATE, PAGE, SIGNATURE};

/// Makes room for a run in a folder: it must have none, unless that is to be replaced. Then its recordings, its report and its
/// certificate are removed.
///
/// # Errors
///
/// If the folder has a run, or other files among its recordings.
pub fn make_room(
    folder: &Path,
    report: &str,
    replaces: bool,
    is_recording: &dyn Fn(&str) -> bool,
) -> io::Result<()> {
    let exchanges = folder.join(EXCHANGES);
    let is_taken = [report, EXCHANGES, CERTIFICATE].iter().any(|file| folder.join(file).exists());
    if is_taken && !replaces {
        let advice = "it already contains a run; replace it with --replace, or choose another folder";
        return Err(io::Error::other(advice));
    }
    fs::create_dir_all(folder)?;
    remove(&exchanges, is_recording)?;
    // Of two runs that begin at once, one creates it.
    fs::create_dir(&exchanges).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::other("another run writes to it: choose another folder"),
        _ => error,
    })?;
    [report, CERTIFICATE, PAGE, SIGNATURE].iter().try_for_each(|file| crate::remove(&folder.join(file)))
}

/// Removes a folder if no test was played in it.
pub fn release(folder: &Path, report: &str) {
    // A folder with recordings stays.
    if fs::remove_dir(folder.join(EXCHANGES)).is_ok() {
        let _ = crate::remove(&folder.join(report));
    }
}

/// Links are not followed.
fn remove(folder: &Path, is_recording: &dyn Fn(&str) -> bool) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => {
            return Err(io::Error::other(format!("{} is no folder of recordings", folder.display())));
        }
        Ok(_) => {}
    }
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let name = path.file_name().and_then(|name| name.to_str());
        if kind.is_dir() {
            remove(&path, is_recording)?;
        } else if kind.is_file() && name.is_some_and(is_recording) {
            fs::remove_file(path)?;
        } else {
            let problem = "is no recording of a run: move it, or choose another folder";
            return Err(io::Error::other(format!("{} {problem}", path.display())));
        }
    }
    fs::remove_dir(folder)
}
