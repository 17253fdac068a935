//! The server that plays responses, each under a path of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gateway::{Act, Director, Received, Stage};
use harness::lock;
use spec::Api;

const PREFIX: &str = "/play/";

/// The responses, in order of addition.
#[derive(Default)]
pub(super) struct Acts(Mutex<Vec<Part>>);

struct Part {
    act: Arc<Act>,
    api: &'static Api,
    asked: Arc<AtomicUsize>,
}

/// A response that is about to be played to one client.
pub(super) struct Cue {
    pub(super) base_url: String,
    asked: Arc<AtomicUsize>,
}

impl Acts {
    pub(super) fn add(&self, stage: &Stage, act: &Arc<Act>, api: &'static Api) -> Cue {
        let mut acts = lock(&self.0);
        let asked = Arc::new(AtomicUsize::new(0));
        acts.push(Part { act: Arc::clone(act), api, asked: Arc::clone(&asked) });
        let base_url = format!("http://{}{PREFIX}{}/{}", stage.address(), acts.len() - 1, api.version);
        Cue { base_url, asked }
    }
}

impl Cue {
    pub(super) fn times(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Director for Acts {
    fn answer(&self, request: &Received) -> Act {
        let refuse = || Act::new(404, "application/json", r#"{"error":{"message":"Unknown path."}}"#);
        let played = request.path.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/'));
        let played = played.and_then(|(number, path)| Some((number.parse::<usize>().ok()?, path)));
        let acts = lock(&self.0);
        let Some((Part { act, api, asked }, path)) =
            played.and_then(|(number, path)| Some((acts.get(number)?, path)))
        else {
            return refuse();
        };
        // Clients also count tokens, list models, and send figures.
        if request.method != "POST" || !api.is_at(path.split('?').next().unwrap_or_default()) {
            return refuse();
        }
        asked.fetch_add(1, Ordering::Relaxed);
        (**act).clone()
    }
}
