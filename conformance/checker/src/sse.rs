//! A parser of server-sent events, as defined by the HTML standard.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;
use std::time::Duration;

use memchr::{memchr, memchr2};

use super::frame::{Frame, Places, Transport};

/// Usual maximum length of a frame.
const USUAL: usize = 4096;

/// Maximum length of a kept first line.
const USUAL_HEAD: usize = 256;

/// From this size, a pending frame loses its comments.
const LONG: usize = 64 << 10;

/// Overhead of a line.
const NOTE: usize = size_of::<Range<usize>>();

/// Maximum length of a repeated frame of two lines, with its blank line. A longer one exceeds [`Frame::LONGEST`], unless
/// it has one line.
pub(crate) const MAX_REPEATED: usize = Frame::LONGEST - 2 * NOTE + 1;

/// Placeholders for the lines of a frame that is too long: a finished one, and an unfinished one.
const DROPPED: &[u8] = b"x\nx";

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Parses the bytes of a stream into frames. The frames do not depend on how the bytes are split; a frame within one
/// chunk is not copied.
#[derive(Debug)]
pub struct Parser {
    pending: Vec<u8>,
    frame: Outline,
    /// Number of bytes of a byte order mark seen so far; all of them once decided.
    bom: usize,
    /// Whether the last byte was a carriage return, which a line feed may complete.
    after_cr: bool,
    /// The first line of the last frame within one chunk, with its line feed: most frames begin like the previous one.
    head: Vec<u8>,
    time: Option<Duration>,
}

/// Receives frames.
pub trait Sink {
    /// Processes a frame. It is passed by reference, as it is large.
    fn frame(&mut self, frame: &mut Frame<'_>);

    /// Processes the frames at the start of a text that differ from the previous one only in a few values, so that they
    /// need not be parsed. Returns how much that was, if there are any.
    ///
    /// Unless a [`Checker`](crate::Checker) does it, each frame is parsed.
    fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        let _ = (text, start);
        None
    }
}

/// Frames that were not parsed.
#[derive(Debug, Clone, Copy)]
pub struct Repeated {
    /// Their number.
    pub frames: u64,
    /// Number of their lines, with the blank ones.
    pub lines: u64,
    /// Their length.
    pub length: usize,
}

/// The start of a frame in the recording.
#[derive(Debug)]
pub struct FrameStart {
    pub(crate) byte: u64,
    pub(crate) line: u64,
    pub(crate) time: Option<Duration>,
}

struct ByValue<'s, F>(&'s mut F);

impl<F: FnMut(Frame<'_>)> Sink for ByValue<'_, F> {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.0(mem::take(frame));
    }
}

/// Offsets are relative to the first byte of the frame.
#[derive(Debug)]
struct Outline {
    /// Its offset in the recording.
    start: u64,
    first_line: u64,
    /// Its lines so far, without line ends.
    lines: Vec<Range<usize>>,
    line_start: usize,
    dropped: Dropped,
}

/// The data dropped from an unfinished frame.
#[derive(Debug, Default)]
struct Dropped {
    bytes: usize,
    lines: usize,
    /// Number of examined lines, which are kept.
    kept_lines: usize,
    /// Pending size when data is dropped again.
    next: usize,
    /// Whether more than comments was dropped.
    is_all: bool,
}

impl Default for Parser {
    fn default() -> Self {
        Self::starting_at(0, 1)
    }
}

impl Parser {
    /// Creates a parser for a stream at this byte and line of a recording; both are limited to half the range of `u64`.
    pub fn starting_at(byte: u64, line: u64) -> Self {
        // The rest of a stream is never so long that the sums overflow.
        let [byte, line] = [byte, line].map(|start| start.min(u64::MAX / 2));
        Self {
            pending: Vec::new(),
            frame: Outline {
                start: byte,
                first_line: line,
                lines: Vec::new(),
                line_start: 0,
                dropped: Dropped::default(),
            },
            bom: 0,
            after_cr: false,
            head: Vec::new(),
            time: None,
        }
    }

