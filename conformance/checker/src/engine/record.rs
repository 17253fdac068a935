//! Parsed frames.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use spec::json::{
    Indexed, Names, Outline, OutlineMember, Problem, RawString, Scanner, is_same, string_member,
};
use spec::table::{EventInfo, EventLine, Role, UsagePlaces};
use spec::{Count, Dialect, Matches, Memory, Slot, Verdict, View, api_of_event, api_of_value};

use super::listed::{AllListed, Listed, Lists};
use super::locate::place;
use super::usage::Usage;
use super::view::Object;
use crate::{Frame, Transport};

/// A parsed frame with data.
#[derive(Debug)]
pub struct Record<'a> {
    /// The frame.
    pub frame: &'a Frame<'a>,
    /// Number of the frame in the stream, from 1.
    pub number: u64,
    /// Number of the event in the stream, from 1.
    pub event: u64,
    /// Its type, according to the dialect's framing.
    pub event_type: Option<Cow<'a, str>>,
    /// The dialect's properties of the type, and their position in the list of events.
    pub known: Option<(usize, &'static EventInfo)>,
    /// The properties of its type, also while `known` has an effect's.
    whole: Option<&'static EventInfo>,
    /// Its sequence number.
    pub sequence_number: Option<Count>,
    /// The root type of a body that is not a stream.
    pub(crate) root: Option<&'static str>,
    /// Whether it reports an error.
    pub is_error: bool,
    /// Whether its indices and its sequence number consist of a few digits.
    pub(crate) has_usual_counts: bool,
    /// The kind of its data.
    pub payload: Payload,
    /// The result of validation.
    pub verdict: Verdict,
    /// The values that the lifecycle and rules use.
    pub view: View<'a>,
    /// The effects of the event that take place, if it does not always have one.
    pub matches: Option<&'a Matches>,
    /// The effect at hand among them: its properties and its values are `known` and `view`.
    pub(super) effect: Option<usize>,
    /// The members of the event's object, if they were recorded.
    pub(crate) outline: Option<&'a Outline>,
    /// The members of the event itself, if they were recorded.
    recorded: Option<&'a Outline>,
    /// They, if they were not, once something asks for one.
    members: OnceCell<(Vec<OutlineMember>, Names)>,
    /// The objects in the list that the rules of its API look at, once one does.
    listed: OnceCell<AllListed>,
    usage: OnceCell<Usage>,
    /// The other protocol that it belongs to, once something asks for it.
    foreign: OnceCell<Option<&'static str>>,
    /// Offset of the first escape in the data, or of the first byte with which U+FFFD begins.
    first_escape: Option<usize>,
}

/// The kind of the data of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The marker `[DONE]`.
    Done,
    /// A JSON object.
    Object,
    /// Another JSON value.
    OtherValue,
    /// Data that is not JSON: the problem, and the byte offset.
    NotJson(DataProblem, usize),
}

/// The reason why the data of a frame is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataProblem {
    /// The frame exceeds [`Frame::LONGEST`] and was dropped.
    TooLong,
    /// There is no data.
    Empty,
    /// The text is not JSON.
    Syntax(Problem),
}

impl DataProblem {
    /// Returns the problem in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "the event is longer than 64 MiB",
            Self::Empty => "it is empty",
            Self::Syntax(problem) => problem.as_str(),
        }
    }
}

impl<'a> Record<'a> {
    /// The frame has data. The record is not read yet.
    #[inline]
    pub(crate) fn new(frame: &'a Frame<'a>, number: u64, event: u64) -> Self {
        Self {
            frame,
            number,
            event,
            event_type: None,
            known: None,
            whole: None,
            root: None,
            is_error: false,
            sequence_number: None,
            payload: Payload::Object,
            has_usual_counts: true,
            verdict: Verdict::Unknown,
            view: View::nothing(),
            matches: None,
            effect: None,
            outline: None,
            members: OnceCell::new(),
            recorded: None,
            listed: OnceCell::new(),
            usage: OnceCell::new(),
            foreign: OnceCell::new(),
            first_escape: memchr::memchr2(b'\\', LOST, frame.data.as_deref().unwrap_or_default().as_bytes()),
        }
    }

