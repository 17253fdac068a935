//! State kept from one event of a stream to the next.

use crate::event::EventInfo;
use crate::json::{Checker, Outline};
use crate::template::{Fragment, FragmentFrame, Template};
use crate::verdict::{Verdict, fill};
use crate::view::View;
use crate::watch::Matches;

/// State kept from one event to the next, so that repeated parts are not validated again, and the places of the members
/// of the last event's object: its response, or its lifecycle value.
#[derive(Debug, Default)]
pub struct Memory {
    outline: Outline,
    template: Template,
    matches: Matches,
}

impl Memory {
    /// Returns the members of the last event's object, unless the event had the shape of the previous one.
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the effects of the last event that take place, unless it always has one.
    pub const fn matches(&self) -> &Matches {
        &self.matches
    }

    /// Expects deltas after the last event, if it was a valid one of this type with a text, and this sequence number. `line`
    /// is the `event:` field of their frames.
    pub fn expect_fragments(&mut self, event: &'static EventInfo, line: Option<&str>, number: Option<u64>) {
        self.template.expect(event, line, number);
    }

    /// Returns the delta that is expected, if the data is one that equals the last event except for its text, the next
    /// sequence number, and values without a meaning. Returns none if anything else could matter, such as a character that
    /// is escaped as a number. Such an event is valid.
    #[inline]
    pub fn fragment<'a>(&self, event: &EventInfo, data: &'a str) -> Option<Fragment<'a>> {
        self.template.expected(event)?.in_data(data)
    }

    /// Returns the same for the frame of server-sent events at the start of a text.
    #[inline]
    pub fn fragment_of_frame<'a>(&self, event: &EventInfo, text: &'a str) -> Option<FragmentFrame<'a>> {
        self.template.expected(event)?.in_frame(text)
    }

    /// Moves on by the delta that was returned, instead of [`Self::next_event`]. Does nothing if no delta is expected.
    #[inline]
    pub fn take_fragment(&mut self) {
        self.template.advance();
    }

    /// Validates the payload of an event of a stream, and extracts its values, like [`Dialect::view_event`], but
    /// faster, by the state of previous events. The view must be [`View::nothing`] before.
    #[inline]
    pub fn next_event<'a>(
        &mut self,
        event: Option<&'static EventInfo>,
        data: &'a str,
        view: &mut View<'a>,
    ) -> Verdict {
        if event.is_some_and(|event| self.is_again(event, data, view)) {
            return Verdict::Valid;
        }
        self.new_event(event, data, view)
    }

    /// Returns whether data has the shape of the last event, which was a valid one of this type, and extracts its values
    /// then. The view must be [`View::nothing`] before.
    #[inline]
    pub fn is_again<'a>(&mut self, event: &EventInfo, data: &'a str, view: &mut View<'a>) -> bool {
        self.outline.begin(event.is_opening());
        let Self { template, matches, outline } = self;
        let is_again = template.fit(event, data, view, matches, outline).is_some();
        if is_again {
            matches.forget_objects();
        }
        is_again
    }

    fn new_event<'a>(
        &mut self,
        event: Option<&'static EventInfo>,
        data: &'a str,
        view: &mut View<'a>,
    ) -> Verdict {
        self.outline.begin(event.is_some_and(EventInfo::is_opening));
        self.matches.clear();
        let mut checker = Checker::new(data, &mut self.outline);
        view.text = data;
        let verdict = fill(view, event, &mut checker, Some(&mut self.matches));
        let (varying, matches) = (&checker.varying, &self.matches);
        match event.filter(|_| verdict.is_valid() && !view.is_newer()) {
            Some(event) if !event.is_nested() => self.template.learn(event, view, varying, matches, None),
            Some(event) => match matches.only_text().filter(|_| matches.have_usual_counts(view)) {
                Some(text) => {
                    self.template.learn(event, view, &varying.with(text.clone()), matches, Some(text.start));
                }
                None => self.template.forget(),
            },
            None => self.template.forget(),
        }
        verdict
    }
}
