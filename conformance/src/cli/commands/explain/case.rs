//! Pages of cases for clients, and of faults of transport.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::{Expect, Level};
use clients::PlayedCase;
use gateway::WireFault;
use spec::Dialect;

use super::page::Page;
use checker::Rules;
use reports::Screen;
use results::shell_word;

pub(in crate::cli) fn case(case: &PlayedCase, dialect: &Dialect, screen: Screen) -> String {
    let mut page = Page::new(&case.name, &case.title, screen);
    let must = match case.expect {
        Expect::MustSurvive => "return the answer that was sent, without an error",
        Expect::MustReport => "report an error",
        Expect::Either => "return the answer that was sent, or report an error",
    };
    page.fact("must", must);
    page.fact("because", &case.reason);
    page.fact("authority", &case.authority);
    if case.expect != Expect::MustReport {
        page.rows("answer", case.wanted().into_iter().map(|(name, value)| format!("{name} {value}")));
    }
    page.fact("request", &case.request.to_string());
    if let Some(events) = case.cancel_after {
        page.fact("", &format!("the client disconnects after {events} events"));
    }
    if let Some((retries, most)) = case.retries() {
        page.fact(
            "",
            &format!("retries that the client may make: {retries}; requests that are right: at most {most}"),
        );
    }
    page.rows("steps", case.turns.iter().filter_map(|turn| serde_json::to_string(&turn.case_step()).ok()));
    let responses = case.responses();
    let ends = responses.iter().map(|response| match response.end {
        Some(end) => format!("{}, {end}", response.head),
        None => response.head.clone(),
    });
    page.rows("response", ends);
    let found: BTreeSet<String> =
        responses.iter().flat_map(|response| found(&response.bytes, dialect)).collect();
    page.fact("breaks", &found.into_iter().collect::<Vec<_>>().join(", "));
    let flag = match dialect.name {
        "openai" => String::new(),
        other => format!(" --dialect {}", shell_word(other)),
    };
    let members = if clients::is_measured_only(&case.name) { " --members" } else { "" };
    page.fact("show it", &format!("conformance client --show {}{flag}", shell_word(&case.name)));
    page.fact("run it", &format!("conformance client{members}{flag} {} -- COMMAND", shell_word(&case.name)));
    page.out
}

/// Broken rules, at least at level SHOULD.
fn found(bytes: &[u8], dialect: &Dialect) -> Vec<String> {
    let Some(dialect) = spec::dialect(dialect.name) else { return Vec::new() };
    let report = recordings::check("case".to_owned(), &mut &*bytes, None, &Rules::of(dialect));
    let binding = report.findings.into_iter().filter(|finding| finding.level >= Level::Should);
    binding.map(|finding| finding.rule.into_owned()).collect()
}

pub(super) fn fault(fault: WireFault, screen: Screen) -> String {
    let mut page = Page::new(fault.name(), fault.effect(), screen);
    page.fact("fault", "of the reference gateway, in every stream");
    page.fact("run it", &format!("conformance serve --fault {}", fault.name()));
    page.fact("or ask", &format!("the model fault:{} for it, in a single request", fault.name()));
    page.out
}

/// For a terminal: each line stays one, and nothing in it is hidden.
pub(in crate::cli) fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        for chunk in line.strip_suffix(b"\n").unwrap_or(line).utf8_chunks() {
            results::text::push_visible(chunk.valid(), &mut out);
            for byte in chunk.invalid() {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use reports::Style;

    #[test]
    fn every_case_has_a_page() {
        let dialect = spec::dialect("openai").expect("the build has it");
        let screen = Screen { style: Style::Plain, width: 80 };
        for case in clients::cases(dialect) {
            let page = self::case(case, dialect, screen);
            assert!(page.starts_with(&case.name), "{page}");
            for fact in ["\nmust       ", "\nrequest    ", "\nresponse   "] {
                assert!(page.contains(fact), "{fact:?}: {page}");
            }
            let is_fault = case.name.starts_with("fault/") && case.transport == results::Transport::Sse;
            let rule = case.name.strip_prefix("fault/").unwrap_or_default();
            assert!(!is_fault || page.replace(['\n', ' '], "").contains(rule), "{page}");
        }
    }

    #[test]
    fn no_byte_is_hidden() {
        assert_eq!(visible_bytes(b"a\r\n\n\xff\x1b[2J\xe2\x82"), "a\\r\n\n\\xff\\u{1b}[2J\\xe2\\x82\n");
    }
}