    /// Keeps the memory.
    pub(crate) fn reset(&mut self) {
        let (mut pending, mut lines) = (mem::take(&mut self.pending), mem::take(&mut self.frame.lines));
        let head = mem::take(&mut self.head);
        pending.clear();
        pending.shrink_to(USUAL);
        lines.clear();
        *self = Self { pending, head, ..Self::default() };
        self.frame.lines = lines;
    }

    /// Sets the time of the next frames.
    pub fn set_time(&mut self, time: Option<Duration>) {
        self.time = time;
    }

    /// Parses the next bytes.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        self.push_to(chunk, &mut ByValue(sink));
    }

    /// Parses the next bytes for a sink.
    pub fn push_to(&mut self, chunk: &[u8], sink: &mut impl Sink) {
        let mut rest = self.without_bom(chunk);
        // The part of the rest that is UTF-8: many frames are validated at once.
        let mut valid: Option<&str> = None;
        while !rest.is_empty() {
            if self.frame.is_empty() && self.pending.is_empty() {
                if mem::take(&mut self.after_cr)
                    && let [b'\n', behind @ ..] = rest
                {
                    self.frame.start += 1;
                    rest = behind;
                    valid = None;
                    continue;
                }
                // Dropped comments are part of the frame.
                if self.frame.dropped.bytes == 0 {
                    let text = valid.get_or_insert_with(|| valid_start(rest));
                    let Outline { start: byte, first_line: line, .. } = self.frame;
                    let start = FrameStart { byte, line, time: self.time };
                    if let Some(Repeated { lines, length, .. }) = sink.repeated_frames(text, &start) {
                        // A sink takes no more than there is.
                        let length = length.min(text.len());
                        self.frame.start += length as u64;
                        self.frame.first_line += lines.min(length as u64);
                        *text = text.get(length..).unwrap_or_default();
                        rest = rest.get(length..).unwrap_or_default();
                    }
                    if rest.is_empty() {
                        return;
                    }
                }
            }
            let Some(used) = self.find_end(rest) else {
                self.pending.extend_from_slice(rest);
                if self.pending.len() > LONG {
                    self.frame.drop_from(&mut self.pending);
                }
                return;
            };
            if self.pending.is_empty() {
                let text = valid.get_or_insert_with(|| valid_start(rest));
                self.frame.hand_out(rest, text, true, self.time, sink);
            } else {
                self.pending.extend_from_slice(&rest[..used]);
                self.frame.hand_out(&self.pending, "", true, self.time, sink);
            }
            self.frame.begin_next(self.pending.len().max(used));
            self.pending.clear();
            valid = valid.and_then(|text| text.get(used..));
            rest = &rest[used..];
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        self.finish_to(&mut ByValue(sink));
    }

    /// Ends the stream for a sink.
    pub fn finish_to(&mut self, sink: &mut impl Sink) {
        if self.bom < BOM.len() {
            self.pending.extend_from_slice(&BOM[..self.bom]);
            self.bom = BOM.len();
        }
        if self.frame.is_empty() && self.pending.is_empty() && self.frame.dropped.bytes == 0 {
            return;
        }
        let end = self.pending.len();
        if self.frame.line_start < end {
            self.frame.lines.push(self.frame.line_start..end);
            self.frame.line_start = end;
        }
        self.frame.hand_out(&self.pending, "", false, self.time, sink);
        self.frame.begin_next(end);
        self.pending.clear();
    }

    fn without_bom<'c>(&mut self, mut chunk: &'c [u8]) -> &'c [u8] {
        while let (Some(wanted), [first, rest @ ..]) = (BOM.get(self.bom), chunk) {
            if first == wanted {
                self.bom += 1;
                chunk = rest;
                if self.bom == BOM.len() {
                    self.frame.start += BOM.len() as u64;
                }
            } else {
                self.pending.extend_from_slice(&BOM[..self.bom]);
                self.bom = BOM.len();
            }
        }
        chunk
    }

    /// The length of the frame. `None` if no blank line ends it.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let before = self.pending.len();
        let mut at = 0;
        if self.after_cr && bytes.first() == Some(&b'\n') {
            at = 1;
            self.frame.line_start = before + 1;
        }
        self.after_cr = false;
        let is_whole = before + at == 0 && self.frame.is_empty();
        if is_whole && !self.head.is_empty() && bytes.starts_with(&self.head) {
            at = self.head.len();
            self.frame.lines.push(0..at - 1);
            self.frame.line_start = at;
        } else if is_whole {
            self.head.clear();
        }
        while let Some(end) = line_end(bytes, at) {
            at = end + 1;
            if bytes[end] == b'\r' {
                match bytes.get(at) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            let line = self.frame.line_start..before + end;
            if line.is_empty() {
                return Some(at);
            }
            if is_whole
                && self.head.is_empty()
                && at <= USUAL_HEAD
                && bytes[end] == b'\n'
                && self.frame.is_empty()
            {
                self.head.extend_from_slice(&bytes[..at]);
            }
            self.frame.lines.push(line);
            self.frame.line_start = before + at;
        }
        None
    }
}

