//! The messages of a WebSocket, read from the copy of its bytes.

use std::io::Cursor;
use std::time::Duration;

use flate2::{Decompress, FlushDecompress, Status};
use http::HeaderMap;
use http::header::SEC_WEBSOCKET_EXTENSIONS;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::lost::Lost;
use crate::passed::{Ended, Held, Message, Passed};

/// The end of a compressed message, which is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Size of a piece of decompressed bytes.
const PIECE: usize = 16 << 10;
/// Maximum size of the payload of a control frame.
const CONTROL: usize = 125;
/// The code of a regular close.
const NORMAL: u16 = 1000;

enum Stop {
    Closed(Option<u16>),
    Unreadable(String),
    Lost(Lost),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Unreadable(error.to_string())
    }
}

fn unreadable<T>(why: &str) -> Result<T, Stop> {
    Err(Stop::Unreadable(why.to_owned()))
}

/// They end with the first close, or the first frame that cannot be read.
pub(crate) fn read(passed: &mut Passed) -> Result<(), Lost> {
    let Some((_, headers)) = passed.response.as_ref().filter(|_| passed.is_socket()) else { return Ok(()) };
    let is_compressed = is_compressed(headers).ok_or(Lost::Upgrade)?;
    let mut messages = Vec::new();
    for is_sent in [true, false] {
        let (bytes, chunks) =
            if is_sent { (&passed.request, &passed.request_chunks) } else { (&passed.body, &passed.chunks) };
        let inflate = is_compressed.then(|| Decompress::new(false));
        let mut side = Side {
            is_sent,
            bytes,
            chunks,
            at: 0,
            inflate,
            part: Vec::new(),
            begun: None,
            held: &mut passed.held,
        };
        let stop = loop {
            match side.next() {
                Ok(Some(text)) => messages.push(Message { is_sent, at: side.time(), text }),
                Ok(None) => break None,
                Err(stop) => break Some(stop),
            }
        };
        let ended = match stop {
            None => continue,
            Some(Stop::Lost(why)) => return Err(why),
            // A server cannot go on with such a client.
            Some(_) if is_sent => Ended::ClientLeft,
            Some(Stop::Closed(Some(NORMAL))) => Ended::Whole,
            Some(Stop::Closed(code)) => {
                let code =
                    code.map_or_else(|| "without a code".to_owned(), |code| format!("with code {code}"));
                Ended::Broken(format!("the endpoint closed the WebSocket {code}"))
            }
            Some(Stop::Unreadable(why)) => Ended::Unreadable(format!("the WebSocket cannot be read: {why}")),
        };
        let at = side.time();
        if at <= passed.end.0 {
            passed.end = (at, ended);
        }
    }
    messages.sort_by_key(|message| message.at);
    messages.retain(|message| message.at <= passed.end.0);
    passed.messages = messages;
    Ok(())
}

/// `None` if an extension is unknown.
fn is_compressed(headers: &HeaderMap) -> Option<bool> {
    let all = headers.get_all(SEC_WEBSOCKET_EXTENSIONS);
    let mut is_compressed = false;
    for extension in all.iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b',')) {
        let name = extension.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if !name.eq_ignore_ascii_case(b"permessage-deflate") {
            return None;
        }
        is_compressed = true;
    }
    Some(is_compressed)
}

/// The frames of one side. Nothing is allocated for a length that a frame declares.
struct Side<'p> {
    is_sent: bool,
    bytes: &'p [u8],
    /// Where each chunk ends, and when it came.
    chunks: &'p [(usize, Duration)],
    /// The end of the last frame.
    at: usize,
    inflate: Option<Decompress>,
    /// The payload of the message so far.
    part: Vec<u8>,
    /// A message has begun, and whether it is compressed.
    begun: Option<bool>,
    held: &'p mut Held,
}

