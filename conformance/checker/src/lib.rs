//! Checks streams of the Responses API, Messages, Chat Completions and Gemini, event by event.
//!
//! [`Checker`] takes a stream as it arrives and returns [`Finding`]s, without I/O and without a clock: inside a
//! gateway's own tests, beside its live traffic, or in a browser.

#![warn(missing_debug_implementations)]

mod answer;
mod checker;
mod chosen;
mod counts;
mod engine;
mod frame;
pub mod pieces;
mod recognition;
mod rules;
pub mod sse;
mod waiting;

pub use answer::{Answer, AnswerReader, ToolCall, stop_word};
pub use catalogue::{self, Level, Rule};
pub use checker::Checker;
pub use chosen::{ChangedLevel, RuleSets, Rules, level};
pub use counts::{Counts, Tokens};
pub use engine::{
    Asked, Chosen, DataProblem, Effect, Excerpt, Finding, Findings, Harm, LOOSEST, LevelName, Location,
    Misnomer, Observer, Occurrence, Origin, Payload, Record, Related, Seen, SeenEffect, Supply, Unmeasured,
    alike, among_others, effects, needed, setting_in, tools_in,
};
pub use frame::{Entry, Exchange, Frame, Headers, Loss, Places, Request, Row, Transport};
pub use recognition::{Other, Recognised, apis_of_request, fallback, other_than};
pub use rules::{is_sign_of_life, lone_surrogate};
pub use spec::{self, Dialect};
