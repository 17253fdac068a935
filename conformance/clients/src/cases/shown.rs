//! The content of a case, for readers.

use checker::Answer;
use gateway::End;

use super::case::PlayedCase;
use super::played::Plays;
use super::retries::PlayedRetries;

/// A response of a case, as the client receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownResponse {
    /// The head of the response and how it is sent, in one line.
    pub head: String,
    /// The bytes of the body, or of the messages, each on a line.
    pub bytes: Vec<u8>,
    /// Events after the last byte, if it is not just the end.
    pub end: Option<&'static str>,
}

impl PlayedCase {
    /// Returns the responses that the case plays, in the order of its requests.
    pub fn responses(&self) -> Vec<ShownResponse> {
        let failures =
            self.retries.iter().flat_map(PlayedRetries::responses).map(|act| shown(&Plays::Http(act)));
        let has_response = self.retries.as_ref().is_none_or(PlayedRetries::has_response);
        let own = has_response.then_some(&self.plays);
        let plays = own.into_iter().chain(self.turns.iter().map(|turn| &turn.plays));
        failures.chain(plays.map(shown)).collect()
    }

    /// Returns what a correct reply has, by member; empty if only an error is correct.
    pub fn wanted(&self) -> Vec<(&'static str, String)> {
        self.answers.first().map(members).unwrap_or_default()
    }
}

fn shown(plays: &Plays) -> ShownResponse {
    match plays {
        Plays::Http(act) => {
            let headers = act.headers.iter().map(|(name, value)| format!(" · {name}: {value}"));
            let pieces = match act.pieces.len() {
                0 | 1 => String::new(),
                count => format!(" · {count} chunks"),
            };
            let pause = act.pieces.iter().map(|(pause, _)| pause.as_millis()).max().unwrap_or(0);
            let pause = if pause > 0 { format!(" · {pause} ms before each event") } else { String::new() };
            if act.end == End::Reset {
                let end = Some("the connection breaks before the head");
                return ShownResponse { head: "no response".to_owned(), bytes: Vec::new(), end };
            }
            ShownResponse {
                head: format!("HTTP {}{}{pieces}{pause}", act.status, headers.collect::<String>()),
                bytes: act.body(),
                end: match act.end {
                    End::Whole => None,
                    End::Stall => Some("then nothing more comes, and the connection stays open"),
                    End::Break | End::Reset => Some("then the connection breaks"),
                },
            }
        }
        Plays::Socket(line) => ShownResponse {
            head: format!("WebSocket · {} messages", line.messages.len()),
            bytes: line
                .messages
                .iter()
                .flat_map(|(_, message)| [message.as_bytes(), b"\n"].concat())
                .collect(),
            end: line.is_last.then_some("then the connection is closed"),
        },
    }
}

fn members(answer: &Answer) -> Vec<(&'static str, String)> {
    let quoted = |text: &str| format!("{text:?}");
    let calls = answer.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    let members = [
        ("text", Some(answer.text()).filter(|text| !text.is_empty()).map(|text| quoted(&text))),
        ("refusal", Some(&answer.refusal).filter(|text| !text.is_empty()).map(|text| quoted(text))),
        ("reasoning", Some(&answer.reasoning).filter(|text| !text.is_empty()).map(|text| quoted(text))),
        ("calls", (!answer.calls.is_empty()).then(|| calls.collect::<Vec<_>>().join(", "))),
        ("response_status", answer.status.clone()),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
