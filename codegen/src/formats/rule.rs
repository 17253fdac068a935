//! `rules/<group>/<name>.md`

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Page, PageError};
use super::violation;
use super::word::words;
use super::{Level, Role, Violation};

/// A rule that streams must keep: one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its path, `group/name`.
    pub id: String,
    /// What is known of it.
    pub metadata: RuleMetadata,
    /// What must hold, in a line.
    pub title: String,
    /// The rest of the page, as Markdown.
    pub prose: String,
    /// A stream that breaks it.
    pub violation: Violation,
}

impl Rule {
    /// Reads the page of the rule with that id.
    ///
    /// # Errors
    ///
    /// Names the line that is not as the format says.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "violation")?;
        let metadata: RuleMetadata = page.metadata()?;
        let fail = |message: &str| PageError::new(page.metadata_line(), message);
        let ways = [metadata.native, metadata.relation.is_some(), !metadata.structure.is_empty()];
        match ways.iter().filter(|is_taken| **is_taken).count() {
            0 => {
                return Err(fail(
                    "say how the rule is decided: by `structure`, by a `relation`, or `native = true`",
                ));
            }
            1 => {}
            _ => {
                return Err(fail(
                    "a rule is decided by `structure`, by a `relation` or is `native`: one of these",
                ));
            }
        }
        if let Err(message) = metadata.check_looks_at() {
            return Err(fail(message));
        }
        if metadata.scope == Scopes::Several(Vec::new()) {
            return Err(fail("`scope` is empty; a rule about the whole stream has the scope `stream`"));
        }
        if metadata.level == Level::Off {
            return Err(fail("a rule is must, should or may; a dialect can turn it off"));
        }
        if metadata.level == Level::Must && metadata.authority == Authority::Observed {
            return Err(fail("what is only observed binds nobody: the level can be should or may, not must"));
        }
        if let Some(problem) = fix_problem(&metadata.fix) {
            return Err(fail(problem));
        }
        let block = page.only_block("violation")?;
        let violation = violation::parse(&block.text, block.line)?;
        let Page { title, prose, .. } = page;
        Ok(Self { id: id.to_owned(), metadata, title, prose, violation })
    }
}

/// Returns what is wrong with a fix line.
fn fix_problem(fix: &str) -> Option<&'static str> {
    let is_begun_well = fix.starts_with(|first: char| first.is_ascii_lowercase());
    if fix.trim().is_empty() || fix.contains('\n') {
        Some("`fix` is one line that says what to change in the server")
    } else if !is_begun_well || fix.ends_with('.') {
        Some("`fix` begins with a verb in lower case, such as `send`, and has no full stop")
    } else {
        None
    }
}

/// The metadata that a rule page begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleMetadata {
    /// How binding it is: must, should or may.
    pub level: Level,
    /// What makes it binding.
    pub authority: Authority,
    /// Where that stands.
    pub citation: Citation,
    /// The scope that it is about, or several; `stream` when it is about none of them.
    pub scope: Scopes,
    /// What of a scope's lifecycle breaks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structure: Vec<Family>,
    /// How values must relate for it to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// Whether it is decided by code of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
    /// What a `native` rule looks at, in place of streams; with `head`, the kinds of answers whose head it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks_at: Vec<LooksAt>,
    /// The dialects that it binds in, with those that extend them; all dialects, when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in: Vec<String>,
    /// Clients that fail on streams that break it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Breakage>,
    /// How a server repairs it: one line in the imperative, without a full stop.
    pub fix: String,
    /// The version of the suite that brought it.
    pub since: String,
}

impl RuleMetadata {
    /// Returns what it looks at: streams, unless it says otherwise.
    pub fn looks_at(&self) -> &[LooksAt] {
        if self.looks_at.is_empty() { &[LooksAt::Stream] } else { &self.looks_at }
    }

