//! Tests of the values that constructors return, in every dialect.

use crate::{SAMPLES, Verdict};

/// Values of constructors and of `Default` are valid.
#[test]
fn new_values_are_valid() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (dialect, samples) in SAMPLES {
        for (name, sample) in *samples {
            let json = sample();
            let is_event = dialect.event(name).is_some();
            let verdict =
                if is_event { dialect.check_event(name, &json) } else { dialect.check_type(name, &json) };
            count += 1;
            if verdict != Verdict::Valid {
                faults.push(format!("{} {name}: {json}\n    {verdict:?}\n", dialect.name));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.concat());
    assert!(count > 100, "{count}");
}
