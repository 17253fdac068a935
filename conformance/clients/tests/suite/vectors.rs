//! The test vectors.

use std::collections::BTreeSet;

use clients::{VectorResult, Vectors, vectors};
use harness::frozen::assert_fresh;
use serde_json::json;

const API_DIALECTS: [&str; 3] = ["openai", "anthropic", "chat"];

/// The schema in `docs/vectors.schema.json` is that of the types, and every vector matches it. There are vectors of each verdict,
/// the verdict follows from the flags, ids are unique, and each rule is described.
#[test]
fn vectors_schema_is_fresh_and_verdicts_follow_from_flags() {
    let schema = schemars::schema_for!(Vectors);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    assert_fresh("-p clients vectors_schema", "docs/vectors.schema.json", &text);
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    for name in API_DIALECTS {
        let all = vectors(spec::dialect(name).unwrap());
        let errors: Vec<String> =
            validator.iter_errors(&json!(all)).take(3).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let ids: BTreeSet<&str> = all.vectors.iter().map(|vector| &*vector.id).collect();
        assert_eq!(ids.len(), all.vectors.len(), "{name}");
        for result in [VectorResult::Valid, VectorResult::Acceptable, VectorResult::Invalid] {
            let count = all.vectors.iter().filter(|vector| vector.result == result).count();
            assert!(count > 9, "{name}: {count} are {result:?}");
        }
        for vector in &all.vectors {
            let levels: Vec<&str> = vector.flags.iter().map(|flag| &*flag.level).collect();
            let expected = match () {
                () if levels.is_empty() => VectorResult::Valid,
                () if levels.contains(&"must") => VectorResult::Invalid,
                () => VectorResult::Acceptable,
            };
            assert_eq!(vector.result, expected, "{name}: {}", vector.id);
            let is_described = |flag: &clients::VectorFlag| all.rules.contains_key(&flag.rule);
            assert!(vector.flags.iter().all(is_described), "{name}: {}", vector.id);
            let body = [&vector.response.body, &vector.response.body_base64];
            assert_eq!(body.iter().filter(|body| body.is_some()).count(), 1, "{name}: {}", vector.id);
            if vector.id.starts_with("sound/") {
                assert_eq!(vector.result, VectorResult::Valid, "{name}: {}", vector.id);
            }
        }
    }
}
