//! Words that make the requests of a run unique, so that recorded responses do not fit.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spec::table::Operation;
use spec::{Api, Dialect};

use catalogue::Scenario;

use super::offer::Offer;
use crate::digest::{digits, hash};

/// The seed of the words of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seed {
    text: String,
    /// Whether instructions also contain words.
    in_instructions: bool,
    /// Whether prompts keep the directives that only the reference gateway obeys.
    has_directives: bool,
}

impl Seed {
    /// No seed: the default words.
    pub const NONE: Self = Self { text: String::new(), in_instructions: false, has_directives: true };

    /// Returns the seed of a run in a dialect. Instructions contain words if the dialect has instructions and
    /// the endpoint supports them.
    pub fn new(text: impl Into<String>, dialect: &Dialect, offer: &Offer) -> Self {
        let request = dialect.api.request;
        let has_them = |name: &str| {
            let least = json!({"model": "m", request.input: "a", name: "b"}).to_string();
            let root = dialect.api.route(Operation::Create).and_then(|route| dialect.root(route.request?));
            root.is_some_and(|root| dialect.check_type(root, &least).is_valid()) && offer.allows(name)
        };
        let in_instructions = request.instructions.is_some_and(has_them);
        Self { text: text.into(), in_instructions, has_directives: true }
    }

    /// Sets whether prompts keep the directives that only the reference gateway obeys. A model reads them as text.
    #[must_use]
    pub fn directives(self, has_directives: bool) -> Self {
        Self { has_directives, ..self }
    }

    /// Only the reference gateway gets the directives in prompts.
    pub(super) fn address(&self, request: &mut Value) {
        if !self.has_directives {
            remove_directives(request);
        }
    }

    /// Replaces `{{word 1}}` to `{{word 4}}`, equally in all turns of a conversation.
    pub(super) fn fill(&self, text: &str, scenario: &Scenario) -> String {
        let words = words(&self.text, first_turn(scenario)).into_iter().zip(1..);
        words.fold(text.to_owned(), |text, (word, number)| {
            text.replace(&format!("{{{{word {number}}}}}"), word)
        })
    }

    /// The response has to repeat the words of this seed.
    pub(super) fn says(&self, scenario: &Scenario) -> Option<String> {
        scenario.says.map(|words| self.fill(words, scenario))
    }

    pub(super) fn phrase(&self, scenario: &Scenario) -> Option<String> {
        let words = || words(&self.text, scenario.id).join(" ");
        self.in_instructions.then(|| format!("Your name is {}.", words()))
    }

    pub(super) fn unknown_id(&self, scenario: &Scenario, api: &Api) -> String {
        let start = api.request.id_prefix;
        format!("{start}{}", &hash(format!("{}\0{}", self.text, scenario.id).as_bytes())[..32])
    }
}

pub(crate) fn has_directives(request: &str) -> bool {
    request.contains(OPEN)
}

/// The marks around a directive.
const OPEN: &str = "[[";
const CLOSE: &str = "]]";

fn remove_directives(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((before, rest)) = text.split_once(OPEN)
                && let Some((_, after)) = rest.split_once(CLOSE)
            {
                *text = format!("{}{after}", before.trim_end());
                remove_directives(value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(remove_directives),
        Value::Object(members) => members.values_mut().for_each(remove_directives),
        _ => {}
    }
}

fn first_turn(scenario: &Scenario) -> &str {
    scenario.before().map_or(scenario.id, first_turn)
}

/// Common words of one or two tokens.
const WORDS: [&str; 64] = [
    "amber", "anchor", "apple", "arrow", "autumn", "basket", "beacon", "birch", "bridge", "candle", "canyon",
    "cedar", "circle", "clover", "cobalt", "coral", "cotton", "crystal", "delta", "desert", "eagle", "ember",
    "falcon", "feather", "forest", "garden", "garnet", "glacier", "harbor", "hazel", "island", "ivory",
    "jasmine", "juniper", "kettle", "lantern", "lemon", "lilac", "maple", "marble", "meadow", "mirror",
    "nectar", "needle", "ocean", "olive", "orchid", "paper", "pebble", "pepper", "planet", "prairie",
    "quartz", "ribbon", "river", "saddle", "silver", "spruce", "summer", "timber", "tulip", "valley",
    "velvet", "willow",
];
/// Number of words of a scenario: 24 bits.
const COUNT: usize = 4;

fn words(seed: &str, scenario: &str) -> [&'static str; COUNT] {
    let hash = Sha256::digest(format!("{seed}\0{scenario}"));
    std::array::from_fn(|at| WORDS[usize::from(hash[at] % 64)])
}

/// Returns a random seed.
pub fn random_seed() -> String {
    let mut bytes = [0; 16];
    // Without randomness there is no TLS either.
    let _ = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes);
    digits(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(text: &str) -> Seed {
        Seed::new(text, spec::dialect("openai").unwrap(), &Offer::All)
    }

    fn scenario(id: &str) -> &'static Scenario {
        catalogue::scenario(id).unwrap()
    }

    #[test]
    fn prompts_for_others_have_no_directives() {
        let mut said = json!({"input": ["Say hi. [[say Hi|.]][[usage 1 2]]", {"a": "[b]"}], "n": 1});
        Seed::NONE.address(&mut said);
        assert!(said.to_string().contains("[[say Hi|.]]"));
        let plain = Seed::NONE.directives(false);
        plain.address(&mut said);
        assert_eq!(said, json!({"input": ["Say hi.", {"a": "[b]"}], "n": 1}));
        for scenario in catalogue::SCENARIOS.iter().filter(|scenario| has_directives(scenario.request)) {
            let Ok(mut request) = serde_json::from_str(scenario.request) else { continue };
            plain.address(&mut request);
            let text = request.to_string();
            assert!(!has_directives(&text), "{}: {text}", scenario.id);
            assert!(
                !text.contains(r#""content":"""#) && !text.contains(r#""input":"""#),
                "{}: {text}",
                scenario.id
            );
        }
    }

    #[test]
    fn words_take_their_places() {
        let filled = seed("a").fill("{{word 1}}-{{word 4}}{{word 5}}", scenario("text/hello"));
        let of = words("a", "text/hello");
        assert_eq!(filled, format!("{}-{}{{{{word 5}}}}", of[0], of[3]));
        let (hello, long) = (scenario("text/hello"), scenario("text/long"));
        let id = |scenario| seed("a").unknown_id(scenario, spec::dialect("openai").unwrap().api);
        assert_eq!(id(hello).len(), 37);
        assert_ne!(id(hello), id(long));
    }

    #[test]
    fn each_seed_and_scenario_has_words_of_its_own() {
        let (hello, long) = (scenario("text/hello"), scenario("text/long"));
        assert_eq!(seed("a").phrase(hello), seed("a").phrase(hello));
        assert_ne!(seed("a").phrase(hello), seed("b").phrase(hello));
        assert_ne!(seed("a").phrase(hello), seed("a").phrase(long));
        assert_ne!(random_seed(), random_seed());
    }

    #[test]
    fn turns_of_a_conversation_share_their_words() {
        let of = |id| seed("a").fill("{{word 1}} {{word 2}}", scenario(id));
        assert_eq!(of("state/stored"), of("state/recalled-twice"));
        assert_ne!(of("state/stored"), of("text/hello"));
    }

    #[test]
    fn instructions_carry_words_where_they_are_offered() {
        let without = Offer::Without(vec!["instructions".to_owned()]);
        let dialect = spec::dialect("openai").unwrap();
        assert_eq!(Seed::new("a", dialect, &without).phrase(scenario("text/hello")), None);
    }
}
