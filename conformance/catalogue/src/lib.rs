//! Rules, scenarios, profiles and requirements, as data.
//!
//! They are generated from pages and tables in the folder of the specification. They are in a separate crate, so that a
//! changed sentence does not recompile the dialects.

mod features;
mod recorded;

use core::fmt;

use spec::table::{Operation, Role, Scope};

pub use features::{FEATURES, Feature};
pub use recorded::{Recorded, recorded};
pub use spec::table::Level;

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// Its level, unless a dialect sets another one.
    pub level: Level,
    /// Its authority.
    pub authority: Authority,
    /// The source of its authority.
    pub citation: Citation,
    /// Its scopes; the whole stream if empty.
    pub scopes: &'static [Scope],
    /// How it is checked.
    pub decided_by: DecidedBy,
    /// Its input: kinds of responses, and with [`LooksAt::Head`] their status and headers.
    pub looks_at: &'static [LooksAt],
    /// The scopes whose events exercise it; any event if empty.
    pub exercised_by: &'static [Scope],
    /// Whether only responses to scenarios that name it exercise it.
    pub only_named: bool,
    /// The dialects that it applies to, with those that extend them; all if empty.
    pub only_in: &'static [&'static str],
    /// The parts that a client must return for the case of a violation to count; if empty, those of the response.
    pub about: &'static [About],
    /// Tokens that it looks for in texts.
    pub tokens: &'static [&'static str],
    /// Clients that violations break.
    pub breaks: &'static [Breakage],
    /// The fix for servers, in one line.
    pub fix: &'static str,
    /// The version of the suite that added it.
    pub since: &'static str,
    /// The requirement, in one line.
    pub title: &'static str,
    /// Its documentation, as Markdown.
    pub prose: &'static str,
    /// A stream that breaks it.
    pub violation: Violation,
}

impl Rule {
    /// Returns the group of the rule.
    pub fn group(&self) -> &'static str {
        group(self.id)
    }

    /// Returns the clients that it protects, without duplicates, each with all its failures.
    pub fn broken_clients(&self) -> Vec<(&'static str, String)> {
        let mut clients: Vec<(&str, String)> = Vec::new();
        for broken in self.breaks {
            match clients.iter_mut().find(|(client, _)| *client == broken.client) {
                Some((_, failures)) if failures == broken.failure => {}
                Some((_, failures)) => failures.extend(["; ", broken.failure]),
                None => clients.push((broken.client, broken.failure.to_owned())),
            }
        }
        clients
    }
}

/// Returns the group of a rule or scenario with this id, `group/name`.
pub fn group(id: &str) -> &str {
    id.split_once('/').map_or(id, |(group, _)| group)
}

/// The source of the authority of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    /// The document.
    pub source: &'static str,
    /// The heading of the section.
    pub heading: &'static str,
    /// Id of the requirement in that version of the document.
    pub requirement: Option<&'static str>,
}

impl fmt::Display for Citation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}, {}", self.source, self.heading)?;
        self.requirement.map_or(Ok(()), |id| write!(to, " ({id})"))
    }
}

/// A known client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Its name in rule pages.
    pub name: &'static str,
    /// The dialect that it is written for.
    pub dialect: &'static str,
    /// The tested version; `None` if it is known only from reports.
    pub version: Option<&'static str>,
    /// Its place in the outcomes of measurements, if it has a version.
    pub column: Option<usize>,
}

/// What the measured clients do with streams that have one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measurement {
    /// The kind: rule, event type, member and form.
    pub kind: &'static str,
    /// A letter for each client.
    pub outcomes: &'static str,
    /// The errors of clients, by their place.
    pub errors: &'static [(usize, &'static str)],
}

