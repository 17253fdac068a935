//! Findings.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use catalogue::{CLIENTS, Client, Level};
use serde::{Deserialize, Serialize};
use spec::{APIS, Dialect, FOREIGN};

use super::bound::Bound;
use super::locate::Locator;
use super::location::{Location, SavedLocation};
use super::record::{Payload, Record};

/// The form of a number that is no integer of JavaScript: some clients read no such number.
pub(super) const ODD: &str = "odd-number";
/// The form of JSON with a number that only some parsers read, such as `NaN`.
pub(crate) const NO_NUMBER: &str = "no-number";

/// A violation of a rule, with its place and the number of equal violations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule, `group/name`.
    pub rule: Cow<'static, str>,
    /// The API of the stream; empty in older reports.
    #[serde(default)]
    pub api: Cow<'static, str>,
    /// The dialect of the stream, if the run has several; set by the reader of the recording.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub dialect: Cow<'static, str>,
    /// Its level.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// The message.
    pub message: String,
    /// The exchange, if the recording has several; set by the reader of the recording.
    pub exchange: Option<String>,
    /// The number of the exchange, if this suite recorded it; set by the reader of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange_number: Option<u64>,
    /// The event at fault.
    #[serde(flatten)]
    pub place: Location,
    /// JSON pointer into the event.
    pub pointer: Option<String>,
    /// The missing property, if that is the fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// How to supply the missing property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supply: Option<Box<Supply>>,
    /// The member at fault: its pointer, with `*` for an index, and with the type of each object on the way in brackets,
    /// as in `/response/output/*[message]/status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The expected value.
    pub expected: Option<String>,
    /// The actual value.
    pub actual: Option<String>,
    /// Which of the violations of the rule it is, if the rule has several; for a schema, the kind of the actual value.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub form: Cow<'static, str>,
    /// The content of its event, if others of its type have another one: `content`, or `tool_call+arguments`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub says: Cow<'static, str>,
    /// Another event that explains the finding.
    pub related: Option<Box<Related>>,
    /// Dialects of known clients that allow the value: a client that was measured with other values may well read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fine_in: Vec<Cow<'static, str>>,
    /// Whether the product of the dialect is recorded to break the rule: the finding fails by its level alone, and not by the
    /// clients that it breaks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recorded: bool,
    /// The finding of the same exchange that it follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows_from: Option<Origin>,
    /// Number of equal violations.
    pub count: u64,
}

/// The known facts of a missing property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Supply {
    /// The `type` of the object that lacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// A valid value: JSON, or its kind in angle brackets.
    pub value: String,
    /// The name under which another API has the property, if the object has that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misnomer: Option<Misnomer>,
}

/// A property under the name that another API gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Misnomer {
    /// The name.
    pub name: Cow<'static, str>,
    /// The API.
    pub api: Cow<'static, str>,
}

/// The finding that another one follows from: the first one of this rule, at this place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The rule, `group/name`.
    pub rule: Cow<'static, str>,
    /// Number of the frame in the stream, from 1.
    pub frame: u64,
    /// Line of the recording, from 1.
    pub line: u64,
}

/// An event that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Related {
    /// Its relation to the finding.
    pub label: Cow<'static, str>,
    /// The event.
    #[serde(flatten)]
    pub place: Location,
}

/// The level of a rule.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(remote = "Level", rename_all = "lowercase")]
pub enum LevelName {
    /// Not checked.
    Off,
    /// A note.
    May,
    /// A warning.
    Should,
    /// An error.
    Must,
}

impl Supply {
    fn fix(&self, name: &str, holder: &str) -> String {
        format!("add to {holder}: \"{name}\": {}{}", self.value, self.hint(name))
    }

    /// Returns a remark on the name that another API gives a property; empty if the object does not have it.
    pub fn hint(&self, name: &str) -> String {
        let hint =
            |misnomer: &Misnomer| format!("; {} is the name of {name} in {}", misnomer.name, misnomer.api);
        self.misnomer.as_ref().map(hint).unwrap_or_default()
    }
}

impl Finding {
    /// Returns the group of its rule.
    pub fn group(&self) -> &str {
        catalogue::group(&self.rule)
    }

