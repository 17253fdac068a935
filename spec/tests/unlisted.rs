//! Events that a dialect does not list.

use spec::{Count, Decimal, Slot, Verdict};

#[test]
fn the_usual_members_are_handed_out() {
    for dialect in spec::DIALECTS.iter().filter(|dialect| dialect.api.name == "responses") {
        let view = |data: &'static str| {
            let (verdict, view) = dialect.view_event("acme:trace", data);
            assert_eq!(verdict, Verdict::Unknown);
            view
        };
        let seen = view(r#"{"type":"acme:trace","sequence_number":7,"item_id":"i","response":{}}"#);
        assert_eq!(seen.count(Slot::SequenceNumber), Some(Count::Whole(7)));
        assert_eq!((seen.raw(Slot::ItemId), seen.raw(Slot::Response)), (Some("\"i\""), Some("{}")));
        assert_eq!(seen.raw(Slot::OutputIndex), None);
        for data in ["[DONE]", "{\"sequence_number\":7,", "{\"sequence_number\":7} {}", "[7]"] {
            assert_eq!(view(data).raw(Slot::SequenceNumber), None, "{data}");
        }
    }
}

#[test]
fn numbers_that_are_no_counts_have_a_type() {
    let decimal = |raw| -> Option<Box<Decimal>> {
        match Count::read(raw)? {
            Count::Whole(_) => None,
            Count::Other(decimal) => Some(decimal),
        }
    };
    assert_eq!(decimal("-1.5"), decimal("-15e-1"));
    assert_eq!((decimal("-1.5").is_some(), decimal("1")), (true, None));
}
