//! Names near to a mistaken one.

/// Returns ` (did you mean A or B?)` with the names nearest to a mistaken one; empty, where none is near.
pub fn did_you_mean<'n>(mistaken: &str, names: impl Iterator<Item = &'n str>) -> String {
    let wanted = mistaken.to_lowercase();
    let limit = wanted.chars().count() / 4 + 1;
    let is_part = |name: &str| wanted.len() > 3 && (name.starts_with(&wanted) || name.ends_with(&wanted));
    let distance = |name: &str| {
        if is_part(name) { 0 } else { strsim::damerau_levenshtein(&wanted, &name.to_lowercase()) }
    };
    let mut near: Vec<(usize, &str)> =
        names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= limit).collect();
    near.sort_unstable();
    near.dedup();
    let nearest = near.first().map_or(0, |(distance, _)| *distance);
    near.retain(|(distance, _)| *distance <= nearest + 1);
    near.truncate(3);
    let near: Vec<_> = near.into_iter().map(|(_, name)| name).collect();
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}
