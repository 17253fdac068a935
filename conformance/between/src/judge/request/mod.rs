//! The request: what the upstream was asked of what the client asked.

pub(super) mod history;
pub(super) mod retries;
pub(super) mod schema;
pub(super) mod tool_schema;

use catalogue::{HandlingMode, Level};
use results::text::listed;
use serde_json::Value;
use spec::Api;
use translation::{Choice, Format, Image, Part, Question, Role, Tool};

use self::tool_schema::plain;
use crate::evidence::{Evidence, Test};
use crate::judge::Turn;
use crate::judge::parts::findings::{Findings, Problem, first_difference, shown};
use crate::judge::parts::values::difference;

/// Maximum number of models that are named.
const MOST: usize = 5;
/// Texts that may stand between parts where an API joins them.
const JOINTS: [&str; 4] = ["", "\n", "\n\n", " "];
/// The places of a budget of reasoning. A request with a budget has no effort.
const BUDGETS: [&str; 2] = ["/thinking/budget_tokens", "/generationConfig/thinkingConfig/thinkingBudget"];
/// Sampling options have this value if no one sets them.
const USUAL: f64 = 1.0;

/// The turns before it show the upstream's answers.
pub(in crate::judge) fn judge(findings: &mut Findings<'_>, before: &[Turn<'_>], turn: &Turn<'_>) {
    let Some(request) = turn.requests.first() else { return };
    let broken = schema::judge(findings, turn.test, request);
    let (Some(asked), Some(got)) = (turn.question(), turn.upstream_question()) else { return };
    conversation(findings, &got, &asked);
    let api = turn.test.upstream.api;
    let sent = request.request(api).unwrap_or_default();
    tools(findings, [&got, &asked], &SentTools { request: &sent, api, broken: &broken });
    options(findings, &got, &asked);
    effort(findings, &got, &asked, &turn.asked().unwrap_or_default());
    images(findings, &got, &asked);
    history::judge(findings, before, turn, [&got, &asked]);
    if turn.test.mode != HandlingMode::Local {
        invented(findings, turn, &got, &asked);
    }
}

/// All requests have to name the same model.
pub(in crate::judge) fn judge_models(findings: &mut Findings<'_>, test: &Test, evidence: &Evidence) {
    let models = evidence
        .upstream
        .iter()
        .filter_map(|exchange| exchange.request(test.upstream.api))
        .map(|request| Question::read(test.upstream.api, &request).model);
    let mut models: Vec<String> = models.collect();
    models.dedup();
    if models.len() > 1 || models.iter().any(String::is_empty) {
        let message = "requests of one conversation name different models, or none";
        let names = listed(&models, MOST, |model| format!("{model:?}"));
        findings.add("request/model", Problem::new("several", message).showing(&names, &test.model));
    }
}

/// The texts of a conversation: who speaks, and the parts of what is said without a change of speakers.
type Spoken<'q> = Vec<(Role, Vec<&'q str>)>;

fn spoken(question: &Question) -> Spoken<'_> {
    let mut spoken: Spoken<'_> = Vec::new();
    for turn in &question.turns {
        let texts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) | Part::Refusal(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        });
        for text in texts {
            match spoken.last_mut() {
                Some((role, parts)) if *role == turn.role => parts.push(text),
                _ => spoken.push((turn.role, vec![text])),
            }
        }
    }
    spoken
}

/// The parts may be cut in different ways.
fn are_joined(one: &[&str], other: &[&str]) -> bool {
    let has = |whole: &str, parts: &[&str]| JOINTS.iter().any(|joint| parts.join(joint) == whole);
    let whole = |parts: &[&str]| parts.concat();
    one == other
        || has(&whole(other), one)
        || has(&whole(one), other)
        || letters(one) == letters(other) && one.len() != other.len()
}

fn letters(parts: &[&str]) -> String {
    parts.iter().flat_map(|part| part.split_whitespace()).collect()
}

