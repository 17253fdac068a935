//! Differences between the dialects in the specification.

use codegen::dialect;
use codegen::diff::{Side, diff, human};

use crate::own_spec;

fn side(name: &str) -> Side {
    Side::of_dialect(&dialect::load(&own_spec(), name).unwrap())
}

#[test]
fn there_and_back_are_the_same_changes_and_none_from_itself() {
    let sides: Vec<Side> = dialect::list(&own_spec()).unwrap().iter().map(|name| side(name)).collect();
    for (at, a) in sides.iter().enumerate() {
        let itself = diff(a, a);
        assert!(itself.is_empty(), "{}", human(&itself));
        for b in &sides[at + 1..] {
            let (there, back) = (diff(a, b), diff(b, a));
            assert_eq!(there.counts.changes, back.counts.changes, "{}\n{}", human(&there), human(&back));
            assert_eq!(there.events.changed, back.events.changed);
        }
    }
}
