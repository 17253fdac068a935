//! Pairs the objects of two unions.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::shape::Variant;

/// The pairs of two unions of objects, as positions on both sides.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Matching {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) only_a: Vec<usize>,
    pub(super) only_b: Vec<usize>,
}

/// Pairs objects by tag, then by name, then by similarity. Single objects are always a pair.
pub(super) fn matching(a: &[Variant<'_>], b: &[Variant<'_>]) -> Matching {
    if a.len() == 1 && b.len() == 1 {
        return Matching { pairs: vec![(0, 0)], ..Matching::default() };
    }
    let mut candidates: Vec<(i64, usize, usize)> = Vec::new();
    for (i, one) in a.iter().enumerate() {
        for (j, two) in b.iter().enumerate() {
            candidates.extend(likeness(one, two).map(|score| (score, i, j)));
        }
    }
    candidates.sort_by_key(|&(score, i, j)| (Reverse(score), i, j));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for &(_, i, j) in &candidates {
        if pairs.iter().all(|&(x, y)| x != i && y != j) {
            pairs.push((i, j));
        }
    }
    // One object may match several of the other union: a message of any role, and one for each role.
    let more: Vec<(usize, usize)> = candidates
        .iter()
        .filter(|&&(_, i, j)| {
            match (pairs.iter().any(|(x, _)| *x == i), pairs.iter().any(|(_, y)| *y == j)) {
                (false, true) => covers(&b[j], &a[i]),
                (true, false) => covers(&a[i], &b[j]),
                _ => false,
            }
        })
        .map(|&(_, i, j)| (i, j))
        .collect();
    for (i, j) in more {
        if pairs.iter().all(|(x, _)| *x != i) || pairs.iter().all(|(_, y)| *y != j) {
            pairs.push((i, j));
        }
    }
    pairs.sort_unstable();
    let only_a = (0..a.len()).filter(|i| pairs.iter().all(|(x, _)| x != i)).collect();
    let only_b = (0..b.len()).filter(|j| pairs.iter().all(|(_, y)| y != j)).collect();
    Matching { pairs, only_a, only_b }
}

fn covers(wide: &Variant<'_>, narrow: &Variant<'_>) -> bool {
    let shared: Vec<(&str, &[String], &[String])> = narrow
        .tags
        .iter()
        .filter_map(|(property, values)| {
            let (_, allowed) = wide.tags.iter().find(|(other, _)| other == property)?;
            Some((*property, allowed.as_slice(), values.as_slice()))
        })
        .collect();
    shared.iter().any(|(property, ..)| *property == "type")
        && shared.iter().any(|(_, allowed, values)| allowed.len() > values.len())
        && shared.iter().all(|(_, allowed, values)| values.iter().all(|value| allowed.contains(value)))
}

fn likeness(a: &Variant<'_>, b: &Variant<'_>) -> Option<i64> {
    let shared_tags = a.tags.iter().filter_map(|(property, values)| {
        let (_, others) = b.tags.iter().find(|(other, _)| other == property)?;
        Some((*property, values.iter().any(|value| others.contains(value))))
    });
    let (mut score, mut same_type) = (0, false);
    for (property, meets) in shared_tags {
        match (property, meets) {
            ("type", false) => return None,
            ("type", true) => same_type = true,
            (_, true) => score += 100,
            (_, false) => score -= 100,
        }
    }
    let names = |variant: &Variant<'_>| -> BTreeSet<String> {
        variant.object.properties.iter().map(|property| property.name.clone()).collect()
    };
    let (names_a, names_b) = (names(a), names(b));
    let shared = names_a.intersection(&names_b).count();
    let all = names_a.union(&names_b).count();
    let same_name = a.node.name.is_some() && a.node.name == b.node.name;
    if !same_type && !same_name && 2 * shared < all {
        return None;
    }
    let share = i64::try_from(100 * shared / all.max(1)).unwrap_or(0);
    Some(score + share + 1000 * i64::from(same_type) + 200 * i64::from(same_name))
}

pub(super) fn labels(variants: &[Variant<'_>]) -> Vec<String> {
    let tag = |variant: &Variant<'_>| {
        let (_, values) = variant.tags.iter().find(|(property, _)| *property == "type")?;
        Some(values.join("|"))
    };
    let short: Vec<Option<String>> = variants.iter().map(tag).collect();
    let label = |(variant, tag): (&Variant<'_>, &Option<String>)| {
        let unique = short.iter().filter(|other| *other == tag).count() == 1;
        match (tag, variant.node.name) {
            (Some(tag), Some(name)) if !unique => format!("{tag} ({name})"),
            (Some(tag), _) => tag.clone(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => "object".to_owned(),
        }
    };
    variants.iter().zip(&short).map(label).collect()
}
