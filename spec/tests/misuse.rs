//! Functions that are called where they have nothing to do.

use spec::openai::DIALECT;
use spec::{Memory, Slot, View};

#[test]
fn a_delta_is_taken_though_none_was_returned() {
    let event = DIALECT.event("response.output_text.delta").expect("it is listed");
    let delta = |number: u64, logprobs: &str| {
        format!(
            r#"{{"type":"{}","sequence_number":{number},"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello","logprobs":{logprobs}}}"#,
            event.name
        )
    };
    let read = |memory: &mut Memory, data: &str| {
        let mut view = View::nothing();
        assert!(memory.next_event(Some(event), data, &mut view).is_valid(), "{data}");
        let number = view.count(Slot::SequenceNumber).and_then(|number| number.whole());
        memory.expect_fragments(event, Some(event.name), number);
    };
    let mut memory = Memory::default();
    memory.take_fragment();
    memory.expect_fragments(event, None, Some(3));
    assert_eq!(memory.fragment(event, &delta(4, "[]")), None);
    read(&mut memory, &delta(4, "[]"));
    read(&mut memory, &delta(5, "[]"));
    // No delta is expected after one with values that rules need.
    read(&mut memory, &delta(6, r#"[{"token":"a","logprob":0.5,"bytes":[],"top_logprobs":[]}]"#));
    memory.take_fragment();
    memory.take_fragment();

    read(&mut memory, &delta(7, "[]"));
    let next = delta(8, "[]");
    assert_eq!(memory.fragment(event, &next).map(|fragment| fragment.number), Some(Some(8)));
}
