//! OpenAI's streams since August 2026 conform, and possible future additions cause notes that hide no other finding.

use codegen::formats::Edits;
use tests::edited;

/// Returns the rules that edits of a golden break, at level SHOULD or higher, and at level MAY.
fn broken(golden: &str, edits: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let edits = Edits::try_from(edits.to_owned());
    let found = edits.and_then(|edits| edited::check(golden, &edits));
    let found = found.unwrap_or_else(|problem| panic!("{golden}: {problem}"));
    (found.binding.into_iter().collect(), found.notes.into_iter().collect())
}

const NOTHING: (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());

#[test]
fn values_of_november_are_known() {
    let steered = r#"set response.incomplete /response/incomplete_details/reason "steered""#;
    assert_eq!(broken("openai/incomplete", steered), NOTHING);

    let misaligned = r#"
set error /error/code "misalignment_policy_violation"
set response.failed /response/error/code "misalignment_policy_violation"
set response.failed /response/error/misalignment {"error_type":"other","steer":{"message":"Go on."}}"#;
    assert_eq!(broken("openai/failed", misaligned), NOTHING);

    let cached = ["response.created", "response.in_progress", "response.completed"].map(|event| {
        format!("set {event} /response/prompt_cache_options {{\"mode\":\"implicit\",\"ttl\":\"12h\"}}\n")
    });
    assert_eq!(broken("openai/text", &cached.concat()), NOTHING);
}

#[test]
fn an_answer_goes_on_after_a_search_that_ends_incomplete() {
    let edits = r#"
set response.output_item.done /item/status "incomplete"
set response.completed /response/output/0/status "incomplete""#;
    assert_eq!(broken("openai/web-search", edits), NOTHING);
}

#[test]
fn a_compaction_says_that_it_is_under_way() {
    let edits = r#"
insert after response.in_progress {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"compaction","id":"cmp_1","encrypted_content":"a"}}
insert after response.output_item.added {"type":"response.compaction.compacting","sequence_number":3,"item_id":"cmp_1","output_index":0}"#;
    let (binding, notes) = broken("openai/text", edits);
    assert!(!binding.contains(&"schema/event-valid") && notes.is_empty(), "{binding:?} {notes:?}");
}

#[test]
fn a_newer_value_is_a_note_and_hides_nothing() {
    let newer = r#"set response.failed /response/error/code "too_tired"
set error /error/code "too_tired""#;
    assert_eq!(broken("openai/failed", newer), (vec![], vec!["schema/value-known"]));
    let both = format!("{newer}\nset response.failed /response/id 5");
    let (binding, notes) = broken("openai/failed", &both);
    assert!(binding.contains(&"schema/event-valid"), "{binding:?}");
    assert_eq!(notes, ["schema/value-known"]);
    // If another rule reports the value itself, this one does not.
    let unknown = r#"set response.incomplete /response/incomplete_details/reason "lost_interest""#;
    assert_eq!(broken("openai/incomplete", unknown), (vec!["response/incomplete-reason-known"], vec![]));
}

#[test]
fn a_newer_state_of_an_item_is_an_error() {
    let (binding, _) =
        broken("openai/web-search", r#"set response.output_item.done /item/status "dreaming""#);
    assert!(binding.contains(&"schema/event-valid"), "{binding:?}");
}