impl Side<'_> {
    /// When the last byte of the last frame came.
    fn time(&self) -> Duration {
        let chunk = self.chunks.partition_point(|(end, _)| *end < self.at);
        self.chunks.get(chunk).map(|(_, at)| *at).unwrap_or_default()
    }

    /// `None` if the rest is not a whole message.
    fn next(&mut self) -> Result<Option<String>, Stop> {
        loop {
            let mut cursor = Cursor::new(self.bytes.get(self.at..).unwrap_or_default());
            let parsed = FrameHeader::parse(&mut cursor);
            let Some((header, length)) = parsed? else { return Ok(None) };
            let from = usize::try_from(cursor.position()).ok().and_then(|length| self.at.checked_add(length));
            let to = from.and_then(|from| from.checked_add(usize::try_from(length).ok()?));
            let payload = from.zip(to).and_then(|(from, to)| self.bytes.get(from..to));
            let (Some(payload), Some(to)) = (payload, to) else { return Ok(None) };
            self.at = to;
            self.check(&header, payload.len())?;
            let size = payload.len();
            let mask = header.mask.unwrap_or_default();
            let payload = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
            match header.opcode {
                OpCode::Control(Control::Close) => {
                    let code: Vec<u8> = payload.take(2).collect();
                    return Err(Stop::Closed(code.try_into().ok().map(u16::from_be_bytes)));
                }
                OpCode::Control(_) => continue,
                OpCode::Data(_) => {
                    take(self.held, size)?;
                    self.part.extend(payload);
                    self.begun.get_or_insert(header.rsv1);
                }
            }
            if header.is_final
                && let Some(is_compressed) = self.begun.take()
            {
                take(self.held, size_of::<Message>())?;
                return self.message(is_compressed).map(Some);
            }
        }
    }

    fn check(&self, header: &FrameHeader, length: usize) -> Result<(), Stop> {
        let is_control = matches!(header.opcode, OpCode::Control(_));
        let continues = header.opcode == OpCode::Data(Data::Continue);
        let may_be_compressed = self.inflate.is_some() && !is_control && !continues;
        match () {
            () if header.mask.is_some() != self.is_sent => {
                unreadable("a frame has the mask of the other side")
            }
            () if header.rsv2 || header.rsv3 || header.rsv1 && !may_be_compressed => {
                unreadable("a frame has reserved bits")
            }
            () if is_control && (!header.is_final || length > CONTROL) => {
                unreadable("a control frame is long or in pieces")
            }
            () if !is_control && continues != self.begun.is_some() => unreadable("a frame is out of order"),
            () if header.opcode == OpCode::Data(Data::Binary) && !self.is_sent => {
                unreadable("a message is binary, not text")
            }
            () => Ok(()),
        }
    }

    fn message(&mut self, is_compressed: bool) -> Result<String, Stop> {
        let part = std::mem::take(&mut self.part);
        let inflate = self.inflate.as_mut().filter(|_| is_compressed);
        let mut bytes = match inflate {
            Some(inflate) => inflated(inflate, &part, self.held)?,
            None => part,
        };
        bytes.shrink_to_fit();
        Ok(String::from_utf8(bytes)?)
    }
}

fn take(held: &mut Held, bytes: usize) -> Result<(), Stop> {
    if held.take(bytes) { Ok(()) } else { Err(Stop::Lost(Lost::Memory)) }
}

