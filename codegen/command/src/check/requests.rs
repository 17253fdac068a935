//! Checks that requests and the list of goldens in `requests.toml` name goldens of their API, each once.

use std::collections::BTreeSet;

use codegen::folders::{REQUESTS, table_of};

use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    for (api, file) in &context.catalogue.requests {
        let path = table_of(api, REQUESTS);
        let is_of_api = |golden: &str| {
            let dialect = context.golden(golden).and_then(|golden| context.dialects.get(&golden.dialect));
            dialect.is_some_and(|dialect| dialect.file.api == *api)
        };
        let answered = || file.requests.iter().flat_map(|request| &request.goldens);
        for (list, goldens) in
            [("request", answered().collect::<Vec<_>>()), ("reordered", file.reordered.iter().collect())]
        {
            let mut known = BTreeSet::new();
            for golden in goldens {
                let mut find = |message: String, help: &str| report.find(&path, golden, message, help);
                if !is_of_api(golden) {
                    find(
                        format!("there is no golden \"{golden}\" of this API"),
                        "name one as <dialect>/<name>",
                    );
                }
                if !known.insert(golden) {
                    find(format!("\"{golden}\" is named twice under `{list}`"), "remove one of them");
                }
            }
        }
    }
}
