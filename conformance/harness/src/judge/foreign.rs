//! Whether an endpoint of the API sent a response.

use spec::Dialect;

use super::attempt::Attempt;
use super::obstacle::status_line;
use crate::plan::ScenarioCase;
use checker::Answer;
use results::UndecidedKind;

/// The reason why the first response does not show that the endpoint serves the API: an obstacle, no response, or a
/// response of something else. A wrong answer of the API does show it.
pub(crate) fn foreign(
    case: &ScenarioCase,
    attempt: &Attempt,
    dialect: &Dialect,
) -> Option<(UndecidedKind, String)> {
    let facts = &attempt.facts;
    if let Some(obstacle) = attempt.obstacle(case) {
        return Some((obstacle.class, obstacle.reason));
    }
    let Some(status) = facts.status else {
        let reason = facts.lost.as_ref().map_or_else(|| "no response".to_owned(), ToString::to_string);
        return Some((UndecidedKind::Network, reason));
    };
    if !(200..300).contains(&status) && !facts.has_error(dialect.api) {
        let words = facts.words().map(|words| format!(": {words}")).unwrap_or_default();
        let reason = format!("{} responds with {}{words}", facts.url, status_line(status));
        return Some((UndecidedKind::Other, reason));
    }
    // Events of another API have nothing where this one has its content.
    let is_said = facts.answer != Answer::default() || facts.response_id.is_some();
    let is_own = is_said || if facts.is_stream { facts.error_event.is_some() } else { facts.root.is_some() };
    let title = dialect.api.title;
    (!is_own && !facts.has_error(dialect.api))
        .then(|| (UndecidedKind::Path, format!("what {} responds with is not of {title}", facts.url)))
}