/// A few bytes can stand for many, so each piece of those takes room.
fn inflated(inflate: &mut Decompress, message: &[u8], held: &mut Held) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    for mut rest in [message, &TAIL] {
        loop {
            bytes.reserve(PIECE);
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress_vec(rest, &mut bytes, FlushDecompress::Sync)?;
            let of_vec = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            let (read, written) = (of_vec(inflate.total_in() - read), of_vec(inflate.total_out() - written));
            take(held, written)?;
            rest = rest.get(read..).unwrap_or_default();
            if status == Status::StreamEnd {
                // Only padding follows.
                inflate.reset(false);
                return Ok(bytes);
            }
            if rest.is_empty() && bytes.len() < bytes.capacity() {
                break;
            }
            if read == 0 && written == 0 {
                return unreadable("a message is not compressed as agreed");
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use flate2::{Compress, Compression, FlushCompress};
    use http::HeaderValue;

    use super::*;
    use crate::passed::Room;

    fn passed(request: Vec<u8>, body: Vec<u8>, room: usize) -> Passed {
        let mut headers = HeaderMap::new();
        headers.insert(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_static("permessage-deflate"));
        let chunks = |bytes: &[u8]| -> Vec<_> {
            let at = |end: usize| (end, Duration::from_millis(end as u64));
            (1..=bytes.len().div_ceil(3)).map(|chunk| at((3 * chunk).min(bytes.len()))).collect()
        };
        Passed {
            upstream: "one".into(),
            began: SystemTime::UNIX_EPOCH,
            method: "GET".to_owned(),
            url: "http://a.test/v1/responses".to_owned(),
            request_headers: HeaderMap::new(),
            request_chunks: chunks(&request),
            request,
            response: Some((101, headers)),
            chunks: chunks(&body),
            body,
            messages: Vec::new(),
            end: (Duration::MAX, Ended::Whole),
            held: Held { room: Room::new(room), bytes: 0 },
        }
    }

    #[test]
    fn no_bytes_are_too_odd_and_no_length_is_believed() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).to_le_bytes()[0]
        };
        for round in 0..20_000 {
            let mut bytes: Vec<u8> = (0..round % 90).map(|_| next()).collect();
            if let [first, second, ..] = &mut *bytes {
                (*first, *second) = (*first & 0xcf, [*second, 127, 126, 0x80 | *second][round % 4]);
            }
            let mut passed = passed(bytes.clone(), bytes, 1 << 20);
            let room = Arc::clone(&passed.held.room);
            let read = read(&mut passed);
            assert!(read.is_ok(), "{read:?}");
            assert!(passed.messages.len() < 90 && passed.held.bytes < 90 << 10, "{}", passed.held.bytes);
            drop((passed, room));
        }
    }

    #[test]
    fn what_becomes_large_is_not_judged() {
        let mut bomb = Vec::with_capacity(1 << 20);
        let mut deflate = Compress::new(Compression::best(), false);
        deflate.compress_vec(&vec![0; 50 << 20], &mut bomb, FlushCompress::Sync).expect("it is compressed");
        let head = [&[0xc1, 127][..], &(bomb.len() as u64).to_be_bytes()].concat();
        let mut passed = passed(Vec::new(), [head, bomb].concat(), 1 << 20);
        assert_eq!(read(&mut passed), Err(Lost::Memory));
        assert!(passed.held.bytes < 2 << 20, "{}", passed.held.bytes);
    }

    #[test]
    fn each_message_may_be_compressed_to_its_end() {
        let frame = |text: &str| {
            let mut bytes = Vec::with_capacity(100);
            let mut deflate = Compress::new(Compression::best(), false);
            deflate
                .compress_vec(text.as_bytes(), &mut bytes, FlushCompress::Finish)
                .expect("it is compressed");
            [&[0xc1, u8::try_from(bytes.len() + 1).expect("it is short")][..], &bytes, &[0]].concat()
        };
        let mut passed = passed(Vec::new(), [frame("one"), frame("two"), frame("")].concat(), 1 << 20);
        assert_eq!(read(&mut passed), Ok(()));
        let texts: Vec<_> = passed.messages.iter().map(|message| &*message.text).collect();
        assert_eq!((texts, &passed.end.1), (vec!["one", "two", ""], &Ended::Whole));
    }

    #[test]
    fn messages_come_in_the_order_of_their_last_bytes() {
        let frame = |mask: &[u8], text: &str| {
            let length = u8::try_from(text.len()).unwrap_or_default();
            let masked = if mask.is_empty() { 0 } else { 0x80 };
            [&[0x81, masked | length], mask, text.as_bytes()].concat()
        };
        let sent = [frame(&[0; 4], "1"), frame(&[0; 4], "2 and more")].concat();
        let mut passed =
            passed(sent, [frame(&[], "one"), frame(&[], "two and more of it")].concat(), 1 << 20);
        assert_eq!(read(&mut passed), Ok(()));
        let texts: Vec<_> = passed.messages.iter().map(|message| (message.is_sent, &*message.text)).collect();
        assert_eq!(texts, [(false, "one"), (true, "1"), (true, "2 and more"), (false, "two and more of it")]);
    }
}
