//! Features that an endpoint may support.

use spec::APIS;
use spec::table::Operation;

use super::Scenario;

/// A feature that an endpoint may support, and that scenarios need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Its name in scenarios and `--features`.
    pub name: &'static str,
    /// Its description.
    pub title: &'static str,
}

impl Scenario {
    /// Returns the feature that an endpoint lacks if it does not have the route of this scenario, or ignores `background`.
    pub fn route_feature(&self) -> Option<&'static str> {
        if self.operation == Operation::Create {
            return self.features.iter().find(|feature| **feature == "background").copied();
        }
        APIS.iter().find_map(|api| api.route(self.operation)?.feature)
    }
}
