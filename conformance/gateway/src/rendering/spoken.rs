//! Conversion of plans to events and bodies, by the page of the API.

use serde_json::{Value, json};
use spec::table::Content;
use spec::{Api, Dialect};
use translation::pen::{Front, Writer, aside, call_prefix, failure, has_item, has_start, result_of};
use translation::{Delta, PartKind, Stop, Stopped, Usage};

use super::events::events;
use super::ids::BARE;
use super::{RenderedResponse, body_of};
use crate::content::items::ToolItem;
use crate::content::pieces::Fragments;
use crate::content::plan::{Ending, Item, Part, ResponsePlan, Thought};
use crate::content::problem::Problem;
use crate::content::text;

/// The time of responses, which makes them reproducible.
pub(crate) const CREATED: u64 = 1_785_000_000;
/// The status of a response that fails without a stream.
const FAILED: u16 = 500;
/// Something that only the API can read.
const ENCRYPTED: &str = "RW5jcnlwdGVk";
/// An API accepts a thought again only with its signature.
const SIGNATURE: &str = "EuQBCkYICBgCKkBzaWduYXR1cmUtb2YtdGhlLWZpcnN0LXRob3VnaHQ=";

pub(super) fn render(request: &Value, plan: &ResponsePlan, dialect: &'static Dialect) -> RenderedResponse {
    let said = Said { request, plan, dialect };
    let mut choices: Vec<Choice> = (0..plan.choices.max(1)).map(|index| Choice::of(&said, index)).collect();
    let events = said.events(&mut choices);
    let (status, body) = match plan.ending {
        Ending::Failed(_) => {
            let message = failure(dialect.api).message;
            let problem = Problem { message, ..Problem::of_status(FAILED) };
            (FAILED, body_of(&problem, dialect.api))
        }
        _ => (200, said.body(choices)),
    };
    RenderedResponse { events, snapshots: [body.clone(), body.clone(), body], status }
}

/// A response that is planned.
pub(super) struct Said<'p> {
    pub(super) request: &'p Value,
    pub(super) plan: &'p ResponsePlan,
    pub(super) dialect: &'static Dialect,
}

/// A choice, and its events up to the one that ends it.
struct Choice {
    writer: Writer,
    events: Vec<String>,
}

