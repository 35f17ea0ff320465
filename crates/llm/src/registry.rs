//! The models that a project knows by name: its `models.yaml`.

mod allowed_keys;
mod pool_spec;

use std::collections::BTreeMap;

use domain::document::{self, LocatedValue};
use domain::problem::{Problem, did_you_mean, listed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use allowed_keys::AllowedKeys;
pub use pool_spec::{PoolSpec, same_url};

/// The file `models.yaml` of a project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Models {
    /// The models that runs may name.
    models: Vec<PoolSpec>,
}

/// Pools by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry(BTreeMap<String, PoolSpec>);

/// A name that no pool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no model is named `{name}`{hint}; {known}, or give NAME@BASE_URL")]
pub struct UnknownModel {
    name: String,
    hint: String,
    known: String,
}

impl Registry {
    /// Reads a `models.yaml`. `path` is only a name for messages.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its line.
    pub fn read(path: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let (file, located) = document::located::<Models>(path, text)?;
        let problems = problems(&file.models, &located);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(file.models.into_iter().collect())
    }

    /// The JSON Schema of a `models.yaml`.
    pub fn schema() -> Value {
        document::schema::<Models>()
    }

    /// The pool with this name.
    ///
    /// # Errors
    /// There is none: the names that there are, and which was likely meant.
    pub fn pool(&self, name: &str) -> Result<&PoolSpec, UnknownModel> {
        self.0.get(name).ok_or_else(|| UnknownModel {
            name: name.to_owned(),
            hint: did_you_mean(name, self.0.keys().map(String::as_str)),
            known: match self.0.len() {
                0 => "add it to models.yaml, which names none".to_owned(),
                _ => format!("models.yaml has {}", listed(self.0.keys().map(String::as_str))),
            },
        })
    }

    /// And what was added elsewhere: what this says stands above.
    #[must_use]
    pub fn with(&self, added: Vec<PoolSpec>) -> Self {
        added.into_iter().chain(self.pools().cloned()).collect()
    }

    /// All pools, by name.
    pub fn pools(&self) -> impl Iterator<Item = &PoolSpec> {
        self.0.values()
    }
}

impl FromIterator<PoolSpec> for Registry {
    fn from_iter<I: IntoIterator<Item = PoolSpec>>(pools: I) -> Self {
        Self(pools.into_iter().map(|pool| (pool.name.clone(), pool)).collect())
    }
}

/// What no schema can say.
fn problems(models: &[PoolSpec], located: &LocatedValue) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut first = BTreeMap::new();
    for (index, pool) in models.iter().enumerate() {
        let at = format!("/models/{index}");
        let own = pool.problems().into_iter();
        problems.extend(own.map(|(field, message)| located.problem(&format!("{at}{field}"), message)));
        if let Some(line) = first.get(pool.name.as_str()) {
            let message = format!("a model named `{}` is already in line {line}", pool.name);
            problems.push(located.problem(&format!("{at}/name"), message));
        }
        first.entry(pool.name.as_str()).or_insert_with(|| located.line(&format!("{at}/name")));
    }
    problems.sort();
    problems
}
