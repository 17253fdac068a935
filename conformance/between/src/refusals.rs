//! Refusals that agents know by their words, and recover from.

use catalogue::{REFUSALS, SessionCase};

/// How the message of a refusal begins that names the refused feature alone.
pub(crate) const TOKEN: &str = "capability_rejected: ";
/// A value of the client's header with betas, in the table.
const BETA: &str = "{beta}";
/// Any text, between words of the table.
const GAP: &str = " … ";

/// The message of the refusals of a case, if they have words of their own.
pub(crate) fn words(case: &SessionCase) -> Option<String> {
    let of_class = || {
        let class = case.refused?;
        let refusal = REFUSALS.iter().find(|refusal| refusal.class == class)?;
        let beta = case.then.as_ref().and_then(|then| then.drops.first()).copied().unwrap_or_default();
        Some(refusal.words.first()?.replace(BETA, beta))
    };
    case.refusal.map(str::to_owned).or_else(of_class)
}

/// The class of a refusal, as agents find it out.
pub(crate) fn class(status: u16, message: &str, betas: &[&str]) -> Option<String> {
    let message = plain(message);
    let is_in = |phrase: &str| {
        let phrase = plain(phrase);
        let rest = phrase
            .split(GAP)
            .try_fold(&*message, |rest, words| rest.find(words).and_then(|at| rest.get(at + words.len()..)));
        rest.is_some()
    };
    REFUSALS.iter().filter(|refusal| refusal.statuses.contains(&status)).find_map(|refusal| {
        if refusal.unless.iter().any(|words| is_in(words)) {
            return None;
        }
        let named: &[&str] = if refusal.class.contains(BETA) { betas } else { &[BETA] };
        let is_said = |beta: &&&str| refusal.says.iter().any(|phrase| is_in(&phrase.replace(BETA, beta)));
        named.iter().find(is_said).map(|beta| refusal.class.replace(BETA, beta))
    })
}

/// Without case and quotes, which differ between texts in JSON and outside of it.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['`', '\'', '"', '\\'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BETAS: [&str; 2] = ["effort-2025-11-24", "context-management-2025-06-27"];

    #[test]
    fn each_class_is_known_by_its_words() {
        for refusal in REFUSALS {
            assert!(refusal.words.len() > 1, "{}", refusal.class);
            for words in refusal.words {
                let [message, own] = [*words, refusal.class].map(|text| text.replace(BETA, BETAS[0]));
                for status in refusal.statuses {
                    assert_eq!(class(*status, &message, &BETAS), Some(own.clone()), "{message}");
                }
                assert_eq!(class(429, &message, &BETAS), None, "{message}");
            }
        }
    }

    #[test]
    fn what_only_looks_alike_has_no_class() {
        for message in [
            "",
            "The upstream provider rejected the request",
            "system.1.cache_control: Extra inputs are not permitted",
            "messages.0.content.0.text.cache_control.ttl: Extra inputs are not permitted",
            "context_management: Extra inputs are not permitted",
            "Unexpected value(s) `files-api-2025-04-14` for the `anthropic-beta` header.",
        ] {
            assert_eq!(class(400, message, &BETAS), None, "{message}");
        }
    }
}
