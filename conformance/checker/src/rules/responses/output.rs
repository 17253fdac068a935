//! Rules of the group `output`, which compare the final output with the streamed items.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use catalogue::Level;
use memchr::memmem::Finder;
use spec::json;
use spec::table::Scope;

use super::call::ANSWERED;
use crate::engine::{Case, Ending, FaultPlace, Node, Object, Snapshot, same, short};

/// An entry of the final output, and its streamed item.
struct Pair<'p> {
    index: usize,
    /// The value that closed the item.
    done: &'p Object<'static>,
    entry: &'p Object<'p>,
}

impl Pair<'_> {
    fn is_of_one_type(&self) -> bool {
        self.done.plain("type") == self.entry.plain("type")
    }

    fn pointer(&self, rest: &str) -> String {
        format!("/response/output/{}{rest}", self.index)
    }
}

/// Items match entries by order, or by id if their numbers differ.
fn pairs<'p>(case: &Case<'p>, ending: &'p Ending<'p>) -> Vec<Pair<'p>> {
    let stream = case.stream;
    let items = ordered(case);
    let entries = ending.output.iter().enumerate();
    if items.len() == ending.output.len() && stream.is_whole() {
        let closed = entries.zip(items).filter_map(|(entry, item)| Some((entry, item.closing.get()?)));
        let pairs = closed.map(|((index, entry), done)| Pair { index, done, entry });
        // Most are byte for byte equal and need no check.
        return pairs.filter(|pair| pair.done.text() != pair.entry.text()).collect();
    }
    let finished = finished(case);
    let matches = matches(&finished, &ending.output);
    let pairs =
        entries.zip(matches).filter_map(|((index, entry), at)| Some((index, entry, *finished.get(at?)?)));
    pairs.map(|(index, entry, done)| Pair { index, done, entry }).collect()
}

fn finished<'c>(case: &Case<'c>) -> Vec<&'c Object<'static>> {
    ordered(case).into_iter().filter_map(|item| item.closing.get()).collect()
}

/// For each entry of the final output, the finished item with its id, or else the next one of its type with its texts,
/// as its id may have been replaced.
fn matches(finished: &[&Object<'static>], output: &[Object<'_>]) -> Vec<Option<usize>> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (at, done) in finished.iter().enumerate() {
        if let Some(id) = done.plain("id") {
            named.entry(id).or_insert(at);
        }
    }
    let by_id = |entry: &Object<'_>| named.get(entry.plain("id")?).copied();
    let mut matches: Vec<Option<usize>> = output.iter().map(by_id).collect();
    if matches.iter().all(Option::is_some) {
        return matches;
    }
    let taken: HashSet<usize> = matches.iter().flatten().copied().collect();
    let mut alike: HashMap<(Option<&str>, String), VecDeque<usize>> = HashMap::new();
    for (at, done) in finished.iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
        alike.entry((done.plain("type"), texts(done))).or_default().push_back(at);
    }
    for (entry, found) in output.iter().zip(&mut matches).filter(|(_, found)| found.is_none()) {
        *found = alike.get_mut(&(entry.plain("type"), texts(entry))).and_then(VecDeque::pop_front);
    }
    matches
}

fn texts(item: &Object<'_>) -> String {
    let mut all = String::new();
    let mut add = |text: Option<Cow<'_, str>>| {
        all.push_str(text.as_deref().unwrap_or_default());
        all.push('\0');
    };
    for name in INPUTS {
        add(item.string(name));
    }
    for part in LISTS.iter().filter_map(|list| parts(item, list)).flatten() {
        for name in TEXTS {
            add(part.string(name));
        }
    }
    all
}

fn ordered<'c>(case: &Case<'c>) -> Vec<&'c Node> {
    let stream = case.stream;
    let mut items: Vec<&Node> = stream.items().collect();
    items.sort_by_key(|item| item.key.last());
    items
}