/// The kind of an event, and its values.
pub(super) type Piece = (&'static str, Value);

pub(super) fn spelled(words: &[String]) -> Vec<Piece> {
    words.iter().map(|word| ("delta", json!({"text": word}))).collect()
}

/// A delta, with its log probabilities.
type Spelled = (Delta, Option<Value>);

impl Choice {
    fn of(said: &Said<'_>, index: usize) -> Self {
        let (mut writer, deltas) = (said.writer(index), said.deltas(index));
        let mut out = Vec::new();
        let mut growth = Growth::of(&deltas, index, said);
        writer.write(&Delta::Usage(growth.usage()), &mut out);
        writer.write(&Delta::Started { id: None, model: None }, &mut out);
        let mut tokens = Vec::new();
        let last = said.last_of_text(&deltas);
        for (at, (delta, logprobs)) in deltas.iter().enumerate() {
            if last == Some(at) {
                writer.say("ending", true);
                said.ground(&mut writer);
                writer.write(&Delta::Stopped(said.stopped()), &mut out);
            }
            if growth.grows(delta) {
                writer.write(&Delta::Usage(growth.usage()), &mut out);
            }
            writer.say("logprobs", logprobs.clone());
            writer.write(delta, &mut out);
            tokens.extend(logprobs.iter().filter_map(|it| it.pointer("/content/0").cloned()));
        }
        let all = said.plan.has_logprobs.then(|| json!({"content": tokens, "refusal": null}));
        writer.say("logprobs", all);
        said.ground(&mut writer);
        writer.write(&Delta::Stopped(said.stopped()), &mut Vec::new());
        Self { writer, events: listed(&out) }
    }
}

impl Said<'_> {
    pub(super) fn writer(&self, choice: usize) -> Writer {
        let Self { request, plan, dialect } = *self;
        let model = text(request, "model").unwrap_or("reference-1").to_owned();
        let mut writer = Writer::new(Front { dialect, request: request.clone(), model, now: CREATED });
        writer.say("choice", choice);
        writer.say("fingerprint", "fp_1");
        writer.say("request_id", "req_1");
        writer.say("response_id", BARE);
        writer.say("error_code", "server_error");
        writer.say("explanation", "The request was refused.");
        writer.say("padding", plan.is_obfuscated.then_some("aZ"));
        writer.say("written", plan.cached_tokens);
        writer.say("searches", self.searches().count() - usize::from(self.awaits_search()));
        let first = plan.items.iter().find(|item| self.is_said(item));
        writer.say("blocked", plan.ending == Ending::Blocked);
        writer.say("led_by_call", matches!(first, Some(Item::Function { .. })));
        let is_refusal = |parts: &[Part]| matches!(parts.first(), Some(Part::Refusal(_)));
        writer.say("led_by_refusal", matches!(first, Some(Item::Message(parts)) if is_refusal(parts)));
        writer
    }

    fn events(&self, choices: &mut [Choice]) -> Vec<String> {
        let sent = match self.plan.ending {
            Ending::Failed(after) => after.saturating_add(usize::from(has_start(self.dialect.api))),
            _ => usize::MAX,
        };
        let longest = choices.iter().map(|choice| choice.events.len()).max().unwrap_or_default();
        let at = |at| choices.iter().filter_map(move |choice| choice.events.get(at).cloned());
        let mut events: Vec<String> = (0..longest.min(sent)).flat_map(at).collect();
        let Some((last, others)) = choices.split_last_mut() else { return events };
        let mut out = Vec::new();
        last.writer.ping(&mut out);
        // The first sign of life is after the first event of the content, unless there is none.
        let place = if self.plan.has_keepalive || longest == 1 { 1 } else { 2 };
        if place <= events.len() {
            events.splice(place..place, listed(&out));
        }
        out.clear();
        if let Ending::Failed(_) = self.plan.ending {
            last.writer.fail(&failure(self.dialect.api), None, &mut out);
        } else {
            for other in others {
                other.writer.say("has_usage", false);
                other.writer.finish(&mut out);
            }
            let minimum = u64::from(self.plan.ending != Ending::Blocked);
            let output = self.plan.output_tokens().max(minimum);
            last.writer.write(&Delta::Usage(self.usage(output)), &mut out);
            last.writer.write(&Delta::Ended, &mut out);
        }
        events.extend(listed(&out));
        events
    }

    fn body(&self, choices: Vec<Choice>) -> Value {
        let list = self.dialect.api.scopes().find(|scope| scope.content == Some(Content::Choice));
        let list = list.and_then(|scope| scope.in_body.first()?.split_once("/{")).unwrap_or_default().0;
        let mut bodies = choices.into_iter().map(|Choice { mut writer, .. }| {
            writer.say("has_usage", true);
            writer.write(&Delta::Usage(self.usage(self.plan.output_tokens())), &mut Vec::new());
            writer.whole()
        });
        let mut body = bodies.next().unwrap_or_default();
        for mut other in bodies {
            if let (Some(Value::Array(all)), Some(Value::Array(own))) =
                (body.pointer_mut(list), other.pointer_mut(list))
            {
                all.append(own);
            }
        }
        body
    }

    /// With the results of a search, the end of the answer says what they support.
    fn ground(&self, writer: &mut Writer) {
        let search = self.searches().next().and_then(|search| search.value("query"));
        let text = self.plan.text();
        writer.say("query", search);
        writer.say("grounded_bytes", text.len());
        writer.say("grounded", Some(text).filter(|text| !text.is_empty()));
    }

    pub(super) fn usage(&self, output: u64) -> Usage {
        let choices = u64::try_from(self.plan.choices.max(1)).unwrap_or(1);
        Usage {
            input: Some(self.plan.input_tokens),
            cached: Some(self.plan.read_tokens),
            output: Some(output * choices),
            reasoning: Some(self.plan.reasoning_tokens() * choices),
        }
    }

    pub(super) fn stopped(&self) -> Stopped {
        let before = self.plan.stopped_before.clone();
        let stop = match self.plan.ending {
            Ending::Filtered | Ending::Blocked => Stop::Filtered,
            Ending::Cut | Ending::Steered => Stop::Cut,
            Ending::Paused => Stop::Paused,
            _ if before.is_some() => Stop::Sequence,
            _ => Stop::Ended,
        };
        Stopped { stop: Some(stop), word: String::new(), before }
    }

    /// Where the last event of a text can say how the response ends: its last piece, or what seals the thoughts before it.
    fn last_of_text(&self, deltas: &[Spelled]) -> Option<usize> {
        let mut opened = deltas.iter().enumerate().rev().filter_map(|(at, (delta, _))| match delta {
            Delta::Opened { kind, .. } => Some((at, kind)),
            _ => None,
        });
        let (begin, PartKind::Text | PartKind::Refusal) = opened.next()? else { return None };
        let is_sealed = matches!(opened.next(), Some((_, PartKind::Reasoning { .. })));
        let is_last = |(delta, _): &Spelled| match delta {
            Delta::Text { .. } => !is_sealed,
            Delta::Closed { .. } => is_sealed,
            _ => false,
        };
        let is_whole = !matches!(self.plan.ending, Ending::Failed(_));
        deltas[begin..].iter().rposition(is_last).filter(|_| is_whole).map(|at| begin + at)
    }

    /// A paused turn waits for the results of its last search.
    fn awaits_search(&self) -> bool {
        self.plan.ending == Ending::Paused
            && self.plan.items.last().and_then(Item::tool).is_some_and(|item| item.page.is_search)
    }

    fn searches(&self) -> impl Iterator<Item = &ToolItem> {
        self.plan.items.iter().filter_map(Item::tool).filter(|item| item.page.is_search)
    }

    /// Only some dialects show reasoning.
    fn is_said(&self, item: &Item) -> bool {
        match item {
            Item::Message(_) | Item::Function { .. } => true,
            Item::Reasoning(_) => {
                let mut effects = self.dialect.effects();
                effects.any(|effect| effect.level.content == Some(Content::Reasoning))
            }
            Item::Tool(_) => false,
        }
    }

    fn deltas(&self, choice: usize) -> Vec<Spelled> {
        let (api, mut parts) = (self.dialect.api, Parts { deltas: Vec::new(), count: 0 });
        let calls = self.plan.items.iter().filter(|item| matches!(item, Item::Function { .. })).count();
        let (mut call, mut hosted) = (choice * calls, 0);
        let is_blocked = self.plan.ending == Ending::Blocked;
        for (at, item) in self.plan.items.iter().enumerate().filter(|_| !is_blocked) {
            match item {
                Item::Message(own) => own.iter().for_each(|part| self.part(part, &mut parts)),
                Item::Reasoning(thought) if self.is_said(item) => {
                    let words = words(thought);
                    let seal = if words.is_some() { SIGNATURE } else { ENCRYPTED };
                    let kind = PartKind::Reasoning { id: None, is_redacted: words.is_none() };
                    parts.add(kind, &words.unwrap_or_default(), false);
                    parts.seal(seal);
                }
                Item::Function { name, arguments } => {
                    call += 1;
                    let id = format!("{}{call}", call_prefix(api));
                    let pieces = if arguments.concat() == "{}" { &[][..] } else { arguments };
                    parts.add(PartKind::Call { id, name: name.clone() }, pieces, false);
                }
                Item::Tool(item) if has_item(api, &item.page.kind) => {
                    hosted += 1;
                    let text: String = item.fragments().map(String::as_str).collect();
                    let mut values = item.values.clone();
                    values["number"] = json!(hosted);
                    values["arguments"] = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
                    let pieces = match item.value("query").filter(|_| item.page.is_search) {
                        Some(query) => spelled(&["{\"query\":".to_owned(), format!(" {}}}", json!(query))]),
                        None if text == "{}" => Vec::new(),
                        None => item.texts.iter().flat_map(|words| spelled(words)).collect(),
                    };
                    values["text"] = text.into();
                    parts.item(&item.page.kind, values.clone(), &pieces);
                    let is_last = at + 1 == self.plan.items.len();
                    let result = result_of(api, &item.page.kind);
                    if let Some(result) = result.filter(|_| !(is_last && self.awaits_search())) {
                        parts.item(result, values, &[]);
                    }
                }
                _ => {}
            }
        }
        parts.deltas
    }

    fn part(&self, part: &Part, parts: &mut Parts) {
        let api = self.dialect.api;
        match part {
            Part::Text(words, annotations) if !annotations.is_empty() && has_item(api, "cited") => {
                let citations: Vec<Value> = annotations.iter().map(|it| citation(api, it)).collect();
                let pieces = citations.iter().map(|citation| ("citation", citation.clone()));
                let words_of = words.iter().map(|word| ("text", json!({"text": word})));
                let values = json!({"text": words.concat(), "citations": citations});
                parts.item("cited", values, &pieces.chain(words_of).collect::<Vec<_>>());
            }
            Part::Text(words, _) => parts.add(PartKind::Text, words, self.plan.has_logprobs),
            Part::Refusal(words) => parts.add(PartKind::Refusal, words, false),
        }
    }
}

