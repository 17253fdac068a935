//! The help page of the gateway.

use std::fmt::Write as _;

use super::settings::Settings;
use crate::content::speech::input_text;
use crate::faults::list::{FaultInfo, FaultKind};

pub(super) fn text(settings: &Settings, faults: &[FaultInfo]) -> String {
    let mut page = format!(
        "Reference gateway, {}\n\n\
         Base URL  /v1, with any API key\n\
         Fault     /fault/ID/v1 as base URL, or the model fault:ID, or the header x-conformance-fault: ID,\n          \
         or [[fault ID]] in the input\n\
         Faults    GET /faults lists them as JSON\n\n\
         The input determines the response: {}\n\n",
        spoken(settings),
        EXAMPLES
    );
    for fault in faults {
        let _ = writeln!(page, "{:32} {}", fault.fault, fault.effect);
    }
    page
}

fn spoken(settings: &Settings) -> String {
    let all = std::iter::once(&settings.dialect).chain(&settings.beside);
    let names: Vec<&str> = all.map(|dialect| dialect.name).collect();
    let noun = if names.len() == 1 { "dialect" } else { "dialects" };
    format!("{noun} {}", names.join(", "))
}

const EXAMPLES: &str = "[[say Hello|, wor|ld.]], [[refuse]], [[summarize A|B]][[say C]], \
                        [[call get_weather {\"city\":|\"Oslo\"}]], [[fail]], [[error 429]]";

/// The page contains no data of clients.
pub(super) fn html(settings: &Settings, faults: &[FaultInfo]) -> String {
    let mut rows = String::new();
    for fault in faults {
        let kind = match fault.kind {
            FaultKind::Rule => "rule",
            FaultKind::Websocket => "WebSocket",
            FaultKind::Transport => "transport",
        };
        let input = input_text(&fault.request);
        let _ = write!(
            rows,
            "<tr><td><code>{}</code><td>{kind}<td>{}<td><code>{}</code>",
            escaped(fault.fault),
            escaped(&fault.effect),
            escaped(input.unwrap_or_default())
        );
    }
    format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Reference gateway</title><style>{STYLE}</style>\
         <h1>Reference gateway</h1><p>Point your client at <code>/v1</code> with any API key. It speaks the \
         {}.</p><p>The input determines the response: <code>{}</code></p>\
         <h2>Faults</h2><p>Break one request: use <code>/fault/ID/v1</code> as base URL, the model \
         <code>fault:ID</code>, the header <code>x-conformance-fault: ID</code>, or <code>[[fault ID]]</code> in the \
         input. The response header <code>x-conformance-fault</code> reports whether the fault was applied. \
         <a href=\"/faults\">As JSON</a></p>\
         <table><tr><th>Fault<th>Kind<th>Effect<th>Input that shows it{rows}</table></html>",
        escaped(&spoken(settings)),
        escaped(EXAMPLES)
    )
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;\
                     margin:2rem auto;padding:0 1rem}code{font-size:.9em;overflow-wrap:anywhere}\
                     td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
