//! Just enough of server-sent events for streams that we wrote ourselves.

/// One event, or comment, of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// The line that it begins on, counted from 1.
    pub(super) line: usize,
    /// What its `event` line says.
    pub(super) event: Option<String>,
    /// Its `data` lines, joined.
    pub(super) data: Option<String>,
}

/// Splits a stream. An error has the line and what is wrong there.
pub(super) fn frames(text: &str) -> Result<Vec<Frame>, (usize, String)> {
    let mut frames = Vec::new();
    let mut current: Option<Frame> = None;
    let mut number = 0;
    for (index, line) in text.lines().enumerate() {
        number = index + 1;
        if line.is_empty() {
            frames.extend(current.take());
            continue;
        }
        let frame = current.get_or_insert_with(|| Frame { line: number, ..Frame::default() });
        match line.split_once(':') {
            Some(("", _)) => {}
            Some(("event", value)) => frame.event = Some(value.trim_start().to_owned()),
            Some(("data", value)) => {
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut frame.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => frame.data = Some(value.to_owned()),
                }
            }
            _ => return Err((number, format!("`{line}` is no line of a stream"))),
        }
    }
    match current {
        Some(_) => Err((number, "the last event is not ended by a blank line".to_owned())),
        None => Ok(frames),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_with_blank_lines() {
        let frames = frames(": hi\n\nevent: a\ndata: 1\ndata: 2\n\n").unwrap();
        assert_eq!(frames[0], Frame { line: 1, event: None, data: None });
        assert_eq!(frames[1], Frame { line: 3, event: Some("a".into()), data: Some("1\n2".into()) });
        assert_eq!(super::frames("data: 1\n").unwrap_err().0, 1);
        assert_eq!(super::frames("data: 1\n\nx\n").unwrap_err().0, 3);
    }
}
