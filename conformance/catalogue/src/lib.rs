//! Rules, scenarios, profiles and requirements, as data.
//!
//! They are pages and tables in the folder of the specification. They are a crate of their own, so that a
//! changed sentence does not compile the dialects again.

mod features;
mod recorded;

use core::fmt;

use spec::table::{Operation, Role, Scope};

pub use features::{FEATURES, Feature};
pub use recorded::{Recorded, recorded};
pub use spec::table::Level;

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// A rule that streams must keep.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// How binding it is, unless a dialect says otherwise.
    pub level: Level,
    /// What makes it binding.
    pub authority: Authority,
    /// Where that stands.
    pub citation: Citation,
    /// The scopes that it is about; the whole stream, when empty.
    pub scopes: &'static [Scope],
    /// What decides whether it holds.
    pub decided_by: DecidedBy,
    /// What it looks at: one of these kinds of answers, and with [`LooksAt::Head`] their status and headers.
    pub looks_at: &'static [LooksAt],
    /// The dialects that it binds in, with those that extend them; all dialects, when empty.
    pub only_in: &'static [&'static str],
    /// Clients that fail on streams that break it.
    pub breaks: &'static [Breakage],
    /// Whether each client with a version was tried with a stream that breaks it.
    pub is_measured: bool,
    /// How a server repairs it, in a line.
    pub fix: &'static str,
    /// The version of the suite that brought it.
    pub since: &'static str,
    /// What must hold, in a line.
    pub title: &'static str,
    /// Its documentation, as Markdown.
    pub prose: &'static str,
    /// A stream that breaks it.
    pub violation: Violation,
}

impl Rule {
    /// The group that it is in.
    pub fn group(&self) -> &'static str {
        group(self.id)
    }

    /// The clients that it protects, each once, with all that happens to it.
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

/// The group that the rule or scenario of an id, `group/name`, is in.
pub fn group(id: &str) -> &str {
    id.split_once('/').map_or(id, |(group, _)| group)
}

/// Where the authority of a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    /// The document.
    pub source: &'static str,
    /// The heading it stands under.
    pub heading: &'static str,
    /// Id of the requirement in the document's version.
    pub requirement: Option<&'static str>,
}

impl fmt::Display for Citation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}, {}", self.source, self.heading)?;
        self.requirement.map_or(Ok(()), |id| write!(to, " ({id})"))
    }
}

/// A client that something is known of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// What rule pages call it.
    pub name: &'static str,
    /// The dialect that it is written for.
    pub dialect: &'static str,
    /// The version that was tested, and how it was called; `None` if it is known from reports only.
    pub version: Option<&'static str>,
}

/// A client that fails on streams that break a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breakage {
    /// The client.
    pub client: &'static str,
    /// The dialect that it is written for: what that has does not break it. None, when some of it does.
    pub dialect: Option<&'static str>,
    /// What it does then.
    pub failure: &'static str,
    /// Where that was seen.
    pub source: &'static str,
    /// The only values that break it, all when empty: JSON pointers into an event with `*` for an index, the
    /// event as a whole when empty.
    pub at: &'static [&'static str],
}

/// What decides whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The lifecycle of its scopes: any of these breaks it.
    Structure(&'static [Family]),
    /// Code of its own.
    Code(NativeRule),
    /// How values relate.
    Relation(Relation),
}

/// How values must relate, within one occurrence of the rule's scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The value stays the same.
    Constant(Place),
    /// Two values are equal.
    Equal {
        /// The one.
        of: Place,
        /// The other.
        equals: Place,
    },
    /// Fragments, joined in order, are another value.
    Concat {
        /// The fragments.
        of: Place,
        /// The whole.
        equals: Place,
    },
    /// No value occurs twice.
    Unique(Place),
    /// The value is one of these, written as JSON.
    Value {
        /// The value.
        of: Place,
        /// What it can be.
        is: &'static [&'static str],
    },
    /// Values, collected in order of their keys, are a list.
    Collect {
        /// The values.
        of: Place,
        /// The list.
        equals: Place,
    },
}

/// Values of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where to look.
    pub of: Whose,
    /// JSON pointer to the value; the value that the event's lifecycle names, when absent.
    pub at: Option<&'static str>,
}

/// Whose values they are.
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