    /// Returns what is known of violations like it in one text: the rule, the event type, the member, its form, and what else the
    /// event says. Clients are measured with violations of one kind at a time.
    pub fn kind(&self) -> String {
        let event = self.place.event_type.as_deref().map_or("", |name| match self.member.as_deref() {
            // To clients that do not know it, it is like any unknown event. `fine_in` names the others.
            Some("/type") => namespace_of(name),
            _ => known_event(&self.api, name),
        });
        let member = self.member.as_deref().unwrap_or_default();
        let parts = [&*self.rule, event, member, self.exact_form(), &self.says];
        parts.map(|part| if part.is_empty() { "-" } else { part }).join(" ")
    }

    /// Clients take some values in another way: an empty string, a number as a string, and a number that is no integer of
    /// JavaScript.
    fn exact_form(&self) -> &str {
        const LARGEST: f64 = 9_007_199_254_740_991.0;
        let actual = self.actual.as_deref().unwrap_or_default();
        let is_odd = |text: &str| {
            let number: Option<f64> = text.strip_prefix("number ").unwrap_or(text).parse().ok();
            number.is_some_and(|number| number.fract() != 0.0 || number.abs() > LARGEST)
        };
        if matches!(self.form(), "" | "number") {
            // One of several counts that differ may be such a number.
            let beside = self.expected.as_deref().filter(|_| self.form().is_empty());
            let is_any_odd = is_odd(actual) || beside.is_some_and(is_odd);
            return if is_any_odd { ODD } else { self.form() };
        }
        let text = actual.strip_prefix("string \"").and_then(|text| text.strip_suffix('"'));
        match text.filter(|_| self.form() == "string") {
            Some("") => "empty",
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => "quoted",
            _ => self.form(),
        }
    }

    /// Returns which of the violations of the rule it is: for a schema, `absent` or the JSON type of the value.
    pub fn form(&self) -> &str {
        if self.missing.is_some() { "absent" } else { &self.form }
    }

    /// The form of findings about what the request sent.
    pub(crate) const ECHO: &str = "echo";

    /// Returns the fix for the server, in a line.
    pub fn fix(&self) -> Option<Cow<'static, str>> {
        if let Some(rule) = catalogue::log_rule(&self.rule) {
            return Some(Cow::Borrowed(rule.fix));
        }
        let rule = catalogue::rule(&self.rule)?;
        let usual = rule.in_api(&self.api).fix_of(self.form());
        if self.form == Self::ECHO {
            return Some(Cow::Borrowed(
                "refuse the request with status 400, unless you support what it asks for",
            ));
        }
        if let (Some(name), Some(supply)) = (&self.missing, &self.supply) {
            return Some(Cow::Owned(supply.fix(name, &self.holder())));
        }
        let called = self.actual.as_deref().filter(|_| rule.id == "schema/foreign-protocol");
        let wanted = self.expected.as_deref().and_then(path_of);
        if let Some((called, wanted)) = called.and_then(path_of).zip(wanted) {
            return Some(Cow::Owned(format!("you called {called}? Call {wanted}, or {usual}")));
        }
        let expected = self.expected.as_deref().filter(|_| rule.id.ends_with("-valid"));
        let Some(expected) = expected else { return Some(Cow::Borrowed(usual)) };
        let holder = self.holder();
        Some(Cow::Owned(match &self.missing {
            Some(name) => format!("add \"{name}\" to {holder}"),
            None => format!("send {expected} as {holder}"),
        }))
    }

    /// Returns the value that the finding is about: a pointer, with the type if that is known, or the event.
    pub fn holder(&self) -> Cow<'_, str> {
        let pointer = self.pointer.as_deref().filter(|pointer| !pointer.is_empty());
        let whole = || self.place.event_type.as_deref().unwrap_or("the response");
        let place = pointer.unwrap_or_else(whole);
        match self.supply.as_ref().and_then(|supply| supply.holder.as_deref()) {
            Some(kind) => Cow::Owned(format!("{place} ({kind})")),
            None => Cow::Borrowed(place),
        }
    }

    /// Returns where another finding follows from: this one, or the one that this one follows from.
    pub fn origin(&self) -> Origin {
        let own = || Origin { rule: self.rule.clone(), frame: self.place.frame, line: self.place.line };
        self.follows_from.clone().unwrap_or_else(own)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct FaultPlace<'p> {
    pub(crate) pointer: Option<&'p str>,
    /// Byte offset in the data, if there is no value to point to.
    pub(crate) at: Option<usize>,
    pub(crate) missing: Option<&'p str>,
    pub(crate) expected: Option<&'p str>,
    pub(crate) actual: Option<&'p str>,
    /// Which of the violations of the rule it is, if the rule has several.
    pub(crate) form: &'static str,
    /// The finding that it follows from.
    pub(crate) follows: Option<usize>,
    /// How far the response is, if the event itself does not say it: a mark.
    pub(crate) stage: &'static str,
}

