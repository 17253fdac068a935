//! How long a response is.

use serde_json::Value;
use spec::Api;

use super::plan::ResponsePlan;

/// Truncates a response where the request limits its tokens.
pub(super) fn limit(plan: &mut ResponsePlan, request: &Value, api: &Api) {
    let mut limits = api.request.limits.iter().filter_map(|member| request.get(*member)?.as_u64());
    if let Some(limit) = limits.next() {
        plan.limit(limit);
    }
}
