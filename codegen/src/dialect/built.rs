//! The dialects of a build, for the build scripts that generate their code.

use std::env;
use std::path::Path;

use super::{Dialect, LoadError, list, load};

/// Loads the dialects whose cargo features are enabled.
///
/// # Errors
///
/// Fails on the first invalid file.
pub fn enabled(spec: &Path) -> Result<Vec<Dialect>, LoadError> {
    let is_enabled = |name: &String| {
        let feature = name.replace(['@', '-'], "_").to_uppercase();
        env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
    };
    list(spec)?.iter().filter(|name| is_enabled(name)).map(|name| load(spec, name)).collect()
}

/// Returns the nearest dialect of the same build that a dialect extends.
pub fn base<'d>(dialect: &Dialect, built: &'d [Dialect]) -> Option<&'d Dialect> {
    dialect.lineage.iter().find_map(|name| built.iter().find(|other| other.name == *name))
}