    /// The data are parsed in place, as a record is large.
    #[inline]
    pub(crate) fn read(
        &mut self,
        dialect: &Dialect,
        recent: &mut Option<(usize, &'static EventInfo)>,
        memory: &'a mut Memory,
    ) {
        let (frame, data) = (self.frame, self.data());
        // SDKs look at how the data begins.
        let is_done = data.starts_with(DONE) && data.trim_end() == DONE;
        // Where the type follows from members, another event with the same ones has the same type.
        let is_by_members = !dialect.framing.types.is_empty()
            && matches!(dialect.framing.event_line, EventLine::None | EventLine::Forbidden);
        let is_again =
            is_by_members && recent.is_some_and(|(_, info)| memory.is_again(info, data, &mut self.view));
        let has_it = |known: &(usize, &EventInfo)| is_again || has_type(dialect, data, known.1.name);
        let said = || frame.event.as_deref().and_then(|name| dialect.position(name));
        let guessed = recent.filter(has_it).or_else(|| said().filter(has_it));
        self.event_type = match guessed {
            Some((_, info)) => Some(Cow::Borrowed(info.name)),
            None if is_done => None,
            None => event_type(dialect, frame, data),
        };
        self.known = guessed.or_else(|| self.event_type.as_deref().and_then(|name| dialect.position(name)));
        *recent = self.known;
        self.whole = self.known.map(|(_, info)| info);
        self.verdict = match self.known {
            Some(_) if is_again => Verdict::Valid,
            known => memory.next_event(known.map(|(_, info)| info), data, &mut self.view),
        };
        self.sequence_number = self.view.count(Slot::SequenceNumber);
        self.has_usual_counts = self.view.has_usual_counts();
        if let Some((_, info)) = self.known.filter(|(_, info)| !info.effects.is_empty()) {
            let matches = memory.matches();
            self.matches = Some(matches);
            self.is_error = matches.effects(info).any(|it| it.is_named(dialect.error));
        } else {
            self.is_error = self.event_type.as_deref() == Some(dialect.error);
        }
        let is_nested = self.known.is_some_and(|(_, info)| info.is_nested());
        self.outline = Some(memory.outline()).filter(|_| !is_nested);
        self.recorded = Some(memory.outline()).filter(|_| is_nested && self.verdict.is_valid());
        if is_done || !self.verdict.is_valid() {
            self.judge_other(dialect, data, is_done);
        }
    }

    /// Log probabilities are kept with the text.
    pub(super) fn lists_logprobs(&self) -> bool {
        let is_listed = self.matches.is_some_and(|matches| !matches.is_empty());
        is_listed && self.views().any(|(_, view)| view.logprobs().is_some())
    }

    /// For data that is no valid event of the dialect.
    #[cold]
    fn judge_other(&mut self, dialect: &Dialect, data: &str, is_done: bool) {
        if self.frame.transport == Transport::WebSocket && self.is_error {
            let as_event = std::mem::replace(&mut self.verdict, Verdict::Unknown);
            self.verdict = socket_error(dialect, data, as_event);
        }
        self.payload = if self.frame.is_cut { TOO_LONG } else { what_else(data, is_done, &self.verdict) };
    }

    pub(crate) fn of_body(frame: &'a Frame<'a>, number: u64) -> Self {
        let payload = payload(frame.data.as_deref().unwrap_or_default());
        Self { payload, ..Self::new(frame, number, 0) }
    }

    pub(crate) fn begins(&self) -> bool {
        self.effects().any(EventInfo::is_opening)
    }

    pub(super) fn ends(&self) -> bool {
        self.effects().any(|info| info.level.is_root && info.role == Role::Terminal)
    }

    /// It adds to a response, or ends it, unlike a keep-alive.
    pub(super) fn is_part(&self) -> bool {
        self.is_error || self.effects().any(|info| info.role != Role::Point || !info.level.is_root)
    }

    pub(super) fn is_early(&self) -> bool {
        let mut effects = self.effects().peekable();
        effects.peek().is_some() && effects.all(|info| info.early)
    }

    fn effects(&self) -> impl Iterator<Item = &'static EventInfo> + use<'_> {
        let listed = self.matches.zip(self.known).map(|(matches, (_, info))| matches.effects(info));
        let only = self.known.filter(|_| self.matches.is_none_or(Matches::is_empty));
        listed.into_iter().flatten().chain(only.map(|(_, info)| info))
    }

    /// Tells it from others of its type: by the scopes of its effects, or the types of the objects in it; without a type
    /// of its own, their names.
    #[cold]
    pub(super) fn says(&self) -> String {
        if matches!(self.payload, Payload::NotJson(..) | Payload::OtherValue) {
            return self.marks();
        }
        let Some((matches, info)) = self.matches.zip(self.whole) else { return self.objects().join("+") };
        let found: Vec<&str> = matches.effects(info).map(|effect| effect.level.name).collect();
        let mut scopes: Vec<&str> = info.effects.iter().map(|effect| effect.level.name).collect();
        scopes.dedup();
        scopes.retain(|scope| found.contains(scope));
        scopes.join("+")
    }

    /// Clients may not read data that are no object: what these begin as, and the event that the line names. Without data, some read
    /// a line that is no field.
    fn marks(&self) -> String {
        let stray = || self.frame.strays.first().map_or("", |line| line);
        let read = if self.data().is_empty() { stray() } else { self.data() };
        let shape = match read.trim_ascii_start().as_bytes().first() {
            Some(b'{') => "@object",
            Some(b'[') => "@array",
            _ => "@text",
        };
        let line =
            self.frame.event.as_deref().filter(|line| {
                line.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.'))
            });
        line.map_or_else(|| shape.to_owned(), |line| format!("{shape}+@{line}"))
    }

    fn objects(&self) -> Vec<Cow<'a, str>> {
        const MOST: usize = 4;
        const LONGEST: usize = 40;
        let data = self.data();
        let is_word = |name: &Cow<'_, str>| {
            let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            name.len() <= LONGEST && name.bytes().all(is_usual)
        };
        let (members, _) = Object::new(data).into_members();
        let values = members.iter().filter_map(|member| Some((member, data.get(member.value())?)));
        let objects = values.filter(|(_, value)| value.starts_with('{'));
        let words = objects.filter_map(|(member, value)| match &self.event_type {
            Some(_) => string_member(value, "type"),
            None => data.get(member.name()).map(Cow::Borrowed),
        });
        words.filter(is_word).take(MOST).collect()
    }

    /// Returns its effects that take place, in order, each with the values for which it does.
    pub fn views(&self) -> impl Iterator<Item = (&'static EventInfo, View<'a>)> + use<'_, 'a> {
        let listed = self.matches.zip(self.known).map(|(matches, (_, info))| {
            (0..matches.len()).filter_map(move |nth| matches.get(nth, info, &self.view))
        });
        let only = self.known.filter(|_| self.matches.is_none_or(Matches::is_empty));
        listed.into_iter().flatten().chain(only.map(|(_, info)| (info, self.view)))
    }

    /// The indices of the array entries of the effect at hand replace `*`.
    pub(crate) fn filled<'p>(&self, pointer: &'p str) -> Cow<'p, str> {
        match self.matches.zip(self.effect) {
            Some((matches, nth)) => matches.filled(nth, pointer),
            None => Cow::Borrowed(pointer),
        }
    }

    /// The entry of an array where the effect at hand takes place, and whether it is the only one.
    pub(crate) fn entry(&self) -> Option<(&'a str, bool)> {
        let (matches, nth) = self.matches.zip(self.effect)?;
        let (data, place) = (self.data(), matches.entry(nth)?);
        let is_first = data.get(..place.start)?.trim_ascii_end().ends_with('[');
        let is_last = data.get(place.end..)?.trim_ascii_start().starts_with(']');
        Some((data.get(place)?, is_first && is_last))
    }

    /// The effect at hand, among the effects of its array.
    pub(crate) fn is_first_of_kind(&self) -> bool {
        self.matches.zip(self.effect).is_none_or(|(matches, nth)| matches.is_first(nth))
    }

    /// Not decoded yet.
    pub(crate) fn string(&self, slot: Slot) -> Option<RawString<'a>> {
        if self.first_escape.is_some() {
            return self.view.string(slot);
        }
        let raw = self.view.raw(slot)?.strip_prefix('"')?.strip_suffix('"')?;
        Some(RawString { raw, escaped: false })
    }

    /// Lost characters are escaped as numbers, or U+FFFD. Most escapes are line feeds and quotes.
    pub(crate) fn may_have_lost_characters(&self) -> bool {
        static NUMBERED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u"));
        let rest = self.first_escape.and_then(|at| self.data().as_bytes().get(at..));
        rest.is_some_and(|rest| NUMBERED.find(rest).is_some() || memchr::memchr(LOST, rest).is_some())
    }

    /// A name can be escaped. A search is faster than parsing.
    pub(crate) fn may_have(&self, piece: &str, name: &str) -> bool {
        piece.contains(name) || self.may_have_lost_characters()
    }

    /// Lives longer than the frame. Empty if the event has no type.
    pub(crate) fn kept_type(&self) -> Cow<'static, str> {
        match self.known {
            Some((_, info)) => Cow::Borrowed(info.name),
            None => Cow::Owned(self.event_type.as_deref().unwrap_or_default().to_owned()),
        }
    }

    /// The last one of that name.
    pub(crate) fn member(&self, name: &str) -> Option<&'a str> {
        let data = self.data();
        let recorded = self.recorded.filter(|_| data.starts_with('{')).and_then(Outline::members);
        let (members, names) = recorded.unwrap_or_else(|| {
            let (members, names) = self.members.get_or_init(|| Object::new(data).into_members());
            (members, *names)
        });
        data.get(names.find(members, data, name)?.value())
    }

    /// Objects in a list of the event, and the objects in a list inside of each. An API has one such list.
    pub(crate) fn listed(&self, lists: Lists) -> &AllListed {
        let (list, inner) = lists;
        let recorded = self.matches.filter(|_| self.known.is_some());
        self.listed.get_or_init(|| AllListed::of(self.data(), self.member(list), inner, recorded))
    }

    pub(crate) fn listed_object<'r>(&'r self, listed: &'r Listed) -> Object<'r> {
        listed.object(self.data(), self.matches)
    }

    /// One of these objects may have a member of these groups of names.
    pub(super) fn lists_any(&self, lists: Lists, names: u32) -> bool {
        self.listed(lists).names & names != 0
    }

    /// A value of the event whose members may have been recorded.
    pub(crate) fn object<'r>(&self, raw: &'r str) -> Object<'r>
    where
        'a: 'r,
    {
        let known = self.matches.and_then(|matches| {
            let number = matches.position(place(self.data(), raw)?.start)?;
            matches.object(number)
        });
        match known.filter(|_| raw.starts_with('{')) {
            Some((members, names)) => Object::known(raw, members, names),
            None => Object::new(raw),
        }
    }

    pub(super) fn usage(&self, places: &UsagePlaces, slot: Slot) -> Usage {
        *self.usage.get_or_init(|| Usage::of(places, self.view.raw(slot).unwrap_or_default()))
    }

    /// `None` if it belongs to the protocol of the dialect.
    pub(crate) fn foreign(&self, dialect: &Dialect) -> Option<&'static str> {
        // An event of the dialect is its own, even if it is not valid; but where types follow from members, all data have one.
        let has_types = dialect.framing.types.is_empty();
        let is_own = self.verdict == Verdict::Valid || self.known.is_some() && has_types;
        if self.payload != Payload::Object || is_own {
            return None;
        }
        let find = || {
            let own = Some(dialect.api);
            let stated = || string_member(self.data(), "type");
            let name = if has_types { self.event_type.as_deref().map(Cow::Borrowed) } else { stated() };
            if let Some(name) = name {
                return api_of_event(&name, own);
            }
            let named = || self.frame.event.as_deref().and_then(|name| api_of_event(name, own));
            api_of_value(&Indexed::new(self.data()), own).or_else(named)
        };
        *self.foreign.get_or_init(find)
    }

    /// Returns the data.
    pub fn data(&self) -> &'a str {
        self.frame.data.as_deref().unwrap_or_default()
    }
}

