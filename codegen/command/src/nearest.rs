//! Suggestions for misspelled names.

pub(crate) fn nearest<'n>(mistaken: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = mistaken.to_lowercase();
    let limit = wanted.len() / 3 + 1;
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let part = wanted.len() > 3 && (lower.ends_with(&wanted) || lower.starts_with(&wanted));
            (if part { 0 } else { strsim::damerau_levenshtein(&wanted, &lower) }, name)
        })
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Lists all names if none is similar.
pub(crate) fn hint<'n>(mistaken: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> String {
    match nearest(mistaken, names.clone()).as_slice() {
        [] => format!("; there are: {}", names.into_iter().collect::<Vec<_>>().join(", ")),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

pub(crate) fn is_dialect(name: &str, names: &[String]) -> anyhow::Result<()> {
    let is_known = names.iter().any(|known| known == name);
    anyhow::ensure!(
        is_known,
        "there is no dialect \"{name}\"{}",
        hint(name, names.iter().map(String::as_str))
    );
    Ok(())
}
