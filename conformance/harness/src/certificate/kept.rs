//! Certificates of clients and of gateways in the folders of their runs.

use std::io;
use std::path::Path;

use super::{CERTIFICATE, PAGE, SIGNATURE};
use crate::evidence::Evidence;
use crate::{remove, replace};

/// A certificate as JSON and as Markdown.
pub type CertificateTexts = [String; 2];

const FILES: [&str; 2] = [CERTIFICATE, PAGE];

/// Writes the certificate of a run to its folder, or removes an older one, and a signature of it.
///
/// # Errors
///
/// If a file cannot be written.
pub fn keep(folder: &Path, certificate: Option<&CertificateTexts>) -> io::Result<()> {
    // It signs the run before.
    remove(&folder.join(SIGNATURE))?;
    match certificate {
        Some(texts) => FILES.iter().zip(texts).try_for_each(|(file, text)| replace(&folder.join(file), text)),
        None => FILES.iter().try_for_each(|file| remove(&folder.join(file))),
    }
}

/// Compares the certificate in a folder with the one that its run supports, or with the reason why it supports none.
///
/// # Errors
///
/// With the difference.
pub fn verify_kept(folder: &Path, certificate: Result<CertificateTexts, String>) -> Result<(), String> {
    let evidence = Evidence::open(folder);
    match certificate {
        Ok(texts) => FILES.iter().zip(&texts).try_for_each(|(file, wanted)| {
            let found = evidence.read(file).map_err(|error| format!("{file}: {error}"))?;
            if found == wanted.as_bytes() {
                Ok(())
            } else {
                Err(format!("{file}: it is not the certificate of this run"))
            }
        }),
        Err(reason) => match FILES.iter().find(|file| folder.join(file).exists()) {
            Some(file) => Err(format!("{file}: the run supports no certificate: {reason}")),
            None => Ok(()),
        },
    }
}