const TOO_LONG: Payload = Payload::NotJson(DataProblem::TooLong, 0);

pub(crate) const DONE: &str = "[DONE]";

/// The byte with which U+FFFD begins.
const LOST: u8 = 0xef;

/// Data usually begins with the member. If it does not, the type is unknown.
fn has_type(dialect: &Dialect, data: &str, name: &str) -> bool {
    dialect.framing.types.is_empty()
        && dialect.framing.event_line != EventLine::Discriminator
        && data
            .strip_prefix("{\"type\":\"")
            .and_then(|rest| rest.as_bytes().split_at_checked(name.len()))
            .is_some_and(|(begin, rest)| is_same(begin, name.as_bytes()) && rest.first() == Some(&b'"'))
}

fn event_type<'a>(dialect: &Dialect, frame: &'a Frame<'_>, data: &'a str) -> Option<Cow<'a, str>> {
    let inside = || match dialect.framing.types {
        [] => spec::json::string_member(data, "type"),
        _ => dialect.type_by_members(data).map(Cow::Borrowed).or_else(|| stated_type(dialect, data)),
    };
    let line = || frame.event.as_deref().map(Cow::Borrowed);
    match dialect.framing.event_line {
        EventLine::EqualsType | EventLine::AlwaysMessage | EventLine::None | EventLine::Forbidden => inside(),
        // Recordings without `event:` fields have the type only in the data.
        EventLine::Discriminator => line().or_else(inside),
        EventLine::DiscriminatorIfUntyped => inside().or_else(line),
    }
}

