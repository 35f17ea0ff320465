//! What a run of a workflow keeps besides its documents.

use std::collections::{BTreeMap, BTreeSet};

use domain::event::Usage;
use domain::forecast::Pilot;
use llm::{ModelSpec, PoolSpec, Registry};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowsSpec {
    pub workflow: String,
    pub source: Source,
    /// Input of the workflow -> the column that it is taken from, where the names differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Who plays each role; `scripted` stands for the workflow's stand-in.
    pub models: BTreeMap<String, ModelSpec>,
    /// Index of the workflow -> the one that is searched. One without is the passages beside the workflow.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<String, Uuid>,
    /// Tools that the workflow's stand-ins play, because none was registered where the run was ordered.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scripted_tools: BTreeSet<String>,
    /// Services that answer tools in the conversations of steps. The tools of others are `scripted`, because they were not registered
    /// where the run was ordered.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub services: BTreeSet<String>,
    /// What models.yaml says of the models that are named here: their endpoints and prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolSpec>,
    /// How often a row is played again that no model answered.
    #[serde(default)]
    pub retries: u32,
    /// Whether requests are made that follow from the beginnings of replies.
    #[serde(default = "yes")]
    pub streaming: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Pilot>,
}

const fn yes() -> bool {
    true
}

/// Where the input rows come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// They stand here. For a few rows.
    Rows(#[serde(with = "row_texts")] Vec<Map<String, Value>>),
    /// Rows of a version of a dataset: so many from a position on, or drawn from those that come from there on.
    Dataset {
        id: Uuid,
        first: u64,
        count: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sample: Option<RowSample>,
    },
}

/// Rows of a dataset that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSample {
    /// How many rows they are drawn from.
    pub rows: u64,
    pub seed: i64,
}

/// Rows as texts: in an object of PostgreSQL, keys lose their order and numbers are written in another way, and models would
/// read something else than was ordered. Runs of before hold objects.
mod row_texts {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Row {
        Text(String),
        Object(Map<String, Value>),
    }

    pub fn serialize<S: Serializer>(rows: &[Map<String, Value>], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
        texts.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Map<String, Value>>, D::Error> {
        let rows = Vec::<Row>::deserialize(deserializer)?.into_iter();
        rows.map(|row| match row {
            Row::Text(text) => serde_json::from_str(&text).map_err(D::Error::custom),
            Row::Object(row) => Ok(row),
        })
        .collect()
    }
}

impl Source {
    /// How many there are.
    pub const fn count(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.len() as u64,
            Self::Dataset { count, .. } => *count,
        }
    }
}

impl RowsSpec {
    pub fn registry(&self) -> Registry {
        self.pools.iter().cloned().collect()
    }

    /// Every model that it asks, in words; stand-ins are none.
    pub fn asked(&self) -> BTreeSet<String> {
        let models = self.models.values().filter(|model| **model != ModelSpec::Scripted);
        models.map(ToString::to_string).collect()
    }

    /// Roles and tools that stand-ins play.
    pub fn stand_ins(&self) -> BTreeSet<String> {
        let roles = self.models.iter().filter(|(_, model)| **model == ModelSpec::Scripted).map(|(role, _)| role);
        roles.chain(&self.scripted_tools).cloned().collect()
    }

    /// What a call cost, in billionths of the unit of the prices.
    pub fn cost(&self, model: &str, usage: Usage) -> i64 {
        let price = self.pools.iter().find(|pool| pool.name == model).and_then(|pool| pool.price);
        price.map_or(0, |price| price.cost(usage))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_kept_as_they_were_written() {
        let text = r#"{"f": 1.0, "o": {"zeta": 1, "b": 2, "aa": [1.50, -0]}}"#;
        let source = Source::Rows(vec![serde_json::from_str(text).unwrap()]);
        let kept = serde_json::to_value(&source).unwrap();
        assert_eq!(kept["rows"][0], json!(r#"{"f":1.0,"o":{"zeta":1,"b":2,"aa":[1.50,-0]}}"#));
        assert_eq!(serde_json::from_value::<Source>(kept).unwrap(), source);
        // As runs of before hold them.
        let old: Source = serde_json::from_str(&format!("{{\"rows\": [{text}]}}")).unwrap();
        assert_eq!(old, source);
    }
}