pub(in crate::rules) fn count_agrees(case: &mut Case<'_>, ending: &Ending<'_>) {
    let is_unknown = !case.stream.is_whole() || ending.snapshot.has_failed();
    let Some(output) = ending.snapshot.response.get("output").filter(|_| !is_unknown) else { return };
    let (streamed, has) = (case.stream.items.len(), ending.output.len());
    // Lost texts and outputs without any streamed item are reported by their own rules.
    if streamed == has + lost(case, ending).len() || !output.starts_with('[') || is_unannounced(case, ending)
    {
        return;
    }
    // Messages without text, and items that were cut off, are no loss for the client.
    let is_of_little = |done: &&Object<'_>| done.plain("type") == Some("message");
    if has < streamed && unmatched(case, ending).iter().all(is_of_little) {
        case.limit(Level::Should);
    }
    // The first extra entry is the place of the finding.
    let streamed_ids: HashSet<Option<&str>> = case.stream.items().map(Node::id).collect();
    let is_extra = |entry: &Object<'_>| !streamed_ids.contains(&entry.plain("id"));
    let extra = ending.output.iter().position(is_extra).filter(|_| has > streamed);
    let pointer = extra.map(|index| format!("/response/output/{index}"));
    let (expected, actual) = (format!("{streamed} items"), has.to_string());
    let place = FaultPlace {
        pointer: pointer.as_deref(),
        expected: Some(&expected),
        actual: Some(&actual),
        ..FaultPlace::WHOLE
    };
    case.report(&place, || format!("the final output has {has} items, but {streamed} were streamed"));
}

fn has_texts(item: &Object<'_>) -> bool {
    texts(item).contains(|character: char| character != '\0' && !character.is_whitespace())
}

/// The output has items although none was streamed.
fn is_unannounced(case: &Case<'_>, ending: &Ending<'_>) -> bool {
    let stream = case.stream;
    let is_unknown = !stream.is_whole() || ending.snapshot.has_failed();
    !is_unknown
        && stream.items.is_empty()
        && !ending.output.is_empty()
        && case.protocol.scope_events(Scope::Item).opens
}

pub(in crate::rules) fn items_streamed(case: &mut Case<'_>, ending: &Ending<'_>) {
    if is_unannounced(case, ending) {
        let actual = format!("{} entries", ending.output.len());
        case.fault("/response/output", "response.output_item.added for each entry", &actual, || {
            "the final output has items, but no event added any".to_owned()
        });
    }
}

pub(in crate::rules) fn usage_counts_text(case: &mut Case<'_>, ending: &Ending<'_>) {
    let tokens = ending.snapshot.usage.output;
    let is_counted = tokens.is_none_or(|tokens| tokens > 0.0);
    if !is_counted && ending.output.iter().any(has_texts) {
        case.fault("/response/usage/output_tokens", "the number of output tokens", "0", || {
            "output_tokens is 0, but the output has text".to_owned()
        });
    }
}

/// Output tokens that a response may have beside its reasoning without saying anything.
const EMPTY: f64 = 8.0;

/// A completed response that used tokens needs something in its output.
pub(in crate::rules) fn has_content(case: &mut Case<'_>, ending: &Ending<'_>) {
    let Snapshot { response, usage, .. } = ending.snapshot;
    let stream = case.stream;
    if response.plain("status") != Some("completed") || !stream.is_whole() {
        return;
    }
    let is_said = |item: &Object<'_>| match item.plain("type") {
        Some("reasoning") => false,
        Some("message") => has_texts(item),
        _ => true,
    };
    // Some servers end with an empty output, and only stream the items. `item/content-kept` reports parts that are lost.
    let is_lost = |item: &Node, value: &Object<'_>| {
        item.next_index(Scope::Part) > 0 && value.entries("content").is_none_or(|parts| parts.is_empty())
    };
    let is_streamed = stream.items().any(|item| {
        let value = item.closing.get().or(item.opening.get());
        value.is_none_or(|value| is_said(value) || is_lost(item, value))
    });
    let is_unknown = ending.output.is_empty() && case.is_of_body();
    if is_streamed || is_unknown || ending.output.iter().any(is_said) {
        return;
    }
    let has_thought = ending.output.iter().any(|item| item.plain("type") == Some("reasoning"));
    let thought = usage.reasoning.or((!has_thought).then_some(0.0));
    let Some(said) = usage.output.zip(thought).map(|(all, thought)| all - thought) else { return };
    if said > EMPTY {
        case.fault("/response/output", "a text, a refusal or a call", "none", || {
            format!("the response has {said} output tokens beside its reasoning, but no content")
        });
    }
}