/// The longest prefix that is UTF-8.
fn valid_start(bytes: &[u8]) -> &str {
    let valid = match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.valid_up_to(),
    };
    simdutf8::compat::from_utf8(&bytes[..valid]).unwrap_or_default()
}

/// Every other line is blank, and ends at once.
#[inline]
fn line_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'\n' | b'\r' => Some(start),
        _ => memchr2(b'\n', b'\r', &bytes[start..]).map(|found| start + found),
    }
}

impl Outline {
    const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A frame that is too long loses all its data, others their comments.
    #[cold]
    fn drop_from(&mut self, pending: &mut Vec<u8>) {
        if pending.len() < self.dropped.next {
            return;
        }
        let (before, begun) = (pending.len(), self.line_start);
        let first = self.dropped.kept_lines;
        let (mut to, mut left) = (self.lines.get(first).map_or(begun, |line| line.start), first);
        for at in first..self.lines.len() {
            let line = self.lines[at].clone();
            let behind = self.lines.get(at + 1).map_or(begun, |next| next.start);
            if pending[line.start] != b':' {
                pending.copy_within(line.start..behind, to);
                self.lines[left] = to..to + line.len();
                left += 1;
                to += behind - line.start;
            }
        }
        self.dropped.lines += self.lines.len() - left;
        self.lines.truncate(left);
        // Only the start of an unfinished comment is needed.
        let end = if pending.get(begun) == Some(&b':') { begun + 1 } else { before };
        pending.copy_within(begun..end, to);
        pending.truncate(to + end - begun);
        self.line_start = to;
        if self.dropped.is_all || self.is_too_long(pending) {
            self.dropped.is_all = true;
            self.dropped.lines += left.saturating_sub(1);
            let goes_on = to < pending.len();
            pending.clear();
            pending.extend_from_slice(if goes_on { DROPPED } else { &DROPPED[..2] });
            self.lines.clear();
            self.lines.push(0..1);
            self.line_start = 2;
        }
        self.dropped.kept_lines = self.lines.len();
        self.dropped.bytes += before - pending.len();
        self.dropped.next = (2 * pending.len()).clamp(LONG, Frame::LONGEST.max(pending.len()) + 1);
    }

    /// Only lines without comments count, with their overhead.
    #[inline]
    fn is_too_long(&self, bytes: &[u8]) -> bool {
        bytes.len() + self.lines.len() * NOTE > Frame::LONGEST && self.count(bytes) > Frame::LONGEST
    }