/// How many tokens have been said: of the answer, and of thoughts. All choices grow by turns.
struct Growth {
    whole: Usage,
    tokens: [u64; 2],
    /// The bytes of the content, so far and before the last delta.
    all: [u64; 2],
    said: [u64; 2],
    before: [u64; 2],
    is_thought: bool,
    choice: u64,
    choices: u64,
}

impl Growth {
    fn of(deltas: &[Spelled], choice: usize, of: &Said<'_>) -> Self {
        let (output, thoughts) = (of.plan.output_tokens(), of.plan.reasoning_tokens());
        let [choice, choices] =
            [choice, of.plan.choices.max(1)].map(|count| u64::try_from(count).unwrap_or_default());
        let mut growth = Self {
            whole: of.usage(output),
            tokens: [output.saturating_sub(thoughts), thoughts],
            all: [0; 2],
            said: [0; 2],
            before: [0; 2],
            is_thought: false,
            choice,
            choices,
        };
        for (delta, _) in deltas {
            growth.grows(delta);
        }
        Self { all: growth.said, said: [0; 2], before: [0; 2], ..growth }
    }

    fn grows(&mut self, delta: &Delta) -> bool {
        let more = match delta {
            Delta::Opened { kind, .. } => {
                self.is_thought = matches!(kind, PartKind::Reasoning { .. });
                // A call without arguments has a name.
                if matches!(kind, PartKind::Call { .. }) { 8 } else { 0 }
            }
            Delta::Text { text, .. } => text.len() as u64,
            _ => 0,
        };
        if more > 0 {
            self.before = self.said;
            self.said[usize::from(self.is_thought)] += more;
        }
        more > 0
    }

