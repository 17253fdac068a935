//! How long a response is.

use serde_json::Value;
use spec::{Api, Dialect};

use super::ask::Format;
use super::plan::ResponsePlan;
use super::speech::speech;

/// Truncates a response where the request limits its tokens.
pub(super) fn limit(plan: &mut ResponsePlan, request: &Value, api: &Api) {
    let mut limits = api.request.limits.iter().filter_map(|member| request.get(*member)?.as_u64());
    if let Some(limit) = limits.next() {
        plan.limit(limit);
    }
}

/// Lengthens the texts of a response unless the request determines them.
pub(crate) fn lengthen(plan: &mut ResponsePlan, request: &Value, fragments: usize, dialect: &Dialect) {
    if (speech(dialect.api).ask)(request).format == Format::Text {
        plan.lengthen(fragments);
        limit(plan, request, dialect.api);
    }
}
