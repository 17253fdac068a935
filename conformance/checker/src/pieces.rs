//! Arguments of a call that come in pieces, each with its place as a path such as `$.items[0].name`.

use serde_json::{Map, Value};

/// Maximum number of steps of a path.
const DEEPEST: usize = 64;
/// Number of bytes that a member or an entry takes in addition to its text.
const OVERHEAD: usize = 300;
/// Usual number of bytes that the arguments of all calls of a response may take.
pub const MOST: usize = 16 << 20;

pub(crate) fn of_call(call: &Value) -> Option<&Value> {
    let is_piece = |entry: &Value| entry.get("jsonPath").is_some();
    let are_pieces = |list: &&Value| list.as_array().is_some_and(|all| all.iter().any(is_piece));
    call.as_object()?.values().find(are_pieces)
}

/// Puts the pieces of a call into its arguments, as long as there is room for them: a path is shorter than the lists that it
/// makes. Texts continue the text at their place.
pub fn put(arguments: &mut Value, pieces: &Value, room: &mut usize) {
    for piece in pieces.as_array().into_iter().flatten() {
        let path = piece.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        let size = OVERHEAD * path.matches(['.', '[']).take(DEEPEST).count() + piece.to_string().len();
        let Some(left) = room.checked_sub(size) else { return };
        *room = left;
        let Some(place) = place(arguments, path) else { continue };
        if let Some(text) = piece.get("stringValue").and_then(Value::as_str) {
            match place {
                Value::String(known) => known.push_str(text),
                place => *place = text.into(),
            }
        } else if let Some(value) = piece.get("numberValue").or_else(|| piece.get("boolValue")) {
            *place = value.clone();
        }
    }
}

/// Missing objects and entries on the way are made. A list grows by one entry at a time.
fn place<'v>(root: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let (mut place, mut rest) = (root, path.strip_prefix('$')?);
    for _ in 0..DEEPEST {
        if rest.is_empty() {
            return Some(place);
        }
        let behind;
        if let Some(names) = rest.strip_prefix('.') {
            let end = names.find(['.', '[']).unwrap_or(names.len());
            let (name, tail) = names.split_at(end);
            (place, behind) = (member(place, name)?, tail);
        } else if let Some((name, tail)) = rest.strip_prefix("['").and_then(|names| names.split_once("']")) {
            (place, behind) = (member(place, name)?, tail);
        } else {
            let (number, tail) = rest.strip_prefix('[')?.split_once(']')?;
            (place, behind) = (entry(place, number.parse().ok()?)?, tail);
        }
        rest = behind;
    }
    None
}

fn member<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    Some(value.as_object_mut()?.entry(name).or_insert(Value::Null))
}

fn entry(value: &mut Value, index: usize) -> Option<&mut Value> {
    if value.is_null() {
        *value = Value::Array(Vec::new());
    }
    let all = value.as_array_mut()?;
    if index == all.len() {
        all.push(Value::Null);
    }
    all.get_mut(index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_make_the_arguments() {
        let (mut arguments, mut room) = (json!({}), MOST);
        for pieces in [
            json!([{"jsonPath": "$.name", "stringValue": "Las", "willContinue": true}]),
            json!([{"jsonPath": "$.name", "stringValue": "agna"}, {"jsonPath": "$.hot", "boolValue": true}]),
            json!([{"jsonPath": "$.list[0].n", "numberValue": 2.5}, {"jsonPath": "$['a.b']", "nullValue": "NULL_VALUE"}]),
            json!([{"jsonPath": "$.list[1].n", "numberValue": 3}, {"jsonPath": "$.list[1000000000].n", "numberValue": 4}]),
            json!([{"jsonPath": "name", "stringValue": "no path"}, {"jsonPath": "$.name.inner", "stringValue": "no object"}]),
            json!("no list"),
        ] {
            put(&mut arguments, &pieces, &mut room);
        }
        let all = json!({"name": "Lasagna", "hot": true, "list": [{"n": 2.5}, {"n": 3}], "a.b": null});
        assert_eq!(arguments, all);
        let deep = "$".to_owned() + &".a".repeat(100_000);
        put(&mut arguments, &json!([{"jsonPath": deep, "numberValue": 1}]), &mut room);
        assert!(arguments.to_string().len() < 1000);
    }

    #[test]
    fn pieces_take_no_more_than_the_room() {
        let piece =
            |nth: usize| json!({"jsonPath": format!("$.k{nth}{}", "[0]".repeat(62)), "numberValue": 1});
        let pieces: Vec<Value> = (0..10_000).map(piece).collect();
        let (mut arguments, mut room) = (json!({}), 1 << 20);
        put(&mut arguments, &pieces.into(), &mut room);
        let kept = arguments.as_object().map_or(0, Map::len);
        assert!((10..100).contains(&kept) && room < 20_000, "{kept}, {room}");
    }
}
