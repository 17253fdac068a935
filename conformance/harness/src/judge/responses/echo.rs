//! Whether a response repeats the settings of its own request.

use serde_json::Value;

use super::super::facts::Facts;

pub(in crate::judge) fn other_request(facts: &Facts) -> Option<String> {
    let (sent, echoed) = (facts.request.as_ref()?, facts.response.as_ref()?);
    let lacking = lacks_instructions(sent, echoed)
        .or_else(|| lacks_metadata(sent, echoed))
        .or_else(|| lacks_tool(sent, echoed));
    lacking.map(|lacking| format!("the response belongs to another request: {lacking}"))
}

fn lacks_instructions(sent: &Value, echoed: &Value) -> Option<String> {
    let sent = sent.get("instructions")?.as_str()?;
    let echoed = echoed.get("instructions").filter(|echoed| !echoed.is_null())?;
    let is_there = match echoed {
        Value::String(text) => text.is_empty() || text.contains(sent),
        items => items.to_string().contains(sent),
    };
    (!is_there).then(|| format!("its instructions lack {sent:?}"))
}

fn lacks_metadata(sent: &Value, echoed: &Value) -> Option<String> {
    let echoed = echoed.get("metadata")?.as_object().filter(|echoed| !echoed.is_empty())?;
    let mut pairs = sent.get("metadata")?.as_object()?.iter();
    let (name, _) = pairs.find(|(name, value)| echoed.get(*name).is_some_and(|echoed| echoed != *value))?;
    Some(format!("its metadata has another {name:?}"))
}

fn lacks_tool(sent: &Value, echoed: &Value) -> Option<String> {
    fn names(tools: &Value) -> impl Iterator<Item = &str> {
        let functions = |tool: &&Value| tool.get("type").is_some_and(|kind| kind == "function");
        let all = tools.as_array().into_iter().flatten();
        all.filter(functions).filter_map(|tool| tool.get("name")?.as_str())
    }
    let echoed = echoed.get("tools").filter(|echoed| names(echoed).next().is_some())?;
    let lost = names(sent.get("tools")?).find(|sent| names(echoed).all(|echoed| echoed != *sent))?;
    Some(format!("its tools lack {lost:?}"))
}
