//! The cargo features of dialects, in the manifests of the crates that have their code.

pub(crate) struct Manifest {
    /// Its path in the folder of the specification.
    pub(crate) path: &'static str,
    /// The crate whose feature of the same name is needed.
    needs: Option<&'static str>,
}

pub(crate) const MANIFESTS: [Manifest; 2] = [
    Manifest { path: "Cargo.toml", needs: None },
    Manifest { path: "types/Cargo.toml", needs: Some("spec") },
];

impl Manifest {
    pub(crate) fn line(&self, feature: &str) -> String {
        match self.needs {
            Some(needed) => format!("{feature} = [\"{needed}/{feature}\"]"),
            None => format!("{feature} = []"),
        }
    }
}

pub(crate) fn name(dialect: &str) -> String {
    dialect.replace('@', "-")
}