impl FaultPlace<'_> {
    pub(crate) const WHOLE: Self = Self {
        pointer: None,
        at: None,
        missing: None,
        expected: None,
        actual: None,
        form: "",
        follows: None,
        stage: "",
    };
}

/// One function for all messages compiles in a fraction of the time of one for each.
pub(crate) type Message<'m> = &'m dyn Fn() -> String;

pub(crate) type FineIn<'d> = &'d mut dyn FnMut(&'static Dialect) -> bool;

/// Findings, without duplicates.
#[derive(Debug, Default)]
pub struct Findings {
    api: &'static str,
    found: Vec<Finding>,
    seen: HashMap<String, usize>,
    /// The rules with a listed finding, by level.
    rules: BTreeSet<(Level, &'static str)>,
    pub(super) omitted: u64,
    /// Number of all violations, also of equal ones.
    pub(super) reported: u64,
    /// Reusable, to avoid allocations.
    key: String,
    /// The values at fault in the current frame: a fault is reported once, by the first rule that finds it.
    blamed: Blamed,
    locator: Locator,
}

#[derive(Debug, Default)]
struct Blamed {
    frame: u64,
    /// By the pointers of the values, with the levels of the findings.
    rules: HashMap<String, Vec<(&'static str, Level)>>,
    count: usize,
}

impl Blamed {
    /// Keeps the memory if it is small.
    fn begin(&mut self, frame: u64) {
        if self.count > FEW {
            self.rules = HashMap::new();
        }
        self.rules.clear();
        (self.frame, self.count) = (frame, 0);
    }

    /// A finding about a parent counts, too, if it is at least as severe.
    fn has(&self, pointer: &str, bound: Bound) -> bool {
        let is_others =
            |(blamed_by, level): &(&str, Level)| *blamed_by != bound.rule.id && *level >= bound.level;
        let is_others = |outer: &str| self.rules.get(outer).is_some_and(|rules| rules.iter().any(is_others));
        let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
        self.count > 0 && ends.into_iter().any(|end| is_others(&pointer[..end]))
    }

    fn add(&mut self, pointer: &str, bound: Bound) {
        if self.count < MAX_FINDINGS {
            self.count += 1;
            let rules = self.rules.entry(pointer.to_owned()).or_default();
            if !rules.contains(&(bound.rule.id, bound.level)) {
                rules.push((bound.rule.id, bound.level));
            }
        }
    }
}

/// The content of events, where it differs.
const VARIOUS: &str = "various";

/// Usual maximum number of faults in a frame.
const FEW: usize = 64;

/// Maximum number of different findings of a stream. Beyond them, the first finding of each rule is still listed, so
/// that every violated rule is known.
const MAX_FINDINGS: usize = 1000;

impl Findings {
    pub(super) fn of(api: &'static str) -> Self {
        Self { api, ..Self::default() }
    }

    /// `message` is called only for the first of equal findings. Returns its number, or the number of an equal finding that
    /// is listed.
    #[cold]
    pub(crate) fn add(
        &mut self,
        bound: Bound,
        record: &Record<'_>,
        place: &FaultPlace<'_>,
        related: Option<Related>,
        message: Message<'_>,
    ) -> Option<usize> {
        self.add_here(bound, record, place, related, &mut |_| false, message)
    }

    /// Other dialects may allow the fault: then it does not break clients of these dialects.
    #[cold]
    pub(crate) fn add_here(
        &mut self,
        bound: Bound,
        record: &Record<'_>,
        place: &FaultPlace<'_>,
        related: Option<Related>,
        is_fine_in: FineIn<'_>,
        message: Message<'_>,
    ) -> Option<usize> {
        if self.is_blamed(record.number, bound, place) {
            return None;
        }
        let member = place.pointer.map(|pointer| {
            member(pointer, place.missing, |holder| {
                self.locator.type_of(record.number, record.data(), holder)
            })
        });
        self.write_key(bound, record.event_type.as_deref(), place, member.as_deref());
        let location = |locator: &mut Locator| {
            let in_data = match (place.pointer, place.at) {
                (Some(pointer), _) => locator.value(record.number, record.data(), pointer),
                (None, Some(at)) => Some(at..at + 1),
                (None, None) => None,
            };
            Location::of(record, in_data.as_ref(), locator)
        };
        let number = self.keep(bound, place, member, is_fine_in, &location, message);
        if let Some(finding) = number.and_then(|number| self.found.get_mut(number)) {
            let says = || {
                let mut says = record.says();
                if record.payload != Payload::Object && !place.stage.is_empty() {
                    let join = if says.is_empty() { "" } else { "+" };
                    says.extend([join, place.stage]);
                }
                says
            };
            if finding.count == 1 {
                (finding.says, finding.related) = (Cow::Owned(says()), related.map(Box::new));
            } else if finding.says != VARIOUS && finding.says != says() {
                finding.says = Cow::Borrowed(VARIOUS);
            }
        }
        number
    }

    /// The number of the last finding of an event that lacks the property.
    #[cold]
    pub(crate) fn lacking(&self, property: &str) -> Option<usize> {
        self.found.iter().rposition(|finding| finding.missing.as_deref() == Some(property))
    }

    #[cold]
    pub(crate) fn add_at(
        &mut self,
        bound: Bound,
        mark: &SavedLocation,
        place: &FaultPlace<'_>,
        message: Message<'_>,
    ) {
        let member = place.pointer.map(|pointer| member(pointer, place.missing, |_| None));
        self.write_key(bound, Some(&mark.event_type), place, member.as_deref());
        self.keep(bound, place, member, &mut |_| false, &|_| mark.location(), message);
    }

    fn keep(
        &mut self,
        bound: Bound,
        place: &FaultPlace<'_>,
        member: Option<String>,
        is_fine_in: FineIn<'_>,
        location: &dyn Fn(&mut Locator) -> Location,
        message: Message<'_>,
    ) -> Option<usize> {
        self.reported += 1;
        let known = self.seen.get(&self.key).copied();
        if let Some(finding) = known.and_then(|at| self.found.get_mut(at)) {
            finding.count += 1;
            finding.fine_in.retain(|name| spec::dialect(name).is_some_and(&mut *is_fine_in));
            // It also stands alone.
            finding.follows_from.take_if(|_| place.follows.is_none());
            return known;
        }
        if self.found.len() >= MAX_FINDINGS && self.rules.contains(&(bound.level, bound.rule.id)) {
            self.omitted += 1;
            return None;
        }
        let number = self.found.len();
        let follows_from = place.follows.and_then(|at| self.found.get(at)).map(Finding::origin);
        self.rules.insert((bound.level, bound.rule.id));
        self.seen.insert(self.key.clone(), number);
        self.found.push(Finding {
            rule: Cow::Borrowed(bound.rule.id),
            api: Cow::Borrowed(self.api),
            dialect: Cow::Borrowed(""),
            level: bound.level,
            message: message(),
            exchange: None,
            exchange_number: None,
            place: location(&mut self.locator),
            pointer: place.pointer.map(str::to_owned),
            missing: place.missing.map(str::to_owned),
            supply: None,
            member,
            expected: place.expected.map(str::to_owned),
            actual: place.actual.map(str::to_owned),
            form: Cow::Borrowed(place.form),
            says: Cow::Borrowed(place.stage),
            related: None,
            fine_in: dialects_of_clients(self.api)
                .iter()
                .filter(|(_, dialect)| is_fine_in(dialect))
                .map(|(name, _)| Cow::Borrowed(*name))
                .collect(),
            is_recorded: bound.is_recorded,
            follows_from,
            count: 1,
        });
        Some(number)
    }

    /// An older finding keeps what it has.
    pub(crate) fn supply(&mut self, number: Option<usize>, supply: impl FnOnce() -> Supply) {
        if let Some(finding) = self.new_one(number) {
            finding.supply = Some(Box::new(supply()));
        }
    }

    /// `None` if the finding was seen before.
    fn new_one(&mut self, number: Option<usize>) -> Option<&mut Finding> {
        self.found.get_mut(number?).filter(|finding| finding.count == 1)
    }

    /// A finding about a parent counts, too, if it is at least as severe.
    fn is_blamed(&mut self, frame: u64, bound: Bound, place: &FaultPlace<'_>) -> bool {
        let Some(pointer) = place.pointer else { return false };
        let pointer = match place.missing {
            Some(name) => &format!("{pointer}/{name}"),
            None if pointer.is_empty() => return false,
            None => pointer,
        };
        if self.blamed.frame != frame {
            self.blamed.begin(frame);
        }
        if self.blamed.has(pointer, bound) {
            return true;
        }
        self.blamed.add(pointer, bound);
        false
    }

    /// Findings with equal keys are counted as one.
    fn write_key(
        &mut self,
        bound: Bound,
        event_type: Option<&str>,
        place: &FaultPlace<'_>,
        member: Option<&str>,
    ) {
        self.key.clear();
        for part in [
            bound.rule.id,
            bound.level.name(),
            event_type.unwrap_or_default(),
            place.expected.unwrap_or_default(),
        ] {
            self.key.push_str(part);
            self.key.push('\0');
        }
        self.key.push_str(member.unwrap_or_else(|| place.actual.unwrap_or_default()));
    }

    /// Returns all findings so far, in the order of their first occurrence.
    pub fn all(&self) -> &[Finding] {
        &self.found
    }

    /// Returns the number of unlisted faults.
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    pub(crate) fn finish(self) -> (Vec<Finding>, u64) {
        (self.found, self.omitted)
    }
}

pub(super) fn without_index(segment: &str) -> &str {
    let is_index = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    if is_index { "*" } else { segment }
}

/// The member can be missing at the pointer. `kind` returns the type of the object at a pointer.
fn member(pointer: &str, missing: Option<&str>, mut kind: impl FnMut(&str) -> Option<String>) -> String {
    let mut member = String::new();
    let mut at = 0;
    let mut segments = pointer.split('/').skip(1).chain(missing).peekable();
    while let Some(segment) = segments.next() {
        member.push('/');
        member.push_str(without_index(segment));
        at += 1 + segment.len();
        // The type of an object says nothing about the object if the type itself is at fault.
        let is_holder = segments.peek().is_some_and(|next| *next != "type");
        if is_holder && let Some(kind) = pointer.get(..at).and_then(&mut kind).filter(|kind| is_type(kind)) {
            member.extend(["[", &*kind, "]"]);
        }
    }
    member
}

fn is_type(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    (1..=LONGEST_TYPE).contains(&text.len()) && text.bytes().all(is_usual)
}

/// Maximum length of the type of an object in the name of a member.
const LONGEST_TYPE: usize = 40;

/// Only the beginning of a type that no known client of the API knows: such events are alike to clients.
fn known_event<'n>(api: &str, name: &'n str) -> &'n str {
    let is_known = |(_, dialect): &NamedDialect| dialect.event(name).is_some();
    if dialects_of_clients(api).iter().any(is_known) { name } else { namespace_of(name) }
}

/// The part that unknown event types share with others.
fn namespace_of(name: &str) -> &'static str {
    APIS.iter().find_map(|api| api.signature.pattern(name)).unwrap_or("*")
}

