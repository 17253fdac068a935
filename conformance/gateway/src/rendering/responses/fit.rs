//! Adaptation of plans to a dialect.

use serde_json::Value;
use spec::Dialect;

use crate::content::pieces::Fragments;
use crate::content::plan::{Item, Part, ResponsePlan};
use crate::content::text;
use crate::rendering::spoken::citation;

pub(super) fn fit(plan: &ResponsePlan, dialect: &Dialect) -> ResponsePlan {
    let mut plan = plan.clone();
    plan.is_background &= dialect.event("response.queued").is_some();
    for item in &mut plan.items {
        if let Item::Message(parts) = item {
            fit_parts(parts, dialect);
        }
    }
    if plan.ending.is_incomplete() && dialect.ending("incomplete").is_none() {
        // A truncated response counts as completed, so its calls must be whole.
        plan.items.retain(|item| match item {
            Item::Function { arguments, .. } => serde_json::from_str::<Value>(&arguments.concat()).is_ok(),
            _ => true,
        });
    }
    plan
}

fn fit_parts(parts: &mut Vec<Part>, dialect: &Dialect) {
    let kinds = dialect.render.annotations;
    let has_refusals = dialect.event("response.refusal.delta").is_some();
    for part in parts.iter_mut() {
        match part {
            Part::Refusal(text) if !has_refusals => *part = Part::Text(std::mem::take(text), Vec::new()),
            Part::Text(_, annotations) => {
                for annotation in annotations.iter_mut() {
                    *annotation = citation(dialect.api, annotation);
                }
                let is_known = |kind: &str| kinds.is_empty() || kinds.contains(&kind);
                annotations.retain(|annotation| text(annotation, "type").is_some_and(is_known));
            }
            Part::Refusal(_) => {}
        }
    }
    if dialect.event("response.content_part.added").is_none() {
        // Without part indices, all text is one part.
        let whole: Fragments = (parts.iter())
            .flat_map(|part| match part {
                Part::Text(text, _) | Part::Refusal(text) => text.clone(),
            })
            .collect();
        let annotations = match parts.last_mut() {
            Some(Part::Text(_, annotations)) => std::mem::take(annotations),
            _ => Vec::new(),
        };
        *parts = vec![Part::Text(whole, annotations)];
    }
}
