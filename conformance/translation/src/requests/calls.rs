//! Calls in APIs that need not name them by an id.

/// How ids begin of calls that have none. Their order tells them apart.
pub const NO_ID: &str = "call_without_id_";

/// The calls without a result: some have no id, and their results name the function.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<(String, String)>,
    count: usize,
}

impl Calls {
    pub(super) fn called(&mut self, id: Option<String>, name: &str) -> String {
        self.count += 1;
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{NO_ID}{}", self.count));
        self.open.push((id.clone(), name.to_owned()));
        id
    }

    pub(super) fn answered(&mut self, id: Option<String>, name: &str) -> String {
        let is_it = |known: &(String, String)| match &id {
            Some(id) => known.0 == *id,
            None => known.1 == name,
        };
        match self.open.iter().position(is_it) {
            Some(at) => self.open.remove(at).0,
            None => id.unwrap_or_else(|| name.to_owned()),
        }
    }
}