impl Measurement {
    /// Returns what a client does, if it has a version.
    pub fn outcome(&self, client: &Client) -> Option<Measured> {
        let column = client.column?;
        let error = || self.errors.iter().find(|(of, _)| *of == column).map_or("", |(_, error)| *error);
        Some(match self.outcomes.as_bytes().get(column)? {
            b'.' => Measured::Handled,
            b'x' => Measured::Error(error()),
            b'w' => Measured::Wrong,
            b's' => Measured::Silent,
            b'c' => Measured::FailsOnIntact,
            b'-' => Measured::NotExercised,
            b'+' => Measured::AmongOthers,
            _ => Measured::NotPlayed,
        })
    }
}

/// Returns what clients do with streams that have this kind of finding, if they were played any.
pub fn measurement(kind: &str) -> Option<&'static Measurement> {
    let at = MEASURED.binary_search_by(|measurement| measurement.kind.cmp(kind)).ok()?;
    MEASURED.get(at)
}

/// What a client did with streams that have one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// It returned what was sent, or reported what must be reported.
    Handled,
    /// It failed with this error, which is empty if it was not recorded.
    Error(&'static str),
    /// It returned wrong or empty content.
    Wrong,
    /// It did not report an error.
    Silent,
    /// It fails on the intact stream, too.
    FailsOnIntact,
    /// It cannot be asked for such a response.
    NotExercised,
    /// It failed, but only on streams with other findings that may be the reason.
    AmongOthers,
    /// It was not played yet.
    NotPlayed,
}

impl Measured {
    /// Returns the failure in words, if it is one.
    pub fn failure(self) -> Option<String> {
        match self {
            Self::Error("") => Some("fails with an error".to_owned()),
            Self::Error(error) => Some(format!("fails with an error: {error}")),
            Self::Wrong => Some("returns wrong or empty content".to_owned()),
            Self::Silent => Some("does not report an error".to_owned()),
            Self::Handled
            | Self::FailsOnIntact
            | Self::NotExercised
            | Self::AmongOthers
            | Self::NotPlayed => None,
        }
    }
}

/// A client that a violation of a rule breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breakage {
    /// The client.
    pub client: &'static str,
    /// Its failure.
    pub failure: &'static str,
    /// Where this was observed.
    pub source: &'static str,
    /// The values that break it, all if empty: JSON pointers into an event with `*` for an index; empty for
    /// the whole event.
    pub at: &'static [&'static str],
    /// Whether users reported it. Otherwise it was measured, and stands for some kinds of violations.
    pub is_reported: bool,
}

/// How a rule is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// By the lifecycle of its scopes: these faults break it.
    Structure(&'static [Family]),
    /// By a native function.
    Code(NativeRule),
    /// By a relation of values.
    Relation(Relation),
}

/// A relation of values within one occurrence of the rule's scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The value stays the same.
    Constant(Operand),
    /// Two values are equal.
    Equal {
        /// The first value.
        of: Operand,
        /// The second value.
        equals: Operand,
    },
    /// Deltas, joined in order, equal another value.
    Concat {
        /// The deltas.
        of: Operand,
        /// The whole.
        equals: Operand,
    },
    /// No value occurs twice.
    Unique(Operand),
    /// The value is one of these, written as JSON.
    Value {
        /// The value.
        of: Operand,
        /// The allowed values.
        is: &'static [&'static str],
    },
    /// Values, ordered by key, equal a list.
    Collect {
        /// The values.
        of: Operand,
        /// The list.
        equals: Operand,
    },
}

/// Values of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// The events.
    pub of: Whose,
    /// JSON pointer to the value; that of the event's lifecycle if absent.
    pub at: Option<&'static str>,
}

/// The source of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Events with this role in the scope.
    Role(Role),
    /// Events of these types.
    Events(&'static [&'static str]),
    /// The event that closes the parent of the scope.
    Parent,
    /// The response in the terminal event.
    Response,
}

/// A violation of a rule, as edits of a golden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The golden: `<dialect>/<name>`.
    pub golden: &'static str,
    /// Other rules that the edits unavoidably break.
    pub also: &'static [&'static str],
    /// The edits, in order.
    pub edits: &'static [Edit],
}