    #[cold]
    fn count(&self, bytes: &[u8]) -> usize {
        let ends = self.lines.iter().skip(1).map(|line| line.start).chain([self.line_start]);
        let all = self.lines.iter().zip(ends).map(|(line, end)| (line.start, end - line.start + NOTE));
        let begun = (self.line_start, bytes.len() - self.line_start);
        let counted = all.chain([begun]).filter(|(start, _)| bytes.get(*start) != Some(&b':'));
        counted.map(|(_, bytes)| bytes).sum()
    }

    /// The frame is followed by a blank line.
    fn begin_next(&mut self, length: usize) {
        let Dropped { bytes, lines, .. } = std::mem::take(&mut self.dropped);
        self.start += (length + bytes) as u64;
        self.first_line += (self.lines.len() + lines) as u64 + 1;
        self.lines.clear();
        self.line_start = 0;
    }

    /// The first `valid` bytes are known to be UTF-8.
    #[inline]
    fn hand_out(
        &self,
        bytes: &[u8],
        valid: &str,
        terminated: bool,
        time: Option<Duration>,
        sink: &mut impl Sink,
    ) {
        if self.is_empty() {
            return;
        }
        if self.dropped.is_all || self.is_too_long(&bytes[..self.line_start]) {
            return self.hand_out_cut(terminated, time, sink);
        }
        let source = &bytes[..self.line_start];
        // Each member is listed to avoid a copy of a large frame.
        let mut frame = Frame {
            event: None,
            data: None,
            id: None,
            retry: None,
            comments: Vec::new(),
            strays: Vec::new(),
            source,
            bytes: self.bytes(),
            // Comments usually come first.
            line: self.first_line + self.dropped.lines as u64,
            is_on_one_line: false,
            places: Places::Nowhere,
            terminated,
            is_cut: false,
            invalid_utf8: None,
            transport: Transport::Http,
            time,
        };
        match valid.get(..source.len()).map_or_else(|| simdutf8::compat::from_utf8(source), Ok) {
            Ok(text) => {
                if let Some((event, data, at)) = self.usual(text) {
                    frame.event = Some(Cow::Borrowed(event));
                    frame.data = Some(Cow::Borrowed(data));
                    frame.places = Places::At(at);
                    return sink.frame(&mut frame);
                }
                for line in &self.lines {
                    let value = |range: Range<usize>| Cow::Borrowed(text.get(range).unwrap_or_default());
                    add_line(&mut frame, source, line, value);
                }
            }
            Err(error) => {
                let at = self.dropped.bytes + error.valid_up_to();
                frame.invalid_utf8 = Some(self.start + at as u64);
                for line in &self.lines {
                    add_line(&mut frame, source, line, |range| String::from_utf8_lossy(&source[range]));
                }
            }
        }
        sink.frame(&mut frame);
    }

    /// The event, the data and its place, if the frame has nothing else.
    #[inline]
    fn usual<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, usize)> {
        let [event, data] = self.lines.as_slice() else { return None };
        let at = data.start + "data: ".len();
        let event = text.get(event.clone())?.strip_prefix("event: ")?;
        Some((event, text.get(data.clone())?.strip_prefix("data: ")?, at))
    }

    /// The data of a frame that is too long is dropped.
    #[cold]
    fn hand_out_cut(&self, terminated: bool, time: Option<Duration>, sink: &mut impl Sink) {
        sink.frame(&mut Frame {
            data: Some(Cow::Borrowed("")),
            bytes: self.bytes(),
            line: self.first_line,
            terminated,
            is_cut: true,
            time,
            ..Frame::default()
        });
    }

    fn bytes(&self) -> Range<u64> {
        self.start..self.start + (self.line_start + self.dropped.bytes) as u64
    }
}

