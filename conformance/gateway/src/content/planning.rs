//! Plans of the responses to requests.

use serde_json::Value;
use spec::Dialect;
use translation::{Format, Question, pen};

use super::plan::ResponsePlan;
use super::{conversation, responses};

/// Returns the plan of the response to a valid request.
pub fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let plan = if pen::has_item(dialect.api, "message") { responses::plan } else { conversation::plan };
    plan(request, dialect, seed)
}

/// Lengthens the texts of a response unless the request determines them.
pub(crate) fn lengthen(plan: &mut ResponsePlan, request: &Value, fragments: usize, dialect: &Dialect) {
    if Question::read(dialect.api, request).format == Format::Text {
        plan.lengthen(fragments);
        plan.limit_as(request, dialect.api);
    }
}
