//! Values of constructors and of `Default` are valid, in every dialect.

use spec::{Dialect, Verdict};

/// New values: the name of an event or type, and its JSON.
type Samples = [(&'static str, fn() -> String)];

fn check(dialect: &Dialect, samples: &Samples) {
    let faults = samples.iter().filter_map(|(name, sample)| {
        let json = sample();
        let is_event = dialect.event(name).is_some();
        let verdict =
            if is_event { dialect.check_event(name, &json) } else { dialect.check_type(name, &json) };
        (verdict != Verdict::Valid).then(|| format!("{name}: {json}\n    {verdict:?}\n"))
    });
    let faults = faults.collect::<Vec<_>>();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), samples.len(), faults.concat());
    assert!(!samples.is_empty());
}

macro_rules! dialects {
    ($($module:ident $name:literal)*) => {$(
        mod $module {
            #[test]
            fn new_values_are_valid() {
                super::check(&types::$module::DIALECT, types::$module::samples::ALL);
            }
        }
    )*};
}

types::with_dialects!(dialects);
