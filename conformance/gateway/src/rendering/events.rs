//! The events of a stream.

pub(crate) fn events(mut stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || stream.split_off(..event_end(stream)).filter(|event| !event.is_empty()))
}

pub(crate) fn event_end(bytes: &[u8]) -> usize {
    let is_end = |at: &usize| {
        let after = bytes.get(at + 1..).unwrap_or_default();
        after.starts_with(b"\n") || after.starts_with(b"\r\n")
    };
    let end = memchr::memchr_iter(b'\n', bytes).find(is_end);
    let length = |at: usize| if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 3 };
    end.map_or(bytes.len(), |at| at + length(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_end_with_a_blank_line() {
        for (bytes, end) in
            [(&b"a: b\n\nc"[..], 6), (b"a: b\r\n\r\nc", 8), (b"a\nb\n\n\n", 5), (b"a\nb\n", 4), (b"", 0)]
        {
            assert_eq!(event_end(bytes), end, "{bytes:?}");
        }
    }
}
