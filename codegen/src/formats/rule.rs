//! `rules/<group>/<name>.md`, and `shared-rules.toml` of each API

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::constant::words;
use super::page::{Page, PageError};
use super::violation;
use super::{About, Level, Role, Violation};

/// A rule.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[constant(
    /// How it is checked.
    decided_by: DecidedBy,
    /// Its input: kinds of responses, and with [`LooksAt::Head`] their status and headers.
    looks_at: Vec<LooksAt>,
    /// The scopes whose events exercise it; any event if empty.
    exercised_by: Scopes,
)]
pub struct Rule {
    /// Its id, `group/name`.
    #[serde(skip)]
    pub id: String,
    /// The API that it is about, by the folder of its page; any if absent.
    #[serde(skip)]
    pub api: Option<String>,
    /// Its level: must, should or may. An API can have a lower one.
    pub level: Level,
    /// Its authority. On the page of a shared rule, each API has its own in `shared-rules.toml`; so for `citation`, `fix`,
    /// `breaks` and the violation.
    #[constant(skip)]
    pub authority: Option<Authority>,
    /// The source of the authority.
    #[constant(skip)]
    pub citation: Option<Citation>,
    /// Its scope or scopes; `stream` for the whole stream.
    #[serde(rename = "scope")]
    pub scopes: Scopes,
    /// The lifecycle faults that break it.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structure: Vec<Family>,
    /// The relation of values that it requires.
    #[constant(skip)]
    pub relation: Option<Relation>,
    /// Whether it has code of its own.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
    /// The input of a `native` rule or of a `unique` relation, if it is not only streams; with `head`, also the kinds of
    /// responses. With `body`, the rules about snapshots, items and endings of a stream also judge the response in a body.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks_at: Vec<LooksAt>,
    /// The scopes whose events exercise it, if events of `scope` occur without them.
    #[constant(skip)]
    pub exercised_by: Option<Scopes>,
    /// Whether only responses to scenarios that name it exercise it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_named: bool,
    /// The dialects that it applies to, with those that extend them; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in: Vec<String>,
    /// The parts that a client must return for its case to count; if absent, the texts, refusals, reasoning and calls of
    /// the response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// Tokens that a `native` rule looks for in texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// Clients that fail on streams that break it.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Breakage>,
    /// The fix for the server: one line in the imperative, without a full stop.
    #[constant(skip)]
    pub fix: Option<String>,
    /// The version of the suite that added it.
    pub since: String,
    /// The requirement, in a line.
    #[serde(skip)]
    pub title: String,
    /// The rest of the page, as Markdown.
    #[serde(skip)]
    pub prose: String,
    /// Its entries for the APIs that it judges, sorted by API.
    #[serde(skip)]
    pub in_apis: Vec<RuleInApi>,
}

/// A rule in one API: who demands it there, how to mend what breaks it, and a stream that does.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleInApi {
    /// The API, by its folder; empty until the file is read.
    #[serde(skip)]
    pub api: String,
    /// The rule, `group/name`.
    #[constant(skip)]
    pub id: String,
    /// Its level in this API, if the page has another.
    pub level: Option<Level>,
    /// Its authority.
    pub authority: Authority,
    /// The source of the authority.
    pub citation: Citation,
    /// The fix for the server: one line in the imperative, without a full stop.
    pub fix: String,
    /// The fixes of findings of a form, where they differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixes: BTreeMap<String, String>,
    /// Markdown about this API alone; it follows the text of the page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Clients that fail on streams that break it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Breakage>,
    /// A stream that breaks it.
    pub violation: Violation,
}

/// `shared-rules.toml`: what the shared rules are in one API.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharedRulesFile {
    /// The rules.
    #[serde(default, rename = "rule")]
    pub rules: Vec<RuleInApi>,
    /// The rules that do not judge this API, each with the reason.
    #[serde(default)]
    pub unjudged: BTreeMap<String, String>,
}

