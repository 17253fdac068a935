//! The model of a run, from which all reports are rendered.

mod between;
mod client;
mod join;
mod parts;
mod run;

pub use between::{
    BETWEEN_RUN_VERSION, BetweenPair, BetweenRun, BetweenTest, Declared, OfPair, StreamOutcome, Unaccounted,
};
pub use checker::{Excerpt, Finding, LevelName, Location, Misnomer, Origin, Related, Supply};
pub use client::{CLIENT_RUN_VERSION, ClientOutcome, ClientRun, ClientTally, ClientTest, OfClient};
pub use parts::{
    AUTO, Beside, BetweenMoment, BetweenSide, Demand, Exercised, ExercisedLane, ExercisedMember,
    ExercisedPath, ExercisedStep, ExercisedValue, ExpectedFailure, FailOn, Format, IMPACT_VERSION, ImpactRun,
    Judgement, LeftOut, LevelChange, Outcome, PlayedClient, PlayedOutcome, PlayedResponse, ProfileReport,
    ProfileState, Reason, Shard, Share, Specification, Step, Tally, Test, TestCause, TestFinding, Transport,
    UndecidedKind, Verdict, Verified, cause_counts, dialect_in_words, first_of, shell_word, text,
};
pub use run::{
    Bar, Broken, CaptureReport, CaseReport, Cause, ClientState, ClientTotal, DialectSeen, EventRow,
    FailingClients, Faults, FaultyEvent, Filters, GroupTotal, Latency, Layer, LiveReport, LogRows, Lost,
    Matrix, MatrixColumn, MatrixRow, OTHER_RULES, Obstacle, Options, Pace, Phase, Piece, RequestSummary,
    RuleTotal, Run, RunState, Silence, Spread, TWINS_VERSION, Timeline, Totals, TrialResult, TwinResult,
    TwinsReport, UNKNOWN, Undecided, Unknown, Unmergeable, VERSION, cause_id, cause_message, recognised_in,
    starred,
};

/// Returns whether a member has the value that it has when it is left out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
