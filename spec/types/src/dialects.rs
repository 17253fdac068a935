//! The types of the dialects of this build, which are generated.

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));
