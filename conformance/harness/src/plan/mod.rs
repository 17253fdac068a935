//! The cases of a dialect, their requests and their trials. Nothing here knows a response.

mod body;
mod call;
mod case;
mod cases;
mod fit;
mod given;
mod marks;
mod messages;
mod offer;
mod previous;
mod seed;
mod trials;
mod turns;

pub use body::{RequestContext, filled};
pub use call::Call;
pub use case::ScenarioCase;
pub use cases::cases;
pub(crate) use given::{GIVEN, all_given};
pub use given::{Given, not_given, wanted};
pub(crate) use marks::marks;
pub use messages::{message, messages};
pub use offer::Offer;
pub use previous::PreviousResponse;
pub(crate) use seed::has_directives;
pub use seed::{Seed, random_seed};
pub use trials::About;