/// Instructions, texts and their speakers.
fn conversation(findings: &mut Findings<'_>, got: &Question, asked: &Question) {
    let instructions = |question: &Question| question.instructions.join("\n\n");
    let [told, wanted] =
        [got, asked].map(|question| question.instructions.iter().map(String::as_str).collect::<Vec<_>>());
    let [spoken_got, spoken_asked] = [got, asked].map(spoken);
    let of = |spoken: &Spoken<'_>| {
        spoken.iter().flat_map(|(_, parts)| parts.clone()).map(str::to_owned).collect::<Vec<_>>()
    };
    let [texts_got, texts_asked] = [&spoken_got, &spoken_asked].map(of);
    let all = |instructions: &[&str], texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        [letters(instructions), letters(&texts)].concat()
    };
    let is_moved = !are_joined(&told, &wanted) && all(&told, &texts_got) == all(&wanted, &texts_asked);
    let roles = |spoken: &Spoken<'_>| spoken.iter().map(|(role, _)| *role).collect::<Vec<_>>();
    let words = |spoken: &Spoken<'_>| {
        let turns = spoken.iter().map(|(role, parts)| format!("{}: {}", name(*role), parts.concat()));
        turns.collect::<Vec<_>>().join("\n")
    };
    let [shown_got, shown_asked] = [&spoken_got, &spoken_asked].map(words);
    if is_moved {
        let message = "instructions of the client are texts of the conversation for the upstream, or the other way round";
        let problem = Problem::new("instructions", message);
        let whole = |question: &Question, words: &str| format!("system: {}\n{words}", instructions(question));
        findings.add("request/roles", problem.between(&whole(got, &shown_got), &whole(asked, &shown_asked)));
        return;
    }
    if !are_joined(&told, &wanted) && !wanted.is_empty() {
        let [own, other] = [got, asked].map(instructions);
        let kind = match () {
            () if told.is_empty() => "lost",
            () if letters(&told).len() > letters(&wanted).len()
                && letters(&told).contains(&letters(&wanted)) =>
            {
                "added to"
            }
            () => "changed",
        };
        let message =
            format!("the upstream's instructions differ from character {}", first_difference(&own, &other));
        findings.add("request/instructions", Problem::new(kind, message).between(&own, &other));
    }
    let is_same = spoken_got.len() == spoken_asked.len()
        && spoken_got.iter().zip(&spoken_asked).all(|((_, one), (_, other))| are_joined(one, other));
    let [flat_got, flat_asked] = [&texts_got, &texts_asked]
        .map(|texts| letters(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
    if is_same && roles(&spoken_got) == roles(&spoken_asked) {
        return;
    }
    let by_speaker =
        |spoken: &Spoken<'_>| spoken.iter().map(|(role, parts)| (*role, letters(parts))).collect::<Vec<_>>();
    let is_spaced = by_speaker(&spoken_got) == by_speaker(&spoken_asked);
    if flat_got == flat_asked && !is_spaced {
        let message = "a text of the conversation has another speaker for the upstream";
        findings.add("request/roles", Problem::new("speaker", message).between(&shown_got, &shown_asked));
        return;
    }
    let kind = match () {
        () if flat_got == flat_asked => "white space",
        () if flat_got.len() < flat_asked.len() => "lost",
        () if flat_got.contains(&flat_asked) => "added",
        () => "changed",
    };
    let message = format!(
        "the texts of the conversation differ from character {}",
        first_difference(&shown_got, &shown_asked)
    );
    findings.add("request/messages", Problem::new(kind, message).between(&shown_got, &shown_asked));
}

const fn name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    }
}

struct SentTools<'r> {
    request: &'r Value,
    api: &'r Api,
    /// Where the request is invalid. The names and parameters of invalid tools may be in any place.
    broken: &'r [String],
}

