//! Responses with items of many kinds, as only one API has them.

mod fit;
mod items;

use serde_json::{Value, json};
use spec::Dialect;
use translation::Delta;
use translation::pen::failure;

use super::RenderedResponse;
use super::spoken::{CREATED, Said, listed};
use crate::content::plan::{Ending, ResponsePlan};
use fit::fit;

pub(super) fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    let mut plan = fit(plan, dialect);
    let (kinds, mut all) = (dialect.render.items, items::all(&plan));
    all.retain(|item| kinds.is_empty() || kinds.contains(&item.kind));
    if all.is_empty() {
        // A response without items has no output tokens.
        (plan.items, plan.output_tokens) = (Vec::new(), None);
    }
    let said = Said { request, plan: &plan, dialect };
    let mut writer = said.writer(0).with_seed(seed);
    for (name, flag) in [
        ("repeats", true),
        ("background", plan.is_background),
        ("keepalive", plan.has_keepalive),
        ("routed", plan.is_routed),
        ("rewritten", plan.is_rewritten),
    ] {
        writer.say(name, flag);
    }
    if let Some(phase) = &plan.phase {
        writer.say("phase", phase.as_str());
    }
    if plan.ending == Ending::Steered {
        writer.say("stop.reason", "steered");
    }
    writer.say("later", CREATED + 2);
    writer.say("texts", plan.text());
    let mut out = Vec::new();
    writer.write(&Delta::Started { id: None, model: None }, &mut out);
    let snapshots = writer.pending();
    if let Ending::Failed(after) = plan.ending {
        writer.limit(after);
    }
    for delta in items::deltas(&all, plan.is_interleaved) {
        writer.write(&delta, &mut out);
    }
    if let Ending::Failed(_) = plan.ending {
        writer.fail(&failure(dialect.api), None, &mut out);
    } else {
        writer.write(&Delta::Usage(said.usage(plan.output_tokens())), &mut out);
        writer.write(&Delta::Stopped(said.stopped()), &mut out);
        writer.write(&Delta::Ended, &mut out);
    }
    let ended = writer.whole();
    let [queued, running] = snapshots.try_into().unwrap_or_else(|_| [json!(null), json!(null)]);
    RenderedResponse { events: listed(&out), snapshots: [queued, running, ended], status: 200 }
}
