//! Walks both sides in parallel.

use std::collections::BTreeSet;

use crate::schema::{Array, Schema};

use super::Kind;
use super::change::{Breaks, Change, Finding};
use super::limits::{self, ClassifiedChange};
use super::pairs::{Pair, Pairs, Start};
use super::shape::{Number, Shape, Variant, is_object};
use super::side::{Node, Side};
use super::variants::{labels, matching};

pub(super) struct Comparison<'d> {
    pub(super) a: &'d Side,
    pub(super) b: &'d Side,
    pub(super) pairs: Pairs<'d>,
    pub(super) current: Option<Pair<'d>>,
    /// Inline schemas under comparison, which stops recursion.
    open: Vec<(*const Schema, *const Schema)>,
    /// Named types that have a counterpart.
    pub(super) met_a: BTreeSet<&'d str>,
    pub(super) met_b: BTreeSet<&'d str>,
}

impl<'d> Comparison<'d> {
    pub(super) fn of(a: &'d Side, b: &'d Side) -> Self {
        let mut comparison = Self {
            a,
            b,
            pairs: Pairs::default(),
            current: None,
            open: Vec::new(),
            met_a: BTreeSet::new(),
            met_b: BTreeSet::new(),
        };
        for start in comparison.starts() {
            match start {
                (Start::Event(_), pair) => {
                    comparison.pairs.reach(None, pair);
                }
                (Start::Root(_), pair) => comparison.enter(pair.a, pair.b, true),
            }
        }
        comparison.work();
        // Types that no common event or body reaches are paired by name.
        for name in a.types.keys().filter(|name| b.types.contains_key(*name)) {
            if !comparison.met_a.contains(name.as_str()) && !comparison.met_b.contains(name.as_str()) {
                comparison.enter(name, name, true);
                comparison.work();
            }
        }
        comparison
    }

    pub(super) fn starts(&self) -> Vec<(Start<'d>, Pair<'d>)> {
        let (a, b) = (self.a, self.b);
        let events = a.events.keys().filter(|name| b.events.contains_key(*name));
        let events = events.map(|name| (Start::Event(name), Pair { kind: Kind::Event, a: name, b: name }));
        let roots = a.roots.iter().filter_map(|(role, of_a)| {
            let of_b = b.roots.get(role)?;
            Some((Start::Root(role), Pair { kind: Kind::Type, a: of_a, b: of_b }))
        });
        events.chain(roots).collect()
    }