impl SentTools<'_> {
    /// Also returns the place of the tool.
    fn find(&self, name: &str) -> Option<(String, &Value)> {
        let offers = self.api.request.offers?;
        let list = |place: String| {
            let entries = self.request.pointer(&place).and_then(Value::as_array).into_iter().flatten();
            entries.enumerate().map(move |(at, entry)| (format!("{place}/{at}"), entry)).collect::<Vec<_>>()
        };
        let mut all = list(format!("/{}", offers.list));
        if let Some(inner) = offers.inner {
            all = all.into_iter().flat_map(|(place, _)| list(place + inner)).collect();
        }
        all.into_iter().find(|(_, tool)| has_name(tool, name))
    }

    fn is_broken(&self, name: &str) -> bool {
        let Some((place, _)) = self.find(name) else { return false };
        let is_within = |at: &String| {
            at.strip_prefix(&place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.broken.iter().any(is_within)
    }

    /// The parameters, or the whole tool if they are in no known place.
    fn shown(&self, tool: &Tool) -> String {
        let whole = self.find(&tool.name).map(|(_, whole)| whole.to_string());
        let parameters = tool.parameters.to_string();
        whole.filter(|whole| !whole.contains(&parameters)).unwrap_or(parameters)
    }
}

fn has_name(tool: &Value, name: &str) -> bool {
    tool.get("name").and_then(Value::as_str) == Some(name)
        || tool.as_object().is_some_and(|members| {
            members.values().any(|inner| inner.get("name").and_then(Value::as_str) == Some(name))
        })
}

fn tools(findings: &mut Findings<'_>, [got, asked]: [&Question; 2], sent: &SentTools<'_>) {
    let find = |tools: &[Tool], name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    let names = |tools: &[Tool]| listed(tools, 40, |tool| tool.name.clone());
    let is_forbidden = asked.choice == Choice::None && got.tools.is_empty();
    if is_forbidden {
        return;
    }
    // One that is there in an invalid form is a finding about the schema.
    for tool in asked.tools.iter().filter(|tool| !sent.is_broken(&tool.name)) {
        let name = shown(&tool.name);
        let Some(own) = find(&got.tools, &tool.name) else {
            let message = format!("the upstream does not get the tool {name}");
            findings.add(
                "request/tools",
                Problem::new("lost", message).showing(&names(&got.tools), &names(&asked.tools)),
            );
            continue;
        };
        if let Some(place) = difference(&plain(&tool.parameters), &plain(&own.parameters)) {
            let keyword = place.rsplit('/').find(|part| !part.is_empty() && part.parse::<usize>().is_err());
            let kind = format!("parameters: {}", shown(keyword.unwrap_or("type")));
            let message = format!(
                "the parameters of {name} differ at {}",
                shown(if place.is_empty() { "/" } else { &place })
            );
            let [own, wanted] = [sent.shown(&own), tool.parameters.to_string()];
            findings.add("request/tools", Problem::new(kind, message).between(&own, &wanted));
        }
        let [own, wanted] =
            [&own.description, &tool.description].map(|text| text.clone().unwrap_or_default());
        if own != wanted {
            let message = format!("the description of {name} differs");
            findings.add("request/tools", Problem::new("description", message).between(&own, &wanted));
        }
    }
    let order = |question: &Question, other: &Question| {
        let known = question.tools.iter().filter(|tool| find(&other.tools, &tool.name).is_some());
        known.map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    if order(got, asked) != order(asked, got) && got.tools.len() == asked.tools.len() {
        let message = "the tools are in another order, or one is there twice";
        findings.add(
            "request/tools",
            Problem::new("order", message).showing(&names(&got.tools), &names(&asked.tools)),
        );
    }
}

/// Options that the client does not set are judged as inventions.
fn options(findings: &mut Findings<'_>, got: &Question, asked: &Question) {
    let mut add_at = |rule: &'static str, name: &str, level: Level, is_wrong: bool, values: [String; 2]| {
        if is_wrong {
            let [own, wanted] = &values;
            let message = format!("{name} is {}, the client's is {}", shown(own), shown(wanted));
            findings.add(rule, Problem::new(name, message).showing(own, wanted).at(level));
        }
    };
    // Newer models refuse both at once, and some values of one API are none of another.
    let is_alone = asked.temperature.is_some() != asked.top_p.is_some();
    for (name, own, wanted) in
        [("temperature", got.temperature, asked.temperature), ("top_p", got.top_p, asked.top_p)]
    {
        let level = if is_alone && own.is_none() { Level::Must } else { Level::Should };
        let is_wrong = wanted.is_some() && own != wanted;
        add_at("request/sampling", name, level, is_wrong, words(&own, &wanted));
    }
    for (name, is_wrong, values) in [
        (
            "the number of choices",
            asked.choices.is_some() && got.choices != asked.choices,
            words(&got.choices, &asked.choices),
        ),
        ("the user", asked.user.is_some() && got.user != asked.user, words(&got.user, &asked.user)),
    ] {
        add_at("request/sampling", name, Level::Should, is_wrong, values);
    }
    let mut add = |rule: &'static str, name: &str, is_wrong: bool, values: [String; 2]| {
        add_at(rule, name, Level::Must, is_wrong, values);
    };
    let has_no_tools = got.tools.is_empty();
    let is_free = asked.choice == Choice::Free || asked.choice == Choice::None && has_no_tools;
    add(
        "request/tool-choice",
        "the tool choice",
        !is_free && got.choice != asked.choice,
        words(&got.choice, &asked.choice),
    );
    let is_lost = asked.is_one_call && !got.is_one_call && !has_no_tools;
    add("request/one-call", "one call at a time", is_lost, words(&got.is_one_call, &asked.is_one_call));
    let is_changed = asked.limit.is_some() && got.limit != asked.limit;
    add("request/limit", "the limit of tokens", is_changed, words(&got.limit, &asked.limit));
    let sorted = |stops: &[String]| {
        let mut stops = stops.to_vec();
        stops.sort_unstable();
        stops
    };
    let is_changed = !asked.stops.is_empty() && sorted(&got.stops) != sorted(&asked.stops);
    add("request/stops", "the list of stop sequences", is_changed, words(&got.stops, &asked.stops));
    if asked.format != Format::Text && !is_same_format(&got.format, &asked.format) {
        format(findings, &got.format, &asked.format);
    }
}

