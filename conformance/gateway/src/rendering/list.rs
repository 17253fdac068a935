//! Events as entries of a JSON list, which grows while it is sent. Clients split it at the line ends that the service has.

use axum::body::Bytes;
use futures_util::{Stream, StreamExt as _, stream};

use super::events::event_end;

/// A body of events as a body with a list.
pub fn listed<E: Send + 'static>(
    events: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, E>> + Send + 'static {
    stream::unfold(Some((events.boxed(), ListWriter::default())), |open| async move {
        let (mut events, mut list) = open?;
        Some(match events.next().await {
            Some(Ok(bytes)) => (Ok(list.push(&bytes).into()), Some((events, list))),
            Some(Err(error)) => (Err(error), None),
            None => (Ok(list.end().into()), None),
        })
    })
}

/// The bytes of a stream as a list.
#[derive(Debug, Default)]
pub(crate) struct ListWriter {
    /// The beginning of an event.
    rest: Vec<u8>,
    has_begun: bool,
}

impl ListWriter {
    /// The entries of the events that are complete now. Others than data have none.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        // No event ends in what was searched before, but for its last bytes.
        let mut searched = self.rest.len().saturating_sub(3);
        self.rest.extend_from_slice(bytes);
        let (mut out, mut at) = (Vec::new(), 0);
        while let Some(rest) = self.rest.get(at..) {
            let end = searched + event_end(rest.get(searched..).unwrap_or_default());
            searched = 0;
            let Some(event) = rest.get(..end).filter(|event| event.ends_with(b"\n")) else { break };
            if !event.ends_with(b"\n\n") && !event.ends_with(b"\n\r\n") {
                break;
            }
            let lines = event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
            let data: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
            if !data.is_empty() {
                out.extend_from_slice(if self.has_begun { b"\n,\r\n" } else { b"[" });
                out.extend_from_slice(&data.join(&b'\n'));
                self.has_begun = true;
            }
            at += end;
        }
        self.rest.drain(..at);
        out
    }

    /// The end of the list.
    pub(crate) const fn end(&self) -> &'static [u8] {
        if self.has_begun { b"\n]" } else { b"[]" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_does_not_depend_on_how_bytes_are_cut() {
        for (stream, list) in [
            ("data: {\"a\":1}\n\n: ping\n\ndata: {\"b\":2}\n\n", "[{\"a\":1}\n,\r\n{\"b\":2}\n]"),
            ("data:{\"a\":\r\ndata:1}\r\n\r\ndata: {\r\n\r\n", "[{\"a\":\n1}\n,\r\n{\n]"),
            ("data: {\"a\":1}\n\ndata: {\"b\"", "[{\"a\":1}\n]"),
            ("", "[]"),
        ] {
            for size in 1..=stream.len().max(1) {
                let mut writer = ListWriter::default();
                let mut out: Vec<u8> =
                    stream.as_bytes().chunks(size).flat_map(|piece| writer.push(piece)).collect();
                out.extend_from_slice(writer.end());
                assert_eq!(String::from_utf8(out).unwrap(), list, "{size}");
            }
        }
    }
}
