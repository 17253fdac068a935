//! Pages of events, scenarios, profiles, groups and features.

use std::fmt::Write as _;

use catalogue::{
    BETWEEN_CASES, BETWEEN_RULES, CLIENT_RULES, Feature, LOG_RULES, Profile, RULES, Rule, SCENARIOS,
    Scenario, TestRule,
};
use spec::Dialect;
use spec::table::{EventInfo, Fallback};

use super::page::{Page, prose, width};
use checker::level;
use reports::Screen;

fn rule_row(rule: &Rule, dialect: &Dialect) -> String {
    format!("{} ({}): {}", rule.id, level(rule, dialect).keyword(), rule.title)
}

pub(super) fn scenario_row(scenario: &Scenario) -> String {
    format!("{}: {}", scenario.id, scenario.title)
}

pub(super) fn event(event: &EventInfo, dialect: &Dialect, screen: Screen) -> String {
    let mut page = Page::new(event.name, event.description, screen);
    page.fact("dialect", dialect.name);
    let scope = event.level;
    page.fact("scope", &scope.name.replace('_', " "));
    page.fact("role", &format!("{:?}", event.role).to_lowercase());
    page.fact("phase", event.phase.unwrap_or_default());
    page.fact("value", event.value.unwrap_or_default());
    let same = dialect.events.iter().filter(|other| other.scope == event.scope && other.name != event.name);
    page.rows(
        "see also",
        same.map(|other| format!("{} ({})", other.name, format!("{:?}", other.role).to_lowercase())),
    );
    let rules = RULES.iter().filter(|rule| rule.scopes.contains(&event.scope));
    page.rows("rules", rules.map(|rule| rule_row(rule, dialect)));
    let elicits = |scenario: &&Scenario| {
        // An effect of the event is named `<type>/<effect>`.
        let is_it = |name: &str| name.split('/').next() == Some(event.name);
        scenario.elicits.iter().any(|names| names.split('|').any(is_it))
    };
    page.rows("scenarios", SCENARIOS.iter().filter(elicits).map(scenario_row));
    page.out
}

/// The dialect stands for the API of the scenario. Empty if it is the default one.
fn dialect_flag(scenario: &Scenario) -> String {
    let stands_for_api =
        |dialect: &&&Dialect| scenario.applies_to(dialect) && dialect.fallback == Fallback::Api;
    let dialect = spec::DIALECTS.iter().find(stands_for_api).filter(|dialect| dialect.name != "openai");
    dialect.map(|dialect| format!(" --dialect {}", dialect.name)).unwrap_or_default()
}

pub(super) fn scenario(scenario: &Scenario, screen: Screen) -> String {
    let mut page = Page::new(scenario.id, scenario.title, screen);
    let others = catalogue::scenarios(scenario.id).iter().filter(|other| other.api != scenario.api);
    let others = others.map(|other| format!("conformance explain {}{}", other.id, dialect_flag(other)));
    page.fact("operation", scenario.operation.name());
    page.fact("needs", &scenario.features.join(", "));
    page.fact("after", scenario.previous.unwrap_or_default());
    let statuses: Vec<String> = scenario.status.iter().map(u16::to_string).collect();
    page.fact("status", &if statuses.is_empty() { "200".to_owned() } else { statuses.join(" or ") });
    page.fact("events", &scenario.elicits.join(", "));
    page.fact("items", &scenario.items.join(", "));
    page.fact("ends with", &scenario.stops.join(" or "));
    page.fact("not", &scenario.without.join(", "));
    page.fact("text has", scenario.says.unwrap_or_default());
    page.fact("also", if scenario.twin { "sent without `stream`, for a JSON response" } else { "" });
    page.fact("rules", &scenario.rules.join(", "));
    let demanded = catalogue::PROFILES.iter().filter(|profile| {
        let has_it = profile.scenario(scenario.id).is_some_and(|own| own.api == scenario.api);
        has_it && profile.scenarios.iter().any(|names| names.split('|').any(|name| name == scenario.id))
    });
    page.fact("profiles", &demanded.map(|profile| profile.name).collect::<Vec<_>>().join(", "));
    let command = format!("conformance run --target URL --model MODEL{}", dialect_flag(scenario));
    page.fact("run it", &format!("{command} {}::", scenario.id));
    page.rows("other APIs", others);
    page.out.push('\n');
    page.out += &prose(scenario.prose, width(screen));
    if !scenario.request.is_empty() {
        let _ = write!(page.out, "\n{}\n", scenario.request.trim());
    }
    page.out
}

