//! `threads.toml`

use serde::Deserialize;

/// Public threads in which a stream of the API broke a client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadsFile {
    /// The threads.
    #[serde(default, rename = "thread")]
    pub threads: Vec<Thread>,
}

/// A thread, or several about the same defect. It has exactly one of `defect`, `client`, `request`, `transport` and
/// `unread`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Where it is: `<owner>/<repository>#<number>` on GitHub.
    pub at: Vec<String>,
    /// The day, month or year in which it began.
    #[serde(default)]
    pub day: Option<String>,
    /// The reported behaviour.
    pub what: String,
    /// The defect that reproduces its stream.
    #[serde(default)]
    pub defect: Option<String>,
    /// Why the client is at fault.
    #[serde(default)]
    pub client: Option<String>,
    /// Why only the request tells whether the stream is wrong.
    #[serde(default)]
    pub request: Option<String>,
    /// Why the stream is right, and its transport is not.
    #[serde(default)]
    pub transport: Option<String>,
    /// Why its stream is not known.
    #[serde(default)]
    pub unread: Option<String>,
    /// Its API.
    #[serde(skip)]
    pub api: String,
}

/// Why a thread is no defect of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadCause<'a> {
    /// A stream with this defect.
    Defect(&'a str),
    /// The client.
    Client(&'a str),
    /// A stream that its request forbids.
    Request(&'a str),
    /// The transport.
    Transport(&'a str),
    /// It is not known.
    Unread(&'a str),
}

impl Thread {
    /// Returns its cause; `None` if it states none, or several.
    pub fn cause(&self) -> Option<ThreadCause<'_>> {
        let stated = [
            self.defect.as_deref().map(ThreadCause::Defect),
            self.client.as_deref().map(ThreadCause::Client),
            self.request.as_deref().map(ThreadCause::Request),
            self.transport.as_deref().map(ThreadCause::Transport),
            self.unread.as_deref().map(ThreadCause::Unread),
        ];
        let mut stated = stated.into_iter().flatten();
        stated.next().filter(|_| stated.next().is_none())
    }

    /// Returns its places with their addresses; `None` for one that is not written as expected.
    pub fn addresses(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        self.at.iter().map(|at| {
            let address = at.split_once('#').filter(|(repository, number)| {
                repository.split('/').count() == 2 && number.bytes().all(|digit| digit.is_ascii_digit())
            });
            let address = address
                .map(|(repository, number)| format!("https://github.com/{repository}/issues/{number}"));
            (at.as_str(), address)
        })
    }
}