impl Rule {
    /// Parses the page of the rule with this id. That of a shared rule has neither authority, citation and fix nor a violation.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "violation")?;
        let rule: Self = page.metadata()?;
        let fail = |message: &str| PageError::new(page.metadata_line(), message);
        let ways = [rule.native, rule.relation.is_some(), !rule.structure.is_empty()];
        match ways.iter().filter(|is_taken| **is_taken).count() {
            0 => {
                return Err(fail("expected one of `structure`, `relation` and `native = true`"));
            }
            1 => {}
            _ => {
                return Err(fail(
                    "`structure`, `relation` and `native` exclude each other: keep one of them",
                ));
            }
        }
        if let Err(message) = rule.check_looks_at() {
            return Err(fail(message));
        }
        if rule.scopes == Scopes::Several(Vec::new()) {
            return Err(fail("`scope` is empty; use `stream` for a rule about the whole stream"));
        }
        if rule.level == Level::Off {
            return Err(fail(
                "`level` must be must, should or may; use a [[rule]] entry of a dialect to turn a rule off",
            ));
        }
        let own = match (&rule.authority, &rule.citation, &rule.fix) {
            (Some(authority), Some(citation), Some(fix)) => {
                let block = page.only_block("violation")?;
                let own = RuleInApi {
                    api: String::new(),
                    id: id.to_owned(),
                    level: None,
                    authority: *authority,
                    citation: citation.clone(),
                    fix: fix.clone(),
                    fixes: BTreeMap::new(),
                    note: String::new(),
                    breaks: rule.breaks.clone(),
                    violation: violation::parse(&block.text, block.line)?,
                };
                if let Some(problem) = own.problem(rule.level) {
                    return Err(fail(problem));
                }
                Some(own)
            }
            (None, None, None) if page.blocks().is_empty() && rule.breaks.is_empty() => None,
            _ => {
                return Err(fail(
                    "`authority`, `citation`, `fix` and the violation belong together: a page of an API has all of \
                     them, and one of a shared rule none",
                ));
            }
        };
        let in_apis = own.into_iter().collect();
        Ok(Self { id: id.to_owned(), title: page.title, prose: page.prose, in_apis, ..rule })
    }

    /// Returns what it is in an API that it judges.
    pub fn in_api(&self, api: &str) -> Option<&RuleInApi> {
        self.in_apis.iter().find(|own| own.api == api)
    }

    /// Returns its level in an API, which a dialect can change.
    pub fn level_in(&self, api: &str) -> Level {
        self.in_api(api).and_then(|own| own.level).unwrap_or(self.level)
    }

    fn decided_by(&self) -> DecidedBy {
        match &self.relation {
            Some(relation) => DecidedBy::Relation(relation.clone()),
            None if self.native => DecidedBy::Code(NativeRule(self.id.clone())),
            None => DecidedBy::Structure(self.structure.clone()),
        }
    }

    fn looks_at(&self) -> Vec<LooksAt> {
        if self.looks_at.is_empty() { vec![LooksAt::Stream] } else { self.looks_at.clone() }
    }

    fn exercised_by(&self) -> Scopes {
        self.exercised_by.as_ref().unwrap_or(&self.scopes).clone()
    }

    fn check_looks_at(&self) -> Result<(), &'static str> {
        match self.looks_at.as_slice() {
            [] => Ok(()),
            // A value that occurs twice in a response occurs twice in its body.
            _ if !self.native && !matches!(self.relation, Some(Relation::Unique(_))) => {
                Err("`looks_at` is only for `native` rules and `unique` relations; others check streams")
            }
            [LooksAt::Stream] => Err("`looks_at` is `stream` by default: remove it"),
            [LooksAt::Head] => Err("`looks_at` has `head`, but no kind of response: add `stream` or `body`"),
            several if (1..several.len()).any(|at| several[..at].contains(&several[at])) => {
                Err("`looks_at` has a duplicate")
            }
            _ => Ok(()),
        }
    }
}

impl RuleInApi {
    /// Returns what is wrong with it, if the rule has this level elsewhere.
    pub fn problem(&self, usual: Level) -> Option<&'static str> {
        let level = self.level.unwrap_or(usual);
        if self.authority == Authority::Contract {
            return Some("the authority `contract` is for rules about gateways and clients; cite the API");
        }
        if level == Level::Must && self.authority == Authority::Observed {
            return Some("a rule with the authority `observed` can be should or may, not must");
        }
        if self.level.is_some_and(|own| own >= usual || own == Level::Off) {
            return Some("`level` must be lower than that of the page, and not off");
        }
        std::iter::once(&self.fix).chain(self.fixes.values()).find_map(|fix| fix_problem(fix))
    }
}

fn fix_problem(fix: &str) -> Option<&'static str> {
    let is_begun_well = fix.starts_with(|first: char| first.is_ascii_lowercase());
    if fix.trim().is_empty() || fix.contains('\n') {
        Some("`fix` must be one line with the change to the server")
    } else if !is_begun_well || fix.ends_with('.') {
        Some("`fix` must begin with a verb in lower case, such as `send`, and have no full stop")
    } else {
        None
    }
}

/// How a rule is checked.
#[derive(Debug, Clone, PartialEq, Constant)]
pub enum DecidedBy {
    /// By the lifecycle of its scopes: these faults break it.
    Structure(Vec<Family>),
    /// By a native function.
    Code(NativeRule),
    /// By a relation of values.
    Relation(Relation),
}

/// The id of a rule with code of its own. Programs have an enum of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeRule(pub String);

words! {
    /// The input of a rule. Responses of other kinds do not exercise it.
    pub enum LooksAt {
        /// The events of a stream.
        Stream,
        /// A response that is not a stream.
        Body,
        /// Status and headers of a response, which not every recording has.
        Head,
        /// The messages of a WebSocket.
        Socket,
    }
}

