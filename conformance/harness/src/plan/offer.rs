//! The features that an endpoint supports.

use results::Options;

/// The features that an endpoint supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// All features.
    All,
    /// These features only.
    Only(Vec<String>),
    /// All features except these.
    Without(Vec<String>),
}

impl Offer {
    /// Returns the features that the endpoint of a run supports.
    pub fn of(options: &Options) -> Self {
        match &options.features {
            Some(features) => {
                let is_there = |feature: &&String| !options.lacks.contains(*feature);
                Self::Only(features.iter().filter(is_there).cloned().collect())
            }
            None if options.lacks.is_empty() => Self::All,
            None => Self::Without(options.lacks.clone()),
        }
    }

    pub(crate) fn allows(&self, feature: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(features) => features.iter().any(|offered| offered == feature),
            Self::Without(features) => features.iter().all(|lacking| lacking != feature),
        }
    }

    pub(super) fn claims(&self, feature: &str) -> bool {
        matches!(self, Self::Only(_)) && self.allows(feature)
    }
}