    fn work(&mut self) {
        while let Some(pair) = self.pairs.next() {
            let node = |side: &'d Side, name| match pair.kind {
                Kind::Event => side.event(name),
                Kind::Type => side.named(name),
            };
            if let (Some(a), Some(b)) = (node(self.a, pair.a), node(self.b, pair.b)) {
                self.current = Some(pair);
                self.schemas("", a, b);
                self.current = None;
            }
        }
    }

    /// Pairs in the same place are compared once.
    fn enter(&mut self, a: &'d str, b: &'d str, with_null: bool) {
        self.met_a.insert(a);
        self.met_b.insert(b);
        let known = self.pairs.reach(self.current, Pair { kind: Kind::Type, a, b });
        if with_null && !known.null_compared {
            known.null_compared = true;
            if let (Some(a), Some(b)) = (self.a.types.get(a), self.b.types.get(b)) {
                known
                    .findings
                    .extend(null(self.a, &a.schema, self.b, &b.schema).map(|judged| finding("", judged)));
            }
        }
    }

    pub(super) fn place(&mut self, path: &str, a: Node<'d>, b: Node<'d>) {
        match (a.reference(), b.reference()) {
            (Some((of_a, true)), Some((of_b, true))) => self.enter(of_a, of_b, true),
            (references_a, references_b) => {
                self.report(path, null(self.a, a.schema, self.b, b.schema));
                match (references_a, references_b) {
                    (Some((of_a, _)), Some((of_b, _))) => self.enter(of_a, of_b, false),
                    _ => self.schemas(path, a, b),
                }
            }
        }
    }

    fn schemas(&mut self, path: &str, a: Node<'d>, b: Node<'d>) {
        let here = (std::ptr::from_ref(a.schema), std::ptr::from_ref(b.schema));
        if self.open.contains(&here) {
            return;
        }
        self.open.push(here);
        let shared = self.shared_parts(a, b);
        for name in &shared {
            self.enter(name, name, true);
        }
        let (shape_a, shape_b) = (Shape::of(self.a, a, &shared), Shape::of(self.b, b, &shared));
        self.met_a.extend(&shape_a.parts);
        self.met_b.extend(&shape_b.parts);
        self.shapes(path, &shape_a, &shape_b);
        self.open.pop();
    }

    /// Named types with more than one object are compared on their own.
    fn shared_parts(&self, a: Node<'d>, b: Node<'d>) -> Vec<&'d str> {
        let names = |node: Node<'d>| -> Vec<&'d str> {
            let branches = node.branches();
            if branches.len() < 2 {
                return Vec::new();
            }
            branches.into_iter().filter_map(|branch| branch.reference().map(|(name, _)| name)).collect()
        };
        let of_b = names(b);
        let part = |side: &'d Side, name| side.named(name).is_some_and(|node| !is_object(node));
        let names = names(a).into_iter().filter(|name| of_b.contains(name));
        names.filter(|name| part(self.a, name) && part(self.b, name)).collect()
    }

    fn shapes(&mut self, path: &str, a: &Shape<'d>, b: &Shape<'d>) {
        let (from, to) = match (a.any, b.any) {
            (true, true) => return,
            (false, false) => (a.kinds().join(" or "), b.kinds().join(" or ")),
            _ => (a.describe(), b.describe()),
        };
        if a.any || b.any || !(from.is_empty() || to.is_empty() || a.overlaps(b)) {
            let breaks = Breaks { reader: !a.any, writer: !b.any };
            return self.report(path, [(Change::Retyped { from, to }, breaks)]);
        }
        self.scalars(path, "string", &a.strings, &b.strings, limits::strings);
        self.scalars(path, "boolean", &a.booleans, &b.booleans, |_, _| Vec::new());
        self.scalars(path, "number", &a.numbers, &b.numbers, |a, b| {
            let integer = |numbers: &[Number<'_>]| numbers.iter().all(|number| number.integer);
            let kind = |integer| if integer { "integer" } else { "number" }.to_owned();
            let (from, to) = (integer(a), integer(b));
            let breaks = if from { Breaks::READER } else { Breaks::WRITER };
            let retyped = (from != to).then(|| (Change::Retyped { from: kind(from), to: kind(to) }, breaks));
            retyped.into_iter().chain(limits::numbers(a, b)).collect()
        });
        self.arrays(path, &a.arrays, &b.arrays);
        self.variants(path, &a.objects, &b.objects);
    }

    fn arrays(&mut self, path: &str, a: &[(&'d Array, Node<'d>)], b: &[(&'d Array, Node<'d>)]) {
        for (&(of_a, node_a), &(of_b, node_b)) in a.iter().zip(b) {
            self.report(path, limits::arrays(of_a, of_b));
            let (items_a, items_b) =
                (node_a.inner(&of_a.items, &["items"]), node_b.inner(&of_b.items, &["items"]));
            self.place(&format!("{path}[]"), items_a, items_b);
        }
        for _ in b.len()..a.len() {
            self.variant(path, "array".to_owned(), false);
        }
        for _ in a.len()..b.len() {
            self.variant(path, "array".to_owned(), true);
        }
    }

    fn variants(&mut self, path: &str, a: &[Variant<'d>], b: &[Variant<'d>]) {
        let (labels_a, labels_b) = (labels(a), labels(b));
        let matching = matching(a, b);
        for &(i, j) in &matching.pairs {
            let (one, two) = (&a[i], &b[j]);
            self.met_a.extend(one.node.name);
            self.met_b.extend(two.node.name);
            let itself = |a, b| path.is_empty() && self.current == Some(Pair { kind: Kind::Type, a, b });
            match one.node.name.zip(two.node.name) {
                Some((of_a, of_b)) if !itself(of_a, of_b) => self.enter(of_a, of_b, false),
                _ if a.len() > 1 || b.len() > 1 => {
                    self.objects(&format!("{path}<{}>", labels_a[i]), one, two);
                }
                _ => self.objects(path, one, two),
            }
        }
        for &i in &matching.only_a {
            self.variant(path, labels_a[i].clone(), false);
        }
        for &j in &matching.only_b {
            self.variant(path, labels_b[j].clone(), true);
        }
    }

    pub(super) fn variant(&mut self, path: &str, variant: String, added: bool) {
        let judged = if added {
            (Change::VariantAdded { variant }, Breaks::READER)
        } else {
            (Change::VariantRemoved { variant }, Breaks::WRITER)
        };
        self.report(path, [judged]);
    }

    pub(super) fn report(&mut self, path: &str, found: impl IntoIterator<Item = ClassifiedChange>) {
        if let Some(current) = self.current {
            let known = self.pairs.reach(None, current);
            known.findings.extend(found.into_iter().map(|judged| finding(path, judged)));
        }
    }
}

fn finding(path: &str, (change, breaks): ClassifiedChange) -> Finding {
    Finding { path: path.to_owned(), change, breaks }
}

fn null(a: &Side, of_a: &Schema, b: &Side, of_b: &Schema) -> Option<ClassifiedChange> {
    if *of_a == Schema::Any || *of_b == Schema::Any {
        return None;
    }
    match (a.nullable(of_a), b.nullable(of_b)) {
        (false, true) => Some((Change::NullAllowed, Breaks::READER)),
        (true, false) => Some((Change::NullForbidden, Breaks::WRITER)),
        _ => None,
    }
}