/// Schemas are long, so the message names the first difference.
fn format(findings: &mut Findings<'_>, got: &Format, asked: &Format) {
    let [own, wanted] = words(got, asked);
    let problem = |message: String| Problem::new("the format", message);
    let problem =
        if let (Format::Schema { schema: one, .. }, Format::Schema { schema: other, .. }) = (got, asked) {
            let place = difference(one, other).filter(|place| !place.is_empty());
            let place = shown(place.as_deref().unwrap_or("/"));
            problem(format!("the schema of the format differs at {place}")).between(&own, &wanted)
        } else {
            problem(format!("the format is {}, the client's is {}", kind(got), kind(asked)))
                .showing(&own, &wanted)
        };
    findings.add("request/format", problem);
}

const fn kind(format: &Format) -> &'static str {
    match format {
        Format::Text => "text",
        Format::Object => "a JSON object",
        Format::Schema { .. } => "a JSON Schema",
    }
}

fn effort(findings: &mut Findings<'_>, got: &Question, asked: &Question, request: &Value) {
    let Some(wanted) = asked.effort.as_ref().filter(|_| got.effort != asked.effort) else { return };
    let own = got.effort.as_ref().map_or_else(|| "missing".to_owned(), |own| format!("{own:?}"));
    // A budget is no word; the word that is expected stands for it.
    let budget = BUDGETS.iter().find_map(|place| request.pointer(place)?.as_u64());
    let client = match budget {
        Some(budget) => format!("the client's budget of {budget} tokens stands for {wanted:?}"),
        None => format!("the client's is {wanted:?}"),
    };
    let message = format!("the effort is {}, {}", shown(&own), shown(&client));
    // No API states which budget of tokens is which effort.
    let problem = Problem::new("the effort", message).at(Level::Should);
    let wanted = budget.map_or_else(|| wanted.clone(), |budget| format!("budget_tokens: {budget}"));
    findings.add("request/reasoning", problem.showing(&own, &wanted));
}