    fn check_looks_at(&self) -> Result<(), &'static str> {
        match self.looks_at.as_slice() {
            [] => Ok(()),
            _ if !self.native => Err("only `native` rules say what they look at; others look at streams"),
            [LooksAt::Stream] => Err("rules look at streams unless they say otherwise: leave `looks_at` out"),
            [LooksAt::Head] => {
                Err("a rule that looks at heads says of which answers: add `stream` or `body`")
            }
            several if (1..several.len()).any(|at| several[..at].contains(&several[at])) => {
                Err("`looks_at` has a word twice")
            }
            _ => Ok(()),
        }
    }
}

words! {
    /// What a rule looks at. An answer of another kind cannot show whether the rule holds.
    pub enum LooksAt {
        /// The events of a stream.
        Stream,
        /// An answer that is not a stream.
        Body,
        /// Status and headers of the answer, which not every recording has.
        Head,
        /// The messages of a WebSocket.
        Socket,
    }
}

/// The scopes that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Scopes {
    /// One scope, or `stream`.
    One(String),
    /// Several scopes.
    Several(Vec<String>),
}

impl Scopes {
    /// Their names; none, when the rule is about the whole stream.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) if name == "stream" => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

words! {
    /// What can be wrong with the lifecycle of a scope.
    pub enum Family {
        /// An event of the scope, or of what lies in it, comes before the event that opens it.
        BeforeOpen,
        /// An event of the scope comes after it was closed.
        AfterClose,
        /// It is opened a second time.
        Reopened,
        /// It is closed a second time.
        ClosedAgain,
        /// It is still open when the response ends.
        NeverClosed,
        /// It is closed after what it lies in.
        ParentClosedFirst,
        /// What it lies in is of a type that cannot hold it.
        WrongParent,
        /// Its index is not the next one.
        IndexGap,
        /// The `item_id` of an event is not that of the item at its `output_index`.
        KeyMismatch,
        /// A phase comes out of turn.
        PhaseOrder,
    }

    /// What makes a rule binding.
    pub enum Authority {
        /// A normative sentence says it.
        Sentence,
        /// A constraint of the schema.
        Schema,
        /// The specification's definition of an event leaves no other meaning.
        Definition,
        /// All real vendors do so. Never a must.
        Observed,
    }
}

/// Where the authority of a rule stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The document. With a requirement: the version that `requirements/<version>.toml` is about.
    pub source: String,
    /// The heading it stands under.
    pub heading: String,
    /// Id of the requirement, which names the rule in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
}

/// A client that fails on streams that break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Breakage {
    /// The client, with its version.
    pub client: String,
    /// What it does then.
    pub failure: String,
    /// Where that was seen.
    pub source: String,
    /// The only values that break it: JSON pointers into an event with `*` for an index, the event as a whole
    /// when empty. Without, all that breaks the rule does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// Whether it fails on some of what the dialect allows that it is written for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stricter_than_dialect: bool,
}

/// How values must relate, within one occurrence of the rule's scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The value stays the same.
    Constant(Place),
    /// Two values are equal.
    Equal(Pair),
    /// Fragments, joined in order, are another value.
    Concat(Pair),
    /// No value occurs twice.
    Unique(Place),
    /// The value is one of these.
    Value(Values),
    /// Values, collected in order of their keys, are a list.
    Collect(Pair),
}

/// Values of a stream. Exactly one of `role`, `events` and `stated_by` says whose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Place {
    /// Events with this role in the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Events of these types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// The event that closes what the scope lies in, at the place that `scopes.toml` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<Holder>,
    /// JSON pointer to the value; the value that `x-lifecycle` names, when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

words! {
    /// What states the final value of a scope besides its own events.
    pub enum Holder {
        /// The event that closes the parent.
        Parent,
        /// The response in the terminal event.
        Response,
    }
}

/// Values, and what they amount to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The values.
    pub of: Place,
    /// What they must be equal to.
    pub equals: Place,
}

/// A value that is one of a few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The value.
    pub of: Place,
    /// What it can be.
    pub is: Vec<Value>,
}