    fn usage(&self) -> Usage {
        let [answer, thoughts] = [0, 1].map(|at| {
            let tokens = |bytes: u64| (self.tokens[at] * bytes).div_ceil(self.all[at].max(1));
            let (before, now) = (tokens(self.before[at]), tokens(self.said[at]));
            before * self.choices + (now - before) * (self.choice + 1)
        });
        let least = self.whole.output.map_or(0, |output| output.min(1));
        Usage { output: Some((answer + thoughts).max(least)), reasoning: Some(thoughts), ..self.whole }
    }
}

/// The deltas of parts, one part after the other.
struct Parts {
    deltas: Vec<Spelled>,
    count: usize,
}

impl Parts {
    fn add(&mut self, kind: PartKind, words: &[String], spell: bool) {
        self.open(kind);
        let part = self.count - 1;
        let text = |word: &String| Delta::Text { part, text: word.clone() };
        self.deltas.extend(words.iter().map(|word| (text(word), spell.then(|| logprobs(word)))));
        self.deltas.push((Delta::Closed { part }, None));
    }

    fn open(&mut self, kind: PartKind) {
        self.deltas.push((Delta::Opened { part: self.count, kind }, None));
        self.count += 1;
    }

    fn seal(&mut self, seal: &str) {
        let seal = Delta::Seal { part: self.count - 1, seal: seal.to_owned() };
        self.deltas.insert(self.deltas.len() - 1, (seal, None));
    }

    fn item(&mut self, kind: &'static str, values: Value, pieces: &[Piece]) {
        self.open(PartKind::Item { kind, values });
        let part = self.count - 1;
        let pieces = pieces.iter().map(|(step, value)| Delta::Piece { part, step, value: value.clone() });
        self.deltas.extend(pieces.chain([Delta::Closed { part }]).map(|delta| (delta, None)));
    }
}

/// In the words of the API.
pub(super) fn citation(api: &Api, annotation: &Value) -> Value {
    let of = |name: &'static str| (name, annotation.get(name).cloned().unwrap_or_default());
    aside(api, text(annotation, "name").unwrap_or_default(), &["start", "end"].map(of))
}

/// Its text, or its summary in one piece. Nothing if it is encrypted.
fn words(thought: &Thought) -> Option<Fragments> {
    thought.text.clone().or_else(|| {
        let summary: Vec<String> = thought.summary.iter().map(|words| words.concat()).collect();
        (!summary.is_empty()).then(|| vec![summary.join("\n\n")])
    })
}

fn logprobs(token: &str) -> Value {
    let token = json!({"token": token, "logprob": -0.1, "bytes": token.as_bytes(), "top_logprobs": []});
    json!({"content": [token], "refusal": null})
}

pub(super) fn listed(stream: &[u8]) -> Vec<String> {
    events(stream).map(|event| String::from_utf8_lossy(event).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_with_citations_has_both_kinds() {
        for api in spec::spoken().filter(|api| ["cited", "message"].iter().any(|kind| has_item(api, kind))) {
            for name in ["cited_file", "cited_page"] {
                assert!(citation(api, &json!({ "name": name })).is_object(), "{} {name}", api.name);
            }
        }
    }
}
