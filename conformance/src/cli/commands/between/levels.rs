//! Levels of rules: of both ends of a gateway, and of the APIs of clients.

use catalogue::{BETWEEN_RULES, RULES};
use checker::level;

use crate::cli::flags::verdict::Leveled;
use crate::cli::input::names;

/// Rules of both ends, and of the APIs of clients in their usual dialects. Each has its usual level.
pub(super) fn rules() -> Vec<Leveled> {
    let own = BETWEEN_RULES.iter().map(|rule| (rule.id, rule.level));
    let of_apis = RULES.iter().filter_map(|rule| {
        let dialect = names::usual().find(|dialect| rule.applies_to(dialect))?;
        Some((rule.id, level(rule, dialect)))
    });
    own.chain(of_apis).collect()
}

#[cfg(test)]
mod tests {
    use catalogue::Level;
    use clap::{Args as _, Command, FromArgMatches as _};
    use results::LevelChange;

    use super::*;
    use crate::cli::flags::verdict::VerdictArgs;

    fn of(texts: &[&str]) -> anyhow::Result<Vec<LevelChange>> {
        let line =
            ["between".to_owned()].into_iter().chain(texts.iter().map(|text| format!("--rule={text}")));
        let matches = VerdictArgs::augment_args(Command::new("between")).get_matches_from(line);
        VerdictArgs::from_arg_matches(&matches).unwrap().changes(&rules())
    }

    #[test]
    fn rules_win_over_groups() {
        let changed = of(&["answer=off", "answer/text=may", "wire/no-id-line=must"]).unwrap();
        let level = |rule: &str| changed.iter().find(|change| change.rule == rule).map(|change| change.level);
        assert_eq!(level("answer/text"), Some(Level::May));
        assert_eq!(level("wire/no-id-line"), Some(Level::Must));
        let others = changed.iter().filter(|change| catalogue::group(&change.rule) == "answer");
        assert!(others.filter(|change| change.level == Level::Off).count() > 0);
        // What has this level anyway is not changed.
        assert_eq!(of(&["answer/text=must"]).unwrap(), []);
    }
}
