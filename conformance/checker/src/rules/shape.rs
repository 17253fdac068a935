//! Whether JSON fits a schema, by the keywords that strict modes of servers enforce.

use serde_json::Value;

/// Maximum depth of schemas and values. Strict modes allow less.
const DEEPEST: usize = 32;

pub(super) fn misfit(schema: &str, text: &str) -> Option<String> {
    let (root, value) = (serde_json::from_str(schema).ok()?, serde_json::from_str(text).ok()?);
    Shape { root: &root }.misfit(&root, &value, "", DEEPEST)
}

struct Shape<'s> {
    root: &'s Value,
}

impl Shape<'_> {
    fn misfit(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let place = if at.is_empty() { "the value" } else { at };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(target.strip_prefix('#')?)?;
            return self.misfit(target, value, at, depth);
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let fits = branches.iter().any(|branch| self.misfit(branch, value, at, depth).is_none());
            return (!fits).then(|| format!("{place} fits none of its schemas"));
        }
        if !has_type(schema, value) {
            return Some(format!("{place} is {}, not {}", kind(value), schema["type"]));
        }
        let constant = schema.get("const").map(std::slice::from_ref);
        let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(constant);
        if listed.is_some_and(|listed| !listed.iter().any(|one| is_same(one, value))) {
            return Some(format!("{place} is none of the listed values"));
        }
        match value {
            Value::Object(members) => self.object(schema, members, at, depth),
            Value::Array(entries) => {
                let items = schema.get("items")?;
                let mut numbered = entries.iter().enumerate();
                numbered.find_map(|(index, entry)| self.misfit(items, entry, &format!("{at}/{index}"), depth))
            }
            _ => None,
        }
    }

    fn object(
        &self,
        schema: &Value,
        members: &serde_json::Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Option<String> {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let absent = required.filter_map(Value::as_str).find(|name| !members.contains_key(*name));
        if let Some(absent) = absent {
            return Some(format!("{at}/{absent} is missing"));
        }
        let properties = schema.get("properties");
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        members.iter().find_map(|(name, value)| {
            match properties.and_then(|properties| properties.get(name)) {
                Some(property) => self.misfit(property, value, &format!("{at}/{name}"), depth),
                None => is_closed.then(|| format!("{at}/{name} is not among the properties")),
            }
        })
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let is_it = |name: &Value| match name.as_str() {
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some(name @ ("object" | "array" | "string" | "number" | "boolean" | "null")) => kind(value) == name,
        _ => true,
    };
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(is_it),
        Some(name) => is_it(name),
        None => true,
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

#[cfg(test)]
mod tests {
    use super::misfit;

    const SCHEMA: &str = r##"{"type":"object","required":["city","days"],"additionalProperties":false,
        "properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]},"days":{"type":["integer","null"]},
            "stops":{"type":"array","items":{"$ref":"#/$defs/stop"}},
            "size":{"anyOf":[{"type":"number"},{"const":"any"}]}},
        "$defs":{"stop":{"type":"object","required":["at"],"properties":{"next":{"$ref":"#/$defs/stop"}}}}}"##;

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, expected) in [
            (r#"{"city":"Oslo"}"#, "/days is missing"),
            (r#"{"city":7,"days":1}"#, r#"/city is number, not "string""#),
            (r#"{"city":"Oslo","days":1.5}"#, r#"/days is number, not ["integer","null"]"#),
            (r#"{"city":"Oslo","days":1,"unit":"k"}"#, "/unit is none of the listed values"),
            (r#"{"city":"Oslo","days":1,"when":1}"#, "/when is not among the properties"),
            (r#"{"city":"Oslo","days":1,"size":true}"#, "/size fits none of its schemas"),
            (
                r#"{"city":"Oslo","days":1,"stops":[{"at":1},{"at":2,"next":{}}]}"#,
                "/stops/1/next/at is missing",
            ),
            ("[]", r#"the value is array, not "object""#),
        ] {
            assert_eq!(misfit(SCHEMA, value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn what_fits_and_what_is_not_known_is_silent() {
        let value = r#"{"city":"Oslo","days":2.0,"unit":"c","size":"any","stops":[{"at":1,"x":2}]}"#;
        assert_eq!(misfit(SCHEMA, value), None);
        for (schema, value) in [
            ("{", "1"),
            ("{}", "1"),
            ("true", "1"),
            (r##"{"$ref":"#"}"##, "1"),
            (r#"{"type":"date"}"#, "1"),
            (SCHEMA, "{"),
        ] {
            assert_eq!(misfit(schema, value), None, "{schema}");
        }
    }
}
