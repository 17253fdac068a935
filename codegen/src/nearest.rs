//! The names that somebody may have meant.

/// Returns the names that are nearest to a mistaken one, at most three.
pub(crate) fn nearest<'n>(mistaken: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = mistaken.to_lowercase();
    let limit = wanted.len() / 3 + 1;
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let part = wanted.len() > 3 && (lower.ends_with(&wanted) || lower.starts_with(&wanted));
            (if part { 0 } else { distance(&wanted, &lower) }, name)
        })
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Returns how many characters must be added, removed or replaced to get from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, one) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(one != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_parts_are_near() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let names = ["response.created", "response.completed", "Response", "error"];
        assert_eq!(nearest("response.craeted", names)[0], "response.created");
        assert_eq!(nearest("completed", names), ["response.completed"]);
        assert!(nearest("tools", names).is_empty());
    }
}
