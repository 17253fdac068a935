//! Selects the branch of a union for a value.

use super::{Kind, Registry, Schema};

/// The branches of a union that can match a value, by its kind. Numbers are positions in the union.
#[derive(Debug, Clone, PartialEq)]
pub struct UnionPlan {
    /// For every kind except objects: the branches that can match, in order.
    pub by_kind: Vec<(Kind, Vec<usize>)>,
    /// For objects: the branches, in order.
    pub objects: Vec<usize>,
    /// The discriminator of the objects, if there is one.
    pub tag: Option<Tag>,
}

/// A required property whose value decides the branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// Name of the property.
    pub property: String,
    /// Each value with its branch.
    pub values: Vec<(String, usize)>,
}

impl Registry<'_> {
    /// Computes the branches of a union by kind.
    pub fn plan(&self, branches: &[Schema]) -> UnionPlan {
        let matching = |kind: Kind| -> Vec<usize> {
            (0..branches.len()).filter(|&i| self.kinds(&branches[i]).has(kind)).collect()
        };
        let by_kind = Kind::ALL
            .into_iter()
            .filter(|kind| *kind != Kind::Object)
            .map(|kind| (kind, matching(kind)))
            .filter(|(_, candidates)| !candidates.is_empty())
            .collect();
        let objects = matching(Kind::Object);
        let tag = if objects.len() > 1 { self.tag(branches, &objects) } else { None };
        UnionPlan { by_kind, objects, tag }
    }

    fn tag(self, branches: &[Schema], objects: &[usize]) -> Option<Tag> {
        let tags: Vec<Vec<(String, Vec<String>)>> =
            objects.iter().map(|&i| self.tags(&branches[i])).collect();
        let mut shared: Vec<&str> = tags[0]
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| tags.iter().all(|of_branch| of_branch.iter().any(|(n, _)| n == name)))
            .collect();
        shared.sort_by_key(|name| *name != "type");
        shared.into_iter().find_map(|property| {
            let mut values: Vec<(String, usize)> = Vec::new();
            for (branch, of_branch) in objects.iter().zip(&tags) {
                let (_, own) = of_branch.iter().find(|(name, _)| name == property)?;
                for value in own {
                    if values.iter().any(|(known, _)| known == value) {
                        return None;
                    }
                    values.push((value.clone(), *branch));
                }
            }
            Some(Tag { property: property.to_owned(), values })
        })
    }
}
