//! The formats of the files under `spec/`, with JSON Schemas for validation and completion in editors.

mod api;
mod between;
mod client_case;
mod constant;
mod defect;
mod dialect;
#[cfg(feature = "schemas")]
mod editor;
mod errata;
mod exchange;
mod glossary;
mod guarantee;
mod impact;
mod lifecycle;
mod log;
mod measured;
mod page;
mod profile;
mod published;
mod render;
mod request;
mod requirement;
mod rule;
mod scenario;
mod signature;
mod thread;
mod violation;

pub use api::{
    ApiFile, Calls, Content, Outer, RootEnd, RootOpening, Scope, StatusWords, Stop, StreamOrder, Usage,
};
pub use between::{
    AfterRefusal, Agent, AgentFault, AgentProfile, AgentsFile, BetweenCase, BetweenLeniency, BetweenLimit,
    BetweenLimitsFile, ContractClause, ContractFile, FaultPlaces, HandlingMode, Reaction, Refusal,
    RefusalsFile, ServedFault, SessionCase, SilentPlace, StreamEnd, StreamPlace, TestRule, UpstreamFault,
    Writes,
};
pub use client_case::{
    About, Channel, ClientCase, ClientFailure, ClientRetries, ClientStep, Ending, Expect, Step, WaitForm,
};
pub use constant::{Constant, Declared, Leaked};
pub use defect::{Defect, DefectVerdict, DefectsFile};
pub use dialect::{
    Aside, DialectFile, Envelope, EventLine, Framing, Level, Marker, RuleLevel, TypeRule, UnknownEvents,
};
#[cfg(feature = "schemas")]
pub use editor::editor_schemas;
pub use errata::{Change, ErrataFile, Erratum, MoreValues, Replacement};
pub use exchange::{
    BodyShape, CallShape, Choice, EncryptedShape, ErrorCodes, ErrorShape, ModelList, Offers, RequestShape,
    ResultShape, Route, SessionShape, Switch, Trigger, TurnShape,
};
pub use glossary::Glossary;
pub use guarantee::{EditedGolden, Guarantee, GuaranteesFile};
pub use impact::{ImpactClient, ImpactFile};
pub use lifecycle::{Effect, Lifecycle, Role};
pub use log::{Log, LogRow};
pub use measured::{Client, MeasuredFile, Outcome, groups};
pub use page::{PageError, Request};
pub use profile::{ClientProfile, Profile};
pub use published::Published;
pub use render::{Render, RenderEdit, RenderMoment, RenderResponse, RenderTarget};
pub use request::{GoldenRequest, RequestsFile};
pub use requirement::{Coverage, Requirement, RequirementLevel, RequirementsFile, Who};
pub use rule::{
    Authority, Breakage, Citation, DecidedBy, Family, Holder, LooksAt, NativeRule, Operand, Relation, Rule,
    RuleInApi, Scopes, SharedRulesFile, Whose,
};
pub use scenario::{OnSocket, Operation, PREVIOUS, PREVIOUS_OUTPUT, Scenario};
pub use signature::{
    DialectSignature, Fallback, ForeignApi, ForeignFile, ForeignFormat, Mark, Misnomers, Signature,
};
pub use thread::{Thread, ThreadCause, ThreadsFile};
pub use violation::{Edit, Edits, Side, Target, Violation};
