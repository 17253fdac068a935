//! Checks of how the recordings of dialects are recognised.

use std::collections::BTreeMap;

use codegen::formats::Fallback;

use super::context::{Context, in_dialect};
use super::exchange::{DISTINGUISH, FITS_ANYTHING};
use super::report::{Report, SourcePlace};

/// The word for the recognised dialect on the command line.
const AUTO: &str = "auto";

pub(super) fn check(context: &Context, report: &mut Report) {
    let mut hosts: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for dialect in context.dialects.values() {
        let file = in_dialect(&dialect.name, "dialect.toml");
        let own = &dialect.own.signature;
        if dialect.name == AUTO {
            let message = format!("\"{AUTO}\" stands for the dialect that is recognised");
            report.find(&file, "the folder", message, "give the dialect another name");
        }
        let marks = [("requests", &own.requests), ("events", &own.events)];
        let marks = marks.iter().flat_map(|(entry, marks)| marks.iter().map(move |mark| (entry, mark)));
        for (entry, _) in marks.filter(|(_, mark)| mark.fits_anything()) {
            report.find(&file, format!("[signature] {entry}"), FITS_ANYTHING, DISTINGUISH);
        }
        for host in &own.hosts {
            if host.contains(['/', ':']) {
                let message = format!("the host \"{host}\" has a scheme, a port or a path");
                report.find(&file, "[signature] hosts", message, "write the host alone; `paths` has paths");
            }
            if let Some(other) = hosts.insert((&dialect.file.api, host), &dialect.name) {
                let message = format!("\"{host}\" is also a host of \"{other}\", of the same API");
                report.find(&file, "[signature] hosts", message, "a host is that of one dialect of an API");
            }
        }
    }
    fallbacks(context, report);
}

/// Recordings that nothing proves to be another dialect's need one dialect, for each API and for all.
fn fallbacks(context: &Context, report: &mut Report) {
    let mut of_api: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut any = Vec::new();
    for dialect in context.dialects.values() {
        let of_api = of_api.entry(&dialect.file.api).or_default();
        if dialect.own.fallback != Fallback::None {
            of_api.push(&dialect.name);
        }
        if dialect.own.fallback == Fallback::Any {
            any.push(dialect.name.as_str());
        }
    }
    let of_apis = of_api.iter().map(|(api, names)| (format!("of the API \"{api}\""), names));
    for (whose, names) in of_apis.chain([("of unknown APIs".to_owned(), &any)]) {
        let help = "set `fallback` in the dialect of the first party, and nowhere else";
        match &**names {
            [_] => {}
            [] => {
                let message = format!("no dialect stands for recordings {whose}");
                report.find("dialects", SourcePlace::File, message, help);
            }
            [first, others @ ..] => {
                for other in others {
                    let message = format!("\"{first}\" stands for recordings {whose}, too");
                    let file = in_dialect(other, "dialect.toml");
                    report.find(file, "fallback", message, help);
                }
            }
        }
    }
}