pub(super) fn profile(profile: &Profile, dialect: &Dialect, screen: Screen) -> String {
    let mut page = Page::new(profile.name, profile.title, screen);
    page.fact("profile", &format!("version {}", profile.version));
    page.fact("dialects", &profile.specifications.join(", "));
    page.fact("run it", &format!("conformance run --target URL --model MODEL --profile {}", profile.name));
    let names = profile.scenarios.iter().map(|names| match profile.scenario(names) {
        Some(scenario) => scenario_row(scenario),
        None => format!("one of {}", names.replace('|', ", ")),
    });
    page.rows("scenarios", names);
    let rules = profile.rules.iter().filter_map(|id| catalogue::rule(id));
    page.rows("rules", rules.map(|rule| rule_row(rule, dialect)));
    page.out.push('\n');
    page.out += &prose(profile.summary, width(screen));
    page.out
}

pub(super) fn feature(feature: &Feature, screen: Screen) -> String {
    let mut page = Page::new(feature.name, feature.title, screen);
    let command = "conformance run --target URL --model MODEL";
    page.fact("leave out", &format!("{command} --without {}", feature.name));
    page.fact("only", &format!("{command} --features {}", feature.name));
    let needs = SCENARIOS.iter().filter(|scenario| scenario.features.contains(&feature.name));
    page.rows("scenarios", needs.map(scenario_row));
    page.out
}

pub(super) fn group(name: &str, dialect: &Dialect, screen: Screen) -> String {
    let is_in = |id: &str| catalogue::group(id) == name;
    let mut page = Page::new(name, "a group of rules and scenarios", screen);
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| is_in(rule.id)).collect();
    page.rows("rules", rules.iter().map(|rule| rule_row(rule, dialect)));
    let scenarios: Vec<&Scenario> = SCENARIOS.iter().filter(|scenario| is_in(scenario.id)).collect();
    page.rows("scenarios", scenarios.iter().map(|scenario| scenario_row(scenario)));
    if !rules.is_empty() || !scenarios.is_empty() {
        page.fact("run it", &format!("conformance run --target URL --model MODEL '/^{name}|::{name}$/'"));
    }
    for (heading, rules) in [("between", BETWEEN_RULES), ("client", CLIENT_RULES), ("logs", LOG_RULES)] {
        let rules = rules.iter().filter(|rule| is_in(rule.id));
        let row = |rule: &TestRule| format!("{} ({}): {}", rule.id, rule.level.keyword(), rule.title);
        page.rows(heading, rules.map(row));
    }
    let cases: Vec<_> = BETWEEN_CASES.iter().filter(|case| is_in(case.id)).collect();
    page.rows("cases", cases.iter().map(|case| format!("{}: {}", case.id, case.title)));
    page.fact(
        "run them",
        &if cases.is_empty() { String::new() } else { format!("conformance between {name}/") },
    );
    page.out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::input::names::groups;
    use reports::Style;

    #[test]
    fn everything_that_has_a_name_has_a_page() {
        for width in [40, 80, 200] {
            let screen = Screen { style: Style::Plain, width };
            for dialect in spec::DIALECTS {
                for event in dialect.events {
                    let page = self::event(event, dialect, screen);
                    assert!(page.starts_with(event.name) && page.contains("\nscope  "), "{page}");
                }
                for profile in catalogue::PROFILES {
                    assert!(self::profile(profile, dialect, screen).contains("\nscenarios  "));
                }
                for name in groups() {
                    let page = group(name, dialect, screen);
                    assert!(page.contains(&format!("{name}/")), "{page}");
                }
            }
            for scenario in SCENARIOS {
                let page = self::scenario(scenario, screen);
                assert!(page.contains(scenario.operation.name()) && page.contains("--target URL"), "{page}");
            }
        }
    }
}
