//! Refusals that agents know by their words, and recover from.

use catalogue::{REFUSALS, Refusal, SessionCase};

pub(crate) const TOKEN: &str = "capability_rejected:";
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

/// The classes that a refusal can have, as agents find them out: of betas, it can name several.
pub(crate) fn classes(status: u16, message: &str, betas: &[&str]) -> Vec<String> {
    let message = plain(message);
    let is_in = |phrase: &str| {
        let phrase = plain(phrase);
        let rest = phrase
            .split(GAP)
            .try_fold(&*message, |rest, words| rest.find(words).and_then(|at| rest.get(at + words.len()..)));
        rest.is_some()
    };
    let of = |refusal: &Refusal| -> Vec<String> {
        if refusal.unless.iter().any(|words| is_in(words)) {
            return Vec::new();
        }
        let named: &[&str] = if refusal.class.contains(BETA) { betas } else { &[BETA] };
        let is_said = |beta: &&&str| refusal.says.iter().any(|phrase| is_in(&phrase.replace(BETA, beta)));
        named.iter().filter(is_said).map(|beta| refusal.class.replace(BETA, beta)).collect()
    };
    let of_status = REFUSALS.iter().filter(|refusal| refusal.statuses.contains(&status));
    of_status.map(of).find(|classes| !classes.is_empty()).unwrap_or_default()
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
                    assert_eq!(classes(*status, &message, &BETAS), [own.as_str()], "{message}");
                }
                assert_eq!(classes(429, &message, &BETAS), [""; 0], "{message}");
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
            assert_eq!(classes(400, message, &BETAS), [""; 0], "{message}");
        }
        let both =
            format!("Unexpected value(s) `{}`, `{}` for the `anthropic-beta` header.", BETAS[1], BETAS[0]);
        assert_eq!(classes(400, &both, &BETAS), BETAS.map(|beta| format!("beta_header:{beta}")));
    }
}
