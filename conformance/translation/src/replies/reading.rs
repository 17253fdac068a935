//! Reads the events and bodies of an API by the steps of its page.

use std::collections::BTreeMap;

use serde_json::Value;
use spec::Api;

use super::delta::Delta;
use super::page::{Each, Page, Step};
use super::parts::{Lane, Parts, text_of};
use crate::ReplyError;

#[derive(Debug)]
pub(super) struct Reading {
    page: &'static Page,
    pub(super) parts: Parts,
    /// The index of each container by its id; none if several have the id.
    containers: BTreeMap<String, Option<u64>>,
    is_body: bool,
}

/// The indices of a value.
#[derive(Debug, Clone, Copy, Default)]
struct Indices {
    container: u64,
    index: u64,
}

impl Reading {
    pub(super) fn new(api: &'static Api) -> Self {
        let page = Page::of(api.name);
        let parts = Parts::new(api, page.is_serial);
        Self { page, parts, containers: BTreeMap::new(), is_body: false }
    }

    pub(super) fn event(&mut self, kind: &str, event: &Value) {
        let page = self.page;
        let Some(steps) = page.on.get(kind).or_else(|| page.on.get("")) else { return };
        let place = Indices { container: self.container(kind, event), index: index(event, &page.index) };
        self.steps(steps, kind, event, place);
    }

    pub(super) fn body(&mut self, body: &Value) {
        self.is_body = true;
        self.steps(&self.page.body, "", body, Indices::default());
    }

    /// If the id names another container than the index, the id counts.
    fn container(&mut self, kind: &str, event: &Value) -> u64 {
        let own = index(event, &self.page.container);
        let Some(id) = self.page.ids.iter().find_map(|place| text(event, place)) else { return own };
        if kind == self.page.opens && !id.is_empty() {
            let known = self.containers.entry(id.to_owned());
            known.and_modify(|known| *known = None).or_insert(Some(own));
            return own;
        }
        self.containers.get(id).copied().flatten().unwrap_or(own)
    }

    fn steps(&mut self, steps: &'static [Step], kind: &str, value: &Value, place: Indices) {
        for step in steps {
            let has_said = |lane: &Lane| self.parts.has_text(place.container, *lane);
            if step.unsaid.iter().any(has_said) {
                continue;
            }
            let Some(list) = step.at.strip_suffix("/*") else {
                if let Some(found) = value.pointer(&step.at).filter(|found| step.fits(found)) {
                    self.step(step, kind, found, place);
                }
                continue;
            };
            let entries = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
            for (position, entry) in (0..).zip(entries).filter(|(_, entry)| step.fits(entry)) {
                if step.nth.as_ref().is_some_and(|at| index(entry, at) != 0) {
                    continue;
                }
                let own = step.index.as_ref().and_then(|at| number(entry.pointer(at)?)).unwrap_or(position);
                let place = match step.each {
                    Some(Each::Container) => Indices { container: own, ..place },
                    Some(Each::Index) => Indices { index: own, ..place },
                    None => place,
                };
                self.step(step, kind, entry, place);
                if step.is_first {
                    break;
                }
            }
        }
    }

    fn step(&mut self, step: &'static Step, kind: &str, value: &Value, place: Indices) {
        let page = self.page;
        if step.starts {
            let model = page.model.as_deref().unwrap_or("/model");
            self.parts.begin(text(value, self.parts.api.response_id), text(value, model));
        }
        if step.concludes {
            self.conclude(step, kind, value, place);
        } else if let Some(steps) = step.go.as_ref().and_then(|name| page.steps.get(name)) {
            self.steps(steps, kind, value, place);
        }
        if step.counts {
            self.parts.count(value);
        }
        match step.lane {
            Some(lane) => self.part(step, lane, value, place),
            None => self.end(step, value, place),
        }
    }

