//! Streams made of goldens: longer ones, and damaged ones.
#![allow(dead_code, reason = "each bench uses some")]

use spec::{Dialect, EventInfo};

/// How the goldens of an API are made longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    /// A dialect of the API.
    pub(crate) dialect: &'static str,
    /// The vendor that has made it.
    pub(crate) vendor: &'static str,
    /// A golden of the dialect with an item.
    pub(crate) golden: &'static str,
    /// What the first frame of the item contains, and the first one behind it.
    item: [&'static str; 2],
    /// What a delta of the item contains.
    delta: &'static str,
    /// What is in front of its index.
    index: &'static str,
    /// Its id.
    id: &'static str,
    /// What only the first item has.
    once: &'static str,
}

/// A pattern for each API.
pub(crate) const PATTERNS: [Pattern; 3] = [
    Pattern {
        dialect: "openai",
        vendor: "openai",
        golden: "text",
        item: ["event: response.output_item.added\n", "event: response.completed\n"],
        delta: "event: response.output_text.delta\n",
        index: "\"output_index\":",
        id: "\"msg_1\"",
        once: "",
    },
    Pattern {
        dialect: "anthropic",
        vendor: "anthropic",
        golden: "text",
        item: ["event: content_block_start\n", "event: message_delta\n"],
        delta: "\"text_delta\"",
        index: "\"index\":",
        id: "",
        once: "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    },
    Pattern {
        dialect: "chat",
        vendor: "openai",
        golden: "tool-call",
        item: ["\"tool_calls\":[", "\"delta\":{}"],
        delta: "{\"arguments\":\"ty",
        index: "\"tool_calls\":[{\"index\":",
        id: "\"call_1\"",
        once: "\"role\":\"assistant\",\"content\":null,",
    },
];

impl Pattern {
    /// Writes the golden with this number of deltas.
    pub(crate) fn long(&self, golden: &str, deltas: usize, sink: &mut dyn FnMut(&str)) {
        let frames: Vec<&str> = golden.split_inclusive("\n\n").collect();
        let at = frames.iter().position(|frame| frame.contains(self.delta)).expect("a delta");
        frames[..at].iter().for_each(|frame| sink(frame));
        (0..deltas).for_each(|nth| sink(&numbered(frames[at], at + nth)));
    }

    /// Writes the golden with this number of items, as far as frames are kept. If the root repeats them at its end, it does
    /// so in an order.
    pub(crate) fn many(
        &self,
        golden: &str,
        items: usize,
        is_reversed: bool,
        is_kept: &dyn Fn(&str) -> bool,
        sink: &mut dyn FnMut(&str),
    ) {
        let frames: Vec<&str> = golden.split_inclusive("\n\n").collect();
        let begin = |part: &str| frames.iter().position(|frame| frame.contains(part)).expect("the frame");
        let [first, end] = self.item.map(begin);
        let item = frames[first..end].concat();
        let renamed = |text: &str, nth: usize| {
            let text = text.replace(&format!("{}0", self.index), &format!("{}{nth}", self.index));
            let text = if self.id.is_empty() {
                text
            } else {
                text.replace(self.id, &format!("{}_{nth}\"", self.id.trim_end_matches('"')))
            };
            if nth == 0 { text } else { text.replace(self.once, "") }
        };
        frames[..first].iter().for_each(|frame| sink(frame));
        let mut number = first;
        for nth in 0..items {
            for frame in renamed(&item, nth).split_inclusive("\n\n").filter(|frame| is_kept(frame)) {
                sink(&numbered(frame, number));
                number += 1;
            }
        }
        let done = item.rsplit_once("\"item\":").and_then(|(_, rest)| rest.split_once(",\"output_index\""));
        let all = done.map(|(done, _)| {
            let all = (0..items).map(|nth| renamed(done, nth));
            let all: Vec<String> = if is_reversed { all.rev().collect() } else { all.collect() };
            (done, all.join(","))
        });
        for frame in &frames[end..] {
            let frame = numbered(frame, number);
            sink(&all.as_ref().map_or(frame.clone(), |(done, all)| frame.replace(done, all)));
            number += 1;
        }
    }
}

/// Returns a frame with another sequence number, if it has one.
pub(crate) fn numbered(frame: &str, number: usize) -> String {
    let Some((head, tail)) = frame.split_once("\"sequence_number\":") else { return frame.to_owned() };
    let rest = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
    format!("{head}\"sequence_number\":{number}{rest}")
}

/// Returns the same streams with an invalid number in every 25th event.
pub(crate) fn damaged<'s>(streams: impl Iterator<Item = &'s [u8]>) -> Vec<Vec<u8>> {
    let mut count = 0;
    let mut damage = |stream: &[u8]| {
        let text = String::from_utf8_lossy(stream);
        let lines = text.split_inclusive('\n').map(|line| {
            count += usize::from(line.starts_with("data:"));
            let hit = line.starts_with("data:") && count % 25 == 0;
            let number = ["\"sequence_number\":", "\"index\":"].into_iter().find(|name| line.contains(name));
            match number.filter(|_| hit) {
                Some(name) => line.replacen(name, &format!("{name}\"\",\"n\":"), 1),
                None => line.to_owned(),
            }
        });
        lines.collect::<String>().into_bytes()
    };
    streams.map(&mut damage).collect()
}

/// Returns the type of an event: by its `type`, or by what else it has.
pub(crate) fn event_of(dialect: &Dialect, data: &str) -> Option<&'static EventInfo> {
    match dialect.framing.types {
        [] => dialect.event(&spec::json::string_member(data, "type")?),
        _ => dialect.event(dialect.type_by_members(data)?),
    }
}