#[inline]
fn add_line<'a>(
    frame: &mut Frame<'a>,
    source: &'a [u8],
    line: &Range<usize>,
    value: impl Fn(Range<usize>) -> Cow<'a, str>,
) {
    // One space after the colon is not part of the value.
    let start = |rest: &[u8]| line.end - rest.len() + usize::from(rest.first() == Some(&b' '));
    match &source[line.clone()] {
        [b'd', b'a', b't', b'a', b':', rest @ ..] => {
            let start = start(rest);
            add_data(frame, value(start..line.end), start);
        }
        [b'e', b'v', b'e', b'n', b't', b':', rest @ ..] => frame.event = Some(value(start(rest)..line.end)),
        bytes => {
            let (name, rest) = bytes.split_at(memchr(b':', bytes).unwrap_or(bytes.len()));
            let start = start(rest.get(1..).unwrap_or_default());
            add_rare_line(frame, name, line, start, value);
        }
    }
}

/// A name without a colon has an empty value.
#[cold]
fn add_rare_line<'a>(
    frame: &mut Frame<'a>,
    name: &[u8],
    line: &Range<usize>,
    start: usize,
    value: impl Fn(Range<usize>) -> Cow<'a, str>,
) {
    let range = start..line.end;
    match name {
        b"data" => add_data(frame, value(range), start),
        b"event" => frame.event = Some(value(range)),
        b"id" => frame.id = Some(value(range)).filter(|id| !id.contains('\0')).or(frame.id.take()),
        b"retry" => frame.retry = Some(value(range)),
        // The space after the colon is part of a comment.
        b"" => frame.comments.push(value(line.start + 1..line.end)),
        _ => frame.strays.push(value(line.clone())),
    }
}

#[inline]
fn add_data<'a>(frame: &mut Frame<'a>, value: Cow<'a, str>, at: usize) {
    // Decoded data has no place in the source.
    let at = matches!(value, Cow::Borrowed(_)).then_some(at);
    if frame.data.is_some() {
        join_data(frame, &value, at);
    } else {
        frame.places = at.map_or(Places::Nowhere, Places::At);
        frame.data = Some(value);
    }
}

