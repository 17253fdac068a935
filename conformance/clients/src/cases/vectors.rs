//! Test vectors: responses with their verdicts, for programs that read them without this suite.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Expect, groups};
use checker::{Answer, Finding, Rules};
use gateway::{Act, End};
use recordings::capture::{Format, base64_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spec::Dialect;

use super::case::PlayedCase;
use super::played::Plays;
use super::{cases, measured_cases};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const VECTORS_VERSION: u32 = 1;

/// The responses of one API, each with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Vectors {
    /// Version of this format.
    pub vectors_version: u32,
    /// Version of the suite.
    pub suite: String,
    /// The API: `responses`, `messages` or `chat`.
    pub api: String,
    /// The dialect by whose rules they are judged.
    pub dialect: String,
    /// The rules that vectors break, by id.
    pub rules: BTreeMap<String, VectorRule>,
    /// The vectors, sorted by id.
    pub vectors: Vec<Vector>,
}

/// A rule that vectors break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorRule {
    /// Requirement of the rule.
    pub title: String,
    /// Citation of the requirement.
    pub authority: String,
}

/// A response with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Vector {
    /// Its id, which never gets another meaning.
    pub id: String,
    /// Description in one line.
    pub comment: String,
    /// The verdict.
    pub result: VectorResult,
    /// Expected behavior of a client: `must-survive` (return the content), `must-report` (report an error), or `either`.
    pub client: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The rules that it breaks, the first in the response first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<VectorFlag>,
    /// Body of the request.
    #[cfg_attr(feature = "schemas", schemars(with = "serde_json::Map<String, Value>"))]
    pub request: Value,
    /// The response.
    pub response: VectorResponse,
    /// Correct contents: a client that reports no error has to return one of them. Empty if only an error is right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<VectorContent>,
}

/// The verdict on a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VectorResult {
    /// It breaks no rule.
    Valid,
    /// It breaks rules whose level is not `must`.
    Acceptable,
    /// It breaks a rule of the level `must`.
    Invalid,
}

/// A rule that a response breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorFlag {
    /// Its id.
    pub rule: String,
    /// The level of this finding: `must`, `should` or `may`.
    pub level: String,
    /// The number of the event at fault, counted from 1; absent if the whole response is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Description of the violation.
    pub message: String,
    /// Published clients that it was measured to break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
}

/// A response as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorResponse {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<[String; 2]>,
    /// Its body, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Its body in base64, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// Whether the connection breaks behind the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub breaks_off: bool,
}

/// Content of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorContent {
    /// Its whole text.
    pub text: String,
    /// Its refusal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refusal: String,
    /// The text of its reasoning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls that the client answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<VectorCall>,
    /// Why it ended, in the words of its API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorCall {
    /// Its id.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

/// Returns the vectors of a dialect: every case that is one response over HTTP, and of the streams with wrong members those
/// that lack one.
pub fn vectors(dialect: &'static Dialect) -> Vectors {
    let rules = Rules::of(dialect);
    let mut broken: BTreeMap<String, VectorRule> = BTreeMap::new();
    let is_lacking =
        |case: &&PlayedCase| !case.name.starts_with(groups::MEMBER) || case.name.ends_with("=absent");
    let measured = measured_cases(dialect);
    let all = cases(dialect).iter().chain(measured.iter().filter(is_lacking));
    let judged: Vec<(&PlayedCase, &Act, Vec<Finding>)> = all
        .filter_map(|case| {
            let act = response(case)?;
            Some((case, act, findings(act, &rules)))
        })
        .collect();
    // Goldens of another dialect say nothing of this one, nor do their edits.
    let is_foreign =
        |name: &str, findings: &[Finding]| name.starts_with(groups::SOUND) && !findings.is_empty();
    let foreign: BTreeSet<&str> = judged
        .iter()
        .filter(|(case, _, found)| is_foreign(&case.name, found))
        .map(|(case, ..)| &*case.name)
        .collect();
    let is_own = |case: &PlayedCase| {
        !foreign.contains(&*case.name)
            && case.control.as_deref().is_none_or(|control| !foreign.contains(control))
    };
    let mut vectors: Vec<Vector> = judged
        .iter()
        .filter(|(case, ..)| is_own(case))
        .map(|(case, act, findings)| vector(case, act, findings, &mut broken))
        .collect();
    vectors.sort_by(|one, other| one.id.cmp(&other.id));
    Vectors {
        vectors_version: VECTORS_VERSION,
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        api: dialect.api.name.to_owned(),
        dialect: dialect.name.to_owned(),
        rules: broken,
        vectors,
    }
}

fn response(case: &PlayedCase) -> Option<&Act> {
    let is_alone = case.turns.is_empty() && case.max_retries().is_none() && case.cancel_after.is_none();
    match &case.plays {
        Plays::Http(act) if is_alone && matches!(act.end, End::Whole | End::Break) => Some(act),
        Plays::Http(_) | Plays::Socket(_) => None,
    }
}

fn findings(act: &Act, rules: &Rules) -> Vec<Finding> {
    recordings::check("vector", &mut &*act.recording(), Some(Format::Http), rules).findings
}

fn vector(
    case: &PlayedCase,
    act: &Act,
    findings: &[Finding],
    rules: &mut BTreeMap<String, VectorRule>,
) -> Vector {
    for finding in findings {
        let Some(rule) = catalogue::rule(&finding.rule) else { continue };
        let authority = rule.in_api(&finding.api).citation.to_string();
        let title = rule.title.to_owned();
        rules.entry(finding.rule.to_string()).or_insert(VectorRule { title, authority });
    }
    let (body, body_base64) = match String::from_utf8(act.body()) {
        Ok(text) => (Some(text), None),
        Err(error) => (None, Some(base64_of(error.as_bytes()))),
    };
    let worst = findings.iter().map(|finding| finding.level).max();
    Vector {
        id: case.name.clone(),
        comment: case.title.clone(),
        result: match worst {
            None => VectorResult::Valid,
            Some(catalogue::Level::Must) => VectorResult::Invalid,
            Some(_) => VectorResult::Acceptable,
        },
        client: case.expect.name().to_owned(),
        reason: case.reason.clone(),
        flags: findings.iter().map(flag).collect(),
        request: case.request.clone(),
        response: VectorResponse {
            status: act.status,
            headers: act.headers.iter().map(|(name, value)| [name.clone(), value.clone()]).collect(),
            body,
            body_base64,
            breaks_off: act.end == End::Break,
        },
        contents: case.answers.iter().filter(|_| case.expect != Expect::MustReport).map(content).collect(),
    }
}

fn flag(finding: &Finding) -> VectorFlag {
    VectorFlag {
        rule: finding.rule.to_string(),
        level: finding.level.name().to_owned(),
        event: Some(finding.place.event).filter(|event| *event > 0),
        message: finding.message.clone(),
        breaks: finding.measured_breaks().into_iter().map(str::to_owned).collect(),
    }
}

fn content(answer: &Answer) -> VectorContent {
    let call = |call: &checker::ToolCall| VectorCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    VectorContent {
        text: answer.text(),
        refusal: answer.refusal.clone(),
        reasoning: answer.reasoning.clone(),
        calls: answer.calls.iter().map(call).collect(),
        status: answer.status.clone(),
    }
}
