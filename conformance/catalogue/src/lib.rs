//! Rules, scenarios, profiles and requirements, as data.
//!
//! Values and types are generated: the values from pages and tables in the folder of the specification, the types from
//! those that `codegen::formats` reads them into. They are in a separate crate, so that a changed sentence does not
//! recompile the dialects.

mod features;
mod reached;
mod recorded;

use core::fmt;

use spec::table::{Mark, Operation, Role, Scope};
use spec::{Api, Dialect};

pub use features::Feature;
pub use reached::{Reached, VALUES, reached};
pub use recorded::{Recorded, recorded};
pub use spec::table::Level;

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

impl Rule {
    /// Returns the group of the rule.
    pub fn group(&self) -> &'static str {
        group(self.id)
    }

    /// Returns whether it is about something that a dialect has: its API, and the dialect or one that it extends.
    pub fn applies_to(&self, dialect: &Dialect) -> bool {
        self.in_apis.iter().any(|own| is_of(dialect, Some(own.api)))
            && (self.only_in.is_empty() || self.only_in.iter().any(|name| dialect.is_or_extends(name)))
    }

    /// Returns what it is in an API, which is empty in older reports; in another one if it does not judge this one.
    pub fn in_api(&self, api: &str) -> &'static RuleInApi {
        let of = |name: &str| self.in_apis.iter().find(|own| own.api == name);
        of(named_api(api)).or_else(|| of(FIRST_API)).unwrap_or(&self.in_apis[0])
    }

    /// Returns what it is in the API of a dialect, or of one that it extends.
    pub fn in_dialect(&self, dialect: &Dialect) -> &'static RuleInApi {
        let own = self.in_apis.iter().find(|own| is_of(dialect, Some(own.api)));
        own.unwrap_or_else(|| self.in_api(dialect.api.name))
    }

    /// Returns its level in the API of a dialect, which the dialect can change.
    pub fn level_in(&self, dialect: &Dialect) -> Level {
        self.in_dialect(dialect).level.unwrap_or(self.level)
    }
}

/// Returns all rules in each of the APIs that they judge.
pub fn rules_in_apis() -> impl Iterator<Item = (&'static Rule, &'static RuleInApi)> {
    RULES.iter().flat_map(|rule| rule.in_apis.iter().map(move |own| (rule, own)))
}

impl RuleInApi {
    /// Returns the fix of a finding of a form, which may be empty.
    pub fn fix_of(&self, form: &str) -> &'static str {
        self.fixes.iter().find(|(of, _)| *of == form).map_or(self.fix, |(_, fix)| fix)
    }

    /// Returns its fix in one line, followed by the fixes for special cases.
    pub fn every_fix(&self) -> String {
        let others = self.fixes.iter().map(|(form, fix)| format!(" (if {form}: {fix})"));
        std::iter::once(self.fix.to_owned()).chain(others).collect()
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

impl BetweenCase {
    /// The agents that play it.
    pub fn played_by(&self) -> impl Iterator<Item = &'static AgentProfile> {
        let is_in = |profile: &&AgentProfile| {
            self.session.as_ref().is_some_and(|session| {
                let can_help = session.helper.is_empty() || profile.helper.is_some();
                can_help && (session.profiles.is_empty() || session.profiles.contains(&profile.name()))
            })
        };
        AGENT_PROFILES.iter().filter(is_in)
    }

    /// The number of the answer that faults replace.
    pub const fn fault_at(&self) -> usize {
        match &self.session {
            Some(session) => session.fault_at as usize,
            None => 0,
        }
    }
}

impl AgentProfile {
    /// The API that it speaks.
    pub fn api(&self) -> &'static str {
        group(self.id)
    }

    /// Its name. The same agent over other APIs has it, too.
    pub fn name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// The agent that was run with faults.
    pub fn agent(&self) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.id == self.agent)
    }

    /// The agent, its version, and the day of its requests.
    pub fn words(&self) -> String {
        let version = self.agent().map_or("", |agent| agent.version);
        format!("{} {version} ({})", self.title, self.recorded)
    }
}