/// The scopes of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Scopes {
    /// One scope, or `stream`.
    One(String),
    /// Several scopes.
    Several(Vec<String>),
}

impl Scopes {
    /// Returns their names; none if the rule is about the whole stream.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) if name == "stream" => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

words! {
    /// A family of lifecycle faults.
    pub enum Family {
        /// An event of the scope or of a descendant comes before the event that opens it.
        BeforeOpen,
        /// An event of the scope comes after the event that closes it.
        AfterClose,
        /// It is opened twice.
        Reopened,
        /// It is closed twice.
        ClosedAgain,
        /// It is still open when the response ends.
        NeverClosed,
        /// It is closed after its parent.
        ParentClosedFirst,
        /// Its parent has a type that cannot contain it.
        WrongParent,
        /// Its index is not the next one.
        IndexGap,
        /// The `item_id` of an event is not the id of the item at its `output_index`.
        KeyMismatch,
        /// A phase is out of order, or it is opened in a phase of its parent after which none is.
        PhaseOrder,
        /// It is opened while another one is open, of which there is one at a time.
        Interleaved,
    }

    /// The authority of a rule.
    pub enum Authority {
        /// A normative sentence.
        Sentence,
        /// A constraint of the schema.
        Schema,
        /// The definition of an event in the specification, which allows no other meaning.
        Definition,
        /// The behaviour of all known vendors. Never a must.
        Observed,
        /// A clause of the contract of gateways or of clients. Only for their rules.
        Contract,
    }
}

/// The source of a rule's authority.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The document. With a requirement: the version in `requirements/<version>.toml`.
    pub source: String,
    /// The heading.
    pub heading: String,
    /// Id of the requirement, which must list the rule.
    pub requirement: Option<String>,
}

/// A client that fails on streams that break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Breakage {
    /// The client, with its version.
    pub client: String,
    /// The failure.
    pub failure: String,
    /// The report of a user: `owner/repository#number`.
    pub source: String,
    /// The only values that break it: JSON pointers into an event with `*` for an index; an empty pointer is the
    /// event. If absent, every violation of the rule does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// Whether users reported it. Otherwise it was measured, and stands for some kinds of violations.
    #[serde(skip, default = "is_reported")]
    pub is_reported: bool,
}

/// Returns whether users reported a failure that a page states.
const fn is_reported() -> bool {
    true
}

/// A relation of values within one occurrence of the rule's scope.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Relation {
    /// The value stays the same.
    Constant(Operand),
    /// Once an event has the value, each later one has a value there.
    Repeated(Operand),
    /// Two values are equal.
    Equal {
        /// The values.
        of: Operand,
        /// The expected value.
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
    /// The value is one of these.
    Value {
        /// The value.
        of: Operand,
        /// The allowed values.
        is: Vec<Value>,
    },
    /// Values, collected in order of their keys, equal a list.
    Collect {
        /// The values.
        of: Operand,
        /// The list.
        equals: Operand,
    },
}

/// Values of a stream. Exactly one of `role`, `events` and `stated_by` selects the events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[constant(
    /// The events.
    of: Whose
)]
pub struct Operand {
    /// Events with this role in the scope.
    #[constant(skip)]
    pub role: Option<Role>,
    /// Events of these types.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// The event that closes the parent, or the terminal event, at the place in `api.toml`.
    #[constant(skip)]
    pub stated_by: Option<Holder>,
    /// JSON pointer to the value; the value of `x-lifecycle` if absent.
    pub at: Option<String>,
}

words! {
    /// The holder of a final value besides the scope's own events.
    pub enum Holder {
        /// The event that closes the parent.
        Parent,
        /// The response in the terminal event.
        Response,
    }
}

/// The events that have a value.
#[derive(Debug, Clone, PartialEq, Eq, Constant)]
pub enum Whose {
    /// Events with this role in the scope.
    Role(Role),
    /// Events of these types.
    Events(Vec<String>),
    /// The event that closes the parent of the scope.
    Parent,
    /// The response in the terminal event.
    Response,
}

impl Operand {
    fn of(&self) -> Whose {
        match (self.role, self.stated_by) {
            (Some(role), _) => Whose::Role(role),
            (None, Some(Holder::Parent)) => Whose::Parent,
            (None, Some(Holder::Response)) => Whose::Response,
            (None, None) => Whose::Events(self.events.clone()),
        }
    }
}

impl Relation {
    /// Returns the operands.
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Constant(of) | Self::Repeated(of) | Self::Unique(of) | Self::Value { of, .. } => vec![of],
            Self::Equal { of, equals } | Self::Concat { of, equals } | Self::Collect { of, equals } => {
                vec![of, equals]
            }
        }
    }
}
