//! What the tests of this package share.

pub mod corpus;
pub mod defects;
pub mod edited;
pub mod instances;
pub mod mutate;
pub mod random;
pub mod suite;
pub mod typed;
pub mod write;
