//! Pages of normative sentences.

use catalogue::{Coverage, Level, REQUIREMENTS, Requirement, Who};
use spec::Dialect;

use super::page::Page;
use super::things::scenario_row;
use checker::level;
use reports::Screen;
use reports::pages::{duty, standing, whose};

pub(super) fn page(sentence: &Requirement, dialect: &Dialect, screen: Screen) -> String {
    let mut page = Page::new(&sentence.name(), sentence.statement, screen);
    page.fact("level", &format!("{}, {}", duty(sentence.level), duty_of(sentence)));
    let source = format!("{}, section \"{}\"; paraphrased above", sentence.source, sentence.heading);
    page.rows("source", [source, sentence.address.to_owned()]);
    let others =
        REQUIREMENTS.iter().filter(|other| other.id == sentence.id && other.version != sentence.version);
    let others = others.map(|other| {
        let same = if other.statement == sentence.statement { "the same" } else { "reworded" };
        format!("{}, {same}", other.name())
    });
    page.rows("also", others);
    let bound = spec::dialects().filter(|(_, dialect)| dialect.is_or_extends(sentence.version));
    page.rows("applies to", [bound.map(|(name, _)| name).collect::<Vec<_>>().join(", ")]);
    match sentence.coverage {
        Coverage::Covered { rules, scenarios } => {
            let rules: Vec<_> = rules.iter().filter_map(|id| catalogue::rule(id)).collect();
            let levels = rules.iter().map(|rule| level(rule, dialect));
            let strictest = levels.max().unwrap_or(Level::Off);
            if let Some(standing) = standing(sentence.version, strictest, dialect, None) {
                page.fact(&format!("in {}", dialect.name), &standing);
            }
            let rule = |rule: &&catalogue::Rule| {
                let keyword = level(rule, dialect).keyword();
                format!("{} ({keyword} in {}): {}", rule.id, dialect.name, rule.title)
            };
            page.rows("rules", rules.iter().map(rule));
            let scenarios = scenarios.iter().filter_map(|id| catalogue::scenario(id));
            page.rows("scenarios", scenarios.map(scenario_row));
            page.rows("more", rules.first().map(|rule| format!("conformance explain {}", rule.id)));
        }
        Coverage::Unobservable(why) => {
            page.fact("uncovered", &format!("no rule and no scenario covers it. {why}"));
        }
        Coverage::Open(plan) => page.fact("open", &format!("no rule and no scenario covers it yet. {plan}")),
    }
    page.out
}

fn duty_of(sentence: &Requirement) -> String {
    match sentence.who {
        Who::Both => "for server and client".to_owned(),
        one => format!("for the {}", whose(one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reports::Style;

    #[test]
    fn every_sentence_can_be_explained() {
        for width in [40, 80, 200] {
            let screen = Screen { style: Style::Plain, width };
            for sentence in REQUIREMENTS {
                for dialect in spec::DIALECTS {
                    let page = page(sentence, dialect, screen);
                    assert!(page.starts_with(&sentence.name()) && page.contains(sentence.address), "{page}");
                    let seen = ["\nrules  ", "\nscenarios  ", "\nuncovered  ", "\nopen  "];
                    assert!(seen.iter().any(|name| page.contains(name)), "{page}");
                }
            }
        }
    }
}
