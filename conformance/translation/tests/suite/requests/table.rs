//! Questions, and what each API cannot carry of them: `table.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use spec::Dialect;
use translation::Question;

#[derive(Deserialize)]
pub(crate) struct Table {
    pub(crate) question: Question,
    pub(crate) options: Vec<Row>,
    pub(crate) conversations: Vec<Row>,
}

#[derive(Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The member of the question that it does not have.
    without: Option<String>,
    /// What is lost, by API.
    #[serde(default)]
    lost: BTreeMap<String, Vec<String>>,
    /// The members of the question that are its own.
    #[serde(flatten)]
    own: Map<String, Value>,
}

pub(crate) static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("table.toml")).unwrap());

impl Table {
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.options.iter().chain(&self.conversations)
    }
}

impl Row {
    pub(crate) fn question(&self) -> Question {
        let mut question = json!(TABLE.question);
        let members = question.as_object_mut().unwrap();
        members.extend(self.own.clone());
        members.retain(|name, _| Some(name) != self.without.as_ref());
        serde_json::from_value(question).unwrap()
    }

    /// Returns what an API cannot carry.
    pub(crate) fn lost(&self, dialect: &Dialect) -> Vec<&str> {
        self.lost.get(dialect.api.name).into_iter().flatten().map(String::as_str).collect()
    }
}