fn words<T: serde::Serialize>(own: &T, wanted: &T) -> [String; 2] {
    [own, wanted].map(|value| serde_json::to_string(value).unwrap_or_default())
}

/// Not every API has a name for a schema.
fn is_same_format(one: &Format, other: &Format) -> bool {
    match (one, other) {
        (Format::Schema { schema: one, .. }, Format::Schema { schema: other, .. }) => {
            difference(one, other).is_none()
        }
        _ => one == other,
    }
}

fn images(findings: &mut Findings<'_>, got: &Question, asked: &Question) {
    let [own, wanted] = [got, asked].map(|question| {
        let parts = question.turns.iter().flat_map(|turn| &turn.parts);
        parts
            .filter_map(|part| if let Part::Image(image) = part { Some(image) } else { None })
            .collect::<Vec<_>>()
    });
    if own.len() != wanted.len() {
        let kind = if own.len() < wanted.len() { "lost" } else { "added" };
        let message = format!("the upstream gets {} images, the client sent {}", own.len(), wanted.len());
        findings.add("request/images", Problem::new(kind, message));
        return;
    }
    for (own, wanted) in own.into_iter().zip(wanted) {
        if !is_same_image(own, wanted) {
            let words = |image: &Image| serde_json::to_string(image).unwrap_or_default();
            let kind = if wanted.url.is_some() { "by URL" } else { "base64" };
            findings.add(
                "request/images",
                Problem::new(kind, "an image differs").between(&words(own), &words(wanted)),
            );
        }
    }
}

/// A gateway may have loaded an image that has an address.
fn is_same_image(own: &Image, wanted: &Image) -> bool {
    own == wanted || wanted.url.is_some() && own.data.as_ref().is_some_and(|data| !data.is_empty())
}

/// The client did not ask for these.
fn invented(findings: &mut Findings<'_>, turn: &Turn<'_>, got: &Question, asked: &Question) {
    let own = turn.asked().unwrap_or_default();
    // A member that the client sent by that name is at most in the wrong place.
    let is_sent = |name: &str| own.get(name.split('.').next().unwrap_or(name)).is_some();
    let mut add = |kind: String, value: &str| {
        let message = format!("the upstream's request has {kind}, which the client did not send");
        findings.add("request/nothing-invented", Problem::new(kind, message).showing(value, ""));
    };
    for name in got.others.iter().filter(|name| !asked.others.contains(name) && !is_sent(name)) {
        add(shown(name), "");
    }
    let is_usual = |value: Option<f64>| value.is_none_or(|value| (value - USUAL).abs() < f64::EPSILON);
    let is_known = |tool: &Tool| asked.tools.iter().any(|known| known.name == tool.name);
    for (name, is_new) in [
        ("instructions", asked.instructions.is_empty() && !got.instructions.is_empty()),
        ("tools", !got.tools.iter().all(is_known)),
        ("a tool choice", asked.choice == Choice::Free && got.choice != Choice::Free),
        ("one call at a time", got.is_one_call && !asked.is_one_call),
        ("stop sequences", asked.stops.is_empty() && !got.stops.is_empty()),
        ("temperature", asked.temperature.is_none() && !is_usual(got.temperature)),
        ("top_p", asked.top_p.is_none() && !is_usual(got.top_p)),
        ("choices", asked.choices.is_none() && got.choices.is_some()),
        ("effort", asked.effort.is_none() && got.effort.is_some()),
        ("a format", asked.format == Format::Text && got.format != Format::Text),
        ("a user", asked.user.is_none() && got.user.is_some()),
    ] {
        if is_new {
            add(name.to_owned(), &got.instructions.join("\n"));
        }
    }
    if asked.is_stream != got.is_stream {
        let kind = if got.is_stream { "a stream" } else { "no stream" };
        let message = format!("the upstream is asked for {kind}, the client wants the opposite");
        findings.add("request/nothing-invented", Problem::new(kind, message).at(Level::May));
    }
}
