//! Emits the catalogue: rules, scenarios, profiles and requirements.

use proc_macro2::TokenStream;
use quote::quote;

use super::edit::edit;
use super::measured::Effects;
use super::names;
use super::words::{declare, word};
use crate::catalogue::Catalogue;
use crate::formats::{
    About, Authority, Breakage, Channel, ClientProfileFile, Coverage, Ending, Expect, Family, Holder,
    LooksAt, OnSocket, Operand, Pair, ProfileFile, Relation, Requirement, RequirementLevel, RequirementsFile,
    Rule, RuleMetadata, Scenario, ScenarioMetadata, Side, Step, Values, Violation, Who,
};

/// Emits the tables, and an enum of the native rules.
pub fn catalogue(catalogue: &Catalogue) -> TokenStream {
    let native = catalogue.rules.values().filter(|rule| rule.metadata.native);
    let native = native.map(|rule| {
        let (name, doc) =
            (names::ident(&names::pascal(&rule.id)), format!(" `{}`: {}.", rule.id, rule.title));
        quote!(#[doc = #doc] #name,)
    });
    let effects = Effects::of(catalogue);
    let rules = catalogue.rules.values().map(|page| rule(page, &effects));
    let scenarios = catalogue.scenarios.values().map(scenario);
    let profiles = catalogue.profiles.iter().map(|(name, file)| profile(name, file));
    let client_profiles = catalogue.client_profiles.iter().map(|(name, file)| client_profile(name, file));
    let (clients, measured) = (effects.clients(), effects.table());
    let client_cases = super::client_case::client_cases(catalogue);
    let requirements = catalogue
        .requirements
        .iter()
        .flat_map(|(version, file)| file.requirements.iter().map(|one| requirement(version, file, one)));
    let words = [
        declare::<About>(),
        declare::<Authority>(),
        declare::<Channel>(),
        declare::<Ending>(),
        declare::<Expect>(),
        declare::<Family>(),
        declare::<LooksAt>(),
        declare::<OnSocket>(),
        declare::<RequirementLevel>(),
        declare::<Side>(),
        declare::<Step>(),
        declare::<Who>(),
    ];
    quote! {
        #(#words)*

        /// A rule with code of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum NativeRule { #(#native)* }

        /// All rules, sorted by id.
        pub static RULES: &[Rule] = &[#(#rules),*];

        /// All clients with known behaviour.
        pub static CLIENTS: &[Client] = #clients;

        /// What the measured clients do with each kind of finding, sorted by kind.
        pub static MEASURED: &[Measurement] = #measured;

        /// All scenarios, sorted by id.
        pub static SCENARIOS: &[Scenario] = &[#(#scenarios),*];

        /// All cases for clients, sorted by id, except those that follow from rules.
        pub static CLIENT_CASES: &[ClientCase] = &[#(#client_cases),*];

        /// All profiles, sorted by name.
        pub static PROFILES: &[Profile] = &[#(#profiles),*];

        /// All profiles of clients, sorted by name.
        pub static CLIENT_PROFILES: &[ClientProfile] = &[#(#client_profiles),*];

        /// All normative sentences, by version of the specification and in its order.
        pub static REQUIREMENTS: &[Requirement] = &[#(#requirements),*];
    }
}

fn rule(rule: &Rule, effects: &Effects<'_>) -> TokenStream {
    let Rule { id, metadata, title, prose, violation: edits } = rule;
    let level = word(metadata.level);
    let authority = word(metadata.authority);
    let (source, heading) = (&metadata.citation.source, &metadata.citation.heading);
    let requirement = super::tables::option_text(metadata.citation.requirement.as_deref());
    let (scopes, exercised_by) = (scopes(metadata.scope.names()), scopes(metadata.exercised_by()));
    let (decided_by, only_in) = (decided_by(id, metadata), &metadata.only_in);
    let told = metadata.breaks.iter().cloned().map(|one| (one, true));
    let breaks = effects.breakages(id).into_iter().map(|one| (one, false)).chain(told);
    let breaks = breaks.map(|(one, is_reported)| {
        let Breakage { client, failure, source, at } = one;
        quote!(Breakage {
            client: #client,
            failure: #failure,
            source: #source,
            at: &[#(#at),*],
            is_reported: #is_reported,
        })
    });
    let looks_at = metadata.looks_at().iter().map(|what| word(*what));
    let about = metadata.about.iter().map(|part| word::<About>(*part));
    let (only_named, tokens) = (metadata.only_named, &metadata.tokens);
    let (fix, since, violation) = (&metadata.fix, &metadata.since, violation(edits));
    quote! {
        Rule {
            id: #id,
            level: #level,
            authority: #authority,
            citation: Citation { source: #source, heading: #heading, requirement: #requirement },
            scopes: #scopes,
            decided_by: #decided_by,
            looks_at: &[#(#looks_at),*],
            exercised_by: #exercised_by,
            only_named: #only_named,
            only_in: &[#(#only_in),*],
            about: &[#(#about),*],
            tokens: &[#(#tokens),*],
            breaks: &[#(#breaks),*],
            fix: #fix,
            since: #since,
            title: #title,
            prose: #prose,
            violation: #violation,
        }
    }
}

fn scopes(names: &[String]) -> TokenStream {
    let scopes = names.iter().map(|name| names::ident(&names::pascal(name)));
    quote!(&[#(Scope::#scopes),*])
}

fn decided_by(id: &str, metadata: &RuleMetadata) -> TokenStream {
    if let Some(by) = &metadata.relation {
        let by = relation(by);
        quote!(DecidedBy::Relation(#by))
    } else if metadata.native {
        let name = names::ident(&names::pascal(id));
        quote!(DecidedBy::Code(NativeRule::#name))
    } else {
        let families = metadata.structure.iter().map(|one| word(*one));
        quote!(DecidedBy::Structure(&[#(#families),*]))
    }
}

fn relation(relation: &Relation) -> TokenStream {
    match relation {
        Relation::Constant(of) => {
            let of = place(of);
            quote!(Relation::Constant(#of))
        }
        Relation::Unique(of) => {
            let of = place(of);
            quote!(Relation::Unique(#of))
        }
        Relation::Equal(Pair { of, equals }) => {
            let (of, equals) = (place(of), place(equals));
            quote!(Relation::Equal { of: #of, equals: #equals })
        }
        Relation::Concat(Pair { of, equals }) => {
            let (of, equals) = (place(of), place(equals));
            quote!(Relation::Concat { of: #of, equals: #equals })
        }
        Relation::Collect(Pair { of, equals }) => {
            let (of, equals) = (place(of), place(equals));
            quote!(Relation::Collect { of: #of, equals: #equals })
        }
        Relation::Value(Values { of, is }) => {
            let (of, is) = (place(of), is.iter().map(ToString::to_string));
            quote!(Relation::Value { of: #of, is: &[#(#is),*] })
        }
    }
}

fn place(place: &Operand) -> TokenStream {
    let at = super::tables::option_text(place.at.as_deref());
    let of = match (place.role, place.stated_by) {
        (Some(role), _) => {
            let role = word(role);
            quote!(Whose::Role(#role))
        }
        (None, Some(Holder::Parent)) => quote!(Whose::Parent),
        (None, Some(Holder::Response)) => quote!(Whose::Response),
        (None, None) => {
            let events = &place.events;
            quote!(Whose::Events(&[#(#events),*]))
        }
    };
    quote!(Operand { of: #of, at: #at })
}

fn violation(violation: &Violation) -> TokenStream {
    let Violation { golden, also, edits } = violation;
    let edits = edits.iter().map(|(_, one)| edit(one));
    quote!(Violation { golden: #golden, also: &[#(#also),*], edits: &[#(#edits),*] })
}

fn scenario(scenario: &Scenario) -> TokenStream {
    let Scenario { id, metadata, title, prose, request } = scenario;
    let ScenarioMetadata { features, elicits, status, twin, without, malformed, rules, .. } = metadata;
    let operation = word(metadata.operation);
    let previous = super::tables::option_text(metadata.previous.as_deref());
    let says = super::tables::option_text(metadata.says.as_deref());
    let cut_after = super::tables::option(metadata.cut_after.map(|count| quote!(#count)));
    let fill = super::tables::option(metadata.fill.map(|bytes| quote!(#bytes)));
    let request = if request.is_null() { String::new() } else { request.to_string() };
    let websocket = super::tables::option(metadata.websocket.map(word));
    let lanes = super::tables::option(metadata.lanes.map(|count| quote!(#count)));
    quote! {
        Scenario {
            id: #id,
            operation: #operation,
            features: &[#(#features),*],
            elicits: &[#(#elicits),*],
            status: &[#(#status),*],
            twin: #twin,
            without: &[#(#without),*],
            says: #says,
            cut_after: #cut_after,
            fill: #fill,
            malformed: #malformed,
            previous: #previous,
            websocket: #websocket,
            lanes: #lanes,
            rules: &[#(#rules),*],
            title: #title,
            prose: #prose,
            request: #request,
        }
    }
}

fn profile(name: &str, file: &ProfileFile) -> TokenStream {
    let ProfileFile { title, summary, version, specifications, rules, scenarios } = file;
    quote! {
        Profile {
            name: #name,
            title: #title,
            summary: #summary,
            version: #version,
            specifications: &[#(#specifications),*],
            rules: &[#(#rules),*],
            scenarios: &[#(#scenarios),*],
        }
    }
}

fn client_profile(name: &str, file: &ClientProfileFile) -> TokenStream {
    let ClientProfileFile { title, summary, version, specifications, transports, cases } = file;
    let transports = transports.iter().map(|channel| word(*channel));
    quote! {
        ClientProfile {
            name: #name,
            title: #title,
            summary: #summary,
            version: #version,
            specifications: &[#(#specifications),*],
            transports: &[#(#transports),*],
            cases: &[#(#cases),*],
        }
    }
}

fn requirement(version: &str, file: &RequirementsFile, requirement: &Requirement) -> TokenStream {
    let RequirementsFile { source, address, .. } = file;
    let Requirement { id, heading, statement, .. } = requirement;
    let (who, level) = (word(requirement.who), word(requirement.level));
    let coverage = match requirement.coverage() {
        Some(Coverage::Covered { rules, scenarios }) => {
            quote!(Coverage::Covered { rules: &[#(#rules),*], scenarios: &[#(#scenarios),*] })
        }
        Some(Coverage::Unobservable(reason)) => quote!(Coverage::Unobservable(#reason)),
        Some(Coverage::Open(plan)) => quote!(Coverage::Open(#plan)),
        None => quote!(Coverage::Open("")),
    };
    quote! {
        Requirement {
            version: #version,
            source: #source,
            address: #address,
            id: #id,
            heading: #heading,
            who: #who,
            level: #level,
            statement: #statement,
            coverage: #coverage,
        }
    }
}

#[cfg(all(test, feature = "cli"))]
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