/// The target events of an edit, after the previous edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The event type, with `>` before it if the client sent it, or `[DONE]`, or `body`; any event of the
    /// server if absent.
    pub event: Option<&'static str>,
    /// The number among these, from 1; all if absent.
    pub number: Option<usize>,
}

/// One edit of a stream. Values are written as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Drops the event.
    Drop(Target),
    /// Duplicates the event.
    Duplicate(Target),
    /// Swaps two events.
    Swap(Target, Target),
    /// Sets the value at this JSON pointer of the data; `-` is the end of a list.
    Set(Target, &'static str, &'static str),
    /// Prepends to the string at this JSON pointer of the data.
    Prepend(Target, &'static str, &'static str),
    /// Removes the value at this JSON pointer of the data.
    Unset(Target, &'static str),
    /// Inserts an event with this data before or after.
    Insert(Side, Target, &'static str),
    /// Ends the stream after the event.
    Truncate(Target),
    /// Renumbers sequence numbers.
    Renumber,
    /// Replaces the data by these bytes.
    Data(Target, &'static [u8]),
    /// Sets a field of the frame.
    Field(Target, &'static str, &'static [u8]),
    /// Removes a field of the frame.
    Unfield(Target, &'static str),
    /// Replaces bytes of the frame.
    Replace(Target, &'static [u8], &'static [u8]),
    /// Inserts a comment line before or after.
    Comment(Side, Target, &'static [u8]),
    /// Sets a header of the response.
    Header(&'static str, &'static [u8]),
    /// Sets the status of the response.
    Status(u16),
}

/// A request and its expected events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// The operation.
    pub operation: Operation,
    /// The features that the endpoint must support.
    pub features: &'static [&'static str],
    /// Event types that the response must have; repeated types must occur repeatedly, and of names with `|`
    /// between them any is enough.
    pub elicits: &'static [&'static str],
    /// The accepted HTTP statuses; only 200 if empty.
    pub status: &'static [u16],
    /// Whether the request is also sent without `stream`, for a JSON response.
    pub twin: bool,
    /// Event types that the response must not have; `<type> /<member>` is a member that must be null or
    /// empty.
    pub without: &'static [&'static str],
    /// Words that the text must contain, ignoring case.
    pub says: Option<&'static str>,
    /// Number of events after which the client disconnects.
    pub cut_after: Option<u32>,
    /// Size in kilobytes to which the text of the input is repeated.
    pub fill: Option<u32>,
    /// Whether the last character of the body is dropped, so that it is not JSON.
    pub malformed: bool,
    /// The scenario of the previous response.
    pub previous: Option<&'static str>,
    /// How it is sent, if it is only for a WebSocket.
    pub websocket: Option<OnSocket>,
    /// Number of concurrent copies, each in its own lane; `status` refers to the last one.
    pub lanes: Option<u32>,
    /// Rules that only this request exercises.
    pub rules: &'static [&'static str],
    /// Its title.
    pub title: &'static str,
    /// Its documentation, as Markdown.
    pub prose: &'static str,
    /// The request body as JSON, empty if the operation has none. The model `default` is replaced by the
    /// tested one, the id `previous` by that of the previous response, and an input of type `previous_output`
    /// by its output, with the result `call_output` after each function call.
    pub request: &'static str,
}

/// A response that is played to a client, and the expected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCase {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// What the client receives, in one line.
    pub title: &'static str,
    /// The reason for the expected result, as Markdown.
    pub reason: &'static str,
    /// The authority for the expected result.
    pub authority: &'static str,
    /// The expected result.
    pub expect: Expect,
    /// The recording to play; if absent, the reference gateway answers the request.
    pub golden: Option<&'static str>,
    /// The request that the client sends, as JSON; if empty, that of the golden.
    pub request: &'static str,
    /// Edits of the response.
    pub edits: &'static [Edit],
    /// The case that is alike in all else and intact, if that is not the golden.
    pub control: Option<&'static str>,
    /// The transports of the response.
    pub transports: &'static [Channel],
    /// Size of the chunks in bytes; if absent, each chunk is one event.
    pub chunk: Option<u32>,
    /// Delay before each event, in milliseconds.
    pub pause_ms: Option<u32>,
    /// The end of the connection.
    pub end: Ending,
    /// Number of events after which the response ends in that way.
    pub end_after: Option<u32>,
    /// Number of events after which the client must disconnect.
    pub cancel_after: Option<u32>,
    /// Kilobytes of text that replace the word FILL in the request.
    pub fill: Option<u32>,
    /// What a client must return for the case to count; if empty, the texts, refusals, reasoning and calls in the
    /// response.
    pub about: &'static [About],
    /// The steps of the client after the first response, in order.
    pub steps: &'static [ClientStep],
}

