//! The server that plays responses, each under a path of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gateway::{Act, Director, Received, Stage};
use harness::lock;

const PREFIX: &str = "/play/";

/// The responses, in the order in which they are added.
#[derive(Default)]
pub(super) struct Acts(Mutex<Vec<(Arc<Act>, Arc<AtomicBool>)>>);

/// A response that is about to be played to one client.
pub(super) struct Cue {
    pub(super) base_url: String,
    asked: Arc<AtomicBool>,
}

impl Acts {
    /// Adds a response that one client asks for.
    pub(super) fn add(&self, stage: &Stage, act: &Arc<Act>) -> Cue {
        let mut acts = lock(&self.0);
        let asked = Arc::new(AtomicBool::new(false));
        acts.push((Arc::clone(act), Arc::clone(&asked)));
        let base_url = format!("http://{}{PREFIX}{}/v1", stage.address(), acts.len() - 1);
        Cue { base_url, asked }
    }
}

impl Cue {
    /// Returns whether the client has asked for it.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Director for Acts {
    fn answer(&self, request: &Received) -> Act {
        let refuse = || Act::new(404, "application/json", r#"{"error":{"message":"Unknown path."}}"#);
        let number = request.path.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/'));
        let number = number.and_then(|(number, _)| number.parse::<usize>().ok());
        let acts = lock(&self.0);
        let Some((act, asked)) = number.and_then(|number| acts.get(number)) else { return refuse() };
        if request.method != "POST" {
            return refuse();
        }
        asked.store(true, Ordering::Relaxed);
        (**act).clone()
    }
}
