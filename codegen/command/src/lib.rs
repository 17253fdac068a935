//! The commands for maintainers of the specification: the importer of published documents, the cross-checks, skeletons of new
//! files, and the check for new releases of SDKs.

pub mod check;
pub mod cli;
mod features;
pub mod import;
mod nearest;
mod outdated;
mod scaffold;
