//! Expected and actual values, side by side.

use super::page::Html;
use results::text::parted;

pub(super) fn sides(expected: &str, found: &str, html: &mut Html) {
    let parts = parted(expected, found);
    html.tag("div").class("sides").inside(|html| {
        for (name, text, own) in [("expected", expected, 0), ("found", found, 1)] {
            html.tag("div").class(name).inside(|html| {
                html.tag("p").class("side").text(name);
                html.tag("pre").set("tabindex", 0).inside(|html| {
                    html.tag("code").inside(|html| match &parts {
                        None => html.text(text),
                        Some(parts) => {
                            let [same, differing, rest] = if own == 0 { parts[0] } else { parts[1] };
                            html.text(same);
                            html.tag("mark").text(differing);
                            html.text(rest);
                        }
                    });
                });
            });
        }
    });
}
