//! Differences between the values of two events.

use serde_json::Value;

pub(super) fn json(line: &str) -> Option<Value> {
    serde_json::from_str(data_of(line).unwrap_or(line).trim_end()).ok().filter(Value::is_object)
}

pub(super) fn data_of(line: &str) -> Option<&str> {
    line.strip_prefix("data:").map(str::trim_start)
}

pub(super) type Difference = (String, (Option<String>, Option<String>));

pub(super) fn differences(old: &Value, new: &Value, is_renumbered: bool) -> Vec<Difference> {
    let mut found = Vec::new();
    differ(old, new, "", &mut found);
    found.retain(|(pointer, _)| !(is_renumbered && pointer.ends_with("/sequence_number")));
    found
}

fn differ(old: &Value, new: &Value, pointer: &str, found: &mut Vec<Difference>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(olds), Value::Object(news)) => {
            let at = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            for (name, old) in olds {
                match news.get(name) {
                    Some(new) => differ(old, new, &at(name), found),
                    None => found.push((at(name), (Some(old.to_string()), None))),
                }
            }
            let added = news.iter().filter(|(name, _)| !olds.contains_key(*name));
            found.extend(added.map(|(name, new)| (at(name), (None, Some(new.to_string())))));
        }
        (Value::Array(olds), Value::Array(news)) if olds.len() == news.len() => {
            for (number, (old, new)) in olds.iter().zip(news).enumerate() {
                differ(old, new, &format!("{pointer}/{number}"), found);
            }
        }
        _ => found.push((pointer.to_owned(), (Some(old.to_string()), Some(new.to_string())))),
    }
}
