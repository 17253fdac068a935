//! Properties under the names that other APIs give them.

use spec::Api;
use spec::json::{self, Simplest};
use spec::table::Misnomers;

use crate::engine::{Misnomer, Object, Supply};

/// Maximum length of the type of an object.
const TYPE: usize = 60;

pub(super) fn supply(api: &Api, property: &str, simplest: Simplest, data: &str, pointer: &str) -> Supply {
    let object = Object::new(json::at(data, pointer).unwrap_or_default());
    // The type of an event is no type of an object in it.
    let holder = (!pointer.is_empty()).then(|| object.string("type")).flatten();
    let in_object = |Misnomers { api, names }: &'static Misnomers| {
        let mut names = names.iter();
        let (_, name) = names.find(|(own, other)| *own == property && object.get(other).is_some())?;
        Some(Misnomer { name: (*name).into(), api: (*api).into() })
    };
    Supply {
        holder: holder.map(|name| name.chars().take(TYPE).collect()),
        value: simplest.to_string(),
        misnomer: api.misnomers.iter().find_map(in_object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_apis_are_named_only_where_they_are_used() {
        let data = r#"{"response":{"usage":{"prompt_tokens":1,"output":2}}}"#;
        let of = |property, pointer| {
            supply(spec::openai::DIALECT.api, property, Simplest::Null, data, pointer).misnomer
        };
        assert_eq!(of("input_tokens", "/response/usage").unwrap().name, "prompt_tokens");
        assert_eq!(of("output_tokens", "/response/usage"), None);
        assert_eq!(of("input_tokens", "/response"), None);
    }
}
