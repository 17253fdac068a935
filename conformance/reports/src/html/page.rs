//! A writer of HTML that escapes all texts.

use std::fmt::{self, Display, Write};

use results::text::visible;

/// An HTML page under construction. No method accepts markup: texts are escaped, and invisible or bidirectional control
/// characters are shown as escapes.
#[derive(Debug, Default)]
pub(crate) struct Html {
    out: String,
}

/// An element whose attributes are being written. It is not there before something is put inside.
#[must_use]
pub(crate) struct Tag<'h> {
    html: &'h mut Html,
    name: &'static str,
}

impl Html {
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { html: self, name }
    }

    pub(crate) fn text(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = Escaped(&mut self.out).write_str(&visible(text));
    }

    /// Line breaks stay.
    pub(crate) fn lines(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            // Indentation is preserved.
            let rest = line.trim_start_matches('\t');
            self.out.push_str(&"  ".repeat(line.len() - rest.len()));
            self.text(rest);
        }
    }

    /// Built in: SVG without double quotes.
    pub(crate) fn icon(&mut self, svg: &'static str) {
        self.out.push_str("<link rel=\"icon\" href=\"data:image/svg+xml,");
        for character in svg.chars() {
            match character {
                '<' => self.out.push_str("%3C"),
                '>' => self.out.push_str("%3E"),
                '#' => self.out.push_str("%23"),
                _ => self.out.push(character),
            }
        }
        self.out.push_str("\"/>");
    }

    pub(crate) fn style(&mut self, css: &'static str) {
        self.out.push_str("<style>");
        self.out.push_str(css);
        self.out.push_str("</style>");
    }

    pub(crate) fn script(&mut self, script: &'static str) {
        self.out.push_str("<script>");
        self.out.push_str(script);
        self.out.push_str("</script>");
    }

    pub(crate) fn into_document(self) -> String {
        format!("<!doctype html>\n{}\n", self.out)
    }
}

impl Tag<'_> {
    pub(crate) fn class(self, class: &str) -> Self {
        self.set("class", class)
    }

    /// Use [`Self::link`] for URLs.
    pub(crate) fn set(self, name: &'static str, value: impl Display) -> Self {
        assert!(!matches!(name, "href" | "src" | "style"), "{name}");
        let _ = write!(self.html.out, " {name}=\"");
        let _ = Escaped(&mut self.html.out).write_str(&visible(&value.to_string()));
        self.html.out.push('"');
        self
    }

    pub(crate) fn set_if(self, is_there: bool, name: &'static str) -> Self {
        if is_there { self.set(name, "") } else { self }
    }

    /// Leads to another place of the page: it can lead nowhere else.
    pub(crate) fn link(self, id: &str) -> Self {
        let _ = write!(self.html.out, " href=\"#");
        let _ = Escaped(&mut self.html.out).write_str(&visible(id));
        self.html.out.push('"');
        self
    }

    pub(crate) fn inside(self, write: impl FnOnce(&mut Html)) {
        self.html.out.push('>');
        write(self.html);
        let _ = write!(self.html.out, "</{}>", self.name);
    }

    pub(crate) fn text(self, text: &str) {
        self.inside(|html| html.text(text));
    }

    pub(crate) fn empty(self) {
        self.html.out.push_str("/>");
    }
}

struct Escaped<'s>(&'s mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(character),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        let mut html = Html::default();
        html.tag("p").set("title", "\"><script>").link("a\"b").inside(|html| {
            html.lines("</p><b>&\u{202e}\u{0}\n\tx");
            html.tag("br").empty();
        });
        assert_eq!(
            html.into_document(),
            "<!doctype html>\n<p title=\"&quot;&gt;&lt;script&gt;\" href=\"#a&quot;b\">&lt;/p&gt;&lt;b&gt;&amp;\\u{202e}\\u{0}\n  x<br/></p>\n"
        );
    }
}
