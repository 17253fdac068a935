use std::fmt::Write as _;

use super::*;
use crate::goldens::golden;

fn of(recording: &[u8]) -> String {
    shape(&mut { recording }, None, spec::dialect("openai")).unwrap().unwrap()
}

/// Returns the golden of parallel calls, as text.
fn calls() -> String {
    String::from_utf8(golden("openai/parallel-function-calls").unwrap().bytes.to_vec()).unwrap()
}

/// Returns its events.
fn events() -> Vec<String> {
    calls().split_inclusive("\n\n").map(str::to_owned).collect()
}

#[test]
fn a_shape_is_text_that_can_be_read() {
    insta::assert_snapshot!(of(calls().as_bytes()));
    insta::assert_snapshot!(of(golden("openai/text").unwrap().bytes));
}

#[test]
fn chunks_have_a_line_for_each_effect() {
    for name in ["anthropic/weather", "deepseek-chat/weather", "chat/two-choices"] {
        let golden = golden(name).unwrap();
        let dialect = spec::dialect(golden.dialect).unwrap();
        let shape = shape(&mut { golden.bytes }, None, Some(dialect)).unwrap().unwrap();
        insta::assert_snapshot!(name.replace('/', "-"), shape);
    }
}

#[test]
fn every_golden_has_one() {
    for golden in crate::goldens::GOLDENS {
        let dialect = spec::dialect(golden.dialect).unwrap();
        let shape = shape(&mut { golden.bytes }, Some(golden.format), Some(dialect)).unwrap();
        let is_stream = golden.format != Format::Http;
        assert_eq!(shape.is_some(), is_stream, "{}", golden.name);
        assert!(!shape.unwrap_or_default().contains("without a type"), "{}", golden.name);
    }
}

#[test]
fn what_differs_from_answer_to_answer_is_not_in_it() {
    let text = String::from_utf8(golden("openai/text").unwrap().bytes.to_vec()).unwrap();
    let id = text.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let delta = text.split_inclusive("\n\n").find(|event| event.contains("output_text.delta")).unwrap();
    let more = text.replacen(delta, &delta.repeat(7), 1);
    let alive = "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n";
    for other in [
        text.replace(id, "resp_other"),
        more.clone(),
        more.replacen(delta, &format!("{delta}{alive}"), 1),
        text.replace("\"total_tokens\":", "\"total_tokens\":1"),
        text.replace("\"created_at\":", "\"created_at\":1"),
        text.replace('\n', "\r\n"),
    ] {
        assert_ne!(other, text);
        assert_eq!(of(other.as_bytes()), of(text.as_bytes()));
    }
}

#[test]
fn chunks_and_times_are_not_in_it() {
    let recorded = |size: usize, every: usize| {
        let text = calls();
        let mut recording =
            "{\"exchange\":1,\"request\":{\"method\":\"POST\",\"url\":\"/\"},\"response\":{\"status\":200,\
             \"headers\":[[\"content-type\",\"text/event-stream\"]]}}\n"
                .to_owned();
        for (nth, piece) in text.as_bytes().chunks(size).enumerate() {
            let piece = Value::from(std::str::from_utf8(piece).unwrap());
            let _ = writeln!(recording, "{{\"at\":{},\"text\":{piece}}}", nth * every);
        }
        recording + "{\"at\":900000,\"end\":\"closed\"}\n"
    };
    assert!(calls().is_ascii());
    assert_eq!(of(recorded(7, 3).as_bytes()), of(calls().as_bytes()));
    assert_eq!(of(recorded(100_000, 1).as_bytes()), of(calls().as_bytes()));
    let lost = recorded(90, 1).replace("\"closed\"", "\"lost\",\"reason\":\"reset\"");
    assert_eq!(of(lost.as_bytes()), of(calls().as_bytes()) + "(the connection was lost)\n");
}

#[test]
fn every_event_but_a_repeated_delta_counts() {
    let (events, whole) = (events(), of(calls().as_bytes()));
    let mut same = Vec::new();
    for at in 0..events.len() {
        let mut dropped = events.clone();
        let event = dropped.remove(at);
        if of(dropped.concat().as_bytes()) == whole {
            same.push(event);
        }
    }
    assert!(same.iter().all(|event| event.contains(".delta")), "{same:?}");
    assert!(same.len() + 4 < events.len());
    for at in 1..events.len() {
        let mut swapped = events.clone();
        swapped.swap(at - 1, at);
        let are_deltas = swapped[at - 1..=at].iter().all(|event| event.contains(".delta"));
        assert!(are_deltas || of(swapped.concat().as_bytes()) != whole, "{at}");
    }
    let index = calls().replacen("\"output_index\":1", "\"output_index\":2", 1);
    assert_ne!(of(index.as_bytes()), whole);
    let kind = calls().replace("\"function_call\"", "\"custom_tool_call\"");
    assert_ne!(of(kind.as_bytes()), whole);
}

#[test]
fn ids_are_told_apart() {
    let text = calls();
    let id = text.split("\"item_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let last = text.rfind(&format!("\"item_id\":\"{id}\"")).unwrap();
    let (before, after) = text.split_at(last);
    let other = format!("{before}{}", after.replacen(id, "fc_other", 1));
    assert_ne!(of(other.as_bytes()), of(text.as_bytes()));
}

#[test]
fn names_of_the_server_are_harmless() {
    let long = "x".repeat(10_000);
    let hostile = format!(
        "data: {{\"type\":\"\\u001b[2J\\nresponse.created\\u202e\"}}\n\ndata: {{\"type\":\"{long}\"}}\n\n\
         data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"a\\nb\",\"id\":\"\\u001b\"}}}}\n\n\
         data: {{}}\n\ndata: [1]\n\ndata: {{\n\n"
    );
    let shape = of(hostile.as_bytes());
    assert!(shape.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{shape}");
    assert!(shape.lines().all(|line| line.chars().count() < 200), "{shape}");
    insta::assert_snapshot!(shape);
}

#[test]
fn no_more_is_compared_than_can_be_read() {
    let mut many = String::new();
    for number in 0..=LINES {
        let _ = write!(many, "data: {{\"type\":\"unknown_{number}\"}}\n\n");
    }
    let dialect = spec::dialect("openai").unwrap();
    let told = shape(&mut many.as_bytes(), None, Some(dialect));
    assert_eq!(told, Err(format!("its shape has {} lines; at most {LINES} are compared", LINES + 1)));
    assert_eq!(shape(&mut "{\"object\":\"response\"}".as_bytes(), None, Some(dialect)), Ok(None));
}
