//! Conversion of XML to JSON, so that a JSON Schema can validate it.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Map, Value, json};

/// Parses the document. Each element consists of its name, attributes, text and children.
pub(crate) fn read(xml: &str) -> Result<Value, String> {
    for character in xml.chars() {
        let is_valid = matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        if !is_valid {
            return Err(format!("U+{:04x} is no character of XML", u32::from(character)));
        }
    }
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<Value> = vec![element("", &Map::new())];
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Eof => break,
            Event::Start(start) => open.push(started(&start)?),
            Event::Empty(start) => {
                let empty = started(&start)?;
                push(&mut open, empty);
            }
            Event::End(_) => {
                let done = open.pop().ok_or("an element ends that never began")?;
                push(&mut open, done);
            }
            Event::Text(text) => add(&mut open, &text),
            Event::GeneralRef(name) => {
                let name: &str = &name;
                let text = quick_xml::escape::unescape(&format!("&{name};"))
                    .map_err(|error| error.to_string())?
                    .into_owned();
                add(&mut open, &text);
            }
            Event::CData(_) | Event::PI(_) | Event::DocType(_) => {
                return Err("what a report has no use for".to_owned());
            }
            Event::Comment(_) | Event::Decl(_) => {}
        }
    }
    if open.len() != 1 {
        return Err("an element does not end".to_owned());
    }
    let mut root = open.remove(0)["children"].take();
    let roots = root.as_array_mut().ok_or("no element")?;
    if roots.len() == 1 { Ok(trimmed(roots.remove(0))) } else { Err("not one root".to_owned()) }
}

fn element(name: &str, attributes: &Map<String, Value>) -> Value {
    json!({ "name": name, "attributes": attributes, "text": "", "children": [] })
}

fn started(start: &quick_xml::events::BytesStart<'_>) -> Result<Value, String> {
    let mut attributes = Map::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.as_ref().to_owned();
        let value =
            quick_xml::escape::unescape(&attribute.value).map_err(|error| error.to_string())?.into_owned();
        attributes.insert(name, value.into());
    }
    Ok(element(start.name().as_ref(), &attributes))
}

fn push(open: &mut [Value], done: Value) {
    if let Some(children) = open.last_mut().and_then(|last| last["children"].as_array_mut()) {
        children.push(done);
    }
}

fn add(open: &mut [Value], text: &str) {
    if let Some(last) = open.last_mut() {
        let before = last["text"].as_str().unwrap_or_default().to_owned();
        last["text"] = (before + text).into();
    }
}

/// Removes whitespace between elements.
fn trimmed(mut element: Value) -> Value {
    if element["text"].as_str().is_some_and(|text| text.trim().is_empty()) {
        element["text"] = "".into();
    }
    let children = element["children"].as_array_mut().map(std::mem::take).unwrap_or_default();
    element["children"] = children.into_iter().map(trimmed).collect();
    element
}