impl Relation {
    /// Returns the places that it relates.
    pub fn places(&self) -> Vec<&Place> {
        match self {
            Self::Constant(of) | Self::Unique(of) | Self::Value(Values { of, .. }) => vec![of],
            Self::Equal(pair) | Self::Concat(pair) | Self::Collect(pair) => vec![&pair.of, &pair.equals],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(metadata: &str) -> String {
        format!(
            "```toml\n{metadata}\nscope = \"text\"\nfix = \"send it\"\nsince = \"0.1.0\"\n\
             citation = {{ source = \"s\", heading = \"h\" }}\n```\n# T\n\nWhy.\n\n```violation\ngolden: a/b\ndrop x\n```\n"
        )
    }

    #[test]
    fn a_page_is_a_rule() {
        let text = page(
            "level = \"must\"\nauthority = \"definition\"\nrelation = { concat = { of = { role = \"delta\" }, equals = { stated_by = \"parent\" } } }",
        );
        let rule = Rule::parse("text/joined", &text).unwrap();
        assert_eq!(rule.metadata.relation.unwrap().places().len(), 2);
        assert_eq!((rule.title.as_str(), rule.prose.as_str()), ("T", "Why."));
        assert_eq!(rule.violation.golden, "a/b");
    }

    #[test]
    fn a_rule_is_about_a_scope_or_several_or_the_stream() {
        for (scope, names) in [
            ("\"text\"", vec!["text"]),
            ("[\"text\", \"part\"]", vec!["text", "part"]),
            ("\"stream\"", vec![]),
        ] {
            let text = page(
                "level = \"may\"\nauthority = \"observed\"\nstructure = [\"after-close\", \"closed-again\"]",
            )
            .replace("scope = \"text\"", &format!("scope = {scope}"));
            let metadata = Rule::parse("a/b", &text).unwrap().metadata;
            assert_eq!(metadata.scope.names(), names);
            assert_eq!(metadata.structure, [Family::AfterClose, Family::ClosedAgain]);
        }
    }

    #[test]
    fn a_rule_says_how_it_is_repaired() {
        let text = page("level = \"may\"\nauthority = \"observed\"\nnative = true");
        for (fix, message) in
            [("", "`fix` is one line"), ("Send it", "begins with a verb"), ("send it.", "no full stop")]
        {
            let error = Rule::parse("a/b", &text.replace("\"send it\"", &format!("{fix:?}"))).unwrap_err();
            assert!(error.message.contains(message), "{fix:?}: {error}");
        }
        let error = Rule::parse("a/b", &text.replace("fix = \"send it\"\n", "")).unwrap_err();
        assert!(error.message.contains("missing field `fix`"), "{error}");
    }

    #[test]
    fn contradictions_are_errors() {
        let cases = [
            ("level = \"must\"\nauthority = \"observed\"\nnative = true", "observed"),
            ("level = \"off\"\nauthority = \"schema\"\nnative = true", "turn it off"),
            ("level = \"may\"\nauthority = \"schema\"", "how the rule is decided"),
            (
                "level = \"may\"\nauthority = \"schema\"\nnative = true\nrelation = { unique = { role = \"open\" } }",
                "one of these",
            ),
            (
                "level = \"may\"\nauthority = \"schema\"\nnative = true\nstructure = [\"reopened\"]",
                "one of these",
            ),
            ("level = \"may\"\nauthority = \"schema\"\nstructure = [\"lost\"]", "unknown variant `lost`"),
            ("level = \"may\"\nauthority = \"hearsay\"\nnative = true", "unknown variant `hearsay`"),
            (
                "level = \"may\"\nauthority = \"schema\"\nstructure = [\"reopened\"]\nlooks_at = [\"body\"]",
                "others look at streams",
            ),
            (
                "level = \"may\"\nauthority = \"schema\"\nnative = true\nlooks_at = [\"stream\"]",
                "leave `looks_at` out",
            ),
            (
                "level = \"may\"\nauthority = \"schema\"\nnative = true\nlooks_at = [\"head\"]",
                "of which answers",
            ),
            (
                "level = \"may\"\nauthority = \"schema\"\nnative = true\nlooks_at = [\"body\", \"head\", \"body\"]",
                "a word twice",
            ),
        ];
        for (metadata, message) in cases {
            let error = Rule::parse("a/b", &page(metadata)).unwrap_err();
            assert!(error.message.contains(message), "{metadata}: {error}");
        }
    }
}