/// A stream that breaks a rule, as edits of a good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The good stream: `<dialect>/<name>`.
    pub golden: &'static str,
    /// Rules that the edits cannot help breaking too.
    pub also: &'static [&'static str],
    /// The edits, in the order they are made.
    pub edits: &'static [Edit],
}

/// Which events an edit is about, as the stream is when the edit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The event type, with `>` before it when the client sent it, or `[DONE]`, or `body`; any event of the
    /// server, when absent.
    pub event: Option<&'static str>,
    /// Which of these, counted from 1; all of them, when absent.
    pub number: Option<usize>,
}

/// One edit of a stream. Values are written as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// The event is left out.
    Drop(Target),
    /// It comes twice.
    Duplicate(Target),
    /// Both change places.
    Swap(Target, Target),
    /// The value at this JSON pointer of the data is replaced or added; `-` is the end of a list.
    Set(Target, &'static str, &'static str),
    /// The text at this JSON pointer of the data begins with this, and goes on as it was.
    Prepend(Target, &'static str, &'static str),
    /// The value at this JSON pointer of the data is taken away.
    Unset(Target, &'static str),
    /// Another event with these data comes before or after.
    Insert(Side, Target, &'static str),
    /// The stream ends after it.
    Truncate(Target),
    /// Sequence numbers are made to fit again.
    Renumber,
    /// Its data are these bytes.
    Data(Target, &'static [u8]),
    /// A line of the frame says this.
    Field(Target, &'static str, &'static [u8]),
    /// A line of the frame is left out.
    Unfield(Target, &'static str),
    /// Bytes of the whole frame are replaced by others.
    Replace(Target, &'static [u8], &'static [u8]),
    /// A comment line comes before or after.
    Comment(Side, Target, &'static [u8]),
    /// A header of the answer says this.
    Header(&'static str, &'static [u8]),
    /// The status of the answer.
    Status(u16),
}

/// A request, and what its answer must bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// What is asked for.
    pub operation: Operation,
    /// What an endpoint must offer for it to make sense.
    pub features: &'static [&'static str],
    /// Event types that the answer must have; what is named twice must come twice, and of
    /// names with `|` between them any will do.
    pub elicits: &'static [&'static str],
    /// The HTTP statuses that can be the answer; 200 alone, when empty.
    pub status: &'static [u16],
    /// Whether the request is sent a second time without `stream`, for an answer in JSON.
    pub twin: bool,
    /// Event types that the answer must not have; `<type> /<member>` means that member of the event, where
    /// it is more than null and more than empty.
    pub without: &'static [&'static str],
    /// Words that the text of the answer must have, in any case.
    pub says: Option<&'static str>,
    /// The client leaves after so many events.
    pub cut_after: Option<u32>,
    /// The text of the input is repeated until it has so many kilobytes.
    pub fill: Option<u32>,
    /// The last character of the body is left out, so that it is no JSON.
    pub malformed: bool,
    /// The scenario whose response the operation is about.
    pub previous: Option<&'static str>,
    /// It is for a WebSocket alone, and comes there so.
    pub websocket: Option<OnSocket>,
    /// It is sent so many times at once, each time in a lane of its own; `status` is about the last one.
    pub lanes: Option<u32>,
    /// Rules that only this request can bring to bear.
    pub rules: &'static [&'static str],
    /// What it is about, in a line.
    pub title: &'static str,
    /// Its documentation, as Markdown.
    pub prose: &'static str,
    /// The body of the request, as JSON; empty where the operation has none. The model `default` is replaced
    /// by the one under test, the id `previous` by that of the response before, and an input of the type
    /// `previous_output` by its output, with the result `call_output` behind each function call.
    pub request: &'static str,
}

