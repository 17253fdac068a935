//! Words that make the requests of a run its own: what was recorded in another run does not answer them.

use sha2::{Digest, Sha256};
use spec::Dialect;

use super::case::Offer;
use super::evidence::hash;

/// Common words of one token or two, in no order.
const WORDS: [&str; 64] = [
    "amber", "anchor", "apple", "arrow", "autumn", "basket", "beacon", "birch", "bridge", "candle", "canyon",
    "cedar", "circle", "clover", "cobalt", "coral", "cotton", "crystal", "delta", "desert", "eagle", "ember",
    "falcon", "feather", "forest", "garden", "garnet", "glacier", "harbor", "hazel", "island", "ivory",
    "jasmine", "juniper", "kettle", "lantern", "lemon", "lilac", "maple", "marble", "meadow", "mirror",
    "nectar", "needle", "ocean", "olive", "orchid", "paper", "pebble", "pepper", "planet", "prairie",
    "quartz", "ribbon", "river", "saddle", "silver", "spruce", "summer", "timber", "tulip", "valley",
    "velvet", "willow",
];
/// So many words name a scenario in a run: 24 bits.
const COUNT: usize = 4;

/// The words of a scenario in a run.
fn words(seed: &str, scenario: &str) -> [&'static str; COUNT] {
    let hash = Sha256::digest(format!("{seed}\0{scenario}"));
    std::array::from_fn(|at| WORDS[usize::from(hash[at] % 64)])
}

/// Returns what stands in the instructions of a scenario, and in those of no other run.
pub(super) fn phrase(seed: &str, scenario: &str) -> String {
    format!("Your name is {}.", words(seed, scenario).join(" "))
}

/// Puts its words into the request of a scenario, where that has `{{word 1}}` to `{{word 4}}`.
pub(super) fn with_words(request: &str, seed: &str, scenario: &str) -> String {
    let words = words(seed, scenario).into_iter().zip(1..);
    words.fold(request.to_owned(), |text, (word, number)| {
        text.replace(&format!("{{{{word {number}}}}}"), word)
    })
}

/// Returns an id that no response has.
pub(super) fn unknown_id(seed: &str, scenario: &str) -> String {
    format!("resp_{}", &hash(format!("{seed}\0{scenario}").as_bytes())[..32])
}

/// Returns a seed that nobody has chosen.
pub fn random_seed() -> String {
    let mut bytes = [0; 16];
    // Without randomness there is no TLS either; the run says which seed it has.
    let _ = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes);
    super::evidence::digits(&bytes)
}

/// Returns whether the requests of a dialect have instructions, and the endpoint is said to offer that.
pub fn is_seeded(dialect: &Dialect, offer: &Offer) -> bool {
    const LEAST: &str = r#"{"model":"m","input":"a","instructions":"b"}"#;
    let has_them = dialect.root("request").is_some_and(|root| dialect.check_type(root, LEAST).is_valid());
    has_them && offer.allows("instructions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_their_places() {
        let filled = with_words("{{word 1}}-{{word 4}}{{word 5}}", "a", "text/hello");
        let of = words("a", "text/hello");
        assert_eq!(filled, format!("{}-{}{{{{word 5}}}}", of[0], of[3]));
        assert_eq!(unknown_id("a", "b").len(), 37);
        assert_ne!(unknown_id("a", "b"), unknown_id("b", "b"));
    }

    #[test]
    fn each_seed_and_scenario_has_words_of_its_own() {
        assert_eq!(phrase("a", "text/hello"), phrase("a", "text/hello"));
        assert_ne!(phrase("a", "text/hello"), phrase("b", "text/hello"));
        assert_ne!(phrase("a", "text/hello"), phrase("a", "text/long"));
        assert_ne!(random_seed(), random_seed());
    }
}