/// A step of a client after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientStep {
    /// The action.
    pub step: Step,
    /// The function outputs that it sends back, by name.
    pub outputs: &'static [(&'static str, &'static str)],
    /// The request to send, or for the reference gateway to answer in its place, as JSON.
    pub request: &'static str,
}

/// The requirements of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The endpoints that it is for.
    pub summary: &'static str,
    /// Its version, from 1.
    pub version: u32,
    /// Its dialects, each of one version.
    pub specifications: &'static [&'static str],
    /// Its rules, each in the dialects where it is a MUST.
    pub rules: &'static [&'static str],
    /// Its scenarios. Of alternatives (`|`), at least one must be exercised, and none may fail.
    pub scenarios: &'static [&'static str],
}

/// The requirements of a certificate for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientProfile {
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The clients that it is for.
    pub summary: &'static str,
    /// Its version, from 1.
    pub version: u32,
    /// Its dialects, each of one version.
    pub specifications: &'static [&'static str],
    /// The transports of the cases.
    pub transports: &'static [Channel],
    /// The cases that a client must pass, over each of these transports that they support.
    pub cases: &'static [&'static str],
}

/// One normative sentence of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The version of the specification.
    pub version: &'static str,
    /// The document.
    pub source: &'static str,
    /// The URL of the document.
    pub address: &'static str,
    /// Its id, equal in all versions.
    pub id: &'static str,
    /// The heading of the section.
    pub heading: &'static str,
    /// To whom it applies.
    pub who: Who,
    /// Its level.
    pub level: RequirementLevel,
    /// The requirement.
    pub statement: &'static str,
    /// Its coverage.
    pub coverage: Coverage,
}

impl Requirement {
    /// Returns its name, unique across all versions.
    pub fn name(&self) -> String {
        format!("{}#{}", self.version, self.id)
    }

    /// Returns the requirement with this name. A name without a version refers to that of the dialect, or else to the
    /// latest version.
    pub fn find(name: &str, dialect: &spec::Dialect) -> Option<&'static Self> {
        let (version, id) = name.split_once('#').map_or((None, name), |(version, id)| (Some(version), id));
        let of_id = || REQUIREMENTS.iter().filter(|sentence| sentence.id.eq_ignore_ascii_case(id));
        match version {
            Some(version) => {
                let own = spec::dialect(version);
                of_id().rfind(|sentence| {
                    sentence.version == version || own.is_some_and(|own| own.is_or_extends(sentence.version))
                })
            }
            // A version extends the one before it, and repeats its sentences.
            None => of_id()
                .rfind(|sentence| dialect.is_or_extends(sentence.version))
                .or_else(|| of_id().next_back()),
        }
    }
}

/// The coverage of a normative sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It is covered by these rules and scenarios.
    Covered {
        /// The rules.
        rules: &'static [&'static str],
        /// The scenarios.
        scenarios: &'static [&'static str],
    },
    /// It is not observable, for this reason.
    Unobservable(&'static str),
    /// It is not covered yet; this is the plan.
    Open(&'static str),
}

/// Returns the rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    RULES.get(at)
}

/// Returns the client with this name.
pub fn client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

/// Returns the scenario with this id.
pub fn scenario(id: &str) -> Option<&'static Scenario> {
    let at = SCENARIOS.binary_search_by(|scenario| scenario.id.cmp(id)).ok()?;
    SCENARIOS.get(at)
}
