//! Plays recorded responses to published clients, and compares what they return with what they return for intact ones.
//!
//! The drivers are part of the program. [`Cache`] installs the packages of the clients, whose versions are pinned;
//! [`Theatre`] plays to them.

mod cache;
mod clients;
mod compare;
mod home;
mod said;
mod stage;
mod theatre;

pub use cache::Cache;
pub use clients::{ImpactClient, ImpactPackages, impact_clients, packages as impact_packages};
pub use theatre::{Recorded, Theatre};