/// Finished items whose texts the final output lacks.
fn lost<'c>(case: &Case<'c>, ending: &Ending<'_>) -> Vec<&'c Object<'static>> {
    let has_output = ending.snapshot.response.get("output").is_some_and(|output| output.starts_with('['));
    let stream = case.stream;
    let is_unknown = !stream.is_whole() || ending.snapshot.has_failed();
    if !has_output || is_unknown || stream.items.len() <= ending.output.len() {
        return Vec::new();
    }
    unmatched(case, ending).into_iter().filter(|done| has_texts(done)).collect()
}

fn unmatched<'c>(case: &Case<'c>, ending: &Ending<'_>) -> Vec<&'c Object<'static>> {
    let finished = finished(case);
    let matched: HashSet<usize> = matches(&finished, &ending.output).into_iter().flatten().collect();
    finished.into_iter().enumerate().filter(|(at, _)| !matched.contains(at)).map(|(_, done)| done).collect()
}

fn unfinished(case: &Case<'_>, ending: &Ending<'_>) -> Vec<(String, String)> {
    let stream = case.stream;
    let has_output = ending.snapshot.response.get("output").is_some_and(|output| output.starts_with('['));
    if !has_output || !stream.is_whole() || ending.snapshot.has_failed() {
        return Vec::new();
    }
    let open = stream.items().filter(|item| !item.closing.is_set());
    let streamed: Vec<_> = open
        .flat_map(|item| stream.children(item, Scope::Part))
        .flat_map(|part| texts_of(case, part).into_iter().map(|text| (case.name(part), text)))
        .collect();
    if streamed.is_empty() {
        return streamed;
    }
    let in_output: Vec<Object<'_>> =
        ending.output.iter().filter_map(|entry| parts(entry, "content")).flatten().collect();
    let mut texts: Vec<Cow<'_, str>> =
        in_output.iter().flat_map(|part| TEXTS.iter().filter_map(|name| part.string(name))).collect();
    texts.sort_unstable();
    let begins_one = |text: &str| {
        let next = texts.partition_point(|other| **other < *text);
        texts.get(next).is_some_and(|other| other.starts_with(text))
    };
    let is_in_one = |text: &str| {
        let finder = Finder::new(text);
        texts.iter().any(|other| finder.find(other.as_bytes()).is_some())
    };
    let doubtful = streamed.into_iter().filter(|(_, text)| !text.is_empty() && !begins_one(text));
    doubtful.take(MAX_SEARCHED).filter(|(_, text)| !is_in_one(text)).collect()
}

/// Maximum number of texts to search inside all others, which is slow.
const MAX_SEARCHED: usize = 100;

/// Final texts, or those streamed so far.
pub(in crate::rules) fn texts_of(case: &Case<'_>, part: &Node) -> Vec<String> {
    if let Some(done) = part.closing.get() {
        return TEXTS.iter().filter_map(|name| done.string(name)).map(Cow::into_owned).collect();
    }
    let stream = case.stream;
    let texts = stream.children(part, Scope::Text).chain(stream.children(part, Scope::Refusal));
    texts.filter_map(text_of).collect()
}

/// Final, or streamed so far.
pub(super) fn text_of(text: &Node) -> Option<String> {
    match text.closing.get() {
        Some(closing) => json::string(closing.text()).map(Cow::into_owned),
        None => Some(text.joined.clone()).filter(|_| !text.partial),
    }
}

pub(in crate::rules) fn types_in_order(case: &mut Case<'_>, ending: &Ending<'_>) {
    for pair in pairs(case, ending) {
        let (Some(done), Some(entry)) = (pair.done.plain("type"), pair.entry.plain("type")) else { continue };
        if done != entry {
            case.fault(&pair.pointer("/type"), &format!("{done:?}"), &format!("{entry:?}"), || {
                format!(
                    "entry {} of the final output is a {entry}, but the item with this index is a {done}",
                    pair.index
                )
            });
            return;
        }
    }
}