/// The rule about gateways with this id.
pub fn between_rule(id: &str) -> Option<&'static TestRule> {
    BETWEEN_RULES.iter().find(|rule| rule.id == id)
}

/// The rule about clients with this id.
pub fn client_rule(id: &str) -> Option<&'static TestRule> {
    CLIENT_RULES.iter().find(|rule| rule.id == id)
}

/// The rule about logs with this id.
pub fn log_rule(id: &str) -> Option<&'static TestRule> {
    LOG_RULES.iter().find(|rule| rule.id == id)
}

/// The rules about gateways, about clients, and about logs.
pub fn test_rules() -> impl Iterator<Item = &'static TestRule> {
    BETWEEN_RULES.iter().chain(CLIENT_RULES).chain(LOG_RULES)
}

impl TestRule {
    /// Returns the clause of the contract on which it rests.
    pub fn contract(&self) -> Option<&'static ContractClause> {
        CONTRACT.iter().chain(CLIENT_CONTRACT).find(|clause| Some(clause.id) == self.clause)
    }

    /// Returns the path of its page in the repository.
    pub fn page(&self) -> String {
        let folder = match group(self.id) {
            "log" => "log-rules",
            _ if client_rule(self.id).is_some() => "client-rules",
            _ => "between/rules",
        };
        format!("spec/{folder}/{}.md", self.id)
    }

    /// Returns what it rests on, in one line: the clause with what it owes, and the documents.
    pub fn foundation(&self) -> String {
        let clause = self.contract().map(|clause| format!("contract, {}: {}", clause.id, clause.owes));
        let documents: Vec<String> = self.citations.iter().map(Citation::to_string).collect();
        let documents = Some(documents.join("; ")).filter(|documents| !documents.is_empty());
        clause.into_iter().chain(documents).collect::<Vec<_>>().join(" ")
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is generated, and few of its kind have a default")]
impl Default for Ending {
    fn default() -> Self {
        Self::Whole
    }
}

impl Scenario {
    /// Returns the scenario whose response it continues or refers to, in its own API.
    pub fn before(&self) -> Option<&'static Self> {
        let named = scenarios(self.previous?);
        named.iter().find(|before| before.api == self.api).or(named.first())
    }

    /// Returns whether it is a request of the API of a dialect.
    pub fn applies_to(&self, dialect: &Dialect) -> bool {
        is_of(dialect, self.api)
    }
}

/// A dialect is of the API, too, if one that it extends is. Without an API, all are.
fn is_of(dialect: &Dialect, api: Option<&str>) -> bool {
    let mut parents = dialect.lineage.iter().filter_map(|name| spec::dialect(name));
    api.is_none_or(|api| dialect.api.name == api || parents.any(|parent| parent.api.name == api))
}

/// The agents of an API that are harmed by what breaks a rule, and how, a sentence each.
pub fn agents_harmed<'r>(
    api: &'r str,
    rule: &'r str,
) -> impl Iterator<Item = (&'static Agent, String)> + use<'r> {
    let faults = AGENT_FAULTS.iter().filter(move |fault| fault.rules.contains(&rule));
    faults.flat_map(move |fault| {
        fault.reactions.iter().filter_map(move |reaction| {
            let agent = AGENTS.iter().find(|agent| agent.id == reaction.agent && agent.api == api)?;
            let Agent { title, version, .. } = agent;
            Some((agent, format!("{title} {version}, after {}: {}", fault.after, reaction.harm?)))
        })
    })
}

/// Returns the group of a rule or scenario with this id, `group/name`.
pub fn group(id: &str) -> &str {
    id.split_once('/').map_or(id, |(group, _)| group)
}

impl fmt::Display for Citation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}, {}", self.source, self.heading)?;
        self.requirement.map_or(Ok(()), |id| write!(to, " ({id})"))
    }
}

