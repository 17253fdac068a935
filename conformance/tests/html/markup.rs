//! A small HTML parser for tests.

/// The elements of a page, by name, with their attributes as they are written.
#[derive(Debug)]
pub(crate) struct Element<'p> {
    pub(crate) name: &'p str,
    pub(crate) attributes: &'p str,
}

/// Elements that hold nothing.
const EMPTY: [&str; 4] = ["meta", "link", "br", "input"];

/// Reads a page as strictly as XML.
///
/// # Panics
///
/// When elements are not nested, or an attribute is not quoted.
pub(crate) fn elements(page: &str) -> Vec<Element<'_>> {
    let page = page.strip_prefix("<!doctype html>\n").expect("it is HTML");
    let (mut elements, mut open) = (Vec::new(), Vec::new());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag_and_rest = &rest[at + 1..];
        let end = tag_and_rest.find('>').expect("a tag ends");
        let tag = &tag_and_rest[..end];
        rest = &tag_and_rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "before {:?}", rest.get(..80));
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|found| found.is_ascii_alphanumeric()), "<{tag}>");
        assert!(attributes.split('"').count() % 2 == 1, "<{tag}>");
        let is_svg = || matches!(name, "circle" | "path" | "rect" | "line");
        assert!(!is_closed || EMPTY.contains(&name) || is_svg(), "<{tag}/>");
        elements.push(Element { name, attributes });
        if !is_closed {
            open.push(name);
        }
        if matches!(name, "style" | "script") {
            // Its content has no tags.
            let end = rest.find(&format!("</{name}>")).expect("it ends");
            assert!(!rest[..end].contains('<'), "{name} holds no tag");
            rest = &rest[end..];
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    elements
}

/// Returns the elements with this name.
pub(crate) fn named<'e, 'p>(elements: &'e [Element<'p>], name: &str) -> Vec<&'e Element<'p>> {
    elements.iter().filter(|element| element.name == name).collect()
}

impl Element<'_> {
    /// Returns whether the element has this attribute.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        format!(" {} ", self.attributes).contains(&format!(" {attribute} "))
    }

    /// Returns the value of an attribute without decoding it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let from = format!(" {}", self.attributes).find(&format!(" {name}=\""))? + name.len() + 2;
        self.attributes.get(from..)?.split('"').next()
    }
}