pub(in crate::rules) fn at_its_index(case: &mut Case<'_>, ending: &Ending<'_>) {
    let has = ending.output.len();
    if !case.stream.is_whole() || case.stream.items.len() != has {
        return;
    }
    let is_beyond = |item: &&Node| item.key.entry().is_some_and(|index| index >= has as u64);
    if let Some(item) = case.stream.items().find(is_beyond) {
        let (name, last) = (case.name(item), has - 1);
        case.fault("/response/output", &format!("indices from 0 to {last}"), &name, || {
            format!("{name} has no place in the final output, whose last index is {last}")
        });
    }
}

pub(in crate::rules) fn ids_kept(case: &mut Case<'_>, ending: &Ending<'_>) {
    for pair in pairs(case, ending).into_iter().filter(Pair::is_of_one_type) {
        let (Some(done), Some(entry)) = (pair.done.string("id"), pair.entry.string("id")) else { continue };
        if done != entry {
            let whole = case.bound.level;
            if !entry.is_empty() && !case.stream.nodes.has_item(&entry) {
                case.limit(Level::Should);
            }
            case.fault(&pair.pointer("/id"), &format!("{done:?}"), &format!("{entry:?}"), || {
                format!("the item was done as {done}, but is {entry} in the final output")
            });
            case.bound.level = whole;
        }
    }
}

/// Lists with texts, and members that are texts.
const LISTS: [&str; 2] = ["content", "summary"];
const TEXTS: [&str; 2] = ["text", "refusal"];
const INPUTS: [&str; 3] = ["arguments", "input", "code"];

pub(in crate::rules) fn text_kept(case: &mut Case<'_>, ending: &Ending<'_>) {
    for (name, text) in unfinished(case, ending) {
        let shown = format!("{text:?}");
        case.fault("/response/output", &short(&shown), "no such text", || {
            format!("the text of {name} was streamed, but the final output lacks it")
        });
    }
    for done in lost(case, ending) {
        let (id, kind) = (done.string("id").unwrap_or_default(), done.string("type").unwrap_or_default());
        let has = match ending.output.len() {
            0 => "[]".to_owned(),
            1 => "1 entry".to_owned(),
            has => format!("{has} entries"),
        };
        case.fault("/response/output", &format!("an entry for {id}"), &has, || {
            let event = ending.snapshot.source();
            format!("response.output of {event} is {has} and lacks {id} ({kind}), which was done before")
        });
    }
    for pair in pairs(case, ending).into_iter().filter(Pair::is_of_one_type) {
        for name in INPUTS {
            compare_texts(case, pair.done, pair.entry, name, &pair.pointer(""));
        }
        for name in LISTS {
            let (Some(done), Some(entry)) = (parts(pair.done, name), parts(pair.entry, name)) else {
                continue;
            };
            if loses_texts(&done, &entry) {
                let (before, after) = (format!("{} parts", done.len()), format!("{}", entry.len()));
                case.fault(&pair.pointer(&format!("/{name}")), &before, &after, || {
                    format!("the texts of {name} differ between the finished item and the final output")
                });
            } else if done.len() == entry.len() {
                for (at, (done, entry)) in done.iter().zip(&entry).enumerate() {
                    for text in TEXTS {
                        compare_texts(case, done, entry, text, &pair.pointer(&format!("/{name}/{at}")));
                    }
                }
            }
        }
    }
}

fn parts<'i>(item: &'i Object<'_>, list: &str) -> Option<Vec<Object<'i>>> {
    Some(item.entries(list)?.into_iter().map(Object::new).collect())
}

/// The lists of parts differ in length.
fn loses_texts(done: &[Object<'_>], entry: &[Object<'_>]) -> bool {
    let texts = |parts: &[Object<'_>]| -> String {
        parts.iter().flat_map(|part| TEXTS.map(|name| part.string(name).unwrap_or_default())).collect()
    };
    done.len() != entry.len() && texts(done) != texts(entry)
}