/// A type that the dialect does not list, at the place where it has those that it lists.
#[cold]
fn stated_type<'a>(dialect: &Dialect, data: &'a str) -> Option<Cow<'a, str>> {
    let place = dialect.framing.types.iter().find(|rule| rule.is.is_some())?.has?;
    spec::json::string(spec::json::at(data, place)?)
}

/// An error that replies to a message has an envelope of its own, outside of a stream.
fn socket_error(dialect: &Dialect, data: &str, as_event: Verdict) -> Verdict {
    match as_event {
        Verdict::Invalid(..) | Verdict::Unknown => dialect
            .root("websocket_error")
            .map_or(Verdict::Valid, |envelope| dialect.check_type(envelope, data)),
        other => other,
    }
}

fn what_else(data: &str, is_done: bool, verdict: &Verdict) -> Payload {
    match *verdict {
        _ if is_done => Payload::Done,
        Verdict::NotJson(problem, at) => Payload::NotJson(DataProblem::Syntax(problem), at),
        Verdict::Valid => Payload::Object,
        Verdict::Invalid(..) | Verdict::Unknown => payload(data),
    }
}

fn payload(data: &str) -> Payload {
    let mut scanner = Scanner::new(data);
    if scanner.peek() == 0 && data.trim_ascii().is_empty() {
        return Payload::NotJson(DataProblem::Empty, 0);
    }
    let is_object = scanner.peek() == b'{';
    match scanner.skip().and_then(|()| scanner.end()) {
        Ok(()) if is_object => Payload::Object,
        Ok(()) => Payload::OtherValue,
        Err(_) => Payload::NotJson(DataProblem::Syntax(scanner.problem()), scanner.offset()),
    }
}