    fn part(&mut self, step: &'static Step, lane: Lane, value: &Value, place: Indices) {
        let parts = &mut self.parts;
        // Reasoning is one part, however many it has.
        let index = if lane == Lane::Reasoning { 0 } else { place.index };
        let key = (place.container, lane, index);
        let sought = |place: &Option<String>| text(value, place.as_ref()?);
        let all = |places: &'static [String]| places.iter().filter_map(|place| value.pointer(place));
        let (id, name) = (sought(&step.id), first(all(&step.name)));
        let key = match lane {
            Lane::Call if step.makes_id => parts.next_call(id, name),
            Lane::Call if step.id.is_some() => parts.call(key, id.unwrap_or_default(), name),
            Lane::Reasoning if step.id.is_some() || step.is_redacted => {
                parts.reasoning(key, id, step.is_redacted)
            }
            _ => key,
        };
        let opening = step.opening.as_ref().map(|place| value.pointer(place));
        if let Some(opening) = opening {
            parts.opening(key, opening.filter(|it| it.is_object()).map(Value::to_string).unwrap_or_default());
        }
        let seal = sought(&step.seals).unwrap_or_default();
        let sealed = (place.container, Lane::Reasoning, 0);
        // Behind a text it belongs to what comes next.
        let is_late = !seal.is_empty() && parts.is_open(key);
        if !is_late {
            parts.seal(sealed, seal);
        }
        let mut text = all(&step.text).map(|it| if step.takes_json { arguments(it) } else { plain(it) });
        if let Some(text) = text.find(|text| !text.is_empty()) {
            parts.text(key, &text);
        }
        if is_late {
            parts.seal(sealed, seal);
        }
        if let Some(whole) = sought(&step.whole) {
            parts.whole(key, whole);
        }
        parts.seal(key, sought(&step.seal).unwrap_or_default());
        if let Some(at) = &step.goes_on {
            let pieces = step.pieces.as_ref().and_then(|place| value.pointer(place));
            let goes_on = value.pointer(at) == Some(&Value::Bool(true));
            if step.makes_id && (goes_on || pieces.is_some() && opening.flatten().is_none()) {
                parts.await_pieces(key);
            } else if step.makes_id {
                parts.close(key);
            }
            parts.pieces(pieces, goes_on);
        }
        if step.closes {
            parts.close(key);
        }
    }

    fn end(&mut self, step: &Step, value: &Value, place: Indices) {
        let sought = |place: &Option<String>| text(value, place.as_ref()?);
        let word = sought(&step.stop);
        if step.closes && (word.is_some() || step.stop.is_none()) {
            self.parts.close_all(place.container);
        }
        if let Some(word) = word {
            self.parts.stop(word, None, sought(&step.before));
        }
        if step.ends {
            self.parts.end();
        }
    }

    /// The type of an event has the status too. A body is all that comes, whatever its status is.
    fn conclude(&mut self, step: &'static Step, kind: &str, response: &Value, place: Indices) {
        let words = &self.parts.api.status;
        let of_kind = || kind.rsplit_once('.').map(|(_, status)| status);
        let Some(status) = text_of(response, words.member).or_else(of_kind) else { return };
        self.parts.count(response);
        let is_over = [words.completed, words.incomplete, words.failed, "cancelled"].contains(&status);
        if !is_over && !self.is_body {
            return;
        }
        let steps = step.go.as_ref().and_then(|name| self.page.steps.get(name));
        if let Some(steps) = steps.filter(|_| self.parts.is_empty()) {
            self.steps(steps, kind, response, place);
        }
        let parts = &mut self.parts;
        if response.get(parts.api.error.member).is_some_and(|error| !error.is_null()) {
            parts.out.push(Delta::Failed(error(response)));
        }
        let reason = step.reason.as_ref().and_then(|place| text(response, place));
        parts.stop(status, reason.and_then(|reason| self.page.reasons.get(reason)).copied(), None);
        if is_over {
            parts.end();
        }
    }
}

/// Gateways and frameworks use many forms of errors.
pub(crate) fn error(value: &Value) -> ReplyError {
    let error = match value.get("error") {
        None | Some(Value::Null) => value,
        Some(error) => error,
    };
    let message = error
        .as_str()
        .or_else(|| text_of(error, "message"))
        .or_else(|| text_of(value, "message"))
        .map(str::to_owned)
        .or_else(|| {
            value
                .get("detail")
                .map(|detail| detail.as_str().map_or_else(|| detail.to_string(), str::to_owned))
        });
    let class = text_of(error, "type").filter(|kind| *kind != "error").or_else(|| text_of(error, "status"));
    let class = class.map(str::to_owned);
    let class = class.or_else(|| code(error.get("code")?));
    ReplyError { class: class.unwrap_or_default(), message: message.unwrap_or_default() }
}

/// Some vendors have a number as code.
fn code(code: &Value) -> Option<String> {
    code.as_str().map(str::to_owned).or_else(|| code.as_i64().map(|code| code.to_string()))
}

fn text<'v>(value: &'v Value, place: &str) -> Option<&'v str> {
    value.pointer(place)?.as_str()
}

fn plain(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn first<'v>(mut values: impl Iterator<Item = &'v Value>) -> &'v str {
    values.find_map(Value::as_str).unwrap_or_default()
}

/// Some vendors have arguments as JSON.
fn arguments(value: &Value) -> String {
    if value.is_object() { value.to_string() } else { plain(value) }
}

/// A missing index is 0.
fn index(value: &Value, place: &str) -> u64 {
    value.pointer(place).filter(|_| !place.is_empty()).and_then(number).unwrap_or(0)
}

/// A number that is written as a string is read as clients read it.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