/// Several lines of data are joined by a line break.
#[cold]
fn join_data(frame: &mut Frame<'_>, value: &str, at: Option<usize>) {
    let Some(data) = &mut frame.data else { return };
    let joined = data.to_mut();
    joined.push('\n');
    if let (Places::At(start), Some(_)) = (&frame.places, at) {
        frame.places = Places::Pieces(vec![(0, *start)]);
    }
    match (&mut frame.places, at) {
        (Places::Pieces(pieces), Some(at)) => pieces.push((joined.len(), at)),
        (places, _) => *places = Places::Nowhere,
    }
    joined.push_str(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that borrows nothing.
    #[derive(Debug, Clone, PartialEq)]
    struct Reusable {
        texts: Vec<Option<String>>,
        comments: Vec<String>,
        bytes: Range<u64>,
        line: u64,
        places: Places,
        terminated: bool,
        invalid_utf8: Option<u64>,
    }

    fn keep(frame: &Frame<'_>) -> Reusable {
        let text = |text: &Option<Cow<'_, str>>| text.as_ref().map(ToString::to_string);
        Reusable {
            texts: [&frame.event, &frame.data, &frame.id, &frame.retry].map(text).to_vec(),
            comments: frame.comments.iter().chain(&frame.strays).map(ToString::to_string).collect(),
            bytes: frame.bytes.clone(),
            line: frame.line,
            places: frame.places.clone(),
            terminated: frame.terminated,
            invalid_utf8: frame.invalid_utf8,
        }
    }

    fn frames<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<Reusable> {
        let mut kept = Vec::new();
        let mut parser = Parser::default();
        for chunk in chunks {
            parser.push(chunk, &mut |frame| kept.push(keep(&frame)));
        }
        parser.finish(&mut |frame| kept.push(keep(&frame)));
        kept
    }

    fn data(stream: &[u8]) -> Vec<Option<String>> {
        frames([stream]).into_iter().map(|frame| frame.texts[1].clone()).collect()
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = format!("data: a{end}data:b{end}data:  c{end}{end}{end}event: x{end}data{end}{end}");
            assert_eq!(data(stream.as_bytes()), some(&["a\nb\n c", ""]), "{end:?}");
            let lines: Vec<u64> = frames([stream.as_bytes()]).iter().map(|frame| frame.line).collect();
            assert_eq!(lines, [1, 6], "{end:?}");
        }
    }

    #[test]
    fn what_a_frame_can_hold() {
        let stream = b"\xef\xbb\xbf: hi\nid: 7\nid: a\0b\nretry: 5\nevent: a\nevent: b\nwhat\ndata: 1\n\n";
        let frame = frames([&stream[..]]).remove(0);
        assert_eq!(frame.texts, some(&["b", "1", "7", "5"]));
        assert_eq!(frame.comments, [" hi", "what"]);
        assert_eq!((frame.bytes, frame.line, frame.terminated), (3..stream.len() as u64 - 1, 1, true));
    }

    #[test]
    fn the_end_without_a_blank_line_is_told() {
        for stream in ["data: a", "data: a\n", "data: a\r", "data: a\r\n"] {
            let frame = frames([stream.as_bytes()]).remove(0);
            assert_eq!((frame.texts[1].as_deref(), frame.terminated), (Some("a"), false), "{stream:?}");
            assert_eq!(frame.bytes, 0..stream.len() as u64);
        }
        assert!(frames([&b""[..]]).is_empty() && frames([&b"\n\r\n\n"[..]]).is_empty());
    }

    #[test]
    fn a_second_end_changes_nothing() {
        for stream in ["", "data: a\n\n", "data: a\n", "data: a", ": a\n", "\u{feff}"] {
            let places = |ends: usize| {
                let (mut parser, mut places) = (Parser::default(), Vec::new());
                let mut keep = |frame: Frame<'_>| places.push((frame.bytes, frame.line));
                parser.push(stream.as_bytes(), &mut keep);
                (0..ends).for_each(|_| parser.finish(&mut keep));
                parser.push(b"data: b\n\n", &mut keep);
                places
            };
            assert_eq!(places(1), places(2), "{stream:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_told() {
        let frame = frames([&b"data: a\n\nevent: x\ndata: \xff!\n\n"[..]]).remove(1);
        assert_eq!((frame.invalid_utf8, frame.texts[1].as_deref()), (Some(24), Some("\u{fffd}!")));
        assert_eq!(frame.places, Places::Nowhere);
    }

    #[test]
    fn data_are_found_again() {
        let stream = b"data: abc\ndata:def\n\n";
        let mut places = Vec::new();
        Parser::default().push(stream, &mut |frame| {
            places = [0, 2, 4, 6].map(|at| frame.place(at).map(|at| stream[at])).to_vec();
        });
        assert_eq!(places, [Some(b'a'), Some(b'c'), Some(b'd'), Some(b'f')]);
    }

    struct Xorshift(u64);

    impl Xorshift {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 % limit as u64).unwrap_or(0)
        }
    }

    #[test]
    fn cuts_change_nothing() {
        let mut random = Xorshift(0x2545_f491_4f6c_dd1d);
        let odd = [
            &b"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\rdata: c\n\n\r\n: \xf0\x9f\x98\x80\r\n\n\rdata: \xf0\x9f\r\n"[..],
            b"\xef\xbbdata: a\n\n",
            b"\xef\xbb",
            b"\r\n\r\n\xef\xbb\xbfdata: a\r\n\r",
        ];
        let goldens = recordings::goldens::GOLDENS.iter().map(|golden| golden.bytes);
        for stream in odd.into_iter().chain(goldens) {
            let whole = frames([stream]);
            assert_eq!(frames(stream.chunks(1)), whole);
            for cut in 0..stream.len() {
                if stream.len() < 2000 || random.below(64) == 0 {
                    assert_eq!(frames([&stream[..cut], &stream[cut..]]), whole, "cut at {cut}");
                }
            }
            for _ in 0..20 {
                let longest = 1 + random.below(300);
                let mut rest = stream;
                let mut chunks = Vec::new();
                while !rest.is_empty() {
                    let (chunk, behind) = rest.split_at((1 + random.below(longest)).min(rest.len()));
                    chunks.push(chunk);
                    rest = behind;
                }
                assert_eq!(frames(chunks), whole);
            }
        }
    }

    #[test]
    fn comments_are_dropped_as_they_come() {
        let mut parser = Parser::default();
        let mut seen = Vec::new();
        let mut push = |parser: &mut Parser, bytes: &[u8]| {
            parser.push(bytes, &mut |frame| {
                seen.push((frame.data.unwrap().into_owned(), frame.bytes, frame.line));
            });
            assert!(parser.pending.len() < 3 * LONG, "{}", parser.pending.len());
        };
        push(&mut parser, b"event: a\r\n:");
        for _ in 0..1000 {
            push(&mut parser, &[b'x'; 1000]);
        }
        push(&mut parser, b"\r\n");
        for _ in 0..100 {
            push(&mut parser, &b": comment\r\n".repeat(1000));
        }
        push(&mut parser, b"data: 1\r\n:");
        push(&mut parser, &vec![b':'; 3 * LONG / 2]);
        push(&mut parser, b"\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n");
        let second = 10 + 1_000_003 + 1_100_000 + 9 + 3 * LONG as u64 / 2 + 3 + 9 + 2;
        assert_eq!(seen.len(), 2);
        assert_eq!((seen[0].0.as_str(), &seen[0].1), ("1\n2", &(0..second - 2)));
        assert_eq!(seen[1], ("3".to_owned(), second..second + 9, 100_007));
    }

    #[test]
    fn what_is_too_long_is_told_however_it_is_cut() {
        let line = [b"data: ", &*vec![b'x'; Frame::LONGEST / 4], b"\n: a comment\n"].concat();
        let [short, long] = [3, 4].map(|lines| [&line.repeat(lines)[..], b"\ndata: 1\n\n"].concat());
        let read = |bytes: &[u8], size: usize| {
            let mut seen = Vec::new();
            let mut parser = Parser::default();
            for chunk in bytes.chunks(size) {
                parser.push(chunk, &mut |frame| {
                    seen.push((frame.is_cut, frame.data.map(|data| data.len()), frame.bytes, frame.line));
                });
                assert!(parser.pending.len() <= Frame::LONGEST + size);
            }
            seen
        };
        let kept = read(&short, short.len());
        assert_eq!((kept[0].0, kept[0].1), (false, Some(3 * (Frame::LONGEST / 4) + 2)));
        let cut = read(&long, long.len());
        let bytes = 0..(4 * line.len()) as u64;
        assert_eq!(cut[0], (true, Some(0), bytes.clone(), 1));
        assert_eq!(cut[1], (false, Some(1), bytes.end + 1..bytes.end + 9, 10));
        for size in [1 << 20, 7 << 20] {
            assert_eq!(read(&long, size), cut);
            assert_eq!(
                read(&short, size).iter().map(|frame| frame.1).collect::<Vec<_>>(),
                [kept[0].1, Some(1)]
            );
        }
    }

    #[test]
    fn one_long_line_in_bytes_takes_linear_time() {
        let mut stream = b"data: ".to_vec();
        stream.resize(10 << 20, b'x');
        stream.extend_from_slice(b"\n\n");
        let mut parser = Parser::default();
        let mut length = 0;
        for chunk in stream.chunks(1) {
            parser.push(chunk, &mut |frame| length = frame.data.map_or(0, |data| data.len()));
        }
        assert_eq!(length, (10 << 20) - 6);
    }
}
