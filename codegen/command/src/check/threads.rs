//! Checks that every thread has one cause, and that its defect exists.

use codegen::folders::{self, THREADS};
use codegen::formats::ThreadCause;

use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    let threads = &context.catalogue.threads;
    for (index, thread) in threads.iter().enumerate() {
        let file = folders::table_of(&thread.api, THREADS);
        let name = thread.at.first().map_or("thread", String::as_str);
        let mut find = |message: String, help: &str| report.find(&file, name, message, help);
        for (at, address) in thread.addresses() {
            if address.is_none() {
                find(format!("\"{at}\" is no thread"), "write `<owner>/<repository>#<number>`");
            }
            if threads.iter().take(index).any(|before| before.at.iter().any(|other| other == at)) {
                find(format!("{at} is listed twice"), "remove one of them");
            }
        }
        match thread.cause() {
            None => find(
                "the cause is missing or ambiguous".to_owned(),
                "set exactly one of `defect`, `client`, `request`, `transport` and `unread`",
            ),
            Some(ThreadCause::Defect(defect)) => {
                let defects = &context.catalogue.defects.defects;
                if !defects.iter().any(|known| known.name == defect && known.api == thread.api) {
                    find(format!("there is no defect \"{defect}\" of this API"), "add it to defects.toml");
                }
            }
            Some(_) => {}
        }
    }
}
