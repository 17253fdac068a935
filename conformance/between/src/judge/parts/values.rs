//! Comparison of JSON values.

use serde_json::Value;

/// A JSON pointer. Numbers are equal in each of their forms.
pub(in crate::judge) fn difference(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            // Two integers differ in any digit.
            let is_same = a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64();
            (!is_same).then(String::new)
        }
        (Value::Array(a), Value::Array(b)) => {
            let inner = a.iter().zip(b).enumerate().find_map(|(at, (a, b))| within(&at.to_string(), a, b));
            inner.or_else(|| (a.len() != b.len()).then(|| format!("/{}", a.len().min(b.len()))))
        }
        (Value::Object(a), Value::Object(b)) => {
            let missing = |(name, value): (&String, &Value)| match b.get(name) {
                Some(other) => within(name, value, other),
                None => Some(format!("/{name}")),
            };
            let added = || b.keys().find(|name| !a.contains_key(*name)).map(|name| format!("/{name}"));
            a.iter().find_map(missing).or_else(added)
        }
        _ => (one != other).then(String::new),
    }
}

fn within(name: &str, one: &Value, other: &Value) -> Option<String> {
    difference(one, other).map(|rest| format!("/{name}{rest}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        for (one, other, place) in [
            (json!({"a": [1, 2.0]}), json!({"a": [1.0, 2]}), None),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), None),
            (json!({"a": [1, 2]}), json!({"a": [1]}), Some("/a/1")),
            (json!({"a": {"b": "x"}}), json!({"a": {"b": "y"}}), Some("/a/b")),
            (json!({"a": 1}), json!({"a": 1, "c": 1}), Some("/c")),
            (json!({"a": 1}), json!({}), Some("/a")),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64), Some("")),
        ] {
            assert_eq!(difference(&one, &other).as_deref(), place, "{one} {other}");
        }
    }
}