fn compare_texts(case: &mut Case<'_>, done: &Object<'_>, entry: &Object<'_>, name: &str, place: &str) {
    let (Some(before), Some(after)) = (done.string(name), entry.string(name)) else { return };
    if before != after {
        let (before, after) = (format!("{before:?}"), format!("{after:?}"));
        case.fault(&format!("{place}/{name}"), &short(&before), &short(&after), || {
            format!(
                "{name} is {} in the final output, but {} in the finished item",
                short(&after),
                short(&before)
            )
        });
    }
}

pub(in crate::rules) fn equals_items(case: &mut Case<'_>, ending: &Ending<'_>) {
    for pair in pairs(case, ending).into_iter().filter(Pair::is_of_one_type) {
        let is_program = pair.done.plain("type") == Some("program");
        let is_exempt = |name: &str| match name {
            "id" => true,
            // It is encrypted again.
            "encrypted_content" => {
                pair.entry.value(name).is_some_and(|content| content != "\"\"")
                    && pair.done.get(name) != Some("\"\"")
            }
            "fingerprint" => is_program,
            _ => false,
        };
        compare_members(case, pair.done, pair.entry, &pair.pointer(""), &|name| is_exempt(name));
    }
}

/// `output/text-kept` compares the texts. Some members are exempt.
fn compare_members(
    case: &mut Case<'_>,
    done: &Object<'_>,
    entry: &Object<'_>,
    place: &str,
    is_exempt: &dyn Fn(&str) -> bool,
) {
    let added = entry.members().map(|(name, _)| name).filter(|name| done.get(name).is_none());
    let names = done.members().map(|(name, _)| name).chain(added);
    for name in names.filter(|name| !is_exempt(name)) {
        // Null and absent members are equal.
        let (before, after) = (done.value(name), entry.value(name));
        if before == after || before.zip(after).is_some_and(|(before, after)| same(before, after)) {
            continue;
        }
        let are_texts = [before, after].iter().flatten().all(|raw| raw.starts_with('"'));
        let is_text = TEXTS.contains(&name) || INPUTS.contains(&name);
        if is_text && are_texts && before.is_some() && after.is_some() {
            continue;
        }
        if LISTS.contains(&name)
            && let (Some(before), Some(after)) = (parts(done, name), parts(entry, name))
        {
            if loses_texts(&before, &after) {
                continue;
            }
            if before.len() == after.len() {
                for (at, (done, entry)) in before.iter().zip(&after).enumerate() {
                    compare_members(case, done, entry, &format!("{place}/{name}/{at}"), &|_| false);
                }
                continue;
            }
        }
        let whole = case.bound.level;
        if !is_acted_on(done, name, after) {
            case.limit(Level::Should);
        }
        report_member(case, name, before, after, place);
        case.bound.level = whole;
    }
}

/// The types of calls whose action the client performs.
const PERFORMED: [&str; 4] = ["shell_call", "local_shell_call", "apply_patch_call", "computer_call"];

/// Clients act on the member of an item or part.
fn is_acted_on(done: &Object<'_>, name: &str, after: Option<&str>) -> bool {
    let is_of = |kinds: &[&str]| done.plain("type").is_some_and(|kind| kinds.contains(&kind));
    match name {
        "call_id" | "name" => is_of(&ANSWERED) || is_of(&PERFORMED),
        "annotations" => true,
        "action" => after.is_none() || is_of(&PERFORMED),
        "operation" => is_of(&PERFORMED),
        "result" => after.is_none() && is_of(&["image_generation_call"]),
        _ => false,
    }
}

fn report_member(case: &mut Case<'_>, name: &str, before: Option<&str>, after: Option<&str>, place: &str) {
    let before = before.map(short);
    let finished = before.as_deref().unwrap_or("absent");
    match after {
        None => case.lacks(place, name, || {
            format!("{name} is absent in the final output, but {finished} in the finished item")
        }),
        Some(after) => {
            case.fault(&format!("{place}/{name}"), finished, &short(after), || {
                format!("{name} is {} in the final output, but {finished} in the finished item", short(after))
            });
        }
    }
}