impl Measurement {
    /// Returns what a client does.
    pub fn outcome(&self, client: &Client) -> Measured {
        let Some(column) = client.column else { return Measured::NotPlayed };
        let detail = || self.details.iter().find(|(of, _)| *of == column).map_or("", |(_, detail)| *detail);
        match self.outcomes.as_bytes().get(column) {
            Some(b'x') => Measured::Fails(detail()),
            Some(b'w') => Measured::Wrong(detail()),
            Some(b'p') => Measured::PassesOn(detail()),
            Some(b'r') => Measured::Reports,
            Some(b'.') => Measured::Unaffected,
            Some(b'v') => Measured::Varies,
            _ => Measured::NotPlayed,
        }
    }
}

/// Words in kinds of events with calls: they never share a measurement with texts.
pub const CALLS: [&str; 9] = [
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "input",
    "tool_call",
    "arguments",
    "function_call",
    "custom_tool_call",
    "mcp_call",
];

/// The same of events with errors.
pub const ERRORS: [&str; 1] = ["error"];

/// Whatever was measured with streams that have findings of these kinds, which are sorted.
pub fn measurement(api: &str, kinds: &[String]) -> Option<&'static Measurement> {
    let (_, table) = MEASURED.iter().find(|(name, _)| *name == named_api(api))?;
    let own = || kinds.iter().map(String::as_str);
    table.binary_search_by(|row| row.kinds.iter().copied().cmp(own())).ok().map(|at| &table[at])
}

/// The API of reports that name none, from before there were others.
const FIRST_API: &str = "responses";

/// Older reports leave the name out.
fn named_api(api: &str) -> &str {
    if api.is_empty() { FIRST_API } else { api }
}

impl Client {
    /// Returns whether it reads an API, whose name is empty in older reports.
    pub fn is_of(&self, api: &str) -> bool {
        self.api == named_api(api)
    }
}

/// Returns the request that clients send for a golden, `<dialect>/<name>`, without `stream`, as JSON.
pub fn request(golden: &str) -> Option<&'static str> {
    REQUESTS.iter().find(|(name, _)| *name == golden).map(|(_, request)| *request)
}

/// The outcome of a client for streams with the same kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// It fails, with this error.
    Fails(&'static str),
    /// Its result is wrong, in this way.
    Wrong(&'static str),
    /// It passes on what the server changed.
    PassesOn(&'static str),
    /// It reports an error of the server, as it should.
    Reports,
    /// Its result is the same as for the intact stream.
    Unaffected,
    /// It does one thing on some of the streams, and another on others.
    Varies,
    /// It was not played enough of them.
    NotPlayed,
}

impl Requirement {
    /// Returns its name, unique across all versions.
    pub fn name(&self) -> String {
        format!("{}#{}", self.version, self.id)
    }

    /// Returns the requirement with this name. A name without a version refers to the dialect's version, or else to the
    /// latest one.
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

/// Returns the rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    RULES.get(at)
}

/// Returns the client with this name.
pub fn client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

/// Returns the scenario with this id. Where several APIs have it, only the request and the demands on its response differ.
pub fn scenario(id: &str) -> Option<&'static Scenario> {
    let all = scenarios(id);
    all.iter().find(|scenario| scenario.api == Some(FIRST_API)).or(all.first())
}

/// Returns the scenario with this id in the API of a dialect.
pub fn scenario_in(id: &str, dialect: &Dialect) -> Option<&'static Scenario> {
    scenarios(id).iter().find(|scenario| scenario.applies_to(dialect))
}

/// Returns the pages of a scenario, one for each API that has it.
pub fn scenarios(id: &str) -> &'static [Scenario] {
    let from = SCENARIOS.partition_point(|scenario| scenario.id < id);
    let rest = SCENARIOS.get(from..).unwrap_or_default();
    rest.split_at(rest.partition_point(|scenario| scenario.id == id)).0
}

impl Profile {
    /// Returns whether it is about an API.
    pub fn is_of(&self, api: &Api) -> bool {
        self.specifications
            .iter()
            .filter_map(|name| spec::dialect(name))
            .any(|dialect| dialect.api.name == api.name)
    }

    /// Returns the scenario with this id in the API that the profile is about.
    pub fn scenario(&self, id: &str) -> Option<&'static Scenario> {
        let dialect = self.specifications.first().and_then(|name| spec::dialect(name));
        dialect.map_or_else(|| scenario(id), |dialect| scenario_in(id, dialect))
    }
}
