//! Compares objects.

use crate::schema::{Additional, Object, StringRules};

use super::change::{Breaks, Change};
use super::compare::Comparison;
use super::limits;
use super::shape::Variant;
use super::side::{Node, Side};

/// The keyword for undeclared properties.
const ADDITIONAL: &[&str] = &["additionalProperties"];

impl<'d> Comparison<'d> {
    pub(super) fn objects(&mut self, path: &str, a: &Variant<'d>, b: &Variant<'d>) {
        let (node_a, node_b) = (a.node, b.node);
        let (a, b) = (a.object, b.object);
        for of_a in &a.properties {
            let place = format!("{path}.{}", of_a.name);
            let inner_a = node_a.inner(&of_a.schema, &["properties", &of_a.name]);
            let Some(of_b) = b.property(&of_a.name) else {
                let change =
                    Change::PropertyRemoved { required: of_a.required, holds: self.a.describe(inner_a) };
                // A reader misses it; a writer can still send it, unless undeclared properties are forbidden.
                let breaks = Breaks { reader: of_a.required, writer: b.additional != Additional::Open };
                self.report(&place, [(change, breaks)]);
                continue;
            };
            match (of_a.required, of_b.required) {
                (true, false) => self.report(&place, [(Change::MadeOptional, Breaks::READER)]),
                (false, true) => self.report(&place, [(Change::MadeRequired, Breaks::WRITER)]),
                _ => {}
            }
            match (of_a.deprecated, of_b.deprecated) {
                (false, true) => self.report(&place, [(Change::Deprecated, Breaks::NOBODY)]),
                (true, false) => self.report(&place, [(Change::Undeprecated, Breaks::NOBODY)]),
                _ => {}
            }
            self.place(&place, inner_a, node_b.inner(&of_b.schema, &["properties", &of_b.name]));
        }
        for of_b in b.properties.iter().filter(|property| a.property(&property.name).is_none()) {
            let holds = self.b.describe(node_b.inner(&of_b.schema, &["properties", &of_b.name]));
            let change = Change::PropertyAdded { required: of_b.required, holds };
            let breaks = Breaks { reader: a.additional != Additional::Open, writer: of_b.required };
            self.report(&format!("{path}.{}", of_b.name), [(change, breaks)]);
        }
        self.additional(path, (a, node_a), (b, node_b));
        self.report(path, limits::objects(a, b));
        let names = |object: &'d Object| -> Vec<&'d StringRules> { object.property_names.iter().collect() };
        self.report(&format!("{path}{{name}}"), limits::strings(&names(a), &names(b)));
    }

    fn additional(
        &mut self,
        path: &str,
        (a, node_a): (&'d Object, Node<'d>),
        (b, node_b): (&'d Object, Node<'d>),
    ) {
        let inside = |side: &Side, additional: &'d Additional, node: Node<'d>| match additional {
            Additional::Open => "any".to_owned(),
            Additional::Closed => "none".to_owned(),
            Additional::Typed(values) => side.describe(node.inner(values, ADDITIONAL)),
        };
        let breaks = match (&a.additional, &b.additional) {
            (Additional::Typed(of_a), Additional::Typed(of_b)) => {
                let values = (node_a.inner(of_a, ADDITIONAL), node_b.inner(of_b, ADDITIONAL));
                return self.place(&format!("{path}{{}}"), values.0, values.1);
            }
            (Additional::Open, Additional::Open) | (Additional::Closed, Additional::Closed) => return,
            (_, Additional::Open) | (Additional::Closed, _) => Breaks::READER,
            (Additional::Open, _) | (_, Additional::Closed) => Breaks::WRITER,
        };
        let (from, to) = (inside(self.a, &a.additional, node_a), inside(self.b, &b.additional, node_b));
        self.report(path, [(Change::AdditionalChanged { from, to }, breaks)]);
    }
}
