//! Emits the catalogue: rules, scenarios, profiles and requirements.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::impact::{self, Measurement};
use crate::catalogue::Catalogue;
use crate::formats::{
    About, AfterRefusal, Agent, AgentFault, AgentProfile, Authority, BetweenCase, BetweenLeniency,
    BetweenLimit, Breakage, Channel, Citation, Client, ClientCase, ClientFailure, ClientProfile,
    ClientRetries, ClientStep, Constant, ContractClause, Coverage, DecidedBy, Edit, Ending, Expect, Family,
    FaultPlaces, HandlingMode, Log, LogRow, LooksAt, NativeRule, OnSocket, Operand, Profile, Reaction,
    Refusal, Relation, Requirement, RequirementLevel, Rule, RuleInApi, Scenario, Scopes, SessionCase, Side,
    SilentPlace, Step, Target, TestRule, UpstreamFault, Violation, WaitForm, Who, Whose, Writes, groups,
};
use crate::names;

/// Emits the types and their values, and an enum of the native rules.
pub fn catalogue(catalogue: &Catalogue) -> TokenStream {
    let declarations = declarations! {
        About AfterRefusal Agent AgentFault AgentProfile Authority BetweenCase BetweenLimit BetweenLeniency TestRule Breakage Channel Citation
        Client ClientCase ClientFailure ClientProfile ClientRetries ClientStep ContractClause Coverage DecidedBy Edit
        Ending Expect Family FaultPlaces HandlingMode Log LogRow LooksAt Measurement OnSocket Operand Profile Reaction Refusal Relation
        Requirement RequirementLevel Rule RuleInApi Scenario SessionCase Side SilentPlace Step Target UpstreamFault Violation WaitForm Who
        Whose Writes
    };
    let native = catalogue.rules.values().filter(|rule| rule.native).map(|rule| {
        let (name, doc) = (variant(&rule.id), format!(" `{}`: {}.", rule.id, rule.title));
        quote!(#[doc = #doc] #name,)
    });
    let rules = list(catalogue.rules.values().map(|rule| {
        let mut rule = rule.clone();
        for own in &mut rule.in_apis {
            let of_api = catalogue.impact.get(&own.api);
            let measured = of_api.into_iter().flat_map(|file| impact::breakages(file, &rule.id));
            own.breaks = measured.chain(own.breaks.drain(..)).collect();
        }
        rule
    }));
    let mut client_cases: Vec<ClientCase> = catalogue.client_cases.clone();
    client_cases.extend(catalogue.defects.defects.iter().map(|defect| {
        let rule = defect.rules.first().and_then(|id| catalogue.rules.get(id));
        defect.client_case(rule)
    }));
    client_cases.sort_by(|one, other| (&one.id, &one.api).cmp(&(&other.id, &other.api)));
    let client_cases = client_cases.expression();
    let clients = catalogue.measured.values().flat_map(|file| &file.clients);
    let clients = list(clients.map(|client| impact::client(client, catalogue.impact.get(&client.api))));
    let measured = catalogue.impact.iter().map(|(api, file)| {
        let table = impact::table(file).expression();
        quote!((#api, #table))
    });
    let files = || catalogue.requests.values();
    let requests = files().flat_map(|file| &file.requests).flat_map(|request| {
        let body = request.body.to_string();
        request.goldens.iter().map(move |golden| quote!((#golden, #body)))
    });
    let reordered = files().flat_map(|file| &file.reordered);
    let groups = [
        ("DEFECT", groups::DEFECT),
        ("FAULT", groups::FAULT),
        ("MEMBER", groups::MEMBER),
        ("ORDER", groups::ORDER),
        ("SOUND", groups::SOUND),
    ];
    let groups = groups.map(|(name, prefix)| {
        let (name, doc) = (names::ident(name), format!(" Prefix of the streams `{prefix}`."));
        quote!(#[doc = #doc] pub const #name: &str = #prefix;)
    });
    let scenarios = list(catalogue.scenarios.values().cloned());
    let profiles = list(catalogue.profiles.values().cloned());
    let client_profiles = list(catalogue.client_profiles.values().cloned());
    let between_cases = list(catalogue.between_cases.values().cloned());
    let between_profiles = list(catalogue.between_profiles.values().cloned());
    let between_rules = list(catalogue.between_rules.values().cloned());
    let refusals = catalogue.refusals.refusals.expression();
    let [agents, agent_faults] = [catalogue.agents.agents.expression(), catalogue.agents.faults.expression()];
    let contract = catalogue.contract.clauses.expression();
    let client_rules = list(catalogue.client_rules.values().cloned());
    let log_rules = list(catalogue.log_rules.values().cloned());
    let logs = list(catalogue.logs.values().cloned());
    let client_contract = catalogue.client_contract.clauses.expression();
    let between_limits = catalogue.between_limits.limits.expression();
    let between_leniencies = catalogue.between_limits.leniencies.expression();
    let features =
        catalogue.features.iter().map(|(name, title)| quote!(Feature { name: #name, title: #title }));
    let requirements = list(catalogue.requirements.values().flat_map(|file| file.requirements.clone()));
    quote! {
        #(#declarations)*

        /// A rule with code of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum NativeRule { #(#native)* }

        /// All rules, sorted by id.
        pub static RULES: &[Rule] = #rules;

        /// All clients with known behaviour.
        pub static CLIENTS: &[Client] = #clients;

        /// The outcomes of clients, by API, sorted by kinds of findings.
        pub static MEASURED: &[(&str, &[Measurement])] = &[#(#measured),*];

        /// The groups of streams that are played to clients.
        pub mod groups { #(#groups)* }

        /// The requests, as JSON, that clients send for goldens: `<dialect>/<name>`, and the body.
        pub static REQUESTS: &[(&str, &str)] = &[#(#requests),*];

        /// The goldens whose events are put out of order.
        pub static REORDERED: &[&str] = &[#(#reordered),*];

        /// All scenarios, sorted by id.
        pub static SCENARIOS: &[Scenario] = #scenarios;

        /// All cases for clients, sorted by id and API, except those that follow from rules.
        pub static CLIENT_CASES: &[ClientCase] = #client_cases;

        /// All cases of what passes through a gateway, sorted by id.
        pub static BETWEEN_CASES: &[BetweenCase] = #between_cases;

        /// All agents as they ask, sorted by id.
        pub static AGENT_PROFILES: &[AgentProfile] = #between_profiles;

        /// All rules about what passes through a gateway, sorted by id.
        pub static BETWEEN_RULES: &[TestRule] = #between_rules;

        /// The contract of gateways with both of their ends.
        pub static CONTRACT: &[ContractClause] = #contract;

        /// The agents that were run with faults.
        pub static AGENTS: &[Agent] = #agents;

        /// Their reactions to each.
        pub static AGENT_FAULTS: &[AgentFault] = #agent_faults;

        /// The refusals that agents recover from, in the order of their search.
        pub static REFUSALS: &[Refusal] = #refusals;

        /// All rules about clients, sorted by id.
        pub static CLIENT_RULES: &[TestRule] = #client_rules;

        /// The contract of clients with their callers and with servers.
        pub static CLIENT_CONTRACT: &[ContractClause] = #client_contract;

        /// All rules about rows of logs, sorted by id.
        pub static LOG_RULES: &[TestRule] = #log_rules;

        /// All logs that are read.
        pub static LOGS: &[Log] = #logs;

        /// The limits of pairs of APIs.
        pub static BETWEEN_LIMITS: &[BetweenLimit] = #between_limits;

        /// The demands of published schemas of requests that servers do not make.
        pub static BETWEEN_LENIENCIES: &[BetweenLeniency] = #between_leniencies;

        /// All features, by name.
        pub static FEATURES: &[Feature] = &[#(#features),*];

        /// All profiles, sorted by name.
        pub static PROFILES: &[Profile] = #profiles;

        /// All profiles of clients, sorted by name.
        pub static CLIENT_PROFILES: &[ClientProfile] = #client_profiles;

        /// All normative sentences, by version of the specification and in its order.
        pub static REQUIREMENTS: &[Requirement] = #requirements;
    }
}

fn list<T: Constant>(values: impl Iterator<Item = T>) -> TokenStream {
    values.collect::<Vec<T>>().expression()
}

fn variant(name: &str) -> Ident {
    names::ident(&names::pascal(name))
}

impl Constant for Scopes {
    fn of() -> TokenStream {
        quote!(&'static [Scope])
    }

    fn expression(&self) -> TokenStream {
        let scopes = self.names().iter().map(|name| variant(name));
        quote!(&[#(Scope::#scopes),*])
    }
}

impl Constant for NativeRule {
    fn of() -> TokenStream {
        quote!(NativeRule)
    }

    fn expression(&self) -> TokenStream {
        let name = variant(&self.0);
        quote!(NativeRule::#name)
    }
}

#[cfg(all(test, feature = "show"))]
mod tests {
    use super::*;

    #[test]
    fn pages_become_rows() {
        let page = "```toml\nlevel = \"must\"\nauthority = \"definition\"\nscope = \"text\"\nfix = \"send it\"\nsince = \"0.1.0\"\n\
            citation = { source = \"s\", heading = \"h\" }\n\
            relation = { concat = { of = { role = \"delta\" }, equals = { stated_by = \"parent\" } } }\n```\n\
            # Title\n\nWhy.\n\n```violation\ngolden: a/b\nalso: c/d\ndrop x#2\nreplace [DONE] <ff> \"\"\n```\n";
        let rule = Rule::parse("text/joined", page).unwrap();
        let file = Catalogue { rules: [("text/joined".to_owned(), rule)].into(), ..Catalogue::default() };
        let text = super::super::format(&catalogue(&file));
        for expected in [
            "scopes: &[Scope::Text]",
            "fix: \"send it\"",
            "of: Whose::Role(Role::Delta)",
            "of: Whose::Parent",
            "also: &[\"c/d\"]",
            "number: Some(2usize)",
            "b\"\\xFF\"",
        ] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
    }
}
