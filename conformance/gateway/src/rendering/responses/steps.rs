//! The steps of the items of a response.

use serde_json::{Value, json};
use spec::Scope;
use spec::table::Role;

use crate::content::plan::Fragments;

/// A step in an item.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) scope: Scope,
    pub(super) role: Role,
    pub(super) phase: Option<&'static str>,
    /// The index of the part, the command, the preview.
    pub(super) index: Option<usize>,
    /// The index of the annotation.
    pub(super) annotation: Option<usize>,
    pub(super) value: Value,
}

/// An item of the output, with its steps.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) opened: Value,
    pub(super) closed: Value,
    pub(super) steps: Vec<Step>,
}

/// Counters of ids, one for each kind.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<(&'static str, usize)>);

impl Ids {
    pub(super) fn next(&mut self, prefix: &'static str) -> String {
        if let Some((_, count)) = self.0.iter_mut().find(|(other, _)| *other == prefix) {
            *count += 1;
            return format!("{prefix}_{count}");
        }
        self.0.push((prefix, 1));
        format!("{prefix}_1")
    }
}

/// The steps of an item, in order.
#[derive(Default)]
pub(super) struct Steps(pub(super) Vec<Step>);

impl Steps {
    pub(super) fn add(&mut self, scope: Scope, role: Role, index: Option<usize>, value: Value) {
        self.0.push(Step { scope, role, phase: None, index, annotation: None, value });
    }

    pub(super) fn phase(&mut self, scope: Scope, phase: &'static str) {
        let role = Role::Phase;
        self.0.push(Step {
            scope,
            role,
            phase: Some(phase),
            index: None,
            annotation: None,
            value: Value::Null,
        });
    }

    pub(super) fn text(&mut self, scope: Scope, index: Option<usize>, text: &Fragments) {
        for fragment in text {
            self.add(scope, Role::Delta, index, json!(fragment));
        }
        self.add(scope, Role::Final, index, json!(text.concat()));
    }
}
