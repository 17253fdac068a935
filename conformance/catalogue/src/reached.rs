//! Which steps of a lifecycle the scenarios reach, by the features that they need.

/// The steps, written by a test: `BLESS=1 cargo test -p tests --test suite exercised`.
const STEPS: &str = include_str!(env!("REACHED"));

/// The lane of steps that are enumeration values.
pub const VALUES: &str = "value";

/// A step that the reference gateway's answers have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The type of the container, or the name of the scope; or [`VALUES`].
    pub lane: &'static str,
    /// The step.
    pub step: &'static str,
    /// The features of the scenarios whose answers have it. Each list suffices.
    pub needs: Vec<Vec<&'static str>>,
}

impl Reached {
    /// Returns whether it is reached with the features that a function allows.
    pub fn is_reached(&self, mut allows: impl FnMut(&str) -> bool) -> bool {
        self.needs.iter().any(|features| features.iter().all(|feature| allows(feature)))
    }

    /// Returns whether it is reached only with a feature.
    pub fn is_only_of(&self, feature: &str) -> bool {
        self.needs.iter().all(|features| features.contains(&feature))
    }
}

/// Returns the steps of an API that the scenarios reach.
pub fn reached(api: &str) -> impl Iterator<Item = Reached> {
    STEPS.lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        let mut parts = line.split(": ");
        let (of, lane, step) = (parts.next()?, parts.next()?, parts.next()?);
        let needs = parts.next()?.split(", ").map(|features| match features {
            "always" => Vec::new(),
            features => features.split('+').collect(),
        });
        (of == api).then(|| Reached { lane, step, needs: needs.collect() })
    })
}