/// The text ends with the name of the API.
fn path_of(text: &str) -> Option<&'static str> {
    let own = APIS.iter().find(|api| text.ends_with(api.title)).map(|api| api.path);
    let foreign = || FOREIGN.iter().find(|api| text == api.name)?.paths.first().copied();
    own.or_else(foreign).filter(|path| path.starts_with('/'))
}

/// A dialect, with the name that clients give it.
type NamedDialect = (&'static str, &'static Dialect);

/// Each dialect once, as several clients are written for it.
fn dialects_of_clients(api: &str) -> &'static [NamedDialect] {
    static ALL: LazyLock<Vec<(&Client, Vec<NamedDialect>)>> = LazyLock::new(|| {
        let mut all: Vec<(&Client, Vec<_>)> = Vec::new();
        for client in CLIENTS {
            let Some(dialect) = spec::dialect(client.dialect) else { continue };
            match all.iter_mut().find(|(other, _)| other.is_of(client.api)) {
                Some((_, dialects)) if dialects.iter().any(|(name, _)| *name == client.dialect) => {}
                Some((_, dialects)) => dialects.push((client.dialect, dialect)),
                None => all.push((client, vec![(client.dialect, dialect)])),
            }
        }
        all
    });
    ALL.iter().find(|(client, _)| client.is_of(api)).map_or(&[], |(_, dialects)| dialects)
}
