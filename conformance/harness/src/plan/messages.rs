//! Messages of the client on a WebSocket.

use catalogue::Scenario;
use serde_json::{Map, Value};
use spec::{Api, Dialect};

use super::body::RequestContext;
use super::call::Call;
use super::previous::PreviousResponse;

pub(super) fn is_in_lane(turn: &Scenario, api: &Api) -> bool {
    api.session.is_some_and(|names| spec::json::at(turn.request, &format!("/{}", names.lane)).is_some())
}

/// The messages of a conversation: its scenarios, with the lane number of each if it is sent in several lanes.
pub fn messages<'t>(
    turns: &'t [&'static Scenario],
) -> impl Iterator<Item = (&'static Scenario, Option<u32>)> + use<'t> {
    turns.iter().flat_map(|turn| {
        let lanes = turn.lanes.into_iter().flat_map(|count| (1..=count).map(Some));
        lanes.chain(turn.lanes.is_none().then_some(None)).map(|lane| (*turn, lane))
    })
}

/// Returns the message of a scenario, in the lane with this number if it is sent in several lanes.
pub fn message(
    scenario: &Scenario,
    lane: Option<u32>,
    context: &RequestContext<'_>,
    before: Option<&PreviousResponse>,
    dialect: &Dialect,
) -> String {
    let body = Call::of(scenario, dialect.api, context, before, false).body.unwrap_or_default();
    let (Ok(Value::Object(mut request)), Some(names)) = (serde_json::from_str(&body), dialect.api.session)
    else {
        return body;
    };
    if scenario.operation.is_aside() {
        return body;
    }
    if let (Some(number), Some(Value::String(name))) = (lane, request.get_mut(names.lane)) {
        name.extend(["_", &number.to_string()]);
    }
    let create = dialect.framing.create.map(|create| ("type".to_owned(), create.into()));
    let mut message = Map::from_iter(create);
    message.extend(request.into_iter().filter(|(name, _)| !names.http_only.contains(&name.as_str())));
    Value::Object(message).to_string()
}

#[cfg(test)]
mod tests {
    use catalogue::SCENARIOS;
    use spec::table::Operation;

    use super::super::given::Given;
    use super::super::seed::Seed;
    use super::super::turns::is_sent;
    use super::*;

    #[test]
    fn nothing_of_http_is_said_on_a_websocket() {
        let openai = spec::dialect("openai").unwrap();
        for scenario in SCENARIOS.iter().filter(|scenario| is_sent(scenario, openai.api)) {
            let before = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
            let context = RequestContext { model: "m", given: &Given::new(), number: 1, seed: &Seed::NONE };
            let text = message(scenario, None, &context, Some(&before), openai);
            let message: Value = serde_json::from_str(&text).unwrap();
            let kind = match scenario.operation {
                Operation::Steer => "response.steer",
                Operation::Inject => "response.inject",
                _ => "response.create",
            };
            assert_eq!(message["type"], kind);
            let http_only = openai.api.session.unwrap().http_only;
            assert!(http_only.iter().all(|name| message.get(name).is_none()), "{text}");
            assert!(message.get("previous_response_id") != Some(&"previous".into()), "{text}");
        }
    }
}
