//! Responses that show that an endpoint lacks an optional route, or ignores a setting.

use serde_json::Value;
use spec::Api;

use super::facts::Facts;
use crate::plan::ScenarioCase;
use results::{Judgement, UndecidedKind, Verdict};

/// The response can show that the endpoint lacks an optional route, or ignores a setting.
pub(super) fn unsupported(case: &ScenarioCase, facts: &Facts) -> Option<Judgement> {
    let feature = case.optional?;
    let status = facts.status.filter(|status| !case.scenario.status.contains(status))?;
    let is_missing = match status {
        405 | 501 => true,
        404 => !is_about_resource(facts, case.api),
        _ => false,
    };
    let detail = if is_missing {
        format!("{feature} ({} responds with {status})", case.api.route_line(case.scenario.operation))
    } else if status == 200
        && case.api.request.background == Some(feature)
        && ignores(feature, facts, case.api)
    {
        format!("{feature} (the endpoint ignores it)")
    } else {
        return None;
    };
    let reason = format!("unsupported: {detail}");
    Some(Judgement::undecided(Verdict::NotExercised, UndecidedKind::Unsupported, reason).with_detail(detail))
}

/// A request for a background response got one in the foreground.
fn ignores(background: &str, facts: &Facts, api: &Api) -> bool {
    let Some(response) = &facts.response else { return false };
    let is_background = response.get(background).and_then(Value::as_bool);
    // In the background, it would only have begun; a stream ends either way.
    if facts.is_stream {
        return is_background == Some(false);
    }
    is_background != Some(true) && facts.state(api) == Some(api.status.completed)
}

/// A 404 about a response names it. Otherwise, the route is unknown.
fn is_about_resource(facts: &Facts, api: &Api) -> bool {
    let (_, message) = facts.error(api);
    let path = facts.url.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    let path = path.splitn(4, '/').nth(3).unwrap_or_default();
    // Messages about routes contain the whole path, or a part of it that begins at a slash.
    let is_about_route = !path.is_empty() && message.contains(path) || message.contains(api.path);
    let whole = format!("/{path}");
    let id = whole.rsplit_once(api.path).map_or("", |(_, rest)| rest.split('/').nth(1).unwrap_or_default());
    !is_about_route && (message.contains(api.scope(api.root).name) || !id.is_empty() && message.contains(id))
}