/// An answer that is played to a client, and what it must make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCase {
    /// Its id, `group/name`.
    pub id: &'static str,
    /// What the client receives, in a line.
    pub title: &'static str,
    /// Why it must do what is expected, as Markdown.
    pub reason: &'static str,
    /// What makes that binding.
    pub authority: &'static str,
    /// What it has to do.
    pub expect: Expect,
    /// The recording that is played; without it, the reference gateway answers the request.
    pub golden: Option<&'static str>,
    /// What the client is to send, as JSON; empty, where that is the request of the golden.
    pub request: &'static str,
    /// Edits of the answer.
    pub edits: &'static [Edit],
    /// How the answer is sent.
    pub transports: &'static [Channel],
    /// Bytes that are sent at once; whole events, when absent.
    pub chunk: Option<u32>,
    /// Milliseconds before each event.
    pub pause_ms: Option<u32>,
    /// How the connection ends.
    pub end: Ending,
    /// The answer ends so after this many events.
    pub end_after: Option<u32>,
    /// The number of events after which the client has to leave.
    pub cancel_after: Option<u32>,
    /// Kilobytes of text that stand for the word FILL in the request.
    pub fill: Option<u32>,
    /// What a client has to return for the case to count; when empty, the texts, refusals, reasoning and calls that the
    /// answer has.
    pub about: &'static [About],
    /// What the client does after the first answer, in order.
    pub steps: &'static [ClientStep],
}

/// A step of a client after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientStep {
    /// What it does.
    pub step: Step,
    /// The outputs of functions that it sends back, by name.
    pub outputs: &'static [(&'static str, &'static str)],
    /// The request that is sent, or that the reference gateway answers in its place, as JSON.
    pub request: &'static str,
}

/// What a certificate of one kind demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What a certificate of this kind says, in a line.
    pub title: &'static str,
    /// Whom it is for.
    pub summary: &'static str,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each of one version, that it is about.
    pub specifications: &'static [&'static str],
    /// The rules that must hold, each in the dialects where it is a MUST.
    pub rules: &'static [&'static str],
    /// The scenarios that must be run. Of names with `|` between them, one at least must bring what it is
    /// there for, and none may fail.
    pub scenarios: &'static [&'static str],
}

/// What a certificate of one kind demands of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientProfile {
    /// Its name.
    pub name: &'static str,
    /// What a certificate of this kind says, in a line.
    pub title: &'static str,
    /// Whom it is for.
    pub summary: &'static str,
    /// Its version, from 1.
    pub version: u32,
    /// The dialects, each of one version, that it is about.
    pub specifications: &'static [&'static str],
    /// How the cases are sent.
    pub transports: &'static [Channel],
    /// The cases that a client must handle, over each of these transports that they have.
    pub cases: &'static [&'static str],
}

/// One normative sentence of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The version of the specification.
    pub version: &'static str,
    /// The document that it stands in.
    pub source: &'static str,
    /// The address at which that can be read.
    pub address: &'static str,
    /// Its id, which it keeps from version to version.
    pub id: &'static str,
    /// The heading it stands under.
    pub heading: &'static str,
    /// Whose duty it is.
    pub who: Who,
    /// How binding it is.
    pub level: RequirementLevel,
    /// What it demands.
    pub statement: &'static str,
    /// What is done about it.
    pub coverage: Coverage,
}

impl Requirement {
    /// Its name among those of all versions.
    pub fn name(&self) -> String {
        format!("{}#{}", self.version, self.id)
    }

    /// Returns the sentence of this name. One that is named without a version is that of the dialect, and else
    /// of the latest version.
    pub fn find(name: &str, dialect: &spec::Dialect) -> Option<&'static Self> {
        let (version, id) = name.split_once('#').map_or((None, name), |(version, id)| (Some(version), id));
        let of_id = || REQUIREMENTS.iter().filter(|sentence| sentence.id.eq_ignore_ascii_case(id));
        match version {
            Some(version) => {
                let own = spec::dialect(version);
                of_id().find(|sentence| {
                    sentence.version == version || own.is_some_and(|own| own.is_or_extends(sentence.version))
                })
            }
            None => of_id()
                .find(|sentence| dialect.is_or_extends(sentence.version))
                .or_else(|| of_id().next_back()),
        }
    }
}

/// What is done about a normative sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// These rules and scenarios see to it.
    Covered {
        /// The rules.
        rules: &'static [&'static str],
        /// The scenarios.
        scenarios: &'static [&'static str],
    },
    /// No stream can show it, for this reason.
    Unobservable(&'static str),
    /// This is still to be written.
    Open(&'static str),
}

/// The rule of that id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    RULES.get(at)
}

/// Returns the client of that name.
pub fn client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

/// The scenario of that id.
pub fn scenario(id: &str) -> Option<&'static Scenario> {
    let at = SCENARIOS.binary_search_by(|scenario| scenario.id.cmp(id)).ok()?;
    SCENARIOS.get(at)
}
