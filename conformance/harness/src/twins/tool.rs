//! Whether the arguments of a call fit the schema of its tool.

use serde_json::Value;
use spec::Api;

use super::terms::tool;
use checker::ToolCall;

/// `None` if the arguments fit, or if the request has no such tool.
pub(super) fn unfit(api: &Api, request: &Value, call: &ToolCall) -> Option<String> {
    let tool = tool(api, request, &call.name)?;
    let schema = parameters(tool)?;
    // An empty text is what some APIs have for no arguments.
    let text = if call.arguments.is_empty() { "{}" } else { &*call.arguments };
    let Ok(Value::Object(arguments)) = serde_json::from_str(text) else {
        return Some("the arguments are not a JSON object".to_owned());
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(missing) = required.filter_map(Value::as_str).find(|name| !arguments.contains_key(*name)) {
        return Some(format!("the arguments have no {missing}"));
    }
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, property)| {
        let (value, wanted) = (arguments.get(name)?, property.get("type")?.as_str()?);
        (!is_of(value, wanted)).then(|| format!("{name} is not of the type {wanted}"))
    })
}

/// The first object in a tool that has `properties`.
fn parameters(tool: &Value) -> Option<&Value> {
    let members = tool.as_object()?;
    if members.contains_key("properties") {
        return Some(tool);
    }
    members.values().find_map(parameters)
}

fn is_of(value: &Value, wanted: &str) -> bool {
    // Some APIs write types in capital letters.
    match &*wanted.to_ascii_lowercase() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_fit_the_schema_of_the_tool() {
        let schema =
            json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        for (dialect, tool) in [
            ("openai", json!({"type": "function", "name": "f", "parameters": schema})),
            ("anthropic", json!({"name": "f", "input_schema": schema})),
            ("chat", json!({"type": "function", "function": {"name": "f", "parameters": schema}})),
        ] {
            let api = spec::dialect(dialect).unwrap().api;
            let request = json!({"tools": [tool]});
            let of = |arguments: &str| {
                let call = ToolCall { id: "c".into(), name: "f".into(), arguments: arguments.into() };
                unfit(api, &request, &call)
            };
            assert_eq!(of(r#"{"city": "Oslo"}"#), None, "{dialect}");
            assert_eq!(of("{}").as_deref(), Some("the arguments have no city"), "{dialect}");
            assert_eq!(of(r#"{"city": 1}"#).as_deref(), Some("city is not of the type string"), "{dialect}");
            assert_eq!(of("[").as_deref(), Some("the arguments are not a JSON object"), "{dialect}");
        }
    }
}
